// What fusions ask of the ops around them.
#pragma once
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"

namespace ingot::fusion {

/// Label of patterns whose result is rounded otherwise than the model's own order of operations; strict accuracy leaves
/// them out.
inline constexpr llvm::StringLiteral roundsOtherwise = "rounds-otherwise";

/// The one value of a constant that is stored as one, whatever its shape; large constants are not looked through.
inline std::optional<double> numberOf(mlir::Value v) {
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(onnx::constantOf(v));
  return dense && (dense.isSplat() || dense.getNumElements() == 1) ? onnx::splatOf(v) : std::nullopt;
}

/// Whether `v` is the number, to the precision of a float.
inline bool isNumber(mlir::Value v, double expected) {
  auto number = numberOf(v);
  return number && static_cast<float>(*number) == static_cast<float>(expected);
}

/// The op of class `Op` that makes `v`, if nothing else reads it.
template <typename Op> Op onlyFor(mlir::Value v) { return v.hasOneUse() ? v.getDefiningOp<Op>() : Op(); }

inline mlir::Location jointLoc(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops) {
  llvm::SmallVector<mlir::Location> locs;
  for (mlir::Operation *op : ops) {
    locs.push_back(op->getLoc());
  }
  return b.getFusedLoc(locs);
}

} // namespace ingot::fusion
