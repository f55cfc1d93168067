#include "compiler/support/Size.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include <mutex>
#include <numeric>

namespace ingot::support {

using detail::Factor;
using detail::FactsNode;
using detail::Sum;
using detail::SymbolNode;
using detail::Term;
using llvm::StringRef;

// Nodes.

struct detail::SymbolNode {
  SymbolKind kind;
  StringRef text;
};

struct detail::FactsNode : llvm::FoldingSetNode {
  Sizes all, others; ///< others: but for those in `bounds`
  Bounds bounds;
  mutable std::mutex mutex;
  mutable llvm::DenseMap<const Sum *, Size> simplified; ///< what has been asked for

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, all); }
  static void profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Size> sizes);
};

const Sum Size::unknownSum;

namespace {
using Factors = llvm::SmallVector<const Factor *, 2>;

bool before(const Factor *a, const Factor *b) { return a != b && a->text < b->text; }
bool before(const Factors &a, const Factors &b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const Factor *x, const Factor *y) { return before(x, y); });
}

/// All nodes that there are. Never destroyed: Sizes may be static.
struct Nodes {
  std::mutex mutex;
  llvm::StringMap<SymbolNode> symbols;
  llvm::FoldingSet<Factor> factors;
  llvm::FoldingSet<Sum> sums;
  llvm::FoldingSet<FactsNode> facts;

  static Nodes &all() {
    static Nodes &nodes = *new Nodes;
    return nodes;
  }
};
} // namespace

void Factor::profile(llvm::FoldingSetNodeID &id, std::optional<Symbol> symbol, Call call, const Size &a,
                     const Size &b) {
  id.AddPointer(symbol ? symbol->text().data() : nullptr);
  id.AddInteger(static_cast<int>(call));
  a.addTo(id), b.addTo(id);
}

void Sum::profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Term> terms) {
  for (const Term &term : terms) {
    id.AddInteger(term.coefficient);
    id.AddInteger(term.factors.size());
    for (const Factor *factor : term.factors) {
      id.AddPointer(factor);
    }
  }
}

void FactsNode::profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Size> sizes) {
  for (const Size &size : sizes) {
    size.addTo(id);
  }
}

/// The node that equals the one described, which `fill` completes where it is new.
template <typename Node, typename... Key>
static const Node *unique(llvm::FoldingSet<Node> &all, llvm::function_ref<void(Node &)> fill, const Key &...key) {
  llvm::FoldingSetNodeID id;
  Node::profile(id, key...);
  std::lock_guard lock(Nodes::all().mutex);
  void *place;
  if (const Node *known = all.FindNodeOrInsertPos(id, place)) {
    return known;
  }
  auto *made = new Node;
  fill(*made);
  all.InsertNode(made, place);
  return made;
}

// Symbols.

Symbol Symbol::of(SymbolKind kind, StringRef text) {
  Nodes &nodes = Nodes::all();
  std::lock_guard lock(nodes.mutex);
  auto [it, isNew] = nodes.symbols.try_emplace(text, SymbolNode{kind, ""});
  if (isNew) {
    it->second.text = it->first();
  }
  return Symbol(&it->second);
}

static constexpr StringRef foundPrefix = "$", iterationPrefix = "#", presencePrefix = "#present", outerPrefix = "@";

Symbol Symbol::chosen(StringRef name) { return of(SymbolKind::Chosen, name); }
Symbol Symbol::found(int64_t number) { return of(SymbolKind::Found, (foundPrefix + llvm::Twine(number)).str()); }
Symbol Symbol::iteration(int64_t number) {
  return of(SymbolKind::Iteration, (iterationPrefix + llvm::Twine(number)).str());
}
Symbol Symbol::presence(int64_t input) { return of(SymbolKind::Presence, (presencePrefix + llvm::Twine(input)).str()); }
Symbol Symbol::read(StringRef text) {
  return of(text.starts_with(foundPrefix)       ? SymbolKind::Found
            : text.starts_with(presencePrefix)  ? SymbolKind::Presence
            : text.starts_with(iterationPrefix) ? SymbolKind::Iteration
            : text.starts_with(outerPrefix)     ? SymbolKind::Outer
                                                : SymbolKind::Chosen,
            text);
}
Symbol Symbol::outer() const {
  assert(isFound());
  return of(SymbolKind::Outer, (outerPrefix + text().drop_front(foundPrefix.size())).str());
}
Symbol Symbol::inner() const {
  assert(kind() == SymbolKind::Outer);
  return of(SymbolKind::Found, (foundPrefix + text().drop_front(outerPrefix.size())).str());
}
SymbolKind Symbol::kind() const { return node->kind; }
StringRef Symbol::text() const { return node->text; }

