// Lets views of channels, as a split along the channels gives them, stay in the blocks of their image.
#pragma once
#include "compiler/plan/Plan.h"

namespace ingot::layout {

inline mlir::RankedTensorType typeOf(mlir::Value v) { return mlir::cast<mlir::RankedTensorType>(v.getType()); }

/// Changes the type of `v` wherever kernels mention it.
void retype(mlir::Value v, mlir::RankedTensorType type);

/// Makes a view of whole blocks of channels of a blocked image blocked as well. Such blocks begin at the same byte in
/// a blocked image as in a row-major one.
void blockChannels(mlir::Value v);

/// Returns whether a view has been made blocked by blockChannels().
bool isOfChannels(plan::ViewOp view);

/// Returns `pieces` with each run of views that together are all channels of an image, in their order, replaced by
/// that image.
llvm::SmallVector<mlir::Value> withWholeImages(llvm::ArrayRef<mlir::Value> pieces);

} // namespace ingot::layout
