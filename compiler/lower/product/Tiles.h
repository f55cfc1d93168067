// Products in registers that hold a matrix each (MachineModel::tiles): a block of sums, `tall` tiles by `wide`, to
// which each step adds the products of `tall` tiles of the left factor by `wide` of the right one.
//
//   left      rows of elements, `height` of them in all, that lie anywhere at one distance; a step takes `depth` bytes
//             of each. The second tile's rows need not follow those of the first.
//   right     packed: a tile is depth / 4 rows of 64 bytes, a word of 4 bytes for each of 16 columns
//
// Factors of float32 are split into parts of bfloat16: the nearest one, the one nearest to what is left, and so on.
// Three are the whole number, and what is left out of a product, those of middle and lowest parts, is at most 2^-23 of
// it, as what float32 rounds is. Of two, the product of the low ones is left out, at most 2^-16, and the factors are
// wrong by 2^-17 at most (G. Henry, P. Tang, A. Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations", 2019). A step then has a tile of each part where others have one, and six products or
// three. Of what is infinite the lower parts are NaN, and parts below 2^-126 are zero.
//
// A constant right factor is split when the model is compiled, or on the way, into scratch memory: while a chunk of its
// steps is multiplied, by all blocks of rows one behind the other, they split the next chunk between their products,
// each block and step its share (RightSplit). Vectors have nothing else to do meanwhile.
//
// A kernel configures its tiles where it begins and releases them where it ends, on the thread that runs it: nothing of
// them is left for who is called, who calls, or what the operating system has to save. Sizes of tiles are data in
// memory: how many rows there are may be known only when the model runs. Sums leave tiles by way of a block in memory,
// which stays in the first cache.
#pragma once
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/plan/Plan.h"
#include <array>
#include <cstring>

namespace ingot::lower {

/// Work of images or matrices that are cut into strips of rows, which all panels go over: so many blocks times panels.
/// Items are as long as each other, wherever strips end.
struct StripWork {
  support::Size images;
  support::Size strips;     ///< of an image
  int64_t blocks;           ///< of a strip
  support::Size lastBlocks; ///< of the last one
  int64_t panels;
  /// What a strip costs a second thread that works on it, as a share of its products: items that would end so little
  /// behind or before the end of a strip end there.
  double copyShare;
  support::Size items;

  /// Runs `body` for each strip of which a range of items has panels, with those.
  void eachStrip(Writer &w, Ix begin, Ix end,
                 llvm::function_ref<void(Ix strip, Ix firstPanel, Ix endPanel)> body) const;

private:
  /// The first panel of an item, counted through the strips of all images.
  Ix panelOf(Ix item) const;
};
/// Threads to which the panels of a strip may go, each with a copy of it: so many that several have work.
int64_t sharesOfStrip(int64_t strips, int64_t panels);
/// How many times as long a copy takes of what another thread wrote, which is in its cache.
inline constexpr double copyFromAfar = 3;
/// Where the copies of all strips are so many of all cycles, when one thread does everything.
double shareOfCopy(double copies, double all);
/// Returns `items`, or some less, so that usual numbers of threads have as many each.
support::Size evenItems(const support::Size &items);

/// How a block is cut. All machines' tiles have as many columns of words as a vector has lanes.
struct TileShape {
  int64_t tall = 1, wide = 1; ///< of the largest block
  int64_t depth = 64;         ///< bytes of a row that a step takes
  int64_t parts = 1;          ///< tiles of a factor: several of float32
  bool splitsRight = false;   ///< the right factor lies in memory as floats, and is split on the way
  friend bool operator==(const TileShape &a, const TileShape &b) = default;
  int64_t rightBytes() const { return depth * 16; }          ///< of a packed tile
  int64_t sumBytes() const { return tall * wide * 16 * 64; } ///< of a block's sums
  /// Of a step of so many columns as tiles are loaded from it: all those of the highest parts first.
  int64_t stepBytes(int64_t columnTiles) const { return parts * columnTiles * rightBytes(); }
  // What memory has of a tile and of a step: floats, or all tiles of the highest parts first. Panels of floats are of
  // one size, the last one with zeros behind its columns.
  int64_t storedTileBytes() const { return (splitsRight ? 2 : 1) * rightBytes(); }
  int64_t storedBytes(int64_t columnTiles) const {
    return splitsRight ? wide * storedTileBytes() : parts * columnTiles * storedTileBytes();
  }

