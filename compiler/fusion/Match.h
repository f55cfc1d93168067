// Has what several fusions ask of the ops around them, and the reshapes and transposes that they write.
//
// A matcher changes nothing: a fusion first asks everything that it needs to know, and writes ops only when it cannot
// fail any more (onnx/rewriting/Rewrite.h says why).
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::fusion {

/// Labels the patterns whose result is rounded otherwise than the model's own order of operations would round it.
/// Strict accuracy leaves them out.
inline constexpr llvm::StringLiteral roundsOtherwise = "rounds-otherwise";

/// Returns the value that all elements of a constant have, whatever its shape. It is read only where the constant has
/// one element or is stored as a splat: the elements of large constants are not compared. An integer that no double
/// represents has no such value.
inline std::optional<double> numberOf(mlir::Value v) {
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(onnx::constantOf(v));
  return dense && (dense.isSplat() || dense.getNumElements() == 1) ? onnx::realSplat(v) : std::nullopt;
}

/// Returns whether `v` is a constant of one element, which broadcasts to any shape, so that its sizes need not be
/// compared.
inline bool isOneNumber(mlir::Value v) {
  auto constant = onnx::constantOf(v);
  return constant && constant.getNumElements() == 1;
}

/// Returns whether all numbers of an attribute are `value`. An attribute that is left out counts as such.
inline bool areAll(std::optional<llvm::ArrayRef<int64_t>> given, int64_t value) {
  return !given || llvm::all_of(*given, [&](int64_t v) { return v == value; });
}

/// Whether an op that is a Conv or a ConvTranspose is the latter.
template <typename Op> constexpr bool isTransposedConv = std::is_same_v<Op, onnx::ConvTransposeOp>;

/// Returns whether `op` computes each element of its result from the same element of its first operand and from single
/// numbers. Channels and places of such an op's result are those of its operand, so fusions look through it.
inline bool isStep(mlir::Operation *op) {
  return llvm::isa<onnx::Elementwise>(op) && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands().drop_front(),
                      [](mlir::Value v) { return !onnx::present(v) || isOneNumber(v); });
}

/// Returns whether `v` is the constant `expected`, compared as a float32.
inline bool isNumber(mlir::Value v, double expected) {
  auto number = numberOf(v);
  return number && static_cast<float>(*number) == static_cast<float>(expected);
}

/// Returns whether `v` is a constant, or will be one as soon as the Slice that another fusion put behind a constant is
/// folded. A Slice whose bounds only a run knows stays one.
inline bool isWeight(mlir::Value v) {
  auto isFolded = [](mlir::Value operand) { return !onnx::present(operand) || onnx::constantOf(operand); };
  auto cut = v.getDefiningOp<onnx::SliceOp>();
  return onnx::constantOf(v) || (cut && llvm::all_of(cut->getOperands(), isFolded));
}

/// Returns the op of class `Op` that makes `v`, or null if it is of another class or if anything else reads `v`. It is
/// also null where the reader is in a region: what moved there would be computed whenever the region runs.
template <typename Op> Op onlyFor(mlir::Value v) {
  return v.hasOneUse() && v.user_begin()->getBlock() == v.getParentBlock() ? v.getDefiningOp<Op>() : Op();
}

/// Returns the axis of an operand that broadcasts along `axis` of the result, as far as it has elements of its own
/// there.
inline std::optional<int64_t> ownAxis(mlir::Value operand, mlir::RankedTensorType result, int64_t axis) {
  auto type = onnx::ranked(operand);
  int64_t own = axis - (result.getRank() - type.getRank());
  return own >= 0 && onnx::sizeOf(type, own) == onnx::sizeOf(result, axis) ? std::optional(own) : std::nullopt;
}

/// Returns an attribute of a window (pads, strides, dilations) as `count` numbers, which are `otherwise` where the
/// model leaves the attribute out.
inline llvm::SmallVector<int64_t> listed(std::optional<llvm::ArrayRef<int64_t>> given, int64_t count,
                                         int64_t otherwise) {
  return given && !given->empty() ? llvm::SmallVector<int64_t>(*given) : llvm::SmallVector<int64_t>(count, otherwise);
}

/// Returns whether a convolution adds nothing around its image, so that each of its outputs reads a whole window.
template <typename Op> bool isUnpadded(Op conv) {
  auto mode = conv->template getAttrOfType<mlir::StringAttr>("auto_pad");
  bool explicitly = !mode || mode.getValue() == "NOTSET" || mode.getValue() == "VALID";
  return explicitly && llvm::all_of(listed(conv.getPads(), 0, 0), [](int64_t pad) { return pad == 0; });
}

/// Returns the constant bias of a convolution, a number for each of its output channels; they are zeros where it has
/// none.
template <typename Op> llvm::SmallVector<double> biasOf(Op conv, int64_t channels) {
  auto bias = onnx::floatsOf(conv.getB());
  return bias ? *bias : llvm::SmallVector<double>(channels, 0.0);
}

/// Returns one location for an op that takes the place of all of `ops`: reports and messages name all their nodes.
inline mlir::Location jointLoc(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops) {
  llvm::SmallVector<mlir::Location> locs;
  for (mlir::Operation *op : ops) {
    locs.push_back(op->getLoc());
  }
  return b.getFusedLoc(locs);
}

/// Returns `x` in another shape, which may have dimensions of 0.
inline mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> shape) {
  return onnx::Formula(b, loc).reshape(x, shape);
}

/// Returns `x` in the shape of `type`, whose sizes may be open.
inline mlir::Value reshapedAs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::RankedTensorType type) {
  return onnx::Formula(b, loc).reshapeTo(x, onnx::sizesOf(type));
}

/// Returns whether the types `a` and `b` have equal sizes; open ones are equal when they are the same expression.
inline bool sameSizes(mlir::RankedTensorType a, mlir::RankedTensorType b) {
  return llvm::equal(onnx::sizesOf(a), onnx::sizesOf(b));
}

/// Returns `x` with its axes in the order of `perm`, and `x` itself where that is their order already.
inline mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size()))) {
    return x;
  }
  return onnx::make<onnx::TransposeOp>(b, loc, {x}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm))});
}

} // namespace ingot::fusion
