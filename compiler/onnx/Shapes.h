// Shape arithmetic shared by the ops' type inference.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace ingot::onnx {

/// The ranked type, or null when the rank is unknown (or the value is none).
inline mlir::RankedTensorType ranked(mlir::Value v) {
  return llvm::dyn_cast_or_null<mlir::RankedTensorType>(v ? v.getType() : mlir::Type());
}
inline mlir::Type elementOf(mlir::Value v) { return llvm::cast<mlir::TensorType>(v.getType()).getElementType(); }
inline bool isStatic(mlir::Value v) {
  auto t = ranked(v);
  return t && t.hasStaticShape();
}

mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape, mlir::Type element);
mlir::UnrankedTensorType unrankedOf(mlir::Type element);

/// Numpy broadcasting of two shapes; dynamic where not known. Nothing when they contradict.
std::optional<llvm::SmallVector<int64_t>> broadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// A possibly negative axis in [-rank, rank) brought to [0, rank); nothing when outside.
std::optional<int64_t> normalAxis(int64_t axis, int64_t rank);

/// Product of the dimensions; static shapes only.
int64_t elements(llvm::ArrayRef<int64_t> shape);

/// Bytes of one element in memory: i1 takes one byte.
int64_t elementBytes(mlir::Type element);

} // namespace ingot::onnx
