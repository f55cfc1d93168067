// Numbers the places of an iteration space, as threads take them.
#pragma once
#include "compiler/lower/core/Group.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot::targets::cuda {

/// Returns how many places a space has.
inline lower::Ix elementsOf(const lower::Space &space) {
  lower::Ix all = 1;
  for (const lower::Ix &size : space.sizes) {
    all *= size;
  }
  return all;
}

/// Returns the coordinates of place `number`, of which neighbours differ in the last one.
inline llvm::SmallVector<lower::Ix> placeOf(const lower::Space &space, lower::Ix number) {
  llvm::SmallVector<lower::Ix> at(space.sizes.size(), 0);
  for (size_t d = at.size(); d-- > 1;) {
    at[d] = remainder(number, space.sizes[d]);
    number = floorDiv(number, space.sizes[d]);
  }
  if (!at.empty()) {
    at[0] = number;
  }
  return at;
}

} // namespace ingot::targets::cuda
