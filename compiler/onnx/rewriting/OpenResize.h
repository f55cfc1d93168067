// Writes the Resize of axes whose length, or whose region that is cropped, depends on the run.
#pragma once
#include "compiler/onnx/elements/Interpolation.h"
#include "compiler/onnx/ops/Resize.h"
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// An axis that is resized while its length, or the region that is cropped, depends on the run.
struct OpenResizeAxis {
  int64_t axis;
  Size from, to;
  Size wanted;                ///< the size that `sizes` asks for, where the axis gets another one
  std::optional<float> scale; ///< the scale, when it is a constant
  int64_t entry;              ///< the number of its entry in scales, sizes and roi
};

/// Returns the axes that a Resize changes; nothing where it is not known what becomes of them.
std::optional<llvm::SmallVector<OpenResizeAxis>> openAxesOf(ResizeOp op);

/// Writes the Resize as interpolation by tables that each run computes.
mlir::Value resizeOpen(ResizeOp op, llvm::ArrayRef<OpenResizeAxis> axes, mlir::PatternRewriter &rewriter);

/// Whether a list of scales or sizes is given: an empty constant stands for none.
bool hasEntries(mlir::Value list);

/// Returns an axis of `d` elements that stay what they are.
AxisResize axisOf(ResizeOp op, int64_t d);

} // namespace ingot::onnx
