// Convolution into channel blocks with constant weights: the schedule (register tile, order of loops, packed weights)
// and its loops.
//
// A panel is `vectors` blocks of output channels; a tile is a panel times a few pixels, accumulated in registers over
// all input channels and taps: for each of those, `vectors` weight vectors are loaded once and each pixel's input
// element is broadcast. A panel reads the input channels of all groups that its outputs belong to; weights between
// groups are packed as zeros.
#pragma once
#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/product/SpilledAccumulators.h"

namespace ingot::lower {

struct BlockedSchedule {
  /// The way in which a panel's input channels lie in memory.
  enum Channels {
    Blocks, ///< whole channel blocks and the beginning of a last one
    Range,  ///< channel blocks, any first and last channel, computed from the panel's number
    Planes, ///< row-major: a plane each
  };
  Channels channels = Blocks;
  /// Input channels and rows of weights of one step of the sums: of bytes, several (ByteProducts).
  int64_t stepChannels = 1, stepRows = 1;
  int64_t int16Dots = 0; ///< dot products of four bytes whose sum fits int16 (ByteProducts)
  int64_t lanes = 1;
  int64_t pixels = 1, vectors = 1; ///< pixels of the largest register tile, and vectors of it and of a panel
  int64_t part = 0;   ///< vectors of the tile where it is a part of the panel, packed for another machine; 0: all
  int64_t blocks = 1; ///< blocks of output channels
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> panels; ///< (vectors, how many)
  int64_t inputs = 0;                                       ///< input channels of the panel that has most
  bool flat = false;        ///< pixels of all rows in one list of static tiles: small images
  bool pixelsOuter = false; ///< all panels for a tile of pixels, so that the input stays in the first cache; else all
                            ///< pixels for a panel, or those of a part of the image:
  int64_t partRows = 0, partTiles = 0; ///< rows, and tiles of a row, whose input stays in the second cache while all
                                       ///< panels go over it; 0: the image is one part
  int64_t subConvRows = 1; ///< of several sub-convolutions, how many rows of each are made before the next rows of all
  /// The size of a K-chunk in channel blocks: every tile computes so many blocks of a panel and spills its accumulators
  /// before any tile goes on. 0: no chunks. Only for tiles of a known number.
  int64_t chunkBlocks = 0;

  friend bool operator==(const BlockedSchedule &a, const BlockedSchedule &b) = default;
  bool isOfBytes() const { return stepChannels > 1; }
  bool isOfInt16() const { return stepChannels == 2; }                           ///< bytes that are int16 in memory
  int64_t elementBytes() const { return isOfInt16() ? 2 : isOfBytes() ? 1 : 4; } ///< bytes of an element of the image
  ByteProducts bytes(const target::MachineModel &machine) const {
    return ByteProducts(machine, isOfInt16(), int16Dots);
  }
  /// Return the steps over some channels, from one at a multiple of `stepChannels` on, and those over a panel's.
  int64_t stepsOf(int64_t channels) const { return llvm::divideCeil(channels, stepChannels); }
  int64_t stepsOfPanel() const { return stepsOf(inputs) + (isOfBytes() && channels == Range ? 1 : 0); }
  int64_t panelCount() const;
  int64_t weightElements(const ConvGeometry &g) const; ///< the elements of packed weights, for all sub-convolutions
  int64_t subConvBase(const ConvGeometry &g, size_t subConv) const;
  /// Returns the [first, last) input channels of the panel of output channels [out, out + width).
  static std::pair<int64_t, int64_t> inputRange(const ConvGeometry &g, int64_t out, int64_t width);
};

/// Why a schedule has its numbers, for people: what its search compared, and which rule decided.
struct ScheduleReasons {
  std::string tile;  ///< "vectors=2: 301 k cycles of arithmetic in tiles of 6 pixels, vectors=1 322 k in 12"
  std::string order; ///< "order=0: the weights (2.4 MB) exceed half of the second cache (512 kB)"; empty: no rule did

