// Has the arithmetic of emit(): numbers that are all scalars or all vectors of one length, floats or integers, written
// as formulas. Floats narrower than 32 bits are computed in float32, integers below a byte in one byte: their values
// have these types (valueType() in ElementTypes.h).
//   Num n(b, getLoc(), x[0], elementOf(getX()));
//   return n / (1.0 + exp(-n));
#pragma once
#include "compiler/onnx/ElementTypes.h"
#include "compiler/support/Number.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace ingot::onnx {

using support::Number;

/// Returns the number as a constant of a scalar's type, or in all lanes of a vector's: of a float type the nearest one,
/// of an integer type its low bits. A fraction for an integer type ends the compiler.
mlir::TypedAttr constantOfType(mlir::Type type, const Number &number);

/// A value, with the sign that its signless type does not have. Results of comparisons are booleans (i1).
class Num {
public:
  /// `element` is the tensor's element type, which tells unsigned integers and booleans.
  Num(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type element)
      : b(&b), loc(loc), v(v), isUnsigned(element.isUnsignedInteger() || onnx::isBool(element)) {}

  operator mlir::Value() const { return v; }
  mlir::OpBuilder &builder() const { return *b; }
  mlir::Location where() const { return loc; }
  bool unsignedInteger() const { return isUnsigned; }
  bool isFloat() const;
  bool isBool() const;
  unsigned width() const;              ///< bits of an element
  Num like(mlir::Value other) const;   ///< another value with the sign of this one
  Num constant(const Number &c) const; ///< a constant of this type
  /// Casts as ONNX does. With `saturate`, finite numbers and infinities that are too large for a float of 8 bits become
  /// its largest number.
  Num to(mlir::Type element, bool saturate = false) const;
  std::optional<Number> known() const; ///< the value of all lanes, where it is a constant

private:
  mlir::OpBuilder *b;
  mlir::Location loc;
  mlir::Value v;
  bool isUnsigned;
};

Num operator+(Num a, Num c);
Num operator-(Num a, Num c);
Num operator*(Num a, Num c);
Num operator/(Num a, Num c); ///< integers truncate; by zero gives anything, but no trap
Num operator-(Num a);
Num truncatedRemainder(Num a, Num c); ///< as in C: the sign is the dividend's
Num floorRemainder(Num a, Num c);     ///< as in Python: the sign is the divisor's

inline Num operator+(Num a, const Number &c) { return a + a.constant(c); }
inline Num operator+(const Number &c, Num a) { return a + c; }
inline Num operator-(Num a, const Number &c) { return a - a.constant(c); }
inline Num operator-(const Number &c, Num a) { return a.constant(c) - a; }
inline Num operator*(Num a, const Number &c) { return a * a.constant(c); }
inline Num operator*(const Number &c, Num a) { return a * c; }
inline Num operator/(Num a, const Number &c) { return a / a.constant(c); }
inline Num operator/(const Number &c, Num a) { return a.constant(c) / a; }

Num operator==(Num a, Num c); ///< comparisons with NaN are false
Num operator!=(Num a, Num c); ///< this one is true for NaN
Num operator<(Num a, Num c);
Num operator<=(Num a, Num c);
inline Num operator>(Num a, Num c) { return c < a; }
inline Num operator>=(Num a, Num c) { return c <= a; }
inline Num operator==(Num a, const Number &c) { return a == a.constant(c); }
inline Num operator!=(Num a, const Number &c) { return a != a.constant(c); }
inline Num operator<(Num a, const Number &c) { return a < a.constant(c); }
inline Num operator>(Num a, const Number &c) { return a > a.constant(c); }

Num operator&(Num a, Num c);
Num operator|(Num a, Num c);
Num operator^(Num a, Num c);
Num operator~(Num a);
// Shift bits; by less than 0, or by the width and more, the result is what is left when all bits have gone.
Num shiftLeft(Num a, Num by);
Num shiftRight(Num a, Num by); ///< keeps the sign of signed numbers

Num select(Num condition, Num a, Num c);
Num maximum(Num a, Num c); ///< NaN when either is NaN
Num minimum(Num a, Num c);
/// Returns the larger of x and `low`, and x when it is NaN: one instruction on most machines, which maximum() is not.
Num atLeast(Num x, Num low);
Num atMost(Num x, Num high);
inline Num atLeast(Num x, const Number &low) { return atLeast(x, x.constant(low)); }
inline Num atMost(Num x, const Number &high) { return atMost(x, x.constant(high)); }

/// Magnitudes of floats rounded to powers of two, as float8e8m0 has them: 2^-127 at least; infinities become NaN.
enum class PowerRounding { Up, Down, Nearest };
Num roundedToPower(Num x, PowerRounding how, bool saturate);

Num abs(Num x);
Num isNaN(Num x);
Num power(Num base, Num exponent); ///< of base's type; small constant exponents become products and roots

// These are for floats.
#define INGOT_MATH_FUNCTIONS(X)                                                                                        \
  X(exp, Exp)                                                                                                          \
  X(log, Log)                                                                                                          \
  X(log1p, Log1p)                                                                                                      \
  X(sqrt, Sqrt)                                                                                                        \
  X(erf, Erf)                                                                                                          \
  X(erfc, Erfc)                                                                                                        \
  X(floor, Floor)                                                                                                      \
  X(ceil, Ceil)                                                                                                        \
  X(trunc, Trunc)                                                                                                      \
  X(roundEven, RoundEven)                                                                                              \
  X(sin, Sin)                                                                                                          \
  X(cos, Cos)                                                                                                          \
  X(tan, Tan)                                                                                                          \
  X(asin, Asin)                                                                                                        \
  X(acos, Acos)                                                                                                        \
  X(atan, Atan)                                                                                                        \
  X(sinh, Sinh)                                                                                                        \
  X(cosh, Cosh)                                                                                                        \
  X(tanh, Tanh)                                                                                                        \
  X(asinh, Asinh)                                                                                                      \
  X(acosh, Acosh)                                                                                                      \
  X(atanh, Atanh)
#define X(name, Class) Num name(Num x);
INGOT_MATH_FUNCTIONS(X)
#undef X
Num sigmoid(Num x);
Num softplus(Num x);

} // namespace ingot::onnx