// Expressions.

static StringRef nameOf(Call call) {
  static constexpr StringRef names[] = {"div", "min", "max", "broadcast", "apart"};
  return names[static_cast<size_t>(call)];
}

/// Terms in their order, while they are put together.
class Polynomial {
public:
  Polynomial() = default;
  explicit Polynomial(const Size &size) {
    if (size.sum) {
      terms.assign(size.sum->terms.begin(), size.sum->terms.end());
    } else if (size.value) {
      terms.push_back({{}, size.value});
    }
  }
  llvm::SmallVector<Term, 4> terms;

  /// False on overflow.
  bool add(const Factors &factors, int64_t coefficient) {
    auto it = llvm::lower_bound(terms, factors, [](const Term &t, const Factors &f) { return before(t.factors, f); });
    if (it == terms.end() || it->factors != factors) {
      if (coefficient) {
        terms.insert(it, {factors, coefficient});
      }
      return true;
    }
    if (__builtin_add_overflow(it->coefficient, coefficient, &it->coefficient)) {
      return false;
    }
    if (it->coefficient == 0) {
      terms.erase(it);
    }
    return true;
  }

  Size size() const {
    if (terms.empty()) {
      return 0;
    }
    if (terms.size() == 1 && terms.front().factors.empty()) {
      return terms.front().coefficient;
    }
    auto fill = [&](Sum &sum) {
      sum.terms.assign(terms.begin(), terms.end());
      for (const Term &term : terms) {
        for (const Factor *f : term.factors) {
          sum.isFound |= f->isFound, sum.divides |= f->divides, sum.chooses |= f->chooses;
        }
      }
    };
    return Size(unique<Sum>(Nodes::all().sums, fill, llvm::ArrayRef<Term>(terms)));
  }

  static Size of(const Factor *factor) { return of(Term{{factor}, 1}); }
  static Size of(const Term &term) {
    Polynomial one;
    one.terms.push_back(term);
    return one.size();
  }
  static Size of(Symbol symbol) {
    auto fill = [&](Factor &f) {
      f.symbol = symbol;
      f.text = symbol.str();
      f.isFound = symbol.isFound();
    };
    return of(unique<Factor>(Nodes::all().factors, fill, std::optional(symbol), Call::Div, Size(), Size()));
  }
  /// The call as it stands.
  static Size of(Call call, const Size &a, const Size &b) {
    std::string text = (nameOf(call) + "(" + a.text() + "," + b.text() + ")").str();
    bool x = a.provably(0), y = b.provably(0);
    auto fill = [&](Factor &f) {
      f.call = call, f.a = a, f.b = b;
      f.text = std::move(text);
      f.isFound = a.isFound() || b.isFound();
      f.divides = call == Call::Div || a.divides() || b.divides();
      f.chooses = call != Call::Div || (a.sum && a.sum->chooses) || (b.sum && b.sum->chooses);
      f.natural = call == Call::Max ? x || y : x && y;
    };
    return of(unique<Factor>(Nodes::all().factors, fill, std::optional<Symbol>(), call, a, b));
  }
};

Size::Size(Symbol symbol) : Size(Polynomial::of(symbol)) {}

void Size::addTo(llvm::FoldingSetNodeID &id) const {
  id.AddPointer(sum);
  id.AddInteger(value);
}

std::string Size::text() const {
  if (!sum) {
    return std::to_string(value);
  }
  std::string text;
  for (const Term &term : sum->terms) {
    text += !text.empty() && term.coefficient > 0 ? "+" : "";
    bool minus = term.coefficient == -1 && !term.factors.empty();
    text += minus ? "-" : "";
    if (term.factors.empty() || (term.coefficient != 1 && !minus)) {
      text += std::to_string(term.coefficient) + (term.factors.empty() ? "" : "*");
    }
    for (size_t i = 0; i < term.factors.size(); ++i) {
      text += (i ? "*" : "") + term.factors[i]->text;
    }
  }
  return text;
}

