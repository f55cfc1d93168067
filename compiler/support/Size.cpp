// Does arithmetic on sizes. Every result is in the normal form, and holds whatever the symbols are.
#include "compiler/support/SizeNodes.h"
#include <numeric>

namespace ingot::support {

using detail::Factor;
using detail::Factors;
using detail::Term;

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

/// Returns a / b, rounded down.
static int64_t floorOf(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

std::optional<Size> divideExactly(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown() || b.is(0)) {
    return std::nullopt;
  }
  if (b.isNumber()) {
    if (b.is(-1)) { // the smallest number has no quotient
      Size minus = Size(-1) * a;
      return minus.isUnknown() ? std::nullopt : std::optional(minus);
    }
    Polynomial quotient(a);
    for (Term &term : quotient.terms) {
      if (term.coefficient % b.number()) {
        return std::nullopt;
      }
      term.coefficient /= b.number();
    }
    return quotient.size();
  }
  // This is long division by leading terms. Their order need not be a good one: the result is exact or nothing.
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
  if (b.is(-1)) {
    return Size(-1) * a;
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
    return whole.size(); // 0 <= r < c, so the rest adds nothing
  }
  return whole.size() + Polynomial::of(Call::Div, *divideExactly(behind, common), c / common);
}

/// Returns the call of `call` that a size is; null where it is something else.
static const Factor *asCall(const Size &size, Call call) {
  Polynomial p(size);
  bool isFactor = p.terms.size() == 1 && p.terms[0].coefficient == 1 && p.terms[0].factors.size() == 1;
  const Factor *f = isFactor ? p.terms[0].factors[0] : nullptr;
  return f && !f->symbol && f->call == call ? f : nullptr;
}

/// Returns whether a <= b holds whatever the symbols are, as far as their difference says it, or the operands of calls:
/// min(x, y) <= x <= max(x, z). Calls within more than `depth` others are not looked into, since each doubles the
/// comparisons.
static bool isAtMost(const Size &a, const Size &b, const Facts &facts, int depth = 3) {
  if ((b - a).atLeast(0, facts)) {
    return true;
  }
  if (depth == 0) {
    return false;
  }
  auto below = [&](const Size &operand) { return isAtMost(operand, b, facts, depth - 1); };
  auto above = [&](const Size &operand) { return isAtMost(a, operand, facts, depth - 1); };
  const Factor *least = asCall(a, Call::Min), *most = asCall(b, Call::Max);
  const Factor *both = asCall(a, Call::Max), *all = asCall(b, Call::Min);
  return (least && (below(least->a) || below(least->b))) || (both && below(both->a) && below(both->b)) ||
         (most && (above(most->a) || above(most->b))) || (all && above(all->a) && above(all->b));
}

Size Size::call(Call call, const Size &a, const Size &b, const Facts &facts) {
  if (call == Call::Div) {
    return floorDiv(a, b);
  }
  if (call == Call::Broadcast || call == Call::Mismatch) {
    return call == Call::Mismatch ? mismatchCall(a, b) : broadcastCall(a, b, facts);
  }
  Size difference = a - b;
  if (difference.isUnknown()) {
    return unknown();
  }
  bool isMin = call == Call::Min;
  if (isAtMost(b, a, facts)) {
    return isMin ? b : a;
  }
  if (isAtMost(a, b, facts)) {
    return isMin ? a : b;
  }
  // The operands have one order, so that min(a, b) and min(b, a) are one size.
  return a.text() < b.text() ? Polynomial::of(call, a, b) : Polynomial::of(call, b, a);
}
Size Size::call(Call call, const Size &a, const Size &b) { return Size::call(call, a, b, Facts()); }

/// Adds the axes that are broadcast in this size, the operands of nested calls included.
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
  // They are equal if neither can be 1, and a number says more than an expression.
  if (!a.mayBeOne(facts) || !b.mayBeOne(facts)) {
    return a.mayBeOne(facts) || b.isNumber() ? b : a;
  }
  Sizes axes;
  a.addBroadcast(axes), b.addBroadcast(axes);
  llvm::sort(axes, [](const Size &x, const Size &y) { return x.text() < y.text(); });
  auto join = [](const Size &x, const Size &y) { return Polynomial::of(Call::Broadcast, x, y); };
  auto sameByFacts = [&](const Size &x, const Size &y) {
    return (x - y).atLeast(0, facts) && (y - x).atLeast(0, facts);
  };
  for (size_t i = 0; i < axes.size(); ++i) { // removes axes that say no more than another one
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

Size Size::mismatchCall(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown()) {
    return unknown();
  }
  Sizes x, y;
  a.addBroadcast(x), b.addBroadcast(y);
  auto covers = [](const Sizes &all, const Sizes &some) {
    return llvm::all_of(some, [&](const Size &axis) { return llvm::is_contained(all, axis); });
  };
  // These can be broadcast: that of calls in the operands is checked elsewhere.
  if (a.is(1) || b.is(1) || covers(x, y) || covers(y, x)) {
    return 0;
  }
  if (a.isNumber() && b.isNumber()) {
    return std::min({std::abs(a.number() - b.number()), std::abs(a.number() - 1), std::abs(b.number() - 1)});
  }
  return a.text() < b.text() ? Polynomial::of(Call::Mismatch, a, b) : Polynomial::of(Call::Mismatch, b, a);
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

// Sizes with other symbols, and with numbers

Size Size::replaced(llvm::function_ref<Size(Symbol)> symbol) const {
  auto call = [](Call which, const Size &a, const Size &b) { return Size::call(which, a, b); };
  return sum && !isUnknown() ? compute<Size>({symbol, call}) : *this;
}
Size Size::replaced(Symbol symbol, const Size &by) const {
  return mentions(symbol) ? replaced([&](Symbol other) { return other == symbol ? by : Size(other); }) : *this;
}

namespace {
/// A number, or nothing once a step overflowed or had no answer.
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
    if (!a.v || !b.v || (which == Call::Div && (*b.v == 0 || (*a.v == INT64_MIN && *b.v == -1)))) {
      return Checked(std::nullopt);
    }
    return Checked(which == Call::Div   ? floorOf(*a.v, *b.v)
                   : which == Call::Min ? std::min(*a.v, *b.v)
                                        : std::max(*a.v, *b.v));
  };
  auto value = [&](Symbol s) { return Checked(symbol(s)); };
  return compute<Checked>({value, call}).v;
}

} // namespace ingot::support
