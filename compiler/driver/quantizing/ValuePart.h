// A part of an observed value that stands for all of it, so that what many runs have computed stays in memory and no
// model runs again to compare with it.
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

struct ValuePart {
  importer::HostTensor tensor; ///< the part, whose axes are those of the value
  int axis = -1;               ///< the axis of which some places are taken; -1: all is there
  std::vector<int64_t> places;

  /// Returns the same places of a value with other numbers. Of one with other axes all is returned.
  importer::HostTensor of(const importer::HostTensor &value) const;
};

/// Takes about `most` elements of a value, and all of a smaller one. Along `keptAxes`, of which negative ones count
/// from the end, everything stays. Half of the places lie evenly, and half are those with the largest magnitudes: an
/// outlier that only one place has counts too much rather than not at all.
ValuePart partOf(const importer::HostTensor &value, size_t most, llvm::ArrayRef<int> keptAxes);

} // namespace ingot::driver
