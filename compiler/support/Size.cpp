#include "compiler/support/Size.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace ingot::support {

using llvm::StringRef;

Size Size::symbol(StringRef name) {
  Size s;
  s.terms[{name.str()}] = 1;
  return s;
}

Size Size::makeCall(StringRef name, const Size &a, const Size &b) {
  return symbol(name.str() + "(" + a.text() + "," + b.text() + ")");
}

std::string Size::text() const {
  if (!isKnown) {
    return "";
  }
  std::string text;
  for (const auto &[factors, coefficient] : terms) {
    text += !text.empty() && coefficient > 0 ? "+" : "";
    bool minus = coefficient == -1 && !factors.empty();
    text += minus ? "-" : "";
    if (factors.empty() || (coefficient != 1 && !minus)) {
      text += std::to_string(coefficient) + (factors.empty() ? "" : "*");
    }
    for (size_t i = 0; i < factors.size(); ++i) {
      text += (i ? "*" : "") + factors[i];
    }
  }
  return text.empty() ? "0" : text;
}

// Arithmetic.

Size operator+(const Size &a, const Size &b) {
  if (!a.isKnown || !b.isKnown) {
    return Size::unknown();
  }
  Size sum = a;
  for (const auto &[factors, coefficient] : b.terms) {
    int64_t &c = sum.terms[factors];
    if (__builtin_add_overflow(c, coefficient, &c)) {
      return Size::unknown();
    }
    if (c == 0) {
      sum.terms.erase(factors);
    }
  }
  return sum;
}

Size operator*(const Size &a, const Size &b) {
  if (!a.isKnown || !b.isKnown) {
    return a.is(0) || b.is(0) ? Size(0) : Size::unknown();
  }
  Size sum;
  for (const auto &[fa, ca] : a.terms) {
    for (const auto &[fb, cb] : b.terms) {
      Size term;
      int64_t c;
      if (__builtin_mul_overflow(ca, cb, &c)) {
        return Size::unknown();
      }
      Size::Factors factors(fa);
      factors.insert(factors.end(), fb.begin(), fb.end());
      llvm::sort(factors);
      term.terms[factors] = c;
      sum = sum + term;
    }
  }
  return sum;
}

