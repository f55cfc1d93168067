// Builds arithmetic on floats of one type: f32 or f64, a scalar or a vector of any shape. The math functions are
// written with it, so that one text serves every vector length. The "bits" of a value are integers of the same shape
// and width.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace ingot::emit {

/// Makes ops at the place where `builder` stands. Each function returns the value that it computes.
class FloatBuilder {
public:
  /// `ldexp`: the machine has an instruction for x * 2^n.
  FloatBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, bool ldexp);

  mlir::Type type() const { return floatType; }
  mlir::OpBuilder &opBuilder() const { return builder; }
  mlir::Location location() const { return loc; }
  bool isDouble() const { return width == 64; }

  /// Returns a builder for the same shape in another width.
  FloatBuilder with(unsigned newWidth) const;
  /// Returns a value of either width in this one.
  mlir::Value convert(mlir::Value value) const;

  mlir::Value constant(double value) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value div(mlir::Value a, mlir::Value b) const;
  /// Returns a * b + c, fused where the machine can do so, else rounded twice.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const;
  mlir::Value neg(mlir::Value a) const;
  mlir::Value abs(mlir::Value a) const;
  mlir::Value sqrt(mlir::Value a) const;
  mlir::Value trunc(mlir::Value a) const;
  mlir::Value roundEven(mlir::Value a) const;
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) const;

  mlir::Value add(mlir::Value a, double b) const { return add(a, constant(b)); }
  mlir::Value sub(mlir::Value a, double b) const { return sub(a, constant(b)); }
  mlir::Value mul(mlir::Value a, double b) const { return mul(a, constant(b)); }

  /// Returns c[0] + x * (c[1] + x * (c[2] + ...)), computed as written (Horner's scheme).
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) const;
  /// Returns the polynomial computed in pairs and pairs of pairs (Estrin's scheme). These are some multiplications
  /// more, but few that wait for each other, so a machine whose window holds only a few vectors' instructions is done
  /// sooner.
  mlir::Value shallowPolynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) const;

  /// Comparisons are false when an operand is NaN.
  mlir::Value less(mlir::Value a, mlir::Value b) const { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  mlir::Value less(mlir::Value a, double b) const { return less(a, constant(b)); }
  mlir::Value greater(mlir::Value a, double b) const { return less(constant(b), a); }
  mlir::Value equal(mlir::Value a, mlir::Value b) const { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  mlir::Value equal(mlir::Value a, double b) const { return equal(a, constant(b)); }
  mlir::Value isNaN(mlir::Value a) const { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  mlir::Value both(mlir::Value a, mlir::Value b) const;
  mlir::Value either(mlir::Value a, mlir::Value b) const;
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;
  /// Returns whether a condition holds in any lane.
  mlir::Value any(mlir::Value condition) const;
  /// Returns `usual`, but in lanes in which the condition holds what `body` computes. The body only runs where some
  /// lane meets the condition.
  mlir::Value unless(mlir::Value condition, mlir::Value usual, llvm::function_ref<mlir::Value()> body) const;
  /// Returns x limited to [low, high]; NaN stays.
  mlir::Value clamp(mlir::Value x, double low, double high) const;

  mlir::Value bits(mlir::Value value) const;
  mlir::Value fromBits(mlir::Value value) const;
  mlir::Value bitsConstant(int64_t value) const;
  mlir::Value addBits(mlir::Value a, mlir::Value b) const;
  mlir::Value andBits(mlir::Value a, int64_t mask) const;
  mlir::Value shiftLeft(mlir::Value a, int64_t count) const;
  mlir::Value shiftRight(mlir::Value a, int64_t count) const; ///< zeros come in at the top
  mlir::Value isSet(mlir::Value bits, int64_t mask) const;    ///< whether any bit of `mask` is set
  /// Whether a value is negative, -0 or a NaN with the sign set.
  mlir::Value signBit(mlir::Value value) const;

  /// A number rounded to an integer, which the low bits of `shifted` hold as well, increased by `plus`. The number must
  /// be below 2^22 (f32) or 2^51 (f64) in magnitude.
  struct Rounded {
    mlir::Value value, shifted;
    int64_t plus = 0;
  };
  Rounded roundSmall(mlir::Value x) const;
  Rounded roundSmall(mlir::Value x, double factor) const; ///< rounds x * factor
  /// Rounds x * y such that powerOfTwo(n, offset) is a shift and nothing else.
  Rounded roundForPower(mlir::Value x, mlir::Value y, int64_t offset) const;

  /// Returns 2^(n + offset), which must be a normal number.
  mlir::Value powerOfTwo(const Rounded &n, int64_t offset) const;
  /// Returns a small integer i, given as bits, less `minus`, as a float; |i| < 2^22 (f32) or 2^51 (f64).
  mlir::Value smallIntegerToFloat(mlir::Value integer, int64_t minus) const; ///< integer - minus

  /// Returns x * 2^n with one rounding, overflow and denormal results included; n is in [-180, 128] (f32) or [-1140,
  /// 1024] (f64).
  mlir::Value scale(mlir::Value x, const Rounded &n) const;

private:
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) const;
  mlir::Type shaped(mlir::Type element) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType, bitsType;
  unsigned width;
  int64_t mantissa, bias; ///< bits of the stored mantissa, and bias of the exponent
  bool ldexp;
};

} // namespace ingot::emit
