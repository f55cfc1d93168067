// Expands rounding to whole numbers for machines without an instruction for it. Numbers below 2^23 (f32) or 2^52 (f64),
// from which on all are whole, lose their fraction in a sum with that power of two. The sign of a zero is that of the
// operand, and NaN stays.
#include "compiler/emit/math/Functions.h"

using namespace mlir;
using ingot::emit::FloatBuilder;

/// Returns |x| rounded to the nearest whole number, and to the even one of two.
static Value roundedMagnitude(const FloatBuilder &f, Value x) {
  double whole = f.isDouble() ? 0x1p52 : 0x1p23;
  Value magnitude = f.abs(x);
  Value rounded = f.sub(f.add(magnitude, whole), f.constant(whole));
  return f.select(f.less(magnitude, whole), rounded, magnitude);
}

/// Returns |x| without its fraction.
static Value wholeMagnitude(const FloatBuilder &f, Value x) {
  Value rounded = roundedMagnitude(f, x);
  return f.select(f.less(f.abs(x), rounded), f.sub(rounded, f.constant(1.0)), rounded);
}

Value ingot::emit::expandRoundEven(const FloatBuilder &f, Value x) { return f.copySign(roundedMagnitude(f, x), x); }

Value ingot::emit::expandTrunc(const FloatBuilder &f, Value x) { return f.copySign(wholeMagnitude(f, x), x); }

Value ingot::emit::expandFloor(const FloatBuilder &f, Value x) {
  Value rounded = expandRoundEven(f, x);
  return f.copySign(f.select(f.less(x, rounded), f.sub(rounded, f.constant(1.0)), rounded), x);
}

Value ingot::emit::expandCeil(const FloatBuilder &f, Value x) {
  Value rounded = expandRoundEven(f, x);
  return f.copySign(f.select(f.less(rounded, x), f.add(rounded, 1.0), rounded), x);
}

/// Halves are rounded away from zero.
Value ingot::emit::expandRound(const FloatBuilder &f, Value x) {
  Value whole = wholeMagnitude(f, x), isLess = f.less(f.sub(f.abs(x), whole), 0.5);
  Value away = f.select(f.isNaN(x), whole, f.add(whole, 1.0));
  return f.copySign(f.select(isLess, whole, away), x);
}