static int64_t floorOf(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

std::optional<Size> divideExactly(const Size &a, const Size &b) {
  if (!a.isKnown || !b.isKnown || b.is(0)) {
    return std::nullopt;
  }
  if (b.isNumber()) {
    Size quotient = a;
    for (auto &[factors, coefficient] : quotient.terms) {
      if (coefficient % b.number()) {
        return std::nullopt;
      }
      coefficient /= b.number();
    }
    return quotient;
  }
  // Long division by leading terms. The order need not be a good one: what comes out is exact or nothing.
  const auto &[lead, leadCoefficient] = *b.terms.rbegin();
  Size rest = a, quotient;
  for (size_t round = 0; !rest.terms.empty(); ++round) {
    auto last = std::prev(rest.terms.end());
    Size term;
    Size::Factors factors;
    bool divides = llvm::includes(last->first, lead) && last->second % leadCoefficient == 0 && round < 64;
    if (!divides) {
      return std::nullopt;
    }
    std::set_difference(last->first.begin(), last->first.end(), lead.begin(), lead.end(), std::back_inserter(factors));
    term.terms[factors] = last->second / leadCoefficient;
    quotient = quotient + term;
    rest = rest - term * b;
    if (!rest.isKnown) {
      return std::nullopt;
    }
  }
  return quotient;
}

Size floorDiv(const Size &a, const Size &b) {
  if (!a.isKnown || !b.isKnown || b.is(0)) {
    return Size::unknown();
  }
  if (a.isNumber() && b.isNumber()) {
    return floorOf(a.number(), b.number());
  }
  if (auto exact = divideExactly(a, b)) {
    return *exact;
  }
  if (!b.isNumber()) {
    return Size::makeCall("div", a, b);
  }
  // floor((c * q + r) / c) = q + floor(r / c)
  int64_t c = b.number(), common = c;
  Size whole, rest;
  for (const auto &[factors, coefficient] : a.terms) {
    int64_t q = floorOf(coefficient, c), r = coefficient - q * c;
    if (q) {
      whole.terms[factors] = q;
    }
    if (r) {
      rest.terms[factors] = r;
      common = std::gcd(common, r);
    }
  }
  if (rest.isNumber()) {
    return whole; // 0 <= r < c
  }
  return whole + Size::makeCall("div", *divideExactly(rest, common), c / common);
}

/// The larger of two; null where it is not known which that is.
static const Size *larger(const Size &a, const Size &b) {
  return (a - b).atLeast(0) ? &a : (b - a).atLeast(0) ? &b : nullptr;
}
/// The same call whatever the order.
static std::pair<const Size &, const Size &> sorted(const Size &a, const Size &b) {
  return a.text() < b.text() ? std::pair<const Size &, const Size &>(a, b)
                             : std::pair<const Size &, const Size &>(b, a);
}

Size min(const Size &a, const Size &b) {
  if ((a - b).isUnknown()) {
    return Size::unknown();
  }
  if (const Size *large = larger(a, b)) {
    return large == &a ? b : a;
  }
  auto [first, second] = sorted(a, b);
  return Size::makeCall("min", first, second);
}

Size max(const Size &a, const Size &b) {
  if ((a - b).isUnknown()) {
    return Size::unknown();
  }
  if (const Size *large = larger(a, b)) {
    return *large;
  }
  auto [first, second] = sorted(a, b);
  return Size::makeCall("max", first, second);
}

Size product(llvm::ArrayRef<Size> sizes) {
  Size n = 1;
  for (const Size &s : sizes) {
    n = n * s;
  }
  return n;
}

// Questions.

static std::vector<Size> &assumed() {
  static thread_local std::vector<Size> facts;
  return facts;
}
static Bounds &assumedBounds() {
  static thread_local Bounds bounds;
  return bounds;
}

/// The symbol that a fact bounds, "$3" of "BOUND-$3"; empty: it is none of a found size.
static std::string boundedSymbol(const Size &fact) {
  std::string symbol;
  fact.eachSymbol([&](StringRef name) {
    if (Size::isFound(name) && !(fact + Size::symbol(name)).mentions(name)) {
      symbol = name.str();
    }
  });
  return symbol;
}

Bounds boundsIn(llvm::ArrayRef<Size> facts) {
  Bounds bounds;
  for (const Size &fact : facts) {
    if (std::string symbol = boundedSymbol(fact); !symbol.empty()) {
      bounds.try_emplace(symbol, fact + Size::symbol(symbol));
    }
  }
  return bounds;
}

Assuming::Assuming(llvm::ArrayRef<Size> facts) : outer(assumed()), outerBounds(assumedBounds()) {
  for (const Size &fact : facts) {
    std::string symbol = boundedSymbol(fact);
    if (symbol.empty() || !assumedBounds().try_emplace(symbol, fact + Size::symbol(symbol)).second) {
      assumed().push_back(fact);
    }
  }
}
Assuming::~Assuming() {
  assumed() = std::move(outer);
  assumedBounds() = std::move(outerBounds);
}

bool Size::atLeast(int64_t n) const {
  if (provably(n)) {
    return true;
  }
  if (!isKnown || isNumber()) {
    return false;
  }
  if (isFound() && (provablyThroughMin(n, 2) || provablyBounded(n))) {
    return true;
  }
  if (assumed().empty()) {
    return false;
  }
  // A proof looks at the arguments of calls, which are sizes in normal form: without the facts, or it would not end.
  std::vector<Size> facts;
  std::swap(facts, assumed());
  bool follows = llvm::any_of(facts, [&](const Size &fact) { return (*this - fact).provably(n); });
  std::swap(facts, assumed());
  return follows;
}

// Found sizes.

bool Size::mentions(StringRef symbol) const {
  bool any = false;
  eachSymbol([&](StringRef name) { any |= name == symbol; });
  return any;
}

bool Size::isFound() const {
  // The text of a call holds those of its arguments.
  return llvm::any_of(terms, [](const auto &term) {
    return llvm::any_of(term.first, [](const std::string &factor) { return StringRef(factor).contains('$'); });
  });
}

/// With found sizes at their bounds.
bool Size::provablyBounded(int64_t n) const {
  if (assumedBounds().empty()) {
    return false;
  }
  Bounds bounds;
  std::swap(bounds, assumedBounds()); // see atLeast()
  bool follows = least(bounds).provably(n);
  std::swap(bounds, assumedBounds());
  return follows;
}

/// With a minimum that is taken away replaced by either of its arguments, which only takes away more.
bool Size::provablyThroughMin(int64_t n, unsigned depth) const {
  if (terms.size() > 8) { // each may be replaced: not for long sums
    return false;
  }
  for (const auto &[factors, coefficient] : terms) {
    std::optional<Call> c = coefficient < 0 && factors.size() == 1 ? callOf(factors.front()) : std::nullopt;
    if (!c || c->name != "min") {
      continue;
    }
    for (const Size &argument : {c->a(), c->b()}) {
      Size less = *this + Size(coefficient) * (argument - symbol(factors.front()));
      if (less.provably(n) || (depth > 1 && less.provablyThroughMin(n, depth - 1))) {
        return true;
      }
    }
  }
  return false;
}

/// A size that is not more than this one: what is taken away at its most.
Size Size::least(const Bounds &bounds) const {
  Size sum;
  for (const auto &[factors, coefficient] : terms) {
    Size term;
    term.terms[factors] = coefficient;
    sum = sum + (coefficient < 0 && term.isFound() ? Size(-1) * (Size(-1) * term).bounded(bounds) : term);
  }
  return sum;
}

Size Size::bounded(const Bounds &bounds) const {
  if (!isFound()) {
    return *this;
  }
  Size sum;
  for (const auto &[factors, coefficient] : terms) {
    Size term;
    term.terms[factors] = std::abs(coefficient);
    if (!term.isFound()) {
      sum = sum + (coefficient < 0 ? Size(-1) * term : term);
      continue;
    }
    if (coefficient < 0) { // at least nothing is taken away
      sum = sum + (term.provably(0) ? Size(0) : unknown());
      continue;
    }
    Size most = coefficient;
    for (const std::string &factor : factors) {
      most = most * factorBounded(factor, bounds, factors.size() == 1);
    }
    sum = sum + most;
  }
  return sum;
}

/// bounded() of one factor; in a product (not alone) it must not be negative.
Size Size::factorBounded(StringRef factor, const Bounds &bounds, bool alone) const {
  std::optional<Call> c = callOf(factor);
  if (!c) {
    auto bound = bounds.find(factor.str());
    return !isFound(factor) ? symbol(factor) : bound == bounds.end() ? unknown() : bound->second.bounded(bounds);
  }
  if (!alone && !symbol(factor).provably(0)) {
    return unknown();
  }
  Size a = c->a().bounded(bounds), b = c->b().bounded(bounds);
  if (c->name == "div") { // by one at least
    return !c->b().isFound() ? floorDiv(a, b) : c->a().provably(0) ? a : unknown();
  }
  if (c->name == "min") {
    return a.isUnknown() ? b : b.isUnknown() ? a : min(a, b);
  }
  return max(a, b);
}

Size Size::replaced(llvm::function_ref<Size(StringRef)> symbol) const {
  auto call = [](StringRef name, const Size &a, const Size &b) {
    return name == "div" ? floorDiv(a, b) : name == "min" ? min(a, b) : max(a, b);
  };
  return isKnown ? compute<Size>({symbol, call}) : *this;
}

void Size::collectImplied(const Size &other, llvm::SmallVectorImpl<Size> &facts) const {
  bool single = terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
  std::optional<Call> c = single ? callOf(terms.begin()->first.front()) : std::nullopt;
  if (!c || c->name == "div") {
    return;
  }
  for (const Size &argument : {c->a(), c->b()}) { // each is at least the minimum, at most the maximum
    Size rest = c->name == "min" ? argument - other : other - argument;
    if (!rest.isNumber()) {
      facts.push_back(rest);
    }
    argument.collectImplied(other, facts);
  }
}

Sizes implied(const Size &a, const Size &b) {
  Sizes facts;
  a.collectImplied(b, facts);
  b.collectImplied(a, facts);
  return facts;
}

/// A number that the size cannot exceed.
std::optional<int64_t> Size::most() const {
  if (isNumber()) {
    return number();
  }
  bool single = isKnown && terms.size() == 1 && terms.begin()->second > 0 && terms.begin()->first.size() == 1;
  std::optional<Call> c = single ? callOf(terms.begin()->first.front()) : std::nullopt;
  if (!c || c->name == "div") {
    return std::nullopt;
  }
  std::optional<int64_t> a = c->a().most(), b = c->b().most(), bound;
  if (c->name == "min") {
    bound = a && b ? std::min(*a, *b) : a ? a : b;
  } else if (a && b) {
    bound = std::max(*a, *b);
  }
  int64_t product;
  return bound && !__builtin_mul_overflow(*bound, terms.begin()->second, &product) ? std::optional(product)
                                                                                   : std::nullopt;
}

bool Size::provably(int64_t n) const {
  if (!isKnown) {
    return false;
  }
  int64_t least = 0;
  for (const auto &[factors, coefficient] : terms) {
    if (factors.empty()) {
      least += coefficient;
      continue;
    }
    if (coefficient < 0) {
      Size term;
      term.terms[factors] = -coefficient;
      std::optional<int64_t> bound = term.most();
      if (!bound || __builtin_sub_overflow(least, *bound, &least)) {
        return false;
      }
      continue;
    }
    bool nonNegative = llvm::all_of(factors, [](const std::string &factor) {
      std::optional<Call> c = callOf(factor);
      if (!c) {
        return true;
      }
      bool a = c->a().provably(0), b = c->b().provably(0);
      return c->name == "max" ? a || b : a && b;
    });
    if (!nonNegative) {
      return false;
    }
  }
  return least >= n;
}

void Size::eachSymbol(llvm::function_ref<void(StringRef)> f) const {
  for (const auto &[factors, coefficient] : terms) {
    for (const std::string &factor : factors) {
      if (std::optional<Call> c = callOf(factor)) {
        c->a().eachSymbol(f);
        c->b().eachSymbol(f);
      } else {
        f(factor);
      }
    }
  }
}

namespace {
/// A number, or nothing once something went wrong.
struct Checked {
  std::optional<int64_t> v;
  Checked(std::optional<int64_t> v) : v(v) {}
  explicit Checked(int64_t n) : v(n) {}
  friend Checked operator+(Checked a, Checked b) {
    int64_t r;
    return a.v && b.v && !__builtin_add_overflow(*a.v, *b.v, &r) ? Checked(r) : Checked(std::nullopt);
  }
  friend Checked operator*(Checked a, Checked b) {
    int64_t r;
    return a.v && b.v && !__builtin_mul_overflow(*a.v, *b.v, &r) ? Checked(r) : Checked(std::nullopt);
  }
};
} // namespace

std::optional<int64_t> Size::evaluate(llvm::function_ref<std::optional<int64_t>(StringRef)> symbol) const {
  if (!isKnown) {
    return std::nullopt;
  }
  auto call = [](StringRef name, Checked a, Checked b) {
    if (!a.v || !b.v || (name == "div" && *b.v == 0)) {
      return Checked(std::nullopt);
    }
    return Checked(name == "div" ? floorOf(*a.v, *b.v) : name == "min" ? std::min(*a.v, *b.v) : std::max(*a.v, *b.v));
  };
  auto value = [&](StringRef name) { return Checked(symbol(name)); };
  return compute<Checked>({value, call}).v;
}

// Text.

std::optional<Size::Call> Size::callOf(StringRef factor) {
  if (!factor.ends_with(")")) {
    return std::nullopt;
  }
  auto [name, rest] = factor.drop_back().split('(');
  int depth = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    depth += rest[i] == '(' ? 1 : rest[i] == ')' ? -1 : 0;
    if (depth == 0 && rest[i] == ',') {
      return Call{name.str(), rest.take_front(i).str(), rest.drop_front(i + 1).str()};
    }
  }
  return std::nullopt;
}

