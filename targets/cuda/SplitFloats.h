// float32 on tensor cores, which take tf32 of 11 bits: each number is the sum of two of them, or is rounded to one.
// TensorProduct.h says what of the products is computed, and how exact that is.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::targets::cuda {

/// Numbers (i32, the bits of tf32) and what they leave of float32; the latter is empty where they are rounded.
struct SplitFloats {
  llvm::SmallVector<mlir::Value> high, low;

  /// Splits float32, given as f32 or by their bits, for so many products.
  SplitFloats(lower::Writer &w, mlir::ValueRange numbers, int64_t products);
};

/// Adds the products of a step of the depth, 16 float32 in halves of eight, to the four sums that a thread has of a
/// tile of 16 by 8. They are added up from zero, the small ones first.
void addSplitProducts(lower::Writer &w, llvm::ArrayRef<SplitFloats> lines, llvm::ArrayRef<SplitFloats> columns,
                      llvm::MutableArrayRef<mlir::Value> sums);

} // namespace ingot::targets::cuda
