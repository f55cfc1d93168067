// Finds constant indices that count evenly along each axis of what is looked up. They address a box of the data, a
// slice with steps, so the kernel need not read them while the model runs.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/elements/Lookup.h"

namespace ingot::lower {

/// The box of the data that constant indices address.
struct Box {
  onnx::Lookup lookup;      ///< the lookup, with the box's strides of the data and without parts to look up
  support::Size offset = 0; ///< where the box begins in the data, in elements
  /// An axis whose size is open, and the last place on it that the box has.
  struct End {
    support::Size size;
    int64_t last;
  };
  /// The open axes that have to be compared with the box while the model runs.
  llvm::SmallVector<End, 2> ends;
};

/// Marks the root (onnx::Indexer) of a kernel with the box that its indices address, if they do.
void markBox(plan::KernelOp kernel);
/// Returns the box of a marked root; nothing where the root has no mark.
std::optional<Box> boxOf(mlir::Operation *root);

/// Runs `body`, which writes `count` elements of the box, where the box lies within the data. Elsewhere the run fails,
/// if there is anything to write.
void whereFits(Build &build, const Box &box, Ix count, llvm::function_ref<void()> body);

/// Returns the recipe that packs indices which no kernel reads into no bytes.
plan::WeightTable::Recipe unread();

} // namespace ingot::lower