/// sum: ["-"] term {("+" | "-") term}; term: factor {"*" factor}; factor: number | name | name "(" sum "," sum ")"
class SizeParser {
public:
  explicit SizeParser(StringRef text) : text(text) {}
  std::optional<Size> all() {
    Size s = sum();
    return ok && text.empty() ? std::optional<Size>(s) : std::nullopt;
  }

private:
  StringRef text;
  bool ok = true;
  unsigned depth = 0;

  Size sum() {
    if (++depth > 64) {
      ok = false;
      return 0;
    }
    Size s = text.consume_front("-") ? Size(-1) * term() : term();
    while (ok && !text.empty() && (text.front() == '+' || text.front() == '-')) {
      s = text.consume_front("+") ? s + term() : (text = text.drop_front(), s - term());
    }
    --depth;
    return s;
  }

  Size term() {
    Size s = factor();
    while (ok && text.consume_front("*")) {
      s = s * factor();
    }
    return s;
  }

  Size factor() {
    StringRef word = text.take_until([](char c) { return StringRef("+-*(),").contains(c); });
    text = text.drop_front(word.size());
    int64_t n;
    if (!word.empty() && !word.getAsInteger(10, n)) {
      return n;
    }
    if (!text.consume_front("(")) {
      ok &= !word.empty();
      return Size::symbol(word);
    }
    Size a = sum();
    ok &= text.consume_front(",");
    Size b = sum();
    ok &= text.consume_front(")");
    if (!ok) {
      return 0;
    }
    if (word == "div") {
      return floorDiv(a, b);
    }
    ok &= word == "min" || word == "max";
    return word == "min" ? min(a, b) : max(a, b);
  }
};

std::optional<Size> Size::parse(StringRef text) { return SizeParser(text).all(); }

} // namespace ingot::support
