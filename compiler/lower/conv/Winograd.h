// Convolutions of stride 1 from channel blocks to channel blocks by Winograd's algorithm, with 3, 5 or 7 taps along an
// axis, or one: an image is cut into tiles of m x m outputs, m = 2 or 4, and each becomes (m + r - 1)^2 products, where
// r taps are along each axis, of a point's input channels with a matrix. Along an axis with one tap a tile has one
// output. Groups of whole channel blocks have panels of their own. Where taps are d apart, so are a tile's outputs; d
// tiles, each an element further on, are side by side.
//
// The tiles of an image are one list. A strip is a run of them for which the transformed inputs of all channels fit the
// second cache; it goes through
//   1. V[component][channel block][tile] = B^T d B, in registers, a block of channels at a time;
//   2. for each panel of output channels and each component: M[component][vector][tile] = V times the panel's weights,
//      with the register tile of DenseConv;
//   3. for each tile of the panel: A^T M A in registers, then bias and epilogue, and stores.
// The last tiles of a row and of a column begin earlier, so that they end where the image does: they read what a direct
// convolution reads and no more, and store what those before them do not. An image whose size the run tells may be
// smaller than a tile, which then reads the last row and column again in the place of what is not there, and stores the
// outputs that there are.
//
// Of bytes all of it is exact (Filtering.h): transformed elements and weights are int16, of which one instruction
// multiplies and adds two neighbouring channels (ByteProducts), and sums are int32. Where a machine has no instruction
// for bytes that is worth it for 1x1 convolutions, too, which are F(1x1). All in scratch memory is counted in
// words of 32 bits: a float, a sum, or two transformed bytes.
#pragma once
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/conv/Filtering.h"

namespace ingot::lower {

struct WinogradSchedule {
  /// How one axis of an image is cut into tiles.
  struct Tiles {
    Filtering filtering;
    int64_t step;          ///< from one output of a tile to the next, as from one tap to the next
    support::Size outputs; ///< of the image
    support::Size count;   ///< of tiles
    int64_t old = 0;       ///< outputs from the beginning of the last tiles on that those before them have, too; where
                           ///< it is known

    Tiles(const ConvAxis &axis, int64_t outputs, bool ofBytes);
    int64_t reach() const { return filtering.outputs() * step; } ///< outputs of `step` tiles side by side
    bool isOpen() const { return !outputs.isNumber(); }
  };

  ConvGeometry g;
  int64_t perWord = 1; ///< input channels in a word: two of bytes
  Tiles rows, columns;
  /// One component of one group: a convolution of one tap over the list of tiles.
  ConvGeometry component;
  DenseSchedule product;
  support::Size strips = 1; ///< of an image
  int64_t stripRuns = 1;    ///< register tiles of the largest strip
  int64_t shares = 1; ///< of the panels of a strip, each with an input transform of its own where threads share them
  double cycles = 0;  ///< expected, of an image
  int64_t line;       ///< words of a cache line
  int64_t heavyItems; ///< MachineModel::Tuning

  /// Of an image whose size is known.
  WinogradSchedule(const ConvGeometry &g, int64_t outputs, int64_t lanes, bool ofBytes,
                   const target::MachineModel &machine);
  /// The same for images of which the run tells the size, in strips as long as these.
  WinogradSchedule opened(const ConvGeometry &open) const;

  int64_t outputs() const { return std::max(rows.filtering.outputs(), columns.filtering.outputs()); }
  bool isOfBytes() const { return perWord > 1; }
  int64_t components() const { return rows.filtering.inputs() * columns.filtering.inputs(); }
  support::Size tiles() const { return rows.count * columns.count; }
  bool isOpen() const { return rows.isOpen() || columns.isOpen(); }
  /// The register tiles of an image of known size: as balancedTiles has them.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> runs() const {
    return balancedTiles(tiles().number(), product.pixels);
  }
  int64_t runTiles() const { return isOpen() ? product.pixels : runs()[0].first; } ///< of the largest register tile
  support::Size runCount() const;
  int64_t stripTiles() const { return stripRuns * runTiles(); } ///< of the largest strip
  int64_t inputBlocks() const { return llvm::divideCeil(g.inChannels, product.lanes); }
  int64_t outputBlocks() const { return g.groups * product.blocks; }
  int64_t panelCount() const { return g.groups * product.panelCount(); }
  /// Words of a tile's block of inputs, and of all inputs of a group.
  int64_t blockWords() const { return product.lanes / perWord; }
  int64_t inputWords() const { return llvm::divideCeil(g.inGroup(), perWord); }
  /// Words of a component of V and M. An odd number of cache lines, so that components do not share cache sets.
  int64_t inputStride() const;
  int64_t productStride() const;
  int64_t scratchWords() const { return components() * (inputStride() + productStride()); }
  int64_t weightWords() const { return components() * outputBlocks() * product.lanes * inputWords(); }

  /// Of all images.
  support::Size multiplyAdds() const { return g.batch * tiles() * (components() * g.inGroup() * g.outChannels); }

  support::Size units() const { return g.batch * (strips * shares); }
  /// Work items: runs of units, of which each has scratch memory.
  support::Size items() const;
  int64_t itemsAtMost() const;
};

/// Marks an IntegerConv with the tiles for which its sums are exact. It is asked of the weights' values, which are not
/// known when its kernel is built for others, too.
void markExactOutputs(plan::KernelOp kernel);

/// The cheapest number of strips; of equally cheap ones the largest, which takes the least memory. `weightRate`: bytes
/// a cycle of weights that are read for the first time in a run.
void chooseStrips(WinogradSchedule &s, double weightRate, const target::MachineModel &machine);

KernelShape winogradShape(plan::KernelOp kernel, const WinogradSchedule &schedule);
void buildWinograd(Build &build, const WinogradSchedule &schedule);

} // namespace ingot::lower