  /// Bytes of a step over rows of so many: whole words, as few steps as can be, and those alike; the last one may have
  /// some in common with the one before it, but not of bfloat16: the zeros that an element is multiplied with there
  /// would make NaN of an infinity. 0: a row has no word, or no whole number of them.
  static int64_t depthOf(int64_t rowBytes, bool mayOverlap, const target::MachineModel &machine);
  /// Tall enough for `rows`, and as wide as registers allow beside that.
  static TileShape of(int64_t rows, int64_t columnTiles, int64_t depth, const target::MachineModel &machine);
  /// How many of so many steps all `blocks` go over before any goes on, where the right factor is split on the way: all
  /// of them, but few where few blocks share what has been split, which then stays in the first cache.
  int64_t stepsOfChunk(int64_t steps, int64_t blocks, const target::MachineModel &machine) const;
  /// Returns the scratch memory for a chunk of `steps` steps.
  int64_t chunkBytes(int64_t steps) const { return splitsRight ? steps * stepBytes(wide) : 0; }
  /// Returns the pairs of rows of the right factor's tiles in a step: two vectors, which are split at a time.
  int64_t pairsOfStep() const { return wide * depth / 4; }
  /// Returns the number of products of two parts.
  int64_t products() const { return parts * (parts + 1) / 2; }
};

/// How factors of float32 are split.
struct Splitting {
  int64_t parts = 0;   ///< 0: not at all
  bool always = false; ///< else where that is expected to be faster
};
Splitting splittingOf(plan::KernelOp kernel, const target::MachineModel &machine);
/// Whether a kernel's weights are split when the model runs: if all of the model's come from memory, three parts are
/// more bytes than what they are made of, for which few rows would wait.
bool splitsOnTheWay(plan::KernelOp kernel, int64_t parts, int64_t rows, const target::MachineModel &machine);
/// Cycles by which a kernel of split factors must be expected to be faster: what stands behind tiles is slower for a
/// while.
inline constexpr double sureGainOfSplit = 6'000;
/// Stores a vector of float32 split, or two at once: each part so many elements behind the higher one. `to` holds
/// bfloat16. Elements of two alternate, since that takes fewest instructions: splitOrder says which one is where.
void storeSplit(Writer &w, llvm::ArrayRef<mlir::Value> vectors, int64_t parts, Buffer to, Ix at, Ix distance);
/// Which element is at this position of so many that are stored two vectors at a time, and at last perhaps one.
int64_t splitOrder(int64_t position, int64_t count);
/// Stores floats split, at compile time: each part so many bytes behind the higher one. Overwrites the floats.
void storeSplit(llvm::MutableArrayRef<float> floats, int64_t parts, char *to, int64_t distance);
/// An element of an array of floats of any type.
class FloatAt {
public:
  FloatAt(mlir::Type element, const char *from) : codec(element), isFloat(element.isF32()), from(from) {}
  float operator()(int64_t i) const {
    float v;
    if (!isFloat) {
      return static_cast<float>(codec.read(from + codec.bytes() * i));
    }
    std::memcpy(&v, from + sizeof v * i, sizeof v);
    return v;
  }

private:
  onnx::FloatCodec codec;
  bool isFloat;
  const char *from;
};

/// Cycles of a step over `height` rows and `wide` tiles of columns, one of so many blocks that share what is split on
/// the way; and of all that comes before and behind the steps.
double tileStepCycles(const TileShape &shape, int64_t height, int64_t wide, int64_t blocks);
double tileBlockCycles(int64_t height, int64_t wide);

class TileBlock {
public:
  TileBlock(Writer &w, const TileShape &shape, bool ofBf16);

  /// Blocks have so many rows from here on, at least one, and at most 16 for each of `tall`.
  void configure(Ix height);
  void release();

