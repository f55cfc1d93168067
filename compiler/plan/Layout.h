// Answers where the elements of a tensor lie in memory: the layout in its type's encoding, read as strides.
//
// A tensor is row-major, or its channels are in blocks of `lanes`: [N][ceil(C / lanes)][spatial axes, with their
// halo][lanes]. Plan.td describes the encoding.
#pragma once
#include "compiler/plan/Plan.h"
#include "compiler/support/Size.h"
#include "compiler/support/Strided.h"

namespace ingot::plan {

/// Returns the blocked encoding of a type, or null for row-major.
BlockedAttr blockedOf(mlir::Type type);
/// Returns the type in another layout (null: row-major). Sizes stay as they are, open ones too.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, BlockedAttr layout);

/// Returns the layout of blocks of `lanes` channels with nothing around the image.
BlockedAttr blockedBy(mlir::MLIRContext *context, int64_t lanes);

/// Returns whether the tensor may be blocked: its channels are a number, and its other sizes known expressions.
bool canBlock(mlir::RankedTensorType type);

/// Strides in elements over the *iteration dimensions* of a tensor, over which kernels loop. For a row-major tensor
/// these are its axes. For a blocked one they are [N, C / lanes, spatial...], and the lanes of a block have stride 1.
/// The offset is that of the first element inside of the halo.
struct Strides : support::Strided<support::Size> {
  support::Sizes sizes; ///< the size of each iteration dimension, without the halo
  int64_t lanes = 1;    ///< elements of a block; 1 for row-major
};
/// Returns the strides of a tensor.
Strides stridesOf(mlir::RankedTensorType type);

/// Returns how many channel blocks a blocked tensor has.
int64_t blocksOf(mlir::RankedTensorType type);

/// Return the elements and the bytes that a tensor occupies, including its halo, padding lanes and the other parts of
/// joined images.
support::Size physicalElements(mlir::RankedTensorType type);
support::Size physicalBytes(mlir::RankedTensorType type);

/// Returns whether the tensor's memory is the same as if it were row-major (up to trailing padding). A blocked tensor's
/// is where it has no halo and one pixel, and either one batch or whole blocks.
bool sameMemoryAsPlain(mlir::RankedTensorType type);

/// Returns whether the operands are channels of the result's images, and not images one behind the other.
bool joinsChannels(JoinOp join);

/// Each part of a bundle begins at a multiple of so many bytes of it. How buffers are aligned is the platform's to say
/// (target::Platform::alignment); where costs are estimated it is taken as this.
constexpr int64_t bufferAlignment = 64;
/// Returns the byte at which a part of a bundle begins in it. For the number behind the last part that is the size of
/// the bundle.
support::Size offsetIn(mlir::ValueRange parts, unsigned part);
/// Returns the value that `view` is a copy of, on the other side of a transfer, where it is a view of a part of a
/// bundle that has crossed; else null.
mlir::Value crossedPart(ViewOp view);

/// A byte in the buffer of a value.
struct Place {
  mlir::Value base;
  support::Size offset = 0;
};
/// Returns the value whose buffer `v` lies in, and at which byte: through views, and through joins and bundles that `v`
/// is part of.
Place placeOf(mlir::Value v);

/// Finds the places of many values, while nothing changes: a value with many readers and a whole with many parts are
/// looked through once.
class PlaceFinder {
public:
  Place placeOf(mlir::Value v);

private:
  /// Where values that are no views begin in the join or bundle that they are part of; in themselves where in none.
  llvm::DenseMap<mlir::Value, Place> wholes;

  void enterParts(mlir::Operation *whole);
};

} // namespace ingot::plan