/// The factor that this size is; null: it is more or less than one.
const Factor *Size::single() const {
  bool one =
      sum && sum->terms.size() == 1 && sum->terms.front().coefficient == 1 && sum->terms.front().factors.size() == 1;
  return one ? sum->terms.front().factors.front() : nullptr;
}

std::optional<Symbol> Size::asSymbol() const {
  const Factor *factor = single();
  return factor ? factor->symbol : std::nullopt;
}

std::optional<std::pair<Size, Size>> Size::asCall(Call call) const {
  const Factor *f = single();
  return f && !f->symbol && f->call == call ? std::optional(std::pair(f->a, f->b)) : std::nullopt;
}

bool Size::isFound() const { return sum && sum->isFound; }
bool Size::divides() const { return sum && sum->divides; }

// Arithmetic.

Size operator+(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown()) {
    return Size::unknown();
  }
  if (!a.sum && !b.sum) {
    int64_t result;
    return __builtin_add_overflow(a.value, b.value, &result) ? Size::unknown() : Size(result);
  }
  if (a.is(0) || b.is(0)) {
    return a.is(0) ? b : a;
  }
  Polynomial result(a);
  for (const Term &term : Polynomial(b).terms) {
    if (!result.add(term.factors, term.coefficient)) {
      return Size::unknown();
    }
  }
  return result.size();
}

Size operator*(const Size &a, const Size &b) {
  if (a.is(0) || b.is(0)) {
    return 0;
  }
  if (a.isUnknown() || b.isUnknown()) {
    return Size::unknown();
  }
  if (a.is(1) || b.is(1)) {
    return a.is(1) ? b : a;
  }
  Polynomial x(a), y(b), result;
  for (const Term &s : x.terms) {
    for (const Term &t : y.terms) {
      int64_t coefficient;
      Factors factors(s.factors);
      factors.append(t.factors.begin(), t.factors.end());
      llvm::sort(factors, [](const Factor *f, const Factor *g) { return before(f, g); });
      if (__builtin_mul_overflow(s.coefficient, t.coefficient, &coefficient) || !result.add(factors, coefficient)) {
        return Size::unknown();
      }
    }
  }
  return result.size();
}

static int64_t floorOf(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

std::optional<Size> divideExactly(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown() || b.is(0)) {
    return std::nullopt;
  }
  if (b.isNumber()) {
    Polynomial quotient(a);
    for (Term &term : quotient.terms) {
      if (term.coefficient % b.number()) {
        return std::nullopt;
      }
      term.coefficient /= b.number();
    }
    return quotient.size();
  }
  // Long division by leading terms. The order need not be a good one: what comes out is exact or nothing.
  auto less = [](const Factor *f, const Factor *g) { return before(f, g); };
  Polynomial divisor(b), quotient;
  const Term &lead = divisor.terms.back();
  Size rest = a;
  for (size_t round = 0; !rest.is(0); ++round) {
    Term last = Polynomial(rest).terms.back(), term{{}, 0};
    bool divides =
        llvm::includes(last.factors, lead.factors, less) && last.coefficient % lead.coefficient == 0 && round < 64;
    if (!divides) {
      return std::nullopt;
    }
    std::set_difference(last.factors.begin(), last.factors.end(), lead.factors.begin(), lead.factors.end(),
                        std::back_inserter(term.factors), less);
    term.coefficient = last.coefficient / lead.coefficient;
    bool fits = quotient.add(term.factors, term.coefficient);
    rest = rest - Polynomial::of(term) * b;
    if (!fits || rest.isUnknown()) {
      return std::nullopt;
    }
  }
  return quotient.size();
}

