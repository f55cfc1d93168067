// Where the elements of a value lie in the memory of another that it is made of by movements only: a transpose, a slice
// or an expansion is a walk with other strides through what it reads. Kernels that read their operands with strides
// need no copy of them.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"

namespace ingot::onnx {

/// Element i[0], i[1], ... is the element of the row-major `base` at offset + sum(i[d] * strides[d]).
struct FlatView {
  mlir::Value base;
  Size offset = 0;
  Sizes extents, strides;

  /// Goes on to what `base` is made of. False, and nothing changes, where that is no such movement.
  bool descend();
};

} // namespace ingot::onnx
