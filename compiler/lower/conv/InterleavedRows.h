// Rows of a row-major image of at most four channels, copied pixel by pixel: four values of each, zeros behind the last
// channel, and around the image what lies there. Convolutions read them that multiply four neighbouring bytes at a
// time, or the pixels of a row of taps as one run.
#pragma once
#include "compiler/lower/conv/Convolution.h"

namespace ingot::lower {

class InterleavedRows {
public:
  static constexpr int64_t channels = 4; ///< of a pixel
  /// What is written behind the end of a row is overwritten by the next one; behind the last one must be room for so
  /// many pixels.
  static constexpr int64_t slack = 16;

  /// Whether a convolution can read them: its image has few channels, its size is known, and the result has enough
  /// channels for blocks of `lanes`.
  static bool canBeReadBy(mlir::Operation *root, int64_t lanes);

  InterleavedRows(Build &build, const ConvGeometry &g)
      : w(build.w), g(g), around(paddingOf(build.group.root)), image(imageOf(build)) {}

  /// Row y and those `step` further on, `count` of them, of each so many pixels from the first that a convolution
  /// reads; `line` pixels are from one row to the next in `to`.
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
