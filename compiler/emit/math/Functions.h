// Declares math functions that are expanded to arithmetic: no call to a library remains, and a scalar and a vector of
// any length get the same result. Special values are C's (NaN, infinities, signed zeros, denormals) unless a function
// says otherwise.
//
// Errors are in units in the last place (ulp), measured by test/emit/MathAccuracyTest.cpp.
#pragma once
#include "compiler/emit/math/FloatBuilder.h"
#include "compiler/support/ElementTypes.h"

namespace ingot::emit {

// These functions take both widths. In f32 they compute in f32, and are off by at most 2 ulp.
mlir::Value expandExp(const FloatBuilder &f, mlir::Value x);
mlir::Value expandExp2(const FloatBuilder &f, mlir::Value x);
mlir::Value expandExpM1(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog1p(const FloatBuilder &f, mlir::Value x);
mlir::Value expandLog1pOfFraction(const FloatBuilder &f, mlir::Value x); ///< of x in [0, 1]
mlir::Value expandTanh(const FloatBuilder &f, mlir::Value x);
mlir::Value expandErf(const FloatBuilder &f, mlir::Value x);
/// Accurate in ulp for x <= 2; beyond, within 1e-8 of erfc.
mlir::Value expandErfc(const FloatBuilder &f, mlir::Value x);

/// Returns exp(x) where x is known to lie in [-80, 80], so that no result overflows or is denormal.
mlir::Value expandExpOfMedium(const FloatBuilder &f, mlir::Value x);
/// Returns 1 + exp(x) as a divisor, in f32. `roundedToBytes`: the quotient becomes a byte, so an error of 3e-6 of the
/// exponential does not show.
mlir::Value expandOnePlusExp(const FloatBuilder &f, mlir::Value x, bool roundedToBytes = false);
/// Reads elements of a table of 32 numbers. The last five bits of the float `number` are the index.
using LookUp = llvm::function_ref<mlir::Value(llvm::ArrayRef<float> table, mlir::Value number)>;
/// Returns 1 / (1 + exp(x)) in f32, such that it and its product with x are off by at most 2.25e-4.
mlir::Value expandInverseForBytes(const FloatBuilder &f, mlir::Value x, LookUp lookUp);
/// Returns erfc(scale * t) / 2 in f32, for scale * t in [0, 7.1].
mlir::Value expandHalfOfErfc(const FloatBuilder &f, mlir::Value t, double scale);
/// Returns exp(x) where x is known not to be positive; 0 where the result is not a normal number.
mlir::Value expandExpOfNegative(const FloatBuilder &f, mlir::Value x);

// These functions compute in f64. Rounded to f32 they are within 1 ulp; in f64 they are within 4 ulp, and pow within |y
// log x| ulp.
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

// These functions round to whole numbers, exactly in both widths, for machines without an instruction for it.
mlir::Value expandCeil(const FloatBuilder &f, mlir::Value x);
mlir::Value expandFloor(const FloatBuilder &f, mlir::Value x);
mlir::Value expandTrunc(const FloatBuilder &f, mlir::Value x);
mlir::Value expandRound(const FloatBuilder &f, mlir::Value x);
mlir::Value expandRoundEven(const FloatBuilder &f, mlir::Value x);

// Returns C's fmod, exactly in both widths.
mlir::Value expandRemainder(const FloatBuilder &f, mlir::Value x, mlir::Value y);

/// Returns the float32 that the code of a narrow float stands for, exactly. The code is in an integer of 8, 16 or 32
/// bits.
mlir::Value widenFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value code, const support::FloatFormat &format);
/// Returns the code of a float32 or float64 in a narrower format, in an integer of 32 bits, as FloatFormat::encode
/// computes it.
mlir::Value narrowFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, const support::FloatFormat &format);

} // namespace ingot::emit
