// Has what an operator's upgrade() needs to write it in terms of others, besides Formula: an op that isAlias() is
// written when the node is imported, and sizes that are not known by then are read by ops (Shape) and folded later.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// Gives the alias its only result. Failure where it is null, for which a message has been given.
llvm::LogicalResult give(Node &node, mlir::Value v);

/// Returns a node's attributes of these names, as they are.
llvm::SmallVector<mlir::NamedAttribute> attributesOf(const Node &node, llvm::ArrayRef<llvm::StringRef> names);

/// Returns the sum of those of the values that are there.
mlir::Value sum(Formula &f, llvm::ArrayRef<mlir::Value> values);

/// Cast to f32, to int64, and to the element type of `of`.
mlir::Value real(Formula &f, mlir::Value v);
mlir::Value integers(Formula &f, mlir::Value v);
mlir::Value like(Formula &f, mlir::Value v, mlir::Value of);

/// Returns a rank 0 constant of an integer type.
mlir::Value integerLike(Formula &f, int64_t n, mlir::Value of);

/// Returns the sizes of the axes [from, to) as a list.
mlir::Value shapeOf(Formula &f, mlir::Value x, int64_t from, int64_t to);
/// Return the size of one axis, as a list of it and as a number.
mlir::Value sizeAlong(Formula &f, mlir::Value x, int64_t axis);
mlir::Value lengthOf(Formula &f, mlir::Value x, int64_t axis);

/// Returns the operand with the axes that these lists of sizes make, one behind the other.
mlir::Value reshapeBy(Formula &f, mlir::Value x, llvm::ArrayRef<mlir::Value> sizes);
mlir::Value unsqueeze(Formula &f, mlir::Value x, llvm::ArrayRef<int64_t> axes);
mlir::Value concat(Formula &f, llvm::ArrayRef<mlir::Value> parts, int64_t axis);
/// Returns the part [from, to) of an axis; bounds are lists of one number.
mlir::Value slice(Formula &f, mlir::Value x, int64_t axis, mlir::Value from, mlir::Value to);
mlir::Value slice(Formula &f, mlir::Value x, int64_t axis, int64_t from, int64_t to);
/// Returns `parts` parts of an axis, which have one size.
llvm::SmallVector<mlir::Value> split(Formula &f, mlir::Value x, int64_t axis, unsigned parts);
/// Returns zeros of the element type of `of`, with sizes as for reshapeBy().
mlir::Value zerosBy(Formula &f, llvm::ArrayRef<mlir::Value> sizes, mlir::Value of);

/// Returns rows [tokens, width] at places of a padded batch, [batch, steps, width], and zeros elsewhere. `offsets`
/// [batch, steps] begins with the places.
mlir::Value restorePadding(Formula &f, mlir::Value rows, mlir::Value offsets);

/// Returns the number of axes of a convolution, by its weights, operand 1. Fails with a message where they are not
/// known or fewer than three.
llvm::FailureOr<int64_t> convolutionRank(const Node &node);

/// Applies a pool or convolution to [N, spatial..., C] read as [N, C, spatial...], and returns its result with channels
/// last again.
mlir::Value withChannelsSecond(Formula &f, mlir::Value x, int64_t rank, bool last,
                               llvm::function_ref<mlir::Value(mlir::Value)> meaning);

/// Returns `y` behind the activation that attribute 'activation' of a fused operator names; null, with a message, where
/// it is not known. An empty name is none. `numbers` that are not given have the operator's own defaults.
mlir::Value activated(Node &node, mlir::Value y, llvm::ArrayRef<float> numbers);

} // namespace ingot::onnx
