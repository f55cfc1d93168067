// Constant indices that count evenly along each axis of what is looked up: they address a box of the data, a slice with
// steps, and nothing need read them while the model runs.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/elements/Lookup.h"

namespace ingot::lower {

struct Box {
  onnx::Lookup lookup;      ///< without parts
  support::Size offset = 0; ///< what the place of an element is behind
  /// An open axis, and the last place on it that the box has.
  struct End {
    support::Size size;
    int64_t last;
  };
  llvm::SmallVector<End, 2> ends;
};

/// Marks the root (onnx::Indexer) of a kernel with the box that its indices address, if they do.
void markBox(plan::KernelOp kernel);
/// That of a marked root.
std::optional<Box> boxOf(mlir::Operation *root);

/// Runs `body`, which writes `count` elements of the box, where the box lies within the data; else the run fails, if
/// there is anything to write.
void whereFits(Build &build, const Box &box, Ix count, llvm::function_ref<void()> body);

/// Of indices that nobody reads: no bytes.
plan::WeightTable::Recipe unread();

} // namespace ingot::lower