Size floorDiv(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown() || b.is(0)) {
    return Size::unknown();
  }
  if (a.isNumber() && b.isNumber()) {
    return floorOf(a.number(), b.number());
  }
  if (auto exact = divideExactly(a, b)) {
    return *exact;
  }
  if (!b.isNumber()) {
    return Polynomial::of(Call::Div, a, b);
  }
  // floor((c * q + r) / c) = q + floor(r / c)
  int64_t c = b.number(), common = c;
  Polynomial whole, rest;
  for (const Term &term : Polynomial(a).terms) {
    int64_t q = floorOf(term.coefficient, c), r = term.coefficient - q * c;
    if (q) {
      whole.terms.push_back({term.factors, q});
    }
    if (r) {
      rest.terms.push_back({term.factors, r});
      common = std::gcd(common, r);
    }
  }
  Size behind = rest.size();
  if (behind.isNumber()) {
    return whole.size(); // 0 <= r < c
  }
  return whole.size() + Polynomial::of(Call::Div, *divideExactly(behind, common), c / common);
}

Size Size::call(Call call, const Size &a, const Size &b, const Facts &facts) {
  if (call == Call::Div) {
    return floorDiv(a, b);
  }
  if (call == Call::Broadcast || call == Call::Apart) {
    return call == Call::Apart ? apartCall(a, b) : broadcastCall(a, b, facts);
  }
  Size difference = a - b;
  if (difference.isUnknown()) {
    return unknown();
  }
  bool isMin = call == Call::Min;
  if (difference.atLeast(0, facts)) {
    return isMin ? b : a;
  }
  if ((b - a).atLeast(0, facts)) {
    return isMin ? a : b;
  }
  return a.text() < b.text() ? Polynomial::of(call, a, b) : Polynomial::of(call, b, a); // the same in either order
}
Size Size::call(Call call, const Size &a, const Size &b) { return Size::call(call, a, b, Facts()); }

/// What is broadcast here: the operands of calls in calls.
void Size::addBroadcast(Sizes &axes) const {
  const Factor *f = single();
  if (f && !f->symbol && f->call == Call::Broadcast) {
    f->a.addBroadcast(axes), f->b.addBroadcast(axes);
  } else if (!llvm::is_contained(axes, *this)) {
    axes.push_back(*this);
  }
}

Size Size::broadcastCall(const Size &a, const Size &b, const Facts &facts) {
  if (a.isUnknown() || b.isUnknown()) {
    return unknown();
  }
  if (a == b || a.is(1) || b.is(1)) {
    return a.is(1) ? b : a;
  }
  if (!a.mayBeOne(facts) || !b.mayBeOne(facts)) { // equal if neither can be 1: a number says most
    return a.mayBeOne(facts) || b.isNumber() ? b : a;
  }
  Sizes axes;
  a.addBroadcast(axes), b.addBroadcast(axes);
  llvm::sort(axes, [](const Size &x, const Size &y) { return x.text() < y.text(); });
  auto join = [](const Size &x, const Size &y) { return Polynomial::of(Call::Broadcast, x, y); };
  auto sameByFacts = [&](const Size &x, const Size &y) {
    return (x - y).atLeast(0, facts) && (y - x).atLeast(0, facts);
  };
  for (size_t i = 0; i < axes.size(); ++i) { // those that are no more than another one
    auto covers = [&](const Size &x) {
      return !(x == axes[i]) && sameByFacts(x.text() < axes[i].text() ? join(x, axes[i]) : join(axes[i], x), x);
    };
    if (llvm::any_of(axes, covers)) {
      axes.erase(axes.begin() + i--);
    }
  }
  Size all = axes.back();
  for (const Size &axis : llvm::drop_begin(llvm::reverse(axes))) {
    all = join(axis, all);
  }
  const Size *known = llvm::find_if(axes, [&](const Size &axis) { return sameByFacts(all, axis); });
  return known == axes.end() ? all : *known;
}

Size Size::apartCall(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown()) {
    return unknown();
  }
  Sizes x, y;
  a.addBroadcast(x), b.addBroadcast(y);
  auto covers = [](const Sizes &all, const Sizes &some) {
    return llvm::all_of(some, [&](const Size &axis) { return llvm::is_contained(all, axis); });
  };
  if (a.is(1) || b.is(1) || covers(x, y) || covers(y, x)) { // of what can be broadcast; that it can is said elsewhere
    return 0;
  }
  if (a.isNumber() && b.isNumber()) {
    return std::min({std::abs(a.number() - b.number()), std::abs(a.number() - 1), std::abs(b.number() - 1)});
  }
  return a.text() < b.text() ? Polynomial::of(Call::Apart, a, b) : Polynomial::of(Call::Apart, b, a);
}

