// Writes the ops of a decomposition as a formula: f.add(f.mul(x, scale), bias).
#pragma once
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

class Formula {
public:
  using Value = mlir::Value;
  Formula(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  mlir::OpBuilder &b;
  mlir::Location loc;

  Value op(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createOp(b, loc, ("onnx." + name).str(), mlir::ValueRange(operands), attributes)->getResult(0);
  }
  Value add(Value x, Value y) { return op("Add", {x, y}); }
  Value sub(Value x, Value y) { return op("Sub", {x, y}); }
  Value mul(Value x, Value y) { return op("Mul", {x, y}); }
  Value div(Value x, Value y) { return op("Div", {x, y}); }
  Value sqrt(Value x) { return op("Sqrt", {x}); }
  Value exp(Value x) { return op("Exp", {x}); }
  Value log(Value x) { return op("Log", {x}); }
  Value abs(Value x) { return op("Abs", {x}); }
  /// Returns a rank 0 constant of the element type of `like`.
  Value number(const Number &v, Value like) { return makeNumber(b, loc, v, elementOf(like)); }
  /// Reshapes; in both forms, 0 is a size of 0 and -1 is what is left.
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape) {
    auto type = ranked(x);
    return type && type.getShape() == shape ? x : reshapeBy(x, makeIntegers(b, loc, shape));
  }
  Value reshapeTo(Value x, llvm::ArrayRef<Size> sizes) {
    auto type = ranked(x);
    return type && llvm::equal(sizesOf(type), sizes) ? x : reshapeBy(x, makeSizes(b, loc, sizes));
  }
  Value transpose(Value x, llvm::ArrayRef<int64_t> order) {
    return op("Transpose", {x}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(order))});
  }
  /// Returns a size as a rank 0 tensor of int64.
  Value scalar(const Size &n) { return makeSizes(b, loc, n, tensorOf({}, b.getI64Type())); }
  /// Returns 0, 1, ... below `n` (rank 0, int64).
  Value countTo(Value n) { return op("Range", {scalar(0), n, scalar(1)}); }
  Value zeros(llvm::ArrayRef<Size> sizes, mlir::Type element) {
    auto one = tensorOf({1}, element);
    auto zero = mlir::isa<mlir::FloatType>(element) ? constantFromFloats(one, {0.0}) : constantFromIntegers(one, {0});
    return op("ConstantOfShape", {makeSizes(b, loc, sizes)}, {b.getNamedAttr("value", zero)});
  }
  /// Reduces over `axes` (not empty).
  Value reduce(llvm::StringRef name, Value x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    return op(name, {x, makeIntegers(b, loc, axes)}, {integer("keepdims", keepdims)});
  }
  Value cast(Value x, mlir::Type element, int64_t number) {
    return elementOf(x) == element ? x : op("Cast", {x}, {integer("to", number)});
  }

  mlir::NamedAttribute integer(llvm::StringRef name, int64_t v) { return b.getNamedAttr(name, b.getI64IntegerAttr(v)); }
  mlir::NamedAttribute number(llvm::StringRef name, double v) {
    return b.getNamedAttr(name, b.getF32FloatAttr(static_cast<float>(v)));
  }
  mlir::NamedAttribute sizes(llvm::StringRef name, llvm::ArrayRef<Size> values) {
    return b.getNamedAttr(name, b.getAttr<SizesAttr>(values));
  }
  mlir::NamedAttribute flag(llvm::StringRef name) { return b.getNamedAttr(name, b.getUnitAttr()); }

private:
  Value reshapeBy(Value x, Value shape) { return op("Reshape", {x, shape}, {integer("allowzero", 1)}); }
};

} // namespace ingot::onnx
