#include "compiler/support/SizeRange.h"
#include <algorithm>

namespace ingot::support {
namespace {

using End = std::optional<int64_t>;

/// Returns the sum of two ends; open where one is, or on overflow.
End plus(End a, End b) {
  int64_t sum;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? End(sum) : std::nullopt;
}
/// Returns the product of two ends; open where one is, or on overflow.
End times(End a, End b) {
  int64_t product;
  return a && b && !__builtin_mul_overflow(*a, *b, &product) ? End(product) : std::nullopt;
}
int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// A range as a type for Size::compute().
struct Interval : Range {
  explicit Interval(int64_t number) : Range{number, number} {}
  explicit Interval(Range range) : Range(range) {}
};

Interval operator+(const Interval &a, const Interval &b) {
  return Interval(Range{plus(a.least, b.least), plus(a.most, b.most)});
}

Interval operator*(const Interval &a, const Interval &b) {
  if (a.least && b.least && *a.least >= 0 && *b.least >= 0) { // without negative numbers an open end stays an open end
    return Interval(Range{times(a.least, b.least), times(a.most, b.most)});
  }
  for (auto [number, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (number->least && number->least == number->most && *number->least < 0) {
      return Interval(Range{times(number->least, other->most), times(number->least, other->least)});
    }
  }
  Range range;
  bool first = true;
  for (End x : {a.least, a.most}) {
    for (End y : {b.least, b.most}) {
      End product = times(x, y);
      if (!product) {
        return Interval(Range{});
      }
      range = first ? Range{product, product} : Range{std::min(range.least, product), std::max(range.most, product)};
      first = false;
    }
  }
  return Interval(range);
}

/// Returns the range of a / b for all b that are at least 1.
Interval quotient(const Interval &a, const Interval &b) {
  int64_t from = std::max<int64_t>(b.least.value_or(1), 1);
  End to = b.most ? End(std::max(*b.most, from)) : std::nullopt;
  auto by = [&](End x, bool upwards) -> End { // returns the end of x / b that is furthest in a direction
    if (!x) {
      return std::nullopt;
    }
    // Dividing by a small number brings a positive number up and a negative one down.
    bool nearest = (*x < 0) != upwards;
    return nearest ? floorOf(*x, from) : to ? floorOf(*x, *to) : *x < 0 ? -1 : 0;
  };
  return Interval(Range{by(a.least, false), by(a.most, true)});
}

/// Returns the range of a minimum (`least`) or maximum. An open end of one operand need not make the result's open.
Interval choice(bool least, const Interval &a, const Interval &b) {
  auto both = [](End x, End y, bool low) { return x && y ? End(low ? std::min(*x, *y) : std::max(*x, *y)) : End(); };
  auto any = [](End x, End y, bool low) { return x && y ? End(low ? std::min(*x, *y) : std::max(*x, *y)) : x ? x : y; };
  return least ? Interval(Range{both(a.least, b.least, true), any(a.most, b.most, true)})
               : Interval(Range{any(a.least, b.least, false), both(a.most, b.most, false)});
}

/// An interval, and whether every step on the way to it was safe.
struct Steps {
  Interval interval;
  bool safe;
  explicit Steps(int64_t number) : Steps(Interval(number), true) {}
  Steps(const Interval &result, bool before)
      : interval(result), safe(before && fits(result.least) && fits(result.most)) {}

private:
  static bool fits(End end) {
    constexpr int64_t most = int64_t(1) << 62;
    return end && *end > -most && *end < most;
  }
};

Steps operator+(const Steps &a, const Steps &b) { return {a.interval + b.interval, a.safe && b.safe}; }
Steps operator*(const Steps &a, const Steps &b) { return {a.interval * b.interval, a.safe && b.safe}; }

} // namespace

std::optional<Range> safeRangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol) {
  if (size.isUnknown()) {
    return std::nullopt;
  }
  auto leaf = [&](Symbol name) { return Steps(Interval(symbol(name)), true); };
  auto call = [](Call which, const Steps &a, const Steps &b) {
    bool safe = a.safe && b.safe && (which != Call::Div || *b.interval.least >= 1);
    return which == Call::Div ? Steps(quotient(a.interval, b.interval), safe)
                              : Steps(choice(which == Call::Min, a.interval, b.interval), safe);
  };
  Steps steps = size.compute<Steps>({leaf, call});
  return steps.safe ? std::optional<Range>(steps.interval) : std::nullopt;
}

Range rangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol) {
  if (size.isUnknown()) {
    return {};
  }
  auto leaf = [&](Symbol name) { return Interval(symbol(name)); };
  auto call = [](Call which, Interval a, Interval b) {
    return which == Call::Div ? quotient(a, b) : choice(which == Call::Min, a, b);
  };
  return size.compute<Interval>({leaf, call});
}

} // namespace ingot::support