bool same(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b) {
  return llvm::equal(a, b, [](const Size &x, const Size &y) { return same(x, y); });
}

Size product(llvm::ArrayRef<Size> sizes) {
  Size n = 1;
  for (const Size &s : sizes) {
    n = n * s;
  }
  return n;
}

// Facts.

std::optional<Symbol> boundedSymbol(const Size &fact) {
  std::optional<Symbol> bounded;
  fact.eachSymbol([&](Symbol symbol) {
    if (symbol.isFound() && !(fact + symbol).mentions(symbol)) {
      bounded = symbol;
    }
  });
  return bounded;
}

Facts::Facts(llvm::ArrayRef<Size> sizes) {
  if (sizes.empty()) {
    return;
  }
  Sizes others;
  Bounds bounds;
  for (const Size &fact : sizes) {
    std::optional<Symbol> symbol = boundedSymbol(fact);
    if (!symbol || !bounds.try_emplace(*symbol, fact + *symbol).second) {
      others.push_back(fact);
    }
  }
  auto fill = [&](FactsNode &made) {
    made.all.assign(sizes.begin(), sizes.end());
    made.others = std::move(others);
    made.bounds = std::move(bounds);
  };
  node = unique<FactsNode>(Nodes::all().facts, fill, sizes);
}

llvm::ArrayRef<Size> Facts::sizes() const { return node ? llvm::ArrayRef<Size>(node->all) : llvm::ArrayRef<Size>(); }

const Bounds &Facts::bounds() const {
  static const Bounds none;
  return node ? node->bounds : none;
}

Facts Facts::with(llvm::ArrayRef<Size> more) const {
  Sizes all(sizes());
  llvm::append_range(all, more);
  return Facts(all);
}

Size Size::simplified(const Facts &facts) const {
  if (!facts.node || !sum || !sum->chooses) {
    return *this;
  }
  {
    std::lock_guard lock(facts.node->mutex);
    if (auto it = facts.node->simplified.find(sum); it != facts.node->simplified.end()) {
      return it->second;
    }
  }
  auto call = [&](Call which, const Size &a, const Size &b) { return Size::call(which, a, b, facts); };
  Size result = compute<Size>({[](Symbol symbol) { return Size(symbol); }, call});
  std::lock_guard lock(facts.node->mutex);
  return facts.node->simplified[sum] = result;
}

// Questions.

bool Size::atLeast(int64_t n) const {
  return provably(n) || (isFound() && provablyThroughMin(n, 2)) || provablyThroughDiv(n, 2);
}

bool Size::atLeast(int64_t n, const Facts &facts) const {
  if (atLeast(n)) {
    return true;
  }
  if (!facts.node || !sum || isUnknown()) {
    return false;
  }
  if (isFound() && !facts.bounds().empty() && least(facts.bounds()).provably(n)) {
    return true;
  }
  return llvm::any_of(facts.node->others, [&](const Size &fact) { return (*this - fact).provably(n); });
}

bool Size::repeats(const Facts &facts) const { return isNumber() ? is(1) : (Size(1) - *this).atLeast(0, facts); }
bool Size::repeats() const { return repeats(Facts()); }

bool Size::mayBeOne(const Facts &facts) const {
  if (isUnknown() || isNumber()) {
    return !isNumber() || value == 1;
  }
  int64_t common = 0;
  for (const Term &term : sum->terms) {
    common = std::gcd(common, term.coefficient);
  }
  return common == 1 && !atLeast(2, facts);
}
bool Size::mayBeOne() const { return mayBeOne(Facts()); }

bool Size::mentions(Symbol symbol) const {
  bool any = false;
  eachSymbol([&](Symbol other) { any |= other == symbol; });
  return any;
}

