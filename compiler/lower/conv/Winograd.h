// Computes convolutions of stride 1 from channel blocks to channel blocks by Winograd's algorithm, with 3, 5 or 7 taps
// along an axis, or one. An image is cut into tiles of m x m outputs, m = 2 or 4. Each tile becomes (m + r - 1)^2
// products, where r taps are along each axis, of a point's input channels with a matrix. Along an axis with one tap a
// tile has one output. Where taps are d apart, so are a tile's outputs, and d tiles, each an element further on, are
// side by side. Groups of whole channel blocks have panels of their own.
//
// The tiles of an image are one list. Neighbours in it are multiplied together, as many as registers hold the results
// of: a register tile. A strip is a part of the list, of whole register tiles, for which the transformed inputs of all
// channels fit the second cache. It goes through
//   1. V[component][channel block][tile] = B^T d B, in registers, a block of channels at a time;
//   2. for each panel of output channels and each component: M[component][vector][tile] = V times the panel's weights,
//      with the register tile of BlockedConv;
//   3. for each tile of the panel: A^T M A in registers, then bias and epilogue, and stores.
// The last tiles of a row and of a column begin earlier, so that they end where the image does: they read what a direct
// convolution reads and no more, and store the outputs that the tiles before them do not. An image whose size only the
// run knows may be smaller than a tile. Such a tile reads the last row and column again in the place of what is not
// there, and stores the outputs that there are.
//
// For bytes all of it is exact (Filtering.h). Transformed elements and weights are int16, of which one instruction
// multiplies and adds two neighbouring channels (ByteProducts), and sums are int32. Where a machine has no instruction
// for bytes this is worth it for 1x1 convolutions as well, which are F(1x1). Everything in scratch memory is counted in
// words of 32 bits: a float, a sum, or two transformed bytes.
#pragma once
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/conv/Filtering.h"

namespace ingot::lower {

/// How a convolution is cut into tiles, strips and panels.
struct WinogradSchedule {
  /// How one axis of an image is cut into tiles.
  struct Tiles {
    Filtering filtering;
    int64_t step;          ///< elements from one output of a tile to the next, and from one tap to the next
    support::Size outputs; ///< outputs of the image along the axis
    support::Size count;   ///< tiles along the axis
    /// How many outputs at the beginning of the last tiles the tiles before them also have, where that is known.
    int64_t old = 0;

    Tiles(const ConvAxis &axis, int64_t outputs, bool ofBytes);
    int64_t reach() const { return filtering.outputs() * step; } ///< the outputs of `step` tiles side by side
    bool isOpen() const { return !outputs.isNumber(); }
  };

  ConvGeometry g;
  int64_t perWord = 1; ///< input channels in a word of 32 bits: two for bytes
  Tiles rows, columns;
  /// One component of one group, which is a convolution of one tap over the list of tiles.
  ConvGeometry component;
  BlockedSchedule product;
  support::Size strips = 1;       ///< strips of an image
  int64_t stripRegisterTiles = 1; ///< register tiles of the largest strip
  int64_t shares = 1; ///< parts of the panels of a strip; threads that share a strip each transform its inputs
  double cycles = 0;  ///< the expected cycles of an image
  int64_t line;       ///< words of a cache line
  int64_t heavyItems; ///< MachineModel::Tuning::heavyItems

  /// Makes the schedule for an image whose size is known.
  WinogradSchedule(const ConvGeometry &g, int64_t outputs, int64_t lanes, bool ofBytes,
                   const target::MachineModel &machine);
  /// Returns the schedule for images whose size only the run knows, in strips as long as these.
  WinogradSchedule opened(const ConvGeometry &open) const;

  int64_t outputs() const { return std::max(rows.filtering.outputs(), columns.filtering.outputs()); }
  bool isOfBytes() const { return perWord > 1; }
  int64_t components() const { return rows.filtering.inputs() * columns.filtering.inputs(); }
  support::Size tiles() const { return rows.count * columns.count; }
  bool isOpen() const { return rows.isOpen() || columns.isOpen(); }
  /// Returns how many tiles each register tile of an image of known size has, and how many such register tiles there
  /// are: the larger ones first, as balancedTiles cuts them.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> registerTiles() const {
    return balancedTiles(tiles().number(), product.pixels);
  }
  /// Returns how many tiles the largest register tile has.
  int64_t largestRegisterTile() const { return isOpen() ? product.pixels : registerTiles()[0].first; }
  support::Size registerTileCount() const;
  int64_t stripTiles() const { return stripRegisterTiles * largestRegisterTile(); } ///< tiles of the largest strip
  int64_t inputBlocks() const { return llvm::divideCeil(g.inChannels, product.lanes); }
  int64_t outputBlocks() const { return g.groups * product.blocks; }
  int64_t panelCount() const { return g.groups * product.panelCount(); }
  /// Return the words of a tile's block of inputs, and of all inputs of a group.
  int64_t blockWords() const { return product.lanes / perWord; }
  int64_t inputWords() const { return llvm::divideCeil(g.inGroup(), perWord); }
  /// Return the words of a component of V and of M. Each is an odd number of cache lines, so that components do not
  /// share cache sets.
  int64_t inputStride() const;
  int64_t productStride() const;
  int64_t scratchWords() const { return components() * (inputStride() + productStride()); }
  int64_t weightWords() const { return components() * outputBlocks() * product.lanes * inputWords(); }

  /// Returns the multiplications of all images.
  support::Size multiplyAdds() const { return g.batch * tiles() * (components() * g.inGroup() * g.outChannels); }

  /// Returns the units of work: a share of the panels of a strip each.
  support::Size units() const { return g.batch * (strips * shares); }
  /// Returns the work items. Each is some units, one behind the other, and has scratch memory.
  support::Size items() const;
  int64_t itemsAtMost() const;
};

/// Marks an Int8Conv with the tiles for which its sums are exact. That depends on the weights' values, which are not
/// known any more when one kernel is built for several convolutions.
void markExactOutputs(plan::KernelOp kernel);

/// Chooses the cheapest number of strips, and of equally cheap ones the largest, which takes the least memory.
/// `weightRate` is the bytes a cycle of weights that are read for the first time in a run. `why`, if any, is told what
/// was compared.
void chooseStrips(WinogradSchedule &s, double weightRate, const target::MachineModel &machine,
                  std::string *why = nullptr);

/// Returns the shape of the kernel with this schedule.
KernelShape winogradShape(plan::KernelOp kernel, const WinogradSchedule &schedule);
/// Writes the loops.
void buildWinograd(Build &build, const WinogradSchedule &schedule);

} // namespace ingot::lower
