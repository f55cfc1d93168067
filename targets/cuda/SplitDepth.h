// Shares the depth of a product among several blocks, where its result has fewer tiles than the GPU has
// multiprocessors; or, of one with more tiles, the depth of the last ones, which would leave most multiprocessors
// without work. A launch ahead of the kernel's (lower::KernelShape::ahead) computes the sums of each part of the
// depth; the kernel adds up those of an element in the order of the parts, so that each run gives the same bits, and
// ends as other kernels do.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::targets::cuda {

struct SplitDepth {
  static constexpr int64_t threads = 128; ///< of a block that adds up

  int64_t parts = 1;  ///< of the depth; 1: it is not shared
  int64_t length = 0; ///< of each part but the last one, which may be shorter: a multiple of the steps of a block
  int64_t whole = 0;  ///< how many tiles come first whose depth is not shared

  /// Returns how a depth is shared that blocks go along in such steps, of a result of so many tiles, of which some may
  /// be `whole`.
  static SplitDepth of(const support::Size &tiles, const support::Size &depth, int64_t step,
                       const target::MachineModel &machine, bool mayBeWhole = false);

  explicit operator bool() const { return parts > 1; }
  lower::Ix begin(lower::Ix part) const { return part * length; }
  /// Returns how much of a depth is in a part.
  lower::Ix lengthOf(lower::Ix part, lower::Ix depth) const;

  /// Makes `shape`, which is that of blocks for all tiles, one of a launch for all tiles and parts, and a kernel that
  /// adds up their sums of `elements` elements of this type.
  void share(lower::KernelShape &shape, int64_t elements, mlir::Type element) const;
  /// Makes `shape`, which is that of blocks for so many tiles, one of a launch ahead for the parts of the last ones,
  /// and a kernel that multiplies the tiles in front and adds up the sums of these. A tile has so many elements.
  void shareLast(lower::KernelShape &shape, int64_t tiles, int64_t elements, mlir::Type element) const;
  /// Returns the sum of an element over the parts, which lie so many elements behind each other.
  mlir::Value sumOf(lower::Build &build, lower::Ix place, lower::Ix each) const;
  /// Stores the sum (or a vector of neighbours) of a part at a point of the result.
  static void store(lower::Build &build, const lower::Space &space, lower::Ix part, const lower::Point &at,
                    mlir::Value sum);
  /// Returns the blocks of a kernel that adds up the parts of so many elements.
  static support::Size blocksFor(const support::Size &elements, int64_t threads);
  /// Writes the kernel, whose blocks have so many threads.
  void addUp(lower::Build &build, int64_t threads = SplitDepth::threads) const;
};

} // namespace ingot::targets::cuda