  std::string text() const { return order.empty() ? tile : tile + "; " + order; }
};

/// Neighbouring tiles of a row that are of one size and have the same taps.
struct TileRun {
  int64_t start, size, count;
  std::pair<int64_t, int64_t> taps; ///< [first, second) of the inner axis
};
/// Returns the tiles of at most `pixels` that make up a row of known length.
llvm::SmallVector<TileRun, 2> tileRuns(const ConvAxis &row, int64_t pixels);
/// Returns how many tiles they are.
int64_t tilesOfRow(const ConvAxis &row, int64_t pixels);

/// Returns the schedule of a convolution whose result is blocked; `planes`: its input is row-major. `reasons`, if any,
/// are told why.
BlockedSchedule scheduleOf(const ConvGeometry &g, int64_t lanes, bool planes, const target::MachineModel &machine,
                           bool ofBytes = false, ScheduleReasons *reasons = nullptr);
/// Returns the cycles of the arithmetic of an image's first sub-convolution, when all that it reads is in the first
/// cache.
double cyclesOf(const ConvGeometry &g, const BlockedSchedule &s, const target::MachineModel &machine);
/// Returns the schedule for some rows at a time: all panels over a tile of pixels of a row.
BlockedSchedule rowScheduleOf(const ConvGeometry &g, int64_t lanes, const target::MachineModel &machine,
                              bool ofBytes = false, ScheduleReasons *reasons = nullptr);
/// Returns the pixels of the largest tile with `vectors` of the machine's vectors: accumulators, weights and one
/// broadcast (and a product, without fused multiply-add).
int64_t pixelsFor(const BlockedSchedule &s, int64_t vectors, const target::MachineModel &machine);
/// Whether the number of rows and their length are known.
bool knowsPixels(const SubConv &subConv);
/// Whether the pixels may be one list of static tiles.
bool mayBeFlat(const ConvGeometry &g, const BlockedSchedule &s);
/// Returns the bytes of an image that it reads; open sizes are taken for many.
int64_t inputBytesOf(const ConvGeometry &g, const BlockedSchedule &s);
/// Returns the weights as scheduleOf's loops want them.
plan::WeightTable::Recipe packedWeights(const ConvGeometry &g, const BlockedSchedule &s, const ByteProducts &bytes);

/// A kernel from channel blocks to channel blocks: its geometry, and what its loops read and write over that. Where a
/// convolution of one tap can walk the whole image as one row, it has one axis, of all pixels.
struct BlockedKernel {
  ConvGeometry g;
  bool isMerged = false; ///< whether pixels are one axis

  static BlockedKernel of(plan::KernelOp kernel);
  Access input(const Build &build) const; ///< the access over [image, channel block, axes of the sub-convolution]
  Space result(const Build &build) const;
};

/// Returns what a Conv or ConvTranspose reads from channel blocks, over [image, channel block, axes of the
/// sub-convolution].
Access blockedInput(const Build &build, const ConvGeometry &g);

class BlockedConv {
public:
  /// `input` is over [image, channel block (or plane), axes of the sub-convolution]; the stride of the inner axis is a
  /// number.
  BlockedConv(Build &build, const ConvGeometry &g, const BlockedSchedule &s, Access input, Space space);

  static support::Size items(const ConvGeometry &g, const BlockedSchedule &s);
  /// Runs the work items of the build.
  void run();
  /// Writes all panels over rows [from, to) of the only sub-convolution: for stems, which place their input themselves,
  /// and for chains.
  void rows(Ix n, Ix outer, Ix from, Ix to);

private:
  struct Panel {
    int64_t vectors;
    int64_t width;                         ///< elements from one row of weights to the next
    Ix block, weights, input, first, last; ///< input: offset of its first channel; first, last: channels of a Range
    const SubConv *subConv;
  };
  using Vectors = llvm::SmallVector<mlir::Value>;

  Build &build;
  Writer &w;
  const ConvGeometry &g;
  const BlockedSchedule &s;
  Access input;
  Space space;
  Buffer weights, bias;
  Buffer source; ///< what the steps broadcast from: `input.buffer`, or `widened`
  std::optional<SpilledAccumulators>
      spilled;        ///< the sums of all pixels for a panel, where tiles go over its channels in chunks
  Buffer widened;     ///< of narrow floats, a block of the channels of a tile's pixels, as float32; null: not copied
  ByteProducts bytes; ///< used where the schedule is one of bytes
  bool beginsSums;    ///< whether sums begin with what is added to them
  const SubConv *subConv = nullptr;
  std::pair<Ix, Ix> outerTaps, middleTaps; ///< [first, second) that the tile reads
  std::pair<int64_t, int64_t> innerTaps;
  Ix firstRow = 0;          ///< the row of the input that the tile's first tap reads, where rows are in a ring
  int64_t tilesOfPanel = 0; ///< how many tiles share the prefetch of the next panel; 0: no prefetch

