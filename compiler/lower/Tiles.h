// Products in registers that hold a matrix each (MachineModel::tiles): a block of sums, `tall` tiles by `wide`, to
// which each step adds the products of `tall` tiles of the left factor by `wide` of the right one.
//
//   left      rows of elements, `height` of them in all, that lie anywhere at one distance; a step takes `depth` bytes
//             of each. The second tile's rows need not follow those of the first.
//   right     packed: a tile is depth / 4 rows of 64 bytes, a word of 4 bytes for each of 16 columns
//
// A kernel configures its tiles where it begins and releases them where it ends, on the thread that runs it: nothing of
// them is left for who is called, who calls, or what the operating system has to save. Sizes of tiles are data in
// memory: how many rows there are may be known only when the model runs. Sums leave tiles by way of a block in memory,
// which stays in the first cache.
#pragma once
#include "compiler/lower/Writer.h"

namespace ingot::lower {

/// How a block is cut. All machines' tiles have as many columns of words as a vector has lanes.
struct TileShape {
  int64_t tall = 1, wide = 1; ///< of the largest block
  int64_t depth = 64;         ///< bytes of a row that a step takes
  friend bool operator==(const TileShape &a, const TileShape &b) = default;
  int64_t rightBytes() const { return depth * 16; } ///< of a packed tile

  /// Bytes of a step over rows of so many: whole words, as few steps as can be, and those alike; the last one may have
  /// some in common with the one before it, but not of bfloat16: the zeros that an element is multiplied with there
  /// would make NaN of an infinity. 0: a row has no word, or no whole number of them.
  static int64_t stepBytes(int64_t rowBytes, bool ofHalves, const target::MachineModel &machine);
  /// Tall enough for `rows`, and as wide as registers allow beside that.
  static TileShape of(int64_t rows, int64_t columnTiles, int64_t depth, const target::MachineModel &machine);
};

/// Cycles of a step over `height` rows and `wide` tiles of columns, and of all that comes before and behind the steps.
double tileStepCycles(const TileShape &shape, int64_t height, int64_t wide);
double tileBlockCycles(int64_t height, int64_t wide);

class TileBlock {
public:
  TileBlock(Writer &w, const TileShape &shape, bool ofHalves);

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
  };
  void clear(int64_t wide);
  /// Prefetches a share of what is read next, whose steps are like these: all `groups` of blocks that come before it
  /// fetch it together, or the first ones of many; a single one reads as fast as memory gives, and is held up by it.
  struct Next {
    Buffer buffer;
    Ix at;
    int64_t unit = 1; ///< bytes that the buffer counts in
    int64_t steps = 1, groups = 1;
  };
  void fetchAhead(const Next &next, Ix group, Ix step, int64_t wide);
  /// `right`: of `wide` tiles, one behind the other.
  void step(const Rows &left, Buffer right, Ix rightAt, int64_t wide);
  /// Behind each step, of which `steps` make up the sums: without a store of a tile for half a microsecond the next one
  /// takes 0.3 longer on a Xeon of 2023 (bench/tile_store.c). So some steps store a tile.
  void stayAwake(Ix step, int64_t steps);
  /// Moves the sums into memory; then row i, vector v of the block is sums(i, v).
  void leave(int64_t wide);
  mlir::Value sums(Ix row, int64_t v, int64_t wide);

private:
  Writer &w;
  TileShape shape;
  bool ofHalves;
  int64_t lanes, rows, rowBytes;
  Ix firstHeight, secondStart;
  Buffer block, config;

  int64_t sum(int64_t m, int64_t n, int64_t wide) const { return m * wide + n; }
  int64_t left(int64_t m) const { return shape.tall * shape.wide + m; }
  int64_t right(int64_t n) const;
  mlir::Value pointer(Buffer buffer, Ix byte);
  mlir::Value number(int64_t tile);
  void call(llvm::StringRef name, mlir::ValueRange operands);
  void move(llvm::StringRef name, int64_t tile, Buffer buffer, Ix byte, Ix stride);
};

} // namespace ingot::lower
