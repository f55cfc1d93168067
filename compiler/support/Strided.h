// An offset and strides are the one form in which the compiler says where the elements of a tensor lie or are read
// from.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::support {

/// Element i is at offset + sum(i[d] * strides[d]). A stride may be zero or negative. Index is the type of offset and
/// strides: a number, a Size, or an index that loops compute.
template <typename Index> struct Strided {
  Index offset = 0;
  llvm::SmallVector<Index, 4> strides;

  Strided() = default;
  Strided(Index offset, llvm::ArrayRef<Index> strides) : offset(std::move(offset)), strides(strides) {}
  /// Converts offset and strides from another type of index.
  template <typename Other>
  Strided(const Strided<Other> &other) : offset(other.offset), strides(other.strides.begin(), other.strides.end()) {}

  /// Returns where the element at `point` is.
  Index at(llvm::ArrayRef<Index> point) const {
    Index sum = offset;
    for (auto [stride, i] : llvm::zip_equal(strides, point)) {
      sum = sum + i * stride;
    }
    return sum;
  }
};

} // namespace ingot::support
