// Where the elements of a tensor lie in memory: its type's encoding, read as strides.
#pragma once
#include "compiler/plan/Plan.h"
#include "compiler/support/Size.h"
#include "compiler/support/Strided.h"

namespace ingot::plan {

/// The blocked encoding of a type, or null for row-major.
BlockedAttr blockedOf(mlir::Type type);
/// The type in the layout (null: row-major); open sizes stay.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, BlockedAttr layout);

/// Channels in blocks, nothing around them.
BlockedAttr blockedBy(mlir::MLIRContext *context, int64_t lanes);

/// Whether the tensor may be blocked: its channels are a number, and its other sizes known.
bool canBlock(mlir::RankedTensorType type);

/// Strides in elements over the *iteration dimensions* of a tensor. Row-major: the logical axes; the lane axis is the
/// last one. Blocked: [N, C / lanes, spatial...] and the lanes, whose stride is 1. The offset is that of the first
/// interior element.
struct Strides : support::Strided<support::Size> {
  support::Sizes sizes; ///< of each iteration dimension, halo excluded
  int64_t lanes = 1;    ///< elements of a block; 1 for row-major
};
Strides stridesOf(mlir::RankedTensorType type);

/// Channel blocks of a blocked tensor.
int64_t blocksOf(mlir::RankedTensorType type);

/// Elements and bytes that a tensor occupies, halo, padding lanes and the other parts of joined images included.
support::Size physicalElements(mlir::RankedTensorType type);
support::Size physicalBytes(mlir::RankedTensorType type);

/// A blocked tensor whose memory reads the same row-major (up to trailing padding): no halo, one pixel, and one batch
/// or whole blocks.
bool sameMemoryAsPlain(mlir::RankedTensorType type);

/// Whether the operands are channels of the result's images (not images one behind the other).
bool joinsChannels(JoinOp join);

/// Every buffer begins at a multiple of so many bytes of its memory.
constexpr int64_t bufferAlignment = 64;
/// Where a part of a bundle begins in it; of the number behind the last one, how large the bundle is.
support::Size offsetIn(mlir::ValueRange parts, unsigned part);
/// Of a view of a bundle that has crossed: the part that it is, where that came from. Else null.
mlir::Value crossedPart(ViewOp view);

/// The value whose buffer `v` lies in, and at which byte: through views, and through joins and bundles that `v` is part
/// of.
struct Place {
  mlir::Value base;
  support::Size offset = 0;
};
Place placeOf(mlir::Value v);

} // namespace ingot::plan