  /// Rows of the first tile, and where the second one's begin.
  Ix first() const { return firstHeight; }
  Ix second() const { return secondStart; }

  /// Bytes from the beginning of a buffer on.
  struct Rows {
    Buffer buffer;
    llvm::SmallVector<Ix, 2> at; ///< for each tile
    Ix stride;
    Ix part = 0; ///< from one part to the next
  };
  void clear(int64_t wide);
  /// A panel of packed steps, from a byte of a buffer on.
  struct Panel {
    Buffer buffer;
    Ix at;
    int64_t unit = 1; ///< bytes that the buffer counts in
    int64_t steps = 1;
  };
  /// What a step prefetches.
  struct Fetch {
    Buffer buffer;
    Ix at;
    int64_t unit, lines;
  };
  /// A share of the panel that is read next, whose steps are like these: all `groups` of blocks that come before it
  /// fetch it together, or the first ones of many.
  Fetch share(const Panel &next, Ix group, int64_t groups, Ix step, int64_t wide) const;
  /// What a single block reads a little later.
  Fetch ahead(const Panel &own, Ix step, int64_t wide) const;
  /// What of another chunk a step splits: pairs of its rows, that lie in memory one behind the other.
  struct RightSplit {
    Panel from; ///< at the first pair
    Buffer to;  ///< bfloat16, from an element on
    Ix toAt;
    int64_t pairs;
  };
  /// `right`: a packed step of `wide` tiles. Prefetches are spread between loads, which would wait for many of them,
  /// and so is what is split.
  void step(const Rows &left, Buffer right, Ix rightAt, int64_t wide, const std::optional<Fetch> &fetch,
            const std::optional<RightSplit> &split = std::nullopt);
  /// Of chunks of so many steps two have room for their parts, from an element on: one is multiplied while the next one
  /// is split.
  Ix partsAt(Ix chunk, int64_t steps) const { return remainder(chunk, 2) * (shape.chunkBytes(steps) / 2); }
  /// How many pairs each step of so many blocks splits, so that all of them split a chunk.
  int64_t splitPairs(int64_t blocks) const;
  /// The share of a step that comes behind so many others.
  RightSplit splitShare(const Panel &from, Buffer to, Ix toAt, Ix stepsBefore, int64_t pairs) const;
  /// Splits what is left of a chunk behind so many steps that split `pairs` each.
  void splitRest(const Panel &from, Buffer to, Ix toAt, Ix stepsBefore, int64_t pairs);
  /// Behind each step, of which `steps` make up the sums: without a store of a tile for half a microsecond the next one
  /// takes 0.3 longer on a Xeon of 2023 (bench/tile_store.c). So some steps store a tile.
  void stayAwake(Ix step, int64_t steps);
  /// Spills the sums to memory, shape.sumBytes() from a byte of a buffer on, and loads them from there again.
  void spill(Buffer buffer, Ix at, int64_t wide) { moveSums(Instruction::TileStore, buffer, at, wide); }
  void reload(Buffer buffer, Ix at, int64_t wide) { moveSums(Instruction::TileLoad, buffer, at, wide); }
  /// Moves the sums into memory; then row i, vector v of the block is sums(i, v).
  void leave(int64_t wide);
  mlir::Value sums(Ix row, int64_t v, int64_t wide);

private:
  Writer &w;
  TileShape shape;
  bool ofBf16;
  int64_t lanes, rows, rowBytes;
  Ix firstHeight, secondStart;
  Buffer block, config;

  int64_t sum(int64_t m, int64_t n, int64_t wide) const { return m * wide + n; }
  int64_t left(int64_t m) const { return shape.tall * shape.wide + m; }
  int64_t right(int64_t n) const;
  void splitPair(const RightSplit &split, int64_t pair);
  mlir::Value pointer(Buffer buffer, Ix byte);
  mlir::Value number(int64_t tile);
  void moveSums(Instruction how, Buffer buffer, Ix at, int64_t wide);
  void move(Instruction which, int64_t tile, Buffer buffer, Ix byte, Ix stride);
};

} // namespace ingot::lower
