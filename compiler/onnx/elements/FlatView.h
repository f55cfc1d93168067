// Finds where the elements of a value lie in the memory of another value that it is made of by movements only: a
// transpose, a slice or an expansion is a walk with other strides through what it reads. Kernels that read their
// operands with strides need no copy of them.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Strided.h"

namespace ingot::onnx {

struct FlatView : support::Strided<Size> { ///< in elements of the row-major `base`
  Sizes extents;
  mlir::Value base;

  /// Goes on to the value that `base` is made of. False, and nothing changes, where that is no such movement.
  bool descend();
};

} // namespace ingot::onnx
