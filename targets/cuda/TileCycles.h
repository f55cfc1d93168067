// Estimates products by tiles, for the choice between those of TensorProduct.h and of WarpgroupProduct.h. The figures
// are those of sm_90, as no other architecture has both.
#pragma once
#include "compiler/support/Size.h"
#include "targets/cuda/TensorProduct.h"

namespace ingot::targets::cuda {

/// How tiles are multiplied: by threads where tensor cores take no such numbers.
struct TileForm {
  TensorProduct::Numbers numbers;
  int64_t rows, columns;
  bool byWarpgroups = false;
};

/// Returns the cycles of a multiprocessor until all tiles are there, if all multiprocessors begin with one tile each.
double cyclesOfTiles(const support::Size &tiles, const support::Size &depth, const TileForm &form,
                     const target::MachineModel &machine);

} // namespace ingot::targets::cuda
