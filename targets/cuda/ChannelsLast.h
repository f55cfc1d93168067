// Copies images so that the channels of a pixel are neighbours, and what lies around the image is there: a launch ahead
// of a convolution (lower::KernelShape::ahead), which then reads each tap by vectors of 16 bytes and asks nowhere
// whether a pixel is outside. The copy is [image][pixels of the padded image][channels].
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::targets::cuda {

struct ChannelsLast {
  struct Axis {
    support::Size in, before, padded; ///< pixels, those ahead of the first one, and all that the taps reach
  };
  support::Size batch;
  int64_t channels = 1;
  llvm::SmallVector<Axis, 3> axes;
  mlir::Type element; ///< as in memory
  int64_t around = 0; ///< what lies around the image

  /// Returns the launch.
  lower::KernelShape::Ahead launch() const;
  /// Writes the body of the launch: the copy of `image` into the last of Build::ahead.
  void write(lower::Build &build, lower::Buffer image) const;
  /// Returns where the first channel of a pixel of the padded image is.
  lower::Ix placeOf(lower::Ix image, llvm::ArrayRef<lower::Ix> pixel) const;

private:
  support::Size plane() const; ///< pixels of the padded image
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Returns an element of the image at a pixel (counted in the padded image).
  mlir::Value load(lower::Writer &w, lower::Buffer from, lower::Ix image, lower::Ix channel, lower::Ix pixel) const;
};

} // namespace ingot::targets::cuda
