// Approximates a function of one number of which only bytes are left, in segments.
//
// A SiLU in front of Quantize takes a dozen instructions for each vector of float32, a GELU thirty. A byte does not ask
// for so much: between the two places beyond which it is the same whatever the number, the number becomes an int16,
// whose highest bits say which segment of the function it is on, and a segment is a few operations on int16, in
// fractions of a step. Where the machine looks up int16 there are 64 lines, else 16 parabolas, whose coefficients are
// shuffled byte by byte.
//
// Coefficients are made while compiling, by computing the function as its operations say, and what comes of them is
// compared with it: where that differs by more than an eighth of a step, there is no curve.
#pragma once
#include "compiler/lower/core/Writer.h"
#include <array>

namespace ingot::lower {

/// The segments of a function, and the integers that they are of.
struct CurveSegments {
  static constexpr int64_t mostParts = 64;
  enum Degree { Lines, Parabolas } degree = Lines;
  double middle = 0, unit = 1; ///< the integer of x is (x - middle) / unit, rounded and saturated to int16
  int64_t fraction = 0;        ///< bits behind the point of a segment's result, half a step above the function
  int64_t bendShift = 0;
  /// Of a line the sum of its offset and the slope times the integer; of a parabola offset + u (slope + u bend), where
  /// u is the place in the part, from -1 to 1; fractions of 2^15, rounded as `multiply` does (target::MachineModel).
  /// Bends are multiples of 256, and 2^bendShift times as large.
  std::array<int16_t, mostParts> offsets{}, slopes{}, bends{};
  double error = 0; ///< the largest error, in steps

  int64_t parts() const { return degree == Lines ? mostParts : 16; }
  int64_t width() const { return 65536 / parts(); } ///< how many integers a part has
  /// Returns the part of an integer, which are its highest bits; those of negative ones come last.
  size_t partOf(int64_t integer) const { return static_cast<uint16_t>(integer) / width(); }
  /// Returns the number that becomes a byte by saturation.
  int64_t at(int64_t integer) const;
  /// Returns the best segments of `f`, in steps with the zero point, where bytes are from `least` to `most`.
  static std::optional<CurveSegments> of(llvm::function_ref<double(double)> f, Degree degree, double least,
                                         double most);
};

/// The segments that have been fitted for a kernel, by the function; nothing where that cannot be done.
using KnownSegments = std::map<std::string, std::optional<CurveSegments>>;

/// The function that makes an int32 of a number, where the operator says that only bytes are left of it
/// (onnx::onlyBytesName), in instructions.
class ByteCurve {
public:
  /// Returns the curve of the value that is rounded to int32 before `zero` is added to it. Nothing where it is not a
  /// function of one number.
  static std::optional<ByteCurve> of(Writer &w, KnownSegments &known, mlir::Value integers, int64_t zero,
                                     bool isSigned);

  /// Returns the int32 from which `integers`, another vector of the same function, are to be saturated to int16, to
  /// become bytes. Null where it is another function.
  mlir::Value places(Writer &w, mlir::Value integers) const;
  /// Returns what becomes bytes by saturation, of such int16, with the zero point.
  mlir::Value bytes(Writer &w, mlir::Value places) const;

private:
  struct Parts;
  static std::optional<Parts> partsOf(mlir::Value integers);

  mlir::Value onLines(Writer &w, mlir::Value places) const;
  mlir::Value onParabolas(Writer &w, mlir::Value places) const;

  CurveSegments segments;
  double largest = 0; ///< a bound of the number's magnitude
  std::string text;   ///< a text that says which function it is
};

} // namespace ingot::lower
