// Convolutions of unsigned by signed bytes, of bfloat16 and of split float32, in tiles (Tiles.h), from channel blocks
// to channel blocks, or from row-major images of few channels (stems).
#pragma once
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/conv/InterleavedRows.h"
#include "compiler/lower/product/Tiles.h"

namespace ingot::lower {

struct TileConv : BlockedKernel {
  static constexpr int64_t lanes = 16; ///< of a channel block, and columns of a tile
  static int64_t reach(const ConvAxis &a) { return (a.taps - 1) * a.tapStep + 1; } ///< input pixels of an output

  bool ofBf16 = false;   ///< tiles hold bfloat16
  int64_t parts = 1;     ///< of float32, which the copy has split; else one
  bool ofPlanes = false; ///< the image is row-major; its copy has four channels for each pixel
  TileShape shape = {};
  bool copies = true;     ///< a strip of the image, pixel by pixel with all channels side by side
  int64_t pixelBytes = 0; ///< of whole channel blocks, or of four channels
  /// The copy has for each output column the pixels of all its taps, so that the outputs of a strip are one row.
  bool isFlat = false;
  int64_t nextPixel = 0; ///< bytes from one pixel of the copy to the next
  /// From one output to the next, in pixels of what is read: where there is one tap only pixels that are read are
  /// copied.
  int64_t rowStep = 1, columnStep = 1;
  int64_t runBytes = 0, runs = 1,
          stepsOfRun = 1;         ///< bytes that lie together for a pixel, how many times for a row of taps, and steps
  int64_t strips = 1, panels = 1; ///< of output channels

  bool twoRows = false;                  ///< a block is two whole rows, each a tile
  int64_t height = 1;                    ///< of a block
  int64_t groups = 1;                    ///< blocks of a row, or of a strip of one; the last one begins early
  int64_t unitRows = 1, unitColumns = 0; ///< of a strip: rows; or pixels of the only row
  int64_t units = 1;                     ///< strips of an image, of which the last one may be smaller
  int64_t shares = 1;                    ///< threads to which the panels of a strip may go
  double copyShare = 0;                  ///< StripWork
  int64_t copiedRows = 1, copiedColumns = 1;
  double cycles = 0; ///< expected

  const ConvAxis &rows() const { return g.subConvs[0].axes[1]; }
  const ConvAxis &columns() const { return g.subConvs[0].axes[2]; }
  int64_t elementBytes() const { return ofBf16 ? 2 : 1; } ///< of what tiles hold
  int64_t steps() const { return rows().taps * runs * stepsOfRun; }
  int64_t panelBytes() const { return steps() * shape.storedBytes(shape.mostColumnTiles); }
  /// Rows of a flat copy that are read by one tap: those of a stride lie one behind the other.
  int64_t rowsOfRemainder() const { return copiedRows / rowStep; }
  /// Whether a strip is one row of outputs.
  bool isRow() const { return isFlat || unitColumns; }
  int64_t blocksOfUnit() const { return blocksOf(unitRows, unitColumns); }
  int64_t blocksOfLastUnit() const {
    int64_t before = units - 1;
    return blocksOf(rows().out.number() - before * unitRows, columns().out.number() - before * unitColumns);
  }
  int64_t blocksOfImage() const { return (units - 1) * blocksOfUnit() + blocksOfLastUnit(); }
  int64_t partBytes() const {
    return copies ? copiedRows * copiedColumns * nextPixel + (ofPlanes ? InterleavedRows::slack * pixelBytes : 0) : 0;
  }
  int64_t stripBytes() const { return parts * partBytes(); }
  int64_t chunk = 1; ///< steps of a panel that all blocks of a strip go over before any goes on
  int64_t chunks() const { return steps() / chunk; }
  bool spillsSums() const { return chunks() > 1 && blocksOfUnit() > 1; }
  int64_t sumBytes() const { return spillsSums() ? blocksOfUnit() * shape.sumBytes() : 0; }
  /// Of an item: its strip, a chunk that is multiplied while the next one is split, and spilled sums.
  int64_t scratchBytes() const { return (copies ? stripBytes() : 0) + 2 * shape.chunkBytes(chunk) + sumBytes(); }
  bool splits() const { return parts > 1; }
  support::Size items() const;

private:
  int64_t blocksOf(int64_t rows, int64_t pixels) const {
    return isFlat        ? groups
           : unitColumns ? static_cast<int64_t>(llvm::divideCeil(pixels, height))
           : twoRows     ? static_cast<int64_t>(llvm::divideCeil(rows, 2))
                         : rows * groups;
  }
};

/// Whether the image is read as it is, row by row.
bool isTileStem(mlir::Operation *root, const target::MachineModel &machine);
/// The schedule, where the machine's tiles can do it. `parts`: of float32 that is split.
std::optional<TileConv> tileConvOf(plan::KernelOp kernel, const target::MachineModel &machine, int64_t parts);
KernelShape tileConvShape(plan::KernelOp kernel, const TileConv &conv);
void buildTileConv(Build &build, const TileConv &conv);

} // namespace ingot::lower
