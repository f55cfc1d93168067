// Packs constant factors of products into lines along the depth, as the kernels of tiles read them.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::targets::cuda {

/// A constant whose lines (rows of the left factor of a product, columns of the right one) become contiguous.
struct PackedLines {
  int64_t matrices = 1, lines = 1, depth = 1;
  int64_t elementBytes = 1;
  bool alongDepth = true; ///< elements of a line are neighbours in the model; else those of neighbouring lines are
  /// Weights of a convolution have lines [channels][taps] in the model. They become [taps][channels], so that some
  /// steps of the depth have a tap in common.
  int64_t taps = 1;
  bool inVectors = false; ///< lines begin at multiples of 16 bytes, with zeros behind the last element

  /// Returns the elements from a line to the next one.
  int64_t pitch() const;
  /// Returns how the constant is packed: [matrices][lines][pitch].
  plan::WeightTable::Recipe recipe() const;
};

} // namespace ingot::targets::cuda
