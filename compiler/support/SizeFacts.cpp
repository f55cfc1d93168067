// Represents what is known of sizes, and proves what follows from it. Proofs are incomplete on purpose: each looks at
// the signs of a sum's terms, a few steps deep, so that a question costs little.
#include "compiler/support/SizeNodes.h"
#include <numeric>

namespace ingot::support {

using detail::Factor;
using detail::FactsNode;
using detail::Nodes;
using detail::Sum;
using detail::Term;
using detail::unique;

// Facts

std::optional<Symbol> boundedSymbol(const Size &fact) {
  std::optional<Symbol> bounded;
  fact.eachSymbol([&](Symbol symbol) {
    if (symbol.isDataDependent() && !(fact + symbol).mentions(symbol)) {
      bounded = symbol;
    }
  });
  return bounded;
}

/// Returns whether a term is a product of data-dependent symbols alone, $1*$2.
static bool isDataDependentProduct(const Term &term) {
  return term.factors.size() > 1 &&
         llvm::all_of(term.factors, [](const Factor *f) { return f->symbol && f->isDataDependent; });
}

/// Returns the product that a fact bounds, $1*$2 of "BOUND-$1*$2"; 0 where it bounds none.
static Size boundedProduct(const Size &fact) {
  for (const Term &term : Polynomial(fact).terms) {
    Size product = Polynomial::of({term.factors, 1});
    if (term.coefficient == -1 && isDataDependentProduct(term) && !(fact + product).isDataDependent()) {
      return product;
    }
  }
  return 0;
}

/// Returns whether the bound of a size depends, through other bounds, on the symbol: sizes that bound each other bound
/// none.
static bool dependsOn(const Size &size, Symbol symbol, const Bounds &bounds) {
  Sizes open = {size};
  std::vector<Symbol> seen;
  while (!open.empty()) {
    Size next = open.pop_back_val();
    next.eachSymbol([&](Symbol inner) {
      auto bound = bounds.find(inner);
      if (bound != bounds.end() && !llvm::is_contained(seen, inner)) {
        seen.push_back(inner);
        open.push_back(bound->second);
      }
    });
    if (next.mentions(symbol)) {
      return true;
    }
  }
  return false;
}

Facts::Facts(llvm::ArrayRef<Size> sizes) {
  if (sizes.empty()) {
    return;
  }
  auto fill = [&](FactsNode &made) {
    made.all.assign(sizes.begin(), sizes.end());
    for (const Size &fact : sizes) {
      std::optional<Symbol> symbol = boundedSymbol(fact);
      if (Size product = boundedProduct(fact); !product.is(0)) {
        made.bounds.products.emplace_back(product, fact + product);
      }
      bool isBound = symbol && !made.bounds.count(*symbol) && !dependsOn(fact + *symbol, *symbol, made.bounds);
      if (isBound) {
        made.bounds.try_emplace(*symbol, fact + *symbol);
      } else {
        made.others.push_back(fact);
      }
    }
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

// Questions

bool Size::atLeast(int64_t n) const {
  return provably(n) || (isDataDependent() && provablyThroughMin(n, 2)) || provablyThroughDiv(n, 2);
}

bool Size::atLeast(int64_t n, const Facts &facts) const {
  if (atLeast(n)) {
    return true;
  }
  if (!facts.node || !sum || isUnknown()) {
    return false;
  }
  if (isDataDependent() && !facts.bounds().empty() && least(facts.bounds()).provably(n)) {
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

/// Tries to prove that the size is at least `n`, with a minimum that is subtracted replaced by either of its arguments,
/// which only subtracts more. At most `depth` minima are replaced.
bool Size::provablyThroughMin(int64_t n, unsigned depth) const {
  if (!sum || sum->terms.size() > 8) { // each may be replaced, so long sums would take too long
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

/// Tries to prove that the size is at least `n`, with a multiple of c of a quotient by a number c replaced by the least
/// that it can be: c * div(a, c) is from a - c + 1 to a. At most `depth` quotients are replaced.
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

/// Returns a size that is not more than this one: what is subtracted is replaced by its bounds.
Size Size::least(const Bounds &bounds) const {
  Size result;
  for (const Term &each : Polynomial(*this).terms) {
    Size term = Polynomial::of(each);
    result =
        result + (each.coefficient < 0 && term.isDataDependent() ? Size(-1) * (Size(-1) * term).bounded(bounds) : term);
  }
  return result;
}

/// Returns bounded() of one factor. In a product, where it is not `alone`, the factor must not be negative.
Size Size::factorBounded(const Factor &f, const Bounds &bounds, bool alone) {
  if (f.symbol) {
    auto bound = bounds.find(*f.symbol);
    return !f.isDataDependent      ? Size(*f.symbol)
           : bound == bounds.end() ? Size::unknown()
                                   : bound->second.bounded(bounds);
  }
  if (!alone && !f.natural) {
    return Size::unknown();
  }
  Size a = f.a.bounded(bounds), b = f.b.bounded(bounds);
  if (f.call == Call::Div) { // the divisor is at least one
    return !f.b.isDataDependent() ? floorDiv(a, b) : f.a.provably(0) ? a : Size::unknown();
  }
  if (f.call == Call::Min) {
    return a.isUnknown() ? b : b.isUnknown() ? a : min(a, b);
  }
  return max(a, b);
}

/// Returns bounded() of a product with a positive coefficient. Products that are bounded as a whole come first.
Size Size::productBounded(const Term &term, const Bounds &bounds) {
  Size most = term.coefficient;
  llvm::SmallVector<const Factor *, 4> left(term.factors.begin(), term.factors.end());
  for (const auto &[product, bound] : bounds.products) {
    detail::Factors known = Polynomial(product).terms.front().factors;
    auto inOrder = [](const Factor *a, const Factor *b) { return before(a, b); };
    if (std::includes(left.begin(), left.end(), known.begin(), known.end(), inOrder)) {
      for (const Factor *f : known) {
        left.erase(llvm::find(left, f));
      }
      most = most * bound;
    }
  }
  for (const Factor *f : left) {
    most = most * factorBounded(*f, bounds, term.factors.size() == 1);
  }
  return most;
}

Size Size::bounded(const Bounds &bounds) const {
  if (!isDataDependent()) {
    return *this;
  }
  Size result;
  for (const Term &each : sum->terms) {
    Size term = Polynomial::of(Term{each.factors, std::abs(each.coefficient)});
    if (!term.isDataDependent()) {
      result = result + (each.coefficient < 0 ? Size(-1) * term : term);
      continue;
    }
    if (each.coefficient < 0) { // at least nothing is subtracted
      result = result + (term.provably(0) ? Size(0) : unknown());
      continue;
    }
    result = result + productBounded(each, bounds);
  }
  return result;
}

/// Adds what follows from the equality of this size and `other`. `within` is the kind of call that this size is an
/// argument of, if any: what is at least a minimum says nothing about the arguments of a maximum in it.
void Size::collectImplied(const Size &other, std::optional<Call> within, Sizes &facts) const {
  const Factor *f = single();
  if (!f || f->symbol || f->call == Call::Div || f->call == Call::Mismatch || (within && f->call != *within)) {
    return;
  }
  if (f->call == Call::Broadcast) {
    facts.append({*this - other, other - *this});
    return;
  }
  for (const Size &argument : {f->a, f->b}) { // each is at least the minimum, and at most the maximum
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
  for (const Size &fact : {a - b, b - a}) {
    if (!boundedProduct(fact).is(0)) {
      facts.push_back(fact);
    }
  }
  return facts;
}

/// Returns a number that the size cannot exceed, if there is one.
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

} // namespace ingot::support
