// What fusions ask of the ops around them.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::fusion {

/// Label of patterns whose result is rounded otherwise than the model's own order of operations; strict accuracy leaves
/// them out.
inline constexpr llvm::StringLiteral roundsOtherwise = "rounds-otherwise";

/// The one value of a constant that is stored as one, whatever its shape; large constants are not looked through.
/// An integer that no double represents has none.
inline std::optional<double> numberOf(mlir::Value v) {
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(onnx::constantOf(v));
  return dense && (dense.isSplat() || dense.getNumElements() == 1) ? onnx::realSplat(v) : std::nullopt;
}

/// Whether `v` is a constant of one element, which goes with a tensor whatever sizes that has.
inline bool isOneNumber(mlir::Value v) {
  auto constant = onnx::constantOf(v);
  return constant && constant.getNumElements() == 1;
}

/// Whether `op` computes each element of its result from that of its first operand and from single numbers.
inline bool isStep(mlir::Operation *op) {
  return llvm::isa<onnx::Elementwise>(op) && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands().drop_front(),
                      [](mlir::Value v) { return !onnx::present(v) || isOneNumber(v); });
}

/// Whether `v` is the number, to the precision of a float.
inline bool isNumber(mlir::Value v, double expected) {
  auto number = numberOf(v);
  return number && static_cast<float>(*number) == static_cast<float>(expected);
}

/// Whether `v` is a constant, or will be one as soon as what fusions cut out of it is folded.
inline bool isWeight(mlir::Value v) {
  auto cut = v.getDefiningOp<onnx::SliceOp>();
  return onnx::constantOf(v) || (cut && onnx::constantOf(cut.getData()));
}

/// The op of class `Op` that makes `v`, if nothing else reads it, and not in a region: there it would be computed
/// whenever the region runs.
template <typename Op> Op onlyFor(mlir::Value v) {
  return v.hasOneUse() && v.user_begin()->getBlock() == v.getParentBlock() ? v.getDefiningOp<Op>() : Op();
}

/// An attribute of a window with a number for each of `count` sides or axes, which are `otherwise` where it is left
/// out.
inline llvm::SmallVector<int64_t> listed(std::optional<llvm::ArrayRef<int64_t>> given, int64_t count,
                                         int64_t otherwise) {
  return given && !given->empty() ? llvm::SmallVector<int64_t>(*given) : llvm::SmallVector<int64_t>(count, otherwise);
}

/// Whether a convolution adds nothing around its image.
template <typename Op> bool isUnpadded(Op conv) {
  auto mode = conv->template getAttrOfType<mlir::StringAttr>("auto_pad");
  bool explicitly = !mode || mode.getValue() == "NOTSET" || mode.getValue() == "VALID";
  return explicitly && llvm::all_of(listed(conv.getPads(), 0, 0), [](int64_t pad) { return pad == 0; });
}

/// The constant bias of a convolution, a number for each of its output channels; zeros where it has none.
template <typename Op> llvm::SmallVector<double> biasOf(Op conv, int64_t channels) {
  auto bias = onnx::floatsOf(conv.getB());
  return bias ? *bias : llvm::SmallVector<double>(channels, 0.0);
}

inline mlir::Location jointLoc(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops) {
  llvm::SmallVector<mlir::Location> locs;
  for (mlir::Operation *op : ops) {
    locs.push_back(op->getLoc());
  }
  return b.getFusedLoc(locs);
}

/// The elements of `x` in another shape, which may have dimensions of 0.
inline mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> shape) {
  return onnx::Formula(b, loc).reshape(x, shape);
}

/// The same with the shape of a type, whose sizes may be open.
inline mlir::Value reshapedAs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::RankedTensorType type) {
  return onnx::Formula(b, loc).reshapeTo(x, onnx::sizesOf(type));
}

/// Whether both have the same known sizes.
inline bool sameSizes(mlir::RankedTensorType a, mlir::RankedTensorType b) {
  return llvm::equal(onnx::sizesOf(a), onnx::sizesOf(b));
}

inline mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size()))) {
    return x;
  }
  return onnx::make<onnx::TransposeOp>(b, loc, {x}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm))});
}

} // namespace ingot::fusion
