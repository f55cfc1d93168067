// Reads constants as numbers or bytes, and makes new ones. Weights are read where they lie, without a copy.
#pragma once
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Number.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::onnx {

using support::Number;

/// Returns the constant behind a value, or null.
mlir::ElementsAttr constantOf(mlir::Value v);

/// Returns the elements as dense row-major bytes, little endian, with one byte for each boolean. `storage` is filled
/// only where the attribute does not hold them in that form (splats, packed booleans).
llvm::ArrayRef<char> bytesOf(mlir::ElementsAttr a, std::vector<char> &storage);

/// Returns all elements of an integer or boolean constant, and of uint64 their bits; nothing where there is no such
/// constant.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::ElementsAttr a);
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Value v);
/// Returns all elements of an integer tensor as sizes: those of a constant, or numbers computed from the symbols
/// (onnx.Sizes). Nothing: data determines them, or an element is not within int64.
std::optional<Sizes> sizesIn(mlir::Value v);
/// Returns the one integer in a tensor as a size; unknown: there are several, or data determines it.
Size numberIn(mlir::Value v);
/// Whether a tensor may have one element, as far as its type shows.
bool mayBeNumber(mlir::Value v);
/// Returns the tensor from which the value is made by Identity, Reshape, Squeeze and Unsqueeze alone, which keep the
/// elements and their order.
mlir::Value withoutReshapes(mlir::Value v);
/// Returns all elements of a float constant as doubles.
std::optional<llvm::SmallVector<double>> floatsOf(mlir::ElementsAttr a);
std::optional<llvm::SmallVector<double>> floatsOf(mlir::Value v);
/// Returns the one value that all elements of a float or integer constant have.
std::optional<Number> splatNumber(mlir::Value v);
/// Returns that value as a double; nothing where no double is equal to it, as for large integers.
std::optional<double> realSplat(mlir::Value v);
/// Returns the value of a constant that should be a size or an axis. A float gives its wholePart(), and integers above
/// int64 its largest value, which is no size either. Nothing: it is no constant of one value.
std::optional<int64_t> wholeNumber(mlir::Value v);
/// Returns the whole part of a float within -2^48 and 2^48, where every double has one and no size or axis can be, so
/// that callers refuse what was outside; of NaN the least int64.
int64_t wholePart(double number);

/// Reads and writes floats of a type in memory as doubles, rounded as support::FloatFormat does.
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

/// Makes a constant. Small ones become dense attributes, which are printable and unique; large ones become a resource
/// that owns `bytes`.
mlir::ElementsAttr constantFromBytes(mlir::RankedTensorType type, std::vector<char> bytes);
/// Make a constant from numbers, which are cast to the type's element type.
mlir::ElementsAttr constantFromIntegers(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> values);
mlir::ElementsAttr constantFromFloats(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

mlir::Value makeConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::ElementsAttr value);
/// Makes a tensor of sizes: a constant where all are numbers, onnx.Sizes else. None may be unknown. Without a type it
/// has one axis and elements of int64.
mlir::Value makeSizes(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Size> values, mlir::RankedTensorType type);
mlir::Value makeSizes(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Size> values); ///< one-dimensional, int64
/// Makes a one-dimensional int64 constant, as shapes, axes and pads are given.
mlir::Value makeIntegers(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> values);
mlir::Value makeInteger(mlir::OpBuilder &b, mlir::Location loc, int64_t value);                   ///< rank 0, int64
mlir::Value makeNumber(mlir::OpBuilder &b, mlir::Location loc, Number value, mlir::Type element); ///< rank 0
mlir::Value makeNone(mlir::OpBuilder &b, mlir::Location loc);

} // namespace ingot::onnx