  static support::Size subConvUnits(const ConvGeometry &g, const BlockedSchedule &s, size_t axis);
  static support::Size unitsOf(const ConvGeometry &g, const BlockedSchedule &s);
  void eachPanel(size_t subConv, llvm::function_ref<void(const Panel &)> body);
  void eachPart(const Panel &p, llvm::function_ref<void(const Panel &)> body);
  void panelAt(Ix t, size_t subConv, llvm::function_ref<void(const Panel &)> body);
  Panel panel(Ix index, int64_t vectors, Ix block, size_t subConv);
  void unit(const Panel *fixed, Ix n, Ix u);
  void subConvRows(const Panel &p, Ix n, Ix u);
  void partOfImage(Ix n, Ix u);
  void row(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix rowIndex);
  void rowTiles(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix from, Ix to, Ix indexOfFirst);
  void rowSegment(const Panel *fixed, Ix n, Ix u);
  void openRow(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix from, Ix to);
  void rowTile(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix x, int64_t size, Ix tileIndex);
  std::pair<int64_t, int64_t> allTaps() const { return {0, subConv->axes[2].taps}; }
  const Ix &channelStride() const { return input.strides[1]; }
  int64_t lineElements() const { return w.machine.lineBytes / 4; } ///< words of weights in a cache line
  /// Returns the cache lines of weights that one iteration of the innermost loop reads.
  int64_t linesOfIteration(int64_t width) const { return unroll() * s.stepRows * width / lineElements(); }
  /// Steps of one iteration of the innermost loop. Narrow floats are widened as they are loaded: of several steps LLVM
  /// moves the loads ahead, and has no registers for them (three times as slow with 16).
  int64_t unroll() const { return byOne() || source.narrow ? 1 : w.machine.tuning.convUnroll; }
  bool byOne() const { return s.isOfBytes() && bytes.takesTwoInstructions(); }
  const Ix &stride(size_t axis) const { return input.strides[2 + axis]; }
  /// Returns the distance from a tile's base to the row that tap `h` of the middle axis reads.
  Ix rowOffset(Ix h) const {
    int64_t step = subConv->axes[1].tapStep;
    return input.buffer.ring.rows ? input.row(firstRow + h * step) * stride(1) : h * (step * stride(1));
  }
  int64_t pixelStride() const { return subConv->axes[2].inStep * stride(2).number(); }
  void flatImage(const Panel &p, Ix n);
  Ix rowBase(Ix n, Ix outer, Ix middle) const;
  /// Tells where the results of a tile's pixels are, in the first channel block.
  using Points = llvm::function_ref<Point(Ix)>;
  void tile(const Panel *fixed, Ix base, llvm::ArrayRef<int64_t> offsets, Points points, Ix tileIndex);
  void partTile(const Panel &p, Ix base, llvm::ArrayRef<int64_t> offsets, Points points, Ix tileIndex);
  int64_t blockWeights(const Panel &p) const;
  Ix aheadOf(const Panel &p, Ix tileIndex, int64_t blocks) const;
  Vectors blocksOfPanel(const Panel &p, Ix base, llvm::ArrayRef<int64_t> offsets, Vectors acc, Ix from, Ix to,
                        Ix ahead);
  void finish(const Panel &p, Vectors acc, Points points);
  Vectors start(const Panel &p, size_t pixels);
  int64_t lanesOf(const Panel &p, int64_t v) const;
  mlir::Value wholeBlock(mlir::Value sum);
  Vectors block(const Panel &p, Ix in, Ix wt, int64_t count, llvm::ArrayRef<int64_t> offsets, Vectors acc, Ix ahead);
  Vectors widenedSteps(const Panel &p, Ix in, Ix wt, llvm::ArrayRef<int64_t> offsets, Vectors acc, Ix ahead);
  Vectors channelRange(const Panel &p, Ix in, llvm::ArrayRef<int64_t> offsets, Vectors acc);
  Vectors planes(const Panel &p, Ix in, llvm::ArrayRef<int64_t> offsets, Vectors acc);
  Vectors steps(const Panel &p, Ix in, Ix wt, int64_t extent, llvm::ArrayRef<int64_t> offsets, Vectors acc, Ix ahead);
  Vectors byteStep(const Panel &p, Ix in, Ix wt, int64_t unroll, llvm::ArrayRef<int64_t> offsets, mlir::ValueRange acc);
  Vectors step(const Panel &p, Ix in, Ix wt, int64_t unroll, llvm::ArrayRef<int64_t> offsets, mlir::ValueRange acc);
  Point point(Ix n, Ix block, Ix outer, Ix middle, Ix inner) const;
};

} // namespace ingot::lower
