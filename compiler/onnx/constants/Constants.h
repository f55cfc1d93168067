// Constants: reading them as numbers or bytes, making them without copying weights.
#pragma once
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Number.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::onnx {

using support::Number;

/// The constant behind a value, or null.
mlir::ElementsAttr constantOf(mlir::Value v);

/// The elements as dense row-major bytes, little endian; booleans one byte each. `storage` is filled only when the
/// attribute does not hold them in that form (splats, packed booleans).
llvm::ArrayRef<char> bytesOf(mlir::ElementsAttr a, std::vector<char> &storage);

/// All elements of an integer or boolean constant, of uint64 their bits. Nothing when not a constant of integers.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::ElementsAttr a);
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Value v);
/// All elements of an integer tensor as sizes: of a constant, or of numbers computed from the symbols (onnx.Sizes).
/// There are none if an element is not within int64.
std::optional<Sizes> sizesIn(mlir::Value v);
/// The one integer in a tensor, as a size; unknown: there are several, or data tells it.
Size numberIn(mlir::Value v);
/// Whether a tensor may have one element, as far as its type tells.
bool mayBeNumber(mlir::Value v);
/// The tensor whose elements Identity, Reshape, Squeeze and Unsqueeze only gave other axes.
mlir::Value withoutReshapes(mlir::Value v);
/// All elements of a float constant, as doubles.
std::optional<llvm::SmallVector<double>> floatsOf(mlir::ElementsAttr a);
std::optional<llvm::SmallVector<double>> floatsOf(mlir::Value v);
/// The one value that all elements of a float or integer constant have.
std::optional<Number> splatNumber(mlir::Value v);
/// The same as a float; nothing: it is an integer that no double is.
std::optional<double> realSplat(mlir::Value v);
/// What a constant of one value is that should be a size or an axis, of a float its whole part; far outside of what
/// they can be, and of NaN, some number that is none, either. Nothing: it is no such constant.
std::optional<int64_t> wholeNumber(mlir::Value v);
/// The whole part of a float likewise.
int64_t wholePart(double number);

/// Floats of a type in memory, to and from double (rounded as support::FloatFormat does).
class FloatCodec {
public:
  explicit FloatCodec(mlir::Type element);
  int64_t bytes() const { return size; }
  double read(const char *from) const;
  void write(double value, char *to) const;

private:
  support::FloatFormat format;
  int64_t size;
};

/// Small constants become dense attributes (printable, uniqued), large ones a resource that owns `bytes`.
mlir::ElementsAttr constantFromBytes(mlir::RankedTensorType type, std::vector<char> bytes);
/// Values are cast to the type's element type.
mlir::ElementsAttr constantFromIntegers(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
mlir::ElementsAttr constantFromFloats(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

mlir::Value makeConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::ElementsAttr value);
/// A tensor of integers that are sizes: a constant when all are numbers. None may be unknown.
mlir::Value makeSizes(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Size> values, mlir::RankedTensorType type);
mlir::Value makeSizes(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Size> values); ///< one-dimensional, int64
/// A one-dimensional int64 constant, as shapes, axes and pads are given.
mlir::Value makeIntegers(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> values);
mlir::Value makeInteger(mlir::OpBuilder &b, mlir::Location loc, int64_t value);                   ///< rank 0, int64
mlir::Value makeNumber(mlir::OpBuilder &b, mlir::Location loc, Number value, mlir::Type element); ///< rank 0
mlir::Value makeNone(mlir::OpBuilder &b, mlir::Location loc);

} // namespace ingot::onnx
