#include "targets/cuda/TileCycles.h"
#include "targets/cuda/Architectures.h"
#include <cmath>

namespace ingot::targets::cuda {

/// Returns multiply-adds in a cycle. Of float16 tensor cores do 2048 (H100: 989.4 TFLOP/s by 132 multiprocessors
/// at 1.83 GHz), less what the issue of other instructions takes (bench/cuda.md).
static double rateOf(const TileForm &form) {
  constexpr double ofThreads = 128, ofFloat16 = 2048, shareOfLarge = 0.69, shareOfSmall = 0.45;
  if (!form.numbers) {
    return ofThreads;
  }
  double ofNumbers = form.numbers.areFloats()           ? 0.5 / static_cast<double>(form.numbers.products)
                     : form.numbers.element.isInteger() ? 2
                                                        : 1;
  double share = form.byWarpgroups ? 1 : form.rows == TensorProduct::large ? shareOfLarge : shareOfSmall;
  return ofFloat16 * ofNumbers * share;
}

double cyclesOfTiles(const support::Size &tiles, const support::Size &depth, const TileForm &form,
                     const target::MachineModel &machine) {
  constexpr double unknown = 1024; // a size that only a run knows counts as so much
  auto typical = [](const support::Size &size) {
    return size.isNumber() ? static_cast<double>(size.number()) : unknown;
  };
  double rounds = std::ceil(typical(tiles) / static_cast<double>(architectureOf(machine).multiprocessors));
  return rounds * static_cast<double>(form.rows * form.columns) * typical(depth) / rateOf(form);
}

} // namespace ingot::targets::cuda
