// Moves the data of constants for evaluate(): copies elements of any size between strided places.
#pragma once
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/elements/Movement.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// Return the strides of a dense row-major tensor, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

support::Sizes rowMajorStrides(llvm::ArrayRef<support::Size> shape);
/// Returns all sizes as numbers, which they must be.
llvm::SmallVector<int64_t> numbersOf(llvm::ArrayRef<support::Size> sizes);

/// Copies the elements with indices in [0, sizes). Runs of elements that lie side by side in both are copied at once.
void copyStrided(llvm::ArrayRef<char> from, const support::Strided<int64_t> &source, llvm::MutableArrayRef<char> to,
                 const support::Strided<int64_t> &target, llvm::ArrayRef<int64_t> sizes, int64_t elementBytes);

/// Returns the constant of `type` whose element i is that of `a` at the strided place of i.
mlir::ElementsAttr gatherStrided(mlir::ElementsAttr a, mlir::RankedTensorType type,
                                 const support::Strided<int64_t> &source);
/// Gathers with indices that run over `sizes`, whose product is the number of elements of `type`; so places may have
/// other axes than the result.
mlir::ElementsAttr gatherStrided(mlir::ElementsAttr a, mlir::RankedTensorType type,
                                 const support::Strided<int64_t> &source, llvm::ArrayRef<int64_t> sizes);

/// Returns the constant in another shape, without a copy of its elements.
mlir::ElementsAttr reshaped(mlir::ElementsAttr a, mlir::RankedTensorType type);
/// Returns a constant all of whose elements are the one element of `one`.
mlir::ElementsAttr splatConstant(mlir::RankedTensorType type, mlir::ElementsAttr one);

/// The most bytes of a constant made by folding (64 MiB); larger results are left to the model's run.
inline constexpr int64_t foldLimitBytes = int64_t(64) << 20;

} // namespace ingot::onnx
