// Copies rows of a row-major image of at most four channels pixel by pixel: four values for each pixel, with zeros
// behind the last channel, and around the image the padding. The convolutions that read such rows multiply four
// neighbouring bytes at a time, or take the pixels of a row of taps as one run.
#pragma once
#include "compiler/lower/conv/Convolution.h"

namespace ingot::lower {

/// The image of one convolution.
class InterleavedRows {
public:
  static constexpr int64_t channels = 4; ///< values of a pixel
  /// What is written behind the end of a row is overwritten by the next row. Behind the last row there must be room for
  /// so many pixels.
  static constexpr int64_t slack = 16;

  /// Returns whether a convolution can read such rows: its image has few channels, its size is known, and the result
  /// has enough channels for blocks of `lanes`.
  static bool canBeReadBy(mlir::Operation *root, int64_t lanes);

  InterleavedRows(Build &build, const ConvGeometry &g)
      : w(build.w), g(g), around(paddingOf(build.group.root)), image(imageOf(build)) {}

  /// Copies row y and those `step` further on, `count` in all, with so many pixels each from the first that a
  /// convolution reads. In `to` one row is `line` pixels behind the row before.
  void copy(Ix n, Ix y, Ix count, Ix step, Ix pixels, Ix line, Buffer to);

private:
  Writer &w;
  const ConvGeometry &g;
  int64_t around;
  Access image; ///< [images, channels, rows, columns]

  static Access imageOf(const Build &build);
  void fill(Buffer to, Ix at, Ix pixels);
  void weave(Ix from, int64_t count, mlir::Value mask, Buffer to, Ix at);
};

} // namespace ingot::lower
