// Has what quantized operators have in common. A quantized tensor of integers q stands for (q - zero point) * scale;
// scale and zero point belong to the tensor, to each place along an axis, or to each block of some places along it.
//
// Quantize and Dequantize (ops/Quantize.td) compute this element by element, with scales and zero points that
// broadcast. Products of integers are Int8MatMul and Int8Conv (formats/Products.td, formats/Convolutions.td),
// which know no zero points and are of unsigned by signed bytes, as the instructions of processors are:
//
//   sum (a - z)(b - u) = sum a b - u sum a - z (sum b - k u)
//
// The sums of constant weights are constants, so that zero points become a bias. A signed tensor is read as an unsigned
// one by flipping its top bit, which adds 128 to elements and zero point; the other way round likewise.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// The most hidden units of a recurrence whose sums fit int32: 2,048 products of a byte and a digit of 12 bits are at
/// most 2,048 * 255 * 4,095, which is below 2^31.
inline constexpr int64_t mostOfPairs = 2048;

/// The attribute of a function such as Exp or Tanh whose result is rounded to bytes and read by nobody else: an
/// approximation may then be off by errorForBytes. Its value is a float, the bound of the operand's magnitude. Sigmoid
/// gets it only where that error is allowed for x * Sigmoid(x) as well, and Swish only for errorForBytes / alpha.
constexpr llvm::StringLiteral onlyBytesName = "ingot.only_bytes";
inline constexpr double errorForBytes = 2.25e-4;

/// The attribute of an Int8Conv or Int8MatMul that says how many dot products of four neighbouring channels have
/// sums of pairs that fit int16 together (integer/Int16Sums.h).
constexpr llvm::StringLiteral int16DotsName = "ingot.int16_dots";
int64_t int16DotsOf(mlir::Operation *op);

/// Returns a value in another shape; a constant stays one.
mlir::Value shaped(Formula &f, mlir::Value v, llvm::ArrayRef<int64_t> shape);

/// Brings a scale or zero point to a shape that broadcasts to `x`: one value for all, one for each place along `axis`,
/// or, where `block` is not 0, for each `block` places. Sizes must be known.
mlir::Value alongAxis(Formula &f, mlir::Value v, mlir::Value x, int64_t axis, int64_t block);

/// Brings a scale or zero point to a shape that broadcasts to operands of a product or convolution, whose axis `axis`
/// counts from the last one (0: the last).
mlir::Value alongEnd(Formula &f, mlir::Value v, int64_t axis);

/// Checks the scale and zero point (or none) of a tensor `x` along an axis, as far as they are known.
mlir::LogicalResult checkScale(mlir::Operation *op, mlir::Value x, mlir::Value scale, mlir::Value zero, int64_t axis,
                               int64_t block);
/// Checks that a zero point, where there is one, has the element type of what it belongs to, and as few elements as its
/// scale or one.
mlir::LogicalResult checkZero(mlir::Operation *op, mlir::Value x, mlir::Value scale, mlir::Value zero);
/// Refuses a constant scale that no quantized tensor can have: a number that is not finite, a negative one or, where it
/// is divided by, zero.
mlir::LogicalResult checkPositive(mlir::Operation *op, mlir::Value scale, bool divides);
/// Refuses a constant, of which `what` says what it is, that is infinite or no number.
mlir::LogicalResult checkFinite(mlir::Operation *op, mlir::Value v, llvm::StringRef what);
/// Checks that a scale, or what else `what` says, is one number or a list of one for each place along an axis (nothing:
/// it has no such axis).
mlir::LogicalResult checkPlaces(mlir::Operation *op, mlir::Value v, llvm::StringRef what,
                                const std::optional<Size> &places);
/// Checks B's scale and zero point: one for each of its columns, which are its rows where it `isTransposed`.
mlir::LogicalResult checkColumns(mlir::Operation *op, mlir::Value b, mlir::Value scale, mlir::Value zero,
                                 bool isTransposed = false);
/// Refuses constant scales of blocks, which may be negative, and their zero points, where these are no numbers that
/// weights of so many bits can have.
mlir::LogicalResult checkOfFewBits(mlir::Operation *op, mlir::Value scales, mlir::Value zeros, int64_t bits);
/// Checks the scale and the zero point of a tensor that has its own ones.
mlir::LogicalResult checkOwn(mlir::Operation *op, mlir::Value x, mlir::Value scale, mlir::Value zero, bool divides);

/// A tensor of 8-bit integers as a product takes it, and its zero point as int32 (null: zero).
struct Quantized {
  mlir::Value values, zero;
};
/// Returns a tensor that is unsigned for the left operand, and signed for the right one.
Quantized withSign(Formula &f, mlir::Value values, mlir::Value zero, bool isSigned);

/// Returns sums over some axes, which stay with size 1, as int32; of a constant they are one.
mlir::Value sumAlong(Formula &f, mlir::Value v, llvm::ArrayRef<int64_t> axes);

/// Returns a product of integers with its scales, and a bias, as float32. Zero points and bias may be left out.
mlir::Value scaledProduct(Formula &f, mlir::Value a, mlir::Value aScale, mlir::Value aZero, mlir::Value b,
                          mlir::Value bScale, mlir::Value bZero, mlir::Value bias);

/// Returns `count` numbers of `bits` from each `row` of bytes, low bits first, as bytes.
std::vector<char> unpacked(llvm::ArrayRef<char> bytes, int64_t row, int64_t count, int64_t bits);

/// Returns a constant of bytes that hold several numbers each along the last axis, as `count` bytes; null: it is no
/// constant.
mlir::Value unpackedLast(Formula &f, mlir::Value v, int64_t bits, int64_t count);

/// Returns round(x * factor) + zero, saturated, as `element`: how sums of products become a quantized tensor again.
mlir::Value requantize(Formula &f, mlir::Value sums, mlir::Value factor, mlir::Value zero, mlir::Type element);

/// These write Quantize and Dequantize with scales that broadcast; a zero point may be null. Without `saturate`, 8-bit
/// floats that are too large become infinite or NaN.
mlir::Value quantize(Formula &f, mlir::Value x, mlir::Value scale, mlir::Value zero, mlir::Type element,
                     bool saturate = true);
mlir::Value dequantize(Formula &f, mlir::Value x, mlir::Value scale, mlir::Value zero);

/// Returns the least and the largest integer of a type.
std::pair<double, double> rangeOf(mlir::Type element);

/// Whether the compiler has made of dequantized constants what integer kernels can use; what is left may be folded.
bool isQuantizationDone(mlir::Operation *op);
void setQuantizationDone(mlir::Operation *function);

/// Marks a Dequantize of constant weights that is not folded even then, until it is known which device computes the
/// product: one may multiply the integers themselves (integer/MachineForms.h).
void keepDequantized(mlir::Operation *dequantize);
bool isKept(mlir::Operation *dequantize);
/// Returns whether anything was kept.
bool releaseDequantized(mlir::Operation *function);
/// Notes at what dequantizes weights that a model lets a kernel round the other factor to bytes, by block.
void letFactorBeBytes(mlir::Operation *dequantize);
bool mayFactorBeBytes(mlir::Operation *dequantize);
/// Whether an op computes floats of kept weights and constants alone, with up to `depth` ops between.
bool makesKeptWeights(mlir::Operation *op, int depth = 8);

} // namespace ingot::onnx