/// With a minimum that is taken away replaced by either of its arguments, which only takes away more.
bool Size::provablyThroughMin(int64_t n, unsigned depth) const {
  if (!sum || sum->terms.size() > 8) { // each may be replaced: not for long sums
    return false;
  }
  for (const Term &term : sum->terms) {
    bool less = term.coefficient < 0 && term.factors.size() == 1;
    const Factor *f = less ? term.factors.front() : nullptr;
    if (!f || f->symbol || f->call != Call::Min) {
      continue;
    }
    for (const Size &argument : {f->a, f->b}) {
      Size rest = *this + Size(term.coefficient) * (argument - Polynomial::of(f));
      if (rest.provably(n) || (depth > 1 && rest.provablyThroughMin(n, depth - 1))) {
        return true;
      }
    }
  }
  return false;
}

/// With a division by a number, of which there is a multiple, replaced by what that cannot be less than: c * div(a, c)
/// is from a - c + 1 to a.
bool Size::provablyThroughDiv(int64_t n, unsigned depth) const {
  if (!sum || !sum->divides || sum->terms.size() > 8) {
    return false;
  }
  for (const Term &term : sum->terms) {
    const Factor *f = term.factors.size() == 1 ? term.factors.front() : nullptr;
    bool divides = f && !f->symbol && f->call == Call::Div && f->b.isNumber() && f->b.number() > 0;
    if (!divides || term.coefficient % f->b.number()) {
      continue;
    }
    Size end = term.coefficient < 0 ? f->a : f->a - f->b + 1;
    Size less = *this + Size(term.coefficient / f->b.number()) * end - Polynomial::of(term);
    if (less.provably(n) || (depth > 1 && less.provablyThroughDiv(n, depth - 1))) {
      return true;
    }
  }
  return false;
}

/// A size that is not more than this one: what is taken away at its most.
Size Size::least(const Bounds &bounds) const {
  Size result;
  for (const Term &each : Polynomial(*this).terms) {
    Size term = Polynomial::of(each);
    result = result + (each.coefficient < 0 && term.isFound() ? Size(-1) * (Size(-1) * term).bounded(bounds) : term);
  }
  return result;
}

/// bounded() of one factor; in a product (not alone) it must not be negative.
Size Size::factorBounded(const Factor &f, const Bounds &bounds, bool alone) {
  if (f.symbol) {
    auto bound = bounds.find(*f.symbol);
    return !f.isFound ? Size(*f.symbol) : bound == bounds.end() ? Size::unknown() : bound->second.bounded(bounds);
  }
  if (!alone && !f.natural) {
    return Size::unknown();
  }
  Size a = f.a.bounded(bounds), b = f.b.bounded(bounds);
  if (f.call == Call::Div) { // by one at least
    return !f.b.isFound() ? floorDiv(a, b) : f.a.provably(0) ? a : Size::unknown();
  }
  if (f.call == Call::Min) {
    return a.isUnknown() ? b : b.isUnknown() ? a : min(a, b);
  }
  return max(a, b);
}

Size Size::bounded(const Bounds &bounds) const {
  if (!isFound()) {
    return *this;
  }
  Size result;
  for (const Term &each : sum->terms) {
    Size term = Polynomial::of(Term{each.factors, std::abs(each.coefficient)});
    if (!term.isFound()) {
      result = result + (each.coefficient < 0 ? Size(-1) * term : term);
      continue;
    }
    if (each.coefficient < 0) { // at least nothing is taken away
      result = result + (term.provably(0) ? Size(0) : unknown());
      continue;
    }
    Size most = each.coefficient;
    for (const Factor *f : each.factors) {
      most = most * factorBounded(*f, bounds, each.factors.size() == 1);
    }
    result = result + most;
  }
  return result;
}

Size Size::replaced(llvm::function_ref<Size(Symbol)> symbol) const {
  auto call = [](Call which, const Size &a, const Size &b) { return Size::call(which, a, b); };
  return sum && !isUnknown() ? compute<Size>({symbol, call}) : *this;
}
Size Size::replaced(Symbol symbol, const Size &by) const {
  return mentions(symbol) ? replaced([&](Symbol other) { return other == symbol ? by : Size(other); }) : *this;
}

