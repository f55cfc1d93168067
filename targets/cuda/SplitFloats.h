// float32 on tensor cores, which take tf32 of 11 bits: each number is the sum of two of them, or is rounded to one.
// TensorProduct.h says what of the products is computed, and how exact that is.
//
// No parts can be had of an infinity, nor of a number so large that it is rounded to one. What is left of either is no
// number, or infinite, and so are the sums of products with it, and all to which these are added. So whoever splits
// factors asks at the end whether a sum is finite (zeroIfFinite), and computes it again by multiply-adds if none is.
// What a product of an infinity by a finite number gives is right only there.
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

/// Returns a zero, or NaN if one of the numbers (f32) is not finite or `before`, another such result, is NaN.
mlir::Value zeroIfFinite(lower::Writer &w, mlir::ValueRange numbers, mlir::Value before = {});
/// Computes values once more where a thread of the block has such a NaN, and else returns those that there are; not for
/// the architectures `without`, which split nothing. All threads of the block take part. `again` gets a zero that
/// nothing but the barrier tells: what is computed of it takes no registers before.
llvm::SmallVector<mlir::Value>
againIfNotFinite(lower::Writer &w, mlir::Value zero, llvm::ArrayRef<int32_t> without, mlir::ValueRange values,
                 llvm::function_ref<llvm::SmallVector<mlir::Value>(lower::Ix none)> again);

} // namespace ingot::targets::cuda
