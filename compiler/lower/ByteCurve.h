// A function of one number of which only bytes are left, as lines.
//
// A SiLU in front of Quantize takes a dozen instructions for each vector of float32, a GELU thirty. A byte does not ask
// for so much: between the two places beyond which it is the same whatever the number, the number becomes an int16, its
// highest six bits say which of 64 lines the function is there, and the line is a multiplication and an addition of
// int16, in fractions of a step. Five instructions do that for twice as many numbers as a vector of float32 has.
//
// Coefficients are made while compiling, by computing the function as its operations say, and what comes of them is
// compared with it: where that differs by more than an eighth of a step, there is no curve.
#pragma once
#include "compiler/lower/Writer.h"
#include <array>

namespace ingot::lower {

/// Lines of a function, and the integers that they are of.
struct ByteLines {
  static constexpr int64_t parts = 64;
  double middle = 0, unit = 1; ///< the integer of x is (x - middle) / unit, rounded and saturated to int16
  int64_t fraction = 0;        ///< bits behind the point of what a line gives, half a step above the function
  std::array<int16_t, parts> offsets{}, slopes{}; ///< offset + (integer * slope + 2^14) / 2^15
  double error = 0;                               ///< the largest, in steps

  /// The byte of an integer, before it saturates.
  int64_t at(int64_t integer) const;
  /// The best lines of `f`, in steps with the zero point, where bytes are from `least` to `most`.
  static std::optional<ByteLines> of(llvm::function_ref<double(double)> f, double least, double most);
};

/// The function that makes an int32 of a number, where the operator says that only bytes are left of it
/// (onnx::onlyBytesName).
class ByteCurve {
public:
  /// Of what is rounded to int32 before `zero` is added to it. Nothing where it is not the function of one number.
  static std::optional<ByteCurve> of(Writer &w, mlir::Value integers, int64_t zero, bool isSigned);

  /// The int32 that `integers`, another vector of the same function, are to be saturated from to int16, to become
  /// bytes.
  /// Null where it is another function.
  mlir::Value places(Writer &w, mlir::Value integers) const;
  /// What becomes bytes by saturation, of such int16; with the zero point.
  mlir::Value bytes(Writer &w, mlir::Value places) const;

private:
  struct Parts;
  static std::optional<Parts> partsOf(mlir::Value integers);

  ByteLines lines;
  double largest = 0; ///< bound of the number's magnitude
  std::string text;   ///< that says which function it is
};

} // namespace ingot::lower