/// `within`: the kind of call that this is an argument of, if any. What is at least a minimum says nothing about what
/// it is the maximum of.
void Size::collectImplied(const Size &other, std::optional<Call> within, Sizes &facts) const {
  const Factor *f = single();
  if (!f || f->symbol || f->call == Call::Div || f->call == Call::Apart || (within && f->call != *within)) {
    return;
  }
  if (f->call == Call::Broadcast) {
    facts.append({*this - other, other - *this});
    return;
  }
  for (const Size &argument : {f->a, f->b}) { // each is at least the minimum, at most the maximum
    Size rest = f->call == Call::Min ? argument - other : other - argument;
    if (!rest.isNumber()) {
      facts.push_back(rest);
    }
    argument.collectImplied(other, f->call, facts);
  }
}

Sizes implied(const Size &a, const Size &b) {
  Sizes facts;
  a.collectImplied(b, std::nullopt, facts);
  b.collectImplied(a, std::nullopt, facts);
  return facts;
}

/// A number that the size cannot exceed.
std::optional<int64_t> Size::most() const {
  if (isNumber()) {
    return number();
  }
  bool one = sum->terms.size() == 1 && sum->terms.front().coefficient > 0 && sum->terms.front().factors.size() == 1;
  const Factor *f = one ? sum->terms.front().factors.front() : nullptr;
  if (!f || f->symbol || f->call == Call::Div) {
    return std::nullopt;
  }
  std::optional<int64_t> a = f->a.most(), b = f->b.most(), bound;
  if (f->call == Call::Min) {
    bound = a && b ? std::min(*a, *b) : a ? a : b;
  } else if (a && b) {
    bound = std::max(*a, *b);
  }
  int64_t product;
  bool fits = bound && !__builtin_mul_overflow(*bound, sum->terms.front().coefficient, &product);
  return fits ? std::optional(product) : std::nullopt;
}

bool Size::provably(int64_t n) const {
  if (isNumber()) {
    return value >= n;
  }
  if (isUnknown()) {
    return false;
  }
  int64_t least = 0;
  for (const Term &term : sum->terms) {
    if (term.factors.empty()) {
      least += term.coefficient;
      continue;
    }
    if (term.coefficient < 0) {
      std::optional<int64_t> bound = Polynomial::of(Term{term.factors, -term.coefficient}).most();
      if (!bound || __builtin_sub_overflow(least, *bound, &least)) {
        return false;
      }
      continue;
    }
    if (!llvm::all_of(term.factors, [](const Factor *f) { return f->natural; })) {
      return false;
    }
  }
  return least >= n;
}

void Size::eachFactor(llvm::function_ref<void(const Factor &)> f) const {
  if (!sum) {
    return;
  }
  for (const Term &term : sum->terms) {
    for (const Factor *factor : term.factors) {
      f(*factor);
      factor->a.eachFactor(f); // of a symbol they are 0
      factor->b.eachFactor(f);
    }
  }
}

void Size::eachSymbol(llvm::function_ref<void(Symbol)> f) const {
  eachFactor([&](const Factor &factor) {
    if (factor.symbol) {
      f(*factor.symbol);
    }
  });
}

void Size::eachCall(llvm::function_ref<void(Call, const Size &, const Size &)> f) const {
  eachFactor([&](const Factor &factor) {
    if (!factor.symbol) {
      f(factor.call, factor.a, factor.b);
    }
  });
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

std::optional<int64_t> Size::evaluate(llvm::function_ref<std::optional<int64_t>(Symbol)> symbol) const {
  if (isUnknown()) {
    return std::nullopt;
  }
  auto call = [](Call which, Checked a, Checked b) {
    if (!a.v || !b.v || (which == Call::Div && *b.v == 0)) {
      return Checked(std::nullopt);
    }
    return Checked(which == Call::Div   ? floorOf(*a.v, *b.v)
                   : which == Call::Min ? std::min(*a.v, *b.v)
                                        : std::max(*a.v, *b.v));
  };
  auto value = [&](Symbol s) { return Checked(symbol(s)); };
  return compute<Checked>({value, call}).v;
}

// Text.

namespace {
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
    for (Call call : {Call::Div, Call::Min, Call::Max, Call::Broadcast, Call::Apart}) {
      if (word == nameOf(call)) {
        return Size::call(call, a, b);
      }
    }
    ok = false;
    return 0;
  }
};
} // namespace

std::optional<Size> Size::parse(StringRef text) { return SizeParser(text).all(); }

} // namespace ingot::support
