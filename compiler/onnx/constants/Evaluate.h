// Data movement on constants, for evaluate(): copies of elements of any size between strided places.
#pragma once
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/elements/Movement.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// Strides in elements of a dense row-major tensor.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

support::Sizes rowMajorStrides(llvm::ArrayRef<support::Size> shape);
/// All of them, which must be numbers.
llvm::SmallVector<int64_t> numbersOf(llvm::ArrayRef<support::Size> sizes);

/// Copies the elements with indices in [0, sizes). Runs of elements that lie side by side on both sides are copied at
/// once.
void copyStrided(llvm::ArrayRef<char> from, const support::Strided<int64_t> &source, llvm::MutableArrayRef<char> to,
                 const support::Strided<int64_t> &target, llvm::ArrayRef<int64_t> sizes, int64_t elementBytes);

/// The constant of `type` whose element i is that of `a` at the strided place.
mlir::ElementsAttr gatherStrided(mlir::ElementsAttr a, mlir::RankedTensorType type,
                                 const support::Strided<int64_t> &source);
/// The same with indices that run over `sizes`, whose product is the number of elements of `type`.
mlir::ElementsAttr gatherStrided(mlir::ElementsAttr a, mlir::RankedTensorType type,
                                 const support::Strided<int64_t> &source, llvm::ArrayRef<int64_t> sizes);

/// The same elements in another shape, without a copy.
mlir::ElementsAttr reshaped(mlir::ElementsAttr a, mlir::RankedTensorType type);
/// A constant all of whose elements are the one element of `one`.
mlir::ElementsAttr splatConstant(mlir::RankedTensorType type, mlir::ElementsAttr one);

/// No more bytes than this are made by folding; larger results are left to the model's run.
inline constexpr int64_t foldLimitBytes = int64_t(64) << 20;

} // namespace ingot::onnx
