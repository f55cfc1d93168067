// Describes ops that go through indices by the element addressed at a point of an iteration space. For Gather and its
// kin the space is the result's and the element is read from the data; for the scatters it is that of the updates and
// the element of the result is written.
#pragma once
#include "compiler/support/Size.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ingot::onnx {

/// The element addressed at a point `at`: data[sum(dataStrides[d] * at[d]) + sum over parts of stride * index], where a
/// part's index is indices[part.offset + sum(indexStrides[d] * at[d])], in [-size, size), and negative ones count from
/// the end.
struct Lookup {
  struct Part {
    int64_t offset;
    support::Size size, stride;
  };
  support::Sizes dataStrides, indexStrides; ///< over the axes of the space; elements of row-major tensors
  llvm::SmallVector<Part, 2> parts;
};

/// Returns the offset in the data of each point of `shape`, in row-major order; nothing when an index lies outside.
std::optional<std::vector<int64_t>> offsetsOf(const Lookup &lookup, llvm::ArrayRef<int64_t> shape,
                                              llvm::ArrayRef<int64_t> indices);

} // namespace ingot::onnx
