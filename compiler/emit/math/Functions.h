// Math functions as arithmetic: no call to a library remains, and a scalar and a vector of any length get the same
// result. Special values are C's (NaN, infinities, signed zeros, denormals) unless said otherwise.
//
// Errors are in units in the last place, measured by test/emit/MathAccuracyTest.cpp.
#pragma once
#include "compiler/emit/math/FloatBuilder.h"
#include "compiler/support/ElementTypes.h"

namespace ingot::emit {

// Of both widths; f32 in f32 arithmetic, at most 2 ulp.
mlir::Value expandExp(const FloatBuilder &f, mlir::Value x);
mlir::Value expandExp2(const FloatBuilder &f, mlir::Value x);
mlir::Value expandExpM1(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog1p(const FloatBuilder &f, mlir::Value x);
mlir::Value expandTanh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandErf(const FloatBuilder &f, mlir::Value x);
mlir::Value expandErfc(const FloatBuilder &f, mlir::Value x); ///< for x <= 2; beyond, within 1e-8 of erfc

/// exp where x is known to lie in [-80, 80]: no result that needs care.
mlir::Value expandExpOfMedium(const FloatBuilder &f, mlir::Value x);
/// 1 + exp(x) as a divisor, f32. `forBytes`: nobody sees an error of 3e-6 of the exponential.
mlir::Value expandOnePlusExp(const FloatBuilder &f, mlir::Value x, bool forBytes = false);
/// 1 / (1 + exp(x)) so that it and its product with x are right to 2.25e-4, f32. `lookUp` gives elements of a table of
/// 32 by the last five bits of a float.
using LookUp = llvm::function_ref<mlir::Value(llvm::ArrayRef<float> table, mlir::Value number)>;
mlir::Value expandInverseForBytes(const FloatBuilder &f, mlir::Value x, LookUp lookUp);
/// erfc(scale * t) / 2 for scale * t in [0, 7.1], f32.
mlir::Value expandHalfErfc(const FloatBuilder &f, mlir::Value t, double scale);
/// exp where x is known not to be positive; 0 where the result is not a normal number.
mlir::Value expandExpOfNegative(const FloatBuilder &f, mlir::Value x);

// In f64 arithmetic. Rounded to f32 they are within 1 ulp; f64 itself within 4 ulp, pow within |y log x| ulp.
mlir::Value expandSin(const FloatBuilder &f, mlir::Value x);
mlir::Value expandCos(const FloatBuilder &f, mlir::Value x);
mlir::Value expandTan(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAsin(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAcos(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAtan(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAtan2(const FloatBuilder &f, mlir::Value y, mlir::Value x);
mlir::Value expandSinh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandCosh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAsinh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAcosh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandAtanh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandPow(const FloatBuilder &f, mlir::Value x, mlir::Value y);
mlir::Value expandCbrt(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog2(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog10(const FloatBuilder &f, mlir::Value x);

// To whole numbers, exact in both widths; for machines without an instruction for it.
mlir::Value expandCeil(const FloatBuilder &f, mlir::Value x);
mlir::Value expandFloor(const FloatBuilder &f, mlir::Value x);
mlir::Value expandTrunc(const FloatBuilder &f, mlir::Value x);
mlir::Value expandRound(const FloatBuilder &f, mlir::Value x);
mlir::Value expandRoundEven(const FloatBuilder &f, mlir::Value x);

// C's fmod, exact in both widths.
mlir::Value expandRemainder(const FloatBuilder &f, mlir::Value x, mlir::Value y);

/// The code of a narrow float, in an integer of 8, 16 or 32 bits, as float32: exactly.
mlir::Value widenFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value code, const support::FloatFormat &format);
/// A float32 or float64 as such a code in an integer of 32 bits, as FloatFormat::encode does it.
mlir::Value narrowFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, const support::FloatFormat &format);

} // namespace ingot::emit
