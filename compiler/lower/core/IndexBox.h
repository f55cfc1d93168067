// Finds lookups (Gather, GatherND ...) whose indices are constants that count evenly along each axis of the index
// space.
// They address a box of the data, a slice with steps, so that the kernel computes addresses instead of reading indices:
//
//   Gather of rows 1, 3, 5 of [n, 8]    =>    a box with offset 8 and strides [16, 1]; it fits where 5 < n
//
// Where n is open, the fit is checked while the model runs (whereFits).
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/elements/Lookup.h"

namespace ingot::lower {

/// The box of the data that constant indices address.
struct IndexBox {
  onnx::Lookup lookup;      ///< with the strides of the box in the data; `parts` is empty: nothing is looked up
  support::Size offset = 0; ///< where the box begins in the data, in elements
  /// An axis of the data whose size is open, and the greatest index of the box along it.
  struct End {
    support::Size size;
    int64_t last;
  };
  /// The open axes: the box fits where `last` < `size` holds for each of them.
  llvm::SmallVector<End, 2> ends;
  /// The indices of one part of the lookup: the first one, and what a step along each axis of the space adds.
  struct Line {
    int64_t first;
    llvm::SmallVector<int64_t, 4> steps;
  };
  llvm::SmallVector<Line, 2> lines;
};

/// Marks the root op (onnx::Indexer) of a kernel with the box that its indices address, if they address one.
void markBox(plan::KernelOp kernel);
/// Returns the box of a marked root; nothing where the root has no mark.
std::optional<IndexBox> boxOf(mlir::Operation *root);

/// Writes a check that the box lies within the data, and `body` for where it does; `body` writes `count` elements of
/// the box. Where the check fails and `count` is not 0, the run ends with an error.
void whereFits(Build &build, const IndexBox &box, Ix count, llvm::function_ref<void()> body);

/// Returns the recipe for a constant that no kernel reads any more: it stores no bytes of it.
plan::WeightTable::Recipe omittedRecipe();

} // namespace ingot::lower
