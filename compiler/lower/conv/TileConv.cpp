// A tile takes 64 bytes of neighbouring channels of each of its pixels, and a channel block has 16. So a strip of the
// image is copied first, pixel by pixel with all of its channels (a copy for all taps and all output channels); a row
// of taps is then one run of bytes for each pixel:
//
//   for a strip of rows: copy it / for a panel of output channels / for a block of pixels, two tiles of a row or of
//   two:
//     for each row of taps, for 64 bytes of the run at a time: load, multiply, add
//     sums to memory; pixel by pixel from there as vectors: what follows the convolution, store
//
// Where rows of pixels fill tiles badly, a copy has for each output column the pixels of all its taps, side by side
// (isFlat). Then neighbouring outputs are one distance apart from the first row to the last, and a block takes them as
// if they were one row. Input rows that are a stride apart, which one tap reads, are neighbours in it.
//
// Images of one channel block lie so already. Those of float32 are split by the copy, which has all high parts first,
// then all lower ones. Of row-major ones with up to four channels (isTileStem) the copy has four for each pixel, and
// the zeros around the image. As in TileMatMul, steps are of one size, and a last one that would be too long begins
// early, with zeros for what has been added.
#include "compiler/lower/conv/TileConv.h"
#include "compiler/lower/conv/InterleavedRows.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

static constexpr int64_t lanes = TileConv::lanes;

namespace {

class Conv {
public:
  Conv(Build &build, const TileConv &c)
      : build(build), w(build.w), c(c), block(w, c.shape, c.ofBf16), input(c.input(build)), space(c.result(build)),
        weights(build.group.buffer(build.group.root->getOperand(1))) {
    Value added = build.group.root->getOperand(2);
    bias = onnx::present(added) ? build.group.buffer(added) : Buffer();
  }

  void run() {
    block.configure(c.height);
    takeScratch();
    // A strip is copied once for all panels that a thread has of it.
    StripWork work = {c.g.batch, c.units, c.blocksOfUnit(), c.blocksOfLastUnit(), c.panels, c.copyShare, c.items()};
    work.eachStrip(w, build.begin, build.end, [&](Ix u, Ix from, Ix to) {
      firstPanel = from, endPanel = to;
      strip(floorDiv(u, c.units), remainder(u, c.units));
    });
    block.release();
  }

private:
  Build &build;
  Writer &w;
  const TileConv &c;
  TileBlock block;
  Access input;
  Space space;
  Buffer weights, bias;
  Ix scratchAt;
  Ix firstPanel, endPanel; ///< of the strip's
  Buffer chunkParts = {};  ///< of two chunks that are split on the way
  Buffer sums = {};        ///< of blocks that wait for the next chunk

  /// What tiles are read from: the image or its copy. Bytes from one output row or pixel to the next, and from one
  /// input row and one tap of a row to the next.
  struct Source {
    Buffer buffer;
    Ix base; ///< of the first tap of the strip's first output
    Ix row, pixel, nextRow, columnTap;
  };
  struct Strip {
    Ix image, firstRow, lastRow, firstColumn;
    Ix columns; ///< of the only row
    Source from;
  };

  /// That of the first one of the items that a thread runs, which stays in its cache.
  void takeScratch() {
    scratchAt = build.begin * c.scratchBytes();
    Ix behind = scratchAt + (c.copies ? c.stripBytes() : 0);
    if (c.shape.splitsRight) {
      // Two chunks, of elements of two bytes.
      chunkParts = w.scratch(build.scratch, behind, w.b.getBF16Type(), c.shape.chunkBytes(c.chunk));
    }
    if (c.spillsSums()) {
      sums = w.scratch(build.scratch, behind + 2 * c.shape.chunkBytes(c.chunk), w.b.getF32Type(), c.sumBytes() / 4);
    }
  }

  void strip(Ix n, Ix u) {
    Strip s;
    s.image = n;
    int64_t rows = c.rows().out.number(), row = c.columns().out.number();
    bool ofOneRow = c.unitColumns; // of which a strip is a part
    s.firstRow = ofOneRow ? 0 : u * c.unitRows, s.lastRow = min(s.firstRow + c.unitRows, rows);
    s.firstColumn = u * c.unitColumns;
    Ix columns = ofOneRow ? min(row - s.firstColumn, c.unitColumns) : row;
    s.columns = c.isFlat ? c.unitRows * row : columns;
    const Ix &rowStride = input.strides[3], &columnStride = input.strides[4];
    int64_t each = c.elementBytes();
    Ix image = input.offset + n * input.strides[0] + (s.firstRow * c.rows().inStep + c.rows().inStart) * rowStride +
               (s.firstColumn * c.columns().inStep + c.columns().inStart) * columnStride;
    s.from = {input.buffer,
              image * each,
              c.rows().inStep * rowStride * each,
              c.columns().inStep * columnStride * each,
              rowStride * each,
              c.columns().tapStep * columnStride * each};
    if (c.copies) {
      Ix rows = (s.lastRow - s.firstRow - 1) * c.rowStep + TileConv::reach(c.rows());
      Ix pixels = c.isFlat ? columns : (columns - 1) * c.columnStep + TileConv::reach(c.columns());
      Type element = c.splits() ? Type(w.b.getBF16Type()) : onnx::elementOf(build.group.root->getOperand(0));
      Buffer to = w.scratch(build.scratch, scratchAt, element, c.stripBytes() / each);
      if (c.ofPlanes) {
        Ix first = s.firstRow * c.rows().inStep + c.rows().inStart;
        InterleavedRows(build, c.g).copy(n, first, rows, c.rows().inStep / c.rowStep, pixels, c.copiedColumns, to);
      } else {
        copy(image, rows, pixels, to);
      }
      Ix line = c.copiedColumns * c.nextPixel;
      s.from = {to, 0, c.rowStep * line, c.columnStep * c.nextPixel, line, c.columns().tapStep * c.nextPixel};
    }
    int64_t last = c.strips % c.shape.mostColumnTiles, alike = c.panels - (last ? 1 : 0);
    if (c.shape.splitsRight) {
      block.splitRest(chunkAt(firstPanel * c.chunks()), chunkParts, block.partsAt(firstPanel * c.chunks(), c.chunk), 0,
                      1);
    }
    w.loop(firstPanel, min(endPanel, alike), 1, [&](Ix panel) { eachPanel(s, panel, c.shape.mostColumnTiles); });
    if (last) {
      w.ifThen(w.compare(arith::CmpIPredicate::eq, endPanel, c.panels), [&] { eachPanel(s, alike, last); });
    }
  }

  /// Copies so many rows and pixels of each.
  void copy(Ix image, Ix rows, Ix pixels, Buffer to) {
    int64_t pixel = c.pixelBytes / c.elementBytes();
    // Pixels that no output reads are left out where there is one tap.
    Ix rowStride = (c.rows().inStep / c.rowStep) * input.strides[3];
    Ix columnStride = (c.columns().inStep / c.columnStep) * input.strides[4];
    int64_t blocks = pixel / lanes, together = std::min<int64_t>(blocks, 4);
    int64_t rest = c.splits() ? c.g.inChannels % lanes : 0;
    int64_t alike = (blocks - (rest ? 1 : 0)) / together * together;
    auto take = [&](Ix from, Ix block) {
      Value v = w.load(input.buffer, from, lanes);
      return rest && block.is(blocks - 1) // behind them may be anything
                 ? arith::SelectOp::create(w.b, w.loc, w.maskFor(rest, lanes), v, w.constant(0, v.getType()))
                 : v;
    };
    auto put = [&](ArrayRef<Value> vectors, Ix at) {
      c.splits() ? storeSplit(w, vectors, c.parts, to, at, c.partBytes() / c.elementBytes())
                 : w.store(vectors[0], to, at);
    };
    Ix tapStride = c.columns().tapStep * input.strides[4]; // of a flat copy, which has a pixel for each tap
    auto some = [&](Ix y, Ix tap, Ix first, int64_t count) {
      w.loop(0, pixels, 1, [&](Ix x) {
        Ix from = image + y * rowStride + x * columnStride + tap * tapStride + first * input.strides[1];
        Ix at = (copiedRow(y) * c.copiedColumns + x) * (c.nextPixel / c.elementBytes()) + tap * pixel + first * lanes;
        for (int64_t i = 0, taken; i < count; i += taken) {
          taken = c.splits() ? std::min<int64_t>(2, count - i) : 1;
          SmallVector<Value, 2> vectors;
          for (int64_t j = i; j < i + taken; ++j) {
            vectors.push_back(take(from + j * input.strides[1], first + j));
          }
          put(vectors, at + i * lanes);
        }
      });
    };
    w.loop(0, rows, 1, [&](Ix y) {
      w.loop(0, c.isFlat ? c.columns().taps : 1, 1, [&](Ix tap) {
        w.loop(0, alike, together, [&](Ix b) { some(y, tap, b, together); });
        if (alike < blocks) {
          some(y, tap, alike, blocks - alike);
        }
      });
    });
  }

  /// What all blocks of a strip multiply before any goes on.
  struct Chunk {
    Ix panel, number; ///< of those of the panel
    int64_t columnTiles;
  };

  void eachPanel(const Strip &s, Ix panel, int64_t columnTiles) {
    w.loop(0, c.chunks(), 1, [&](Ix number) {
      Chunk chunk{panel, number, columnTiles};
      eachBlock(s, chunk);
      if (c.shape.splitsRight) {
        block.splitRest(chunkAt(nextChunk(chunk)), chunkParts, block.partsAt(indexOf(chunk) + 1, c.chunk),
                        blocksOf(s) * c.chunk, block.splitPairs(c.blocksOfUnit()));
      }
    });
  }

  /// A block: where its tiles begin, and what of it is stored where.
  struct Block {
    std::array<Ix, 2> at;
    llvm::SmallVector<std::array<Ix, 2>, 2> pixels; ///< row and column of the first one of each run of pixels
  };

  Ix blocksOf(const Strip &s) const {
    Ix rows = s.lastRow - s.firstRow;
    return c.isFlat        ? Ix(c.groups)
           : c.unitColumns ? floorDiv(s.columns + (c.height - 1), c.height)
           : c.twoRows     ? floorDiv(rows + 1, 2)
                           : rows * c.groups;
  }

  Block blockAt(const Strip &s, Ix i) {
    if (c.twoRows) {
      Ix rows = s.lastRow - s.firstRow, first = min(2 * i, max(rows - 2, 0)), second = min(first + 1, rows - 1);
      return {{s.from.base + first * s.from.row, s.from.base + second * s.from.row},
              {{s.firstRow + first, 0}, {s.firstRow + second, 0}}};
    }
    Ix row = c.isRow() ? Ix(0) : floorDiv(i, c.groups), group = c.isRow() ? i : remainder(i, c.groups);
    Ix x = w.hidden(min(group * c.height, s.columns - c.height));
    Ix first = s.from.base + row * s.from.row + x * s.from.pixel;
    return {{first, first + block.second() * s.from.pixel}, {{s.firstRow + row, w.hidden(s.firstColumn + x)}}};
  }

  void finishBlock(const Strip &s, const Chunk &chunk, const Block &own) {
    int64_t each = c.height / static_cast<int64_t>(own.pixels.size()), first = 0;
    for (const std::array<Ix, 2> &pixel : own.pixels) {
      finish(s, chunk, pixel[0], pixel[1], first, first + each);
      first += each;
    }
  }

  void eachBlock(const Strip &s, const Chunk &chunk) {
    w.loop(0, blocksOf(s), 1, [&](Ix i) { multiply(s, chunk, blockAt(s, i), i); });
  }

  /// Returns a chunk by its number among those of all panels.
  TileBlock::Panel chunkAt(Ix index) const {
    int64_t bytes = c.chunk * c.shape.storedBytes(c.shape.mostColumnTiles); // a narrower panel is the last one
    return {weights, index * bytes, weightBytes(), c.chunk};
  }
  Ix indexOf(const Chunk &chunk) const { return chunk.panel * c.chunks() + chunk.number; }
  Ix nextChunk(const Chunk &chunk) const { return min(indexOf(chunk) + 1, endPanel * c.chunks() - 1); }

  void multiply(const Strip &s, const Chunk &chunk, const Block &own, Ix index) {
    Ix spilledAt = index * c.shape.sumBytes();
    auto isChunk = [&](int64_t number) { return w.compare(arith::CmpIPredicate::eq, chunk.number, number); };
    auto leave = [&] { block.leave(chunk.columnTiles), finishBlock(s, chunk, own); };
    if (c.chunks() == 1) {
      block.clear(chunk.columnTiles);
      multiplySteps(s, chunk, own, index);
      return leave();
    }
    w.ifElse(
        isChunk(0), [&] { block.clear(chunk.columnTiles); },
        [&] { moveSpilled(&TileBlock::reload, spilledAt, chunk.columnTiles); });
    multiplySteps(s, chunk, own, index);
    w.ifElse(isChunk(c.chunks() - 1), leave, [&] { moveSpilled(&TileBlock::spill, spilledAt, chunk.columnTiles); });
  }

  /// Sums of an only block stay where they are.
  void moveSpilled(void (TileBlock::*move)(Buffer, Ix, int64_t), Ix at, int64_t columnTiles) {
    if (c.spillsSums()) {
      (block.*move)(sums, at, columnTiles);
    }
  }

  void multiplySteps(const Strip &s, const Chunk &chunk, const Block &to, Ix index) {
    int64_t blocks = c.blocksOfUnit(), columnTiles = chunk.columnTiles;
    TileBlock::Panel own = chunkAt(indexOf(chunk));
    w.loop(0, c.chunk, 1, [&](Ix k) {
      Ix number = chunk.number * c.chunk + k, from = leftAt(s, number);
      TileBlock::Rows rows{s.from.buffer, {to.at[0] + from, to.at[1] + from}, s.from.pixel, c.partBytes()};
      if (c.shape.splitsRight) {
        TileBlock::RightSplit split =
            block.splitShare(chunkAt(nextChunk(chunk)), chunkParts, block.partsAt(indexOf(chunk) + 1, c.chunk),
                             index * c.chunk + k, block.splitPairs(blocks));
        Ix right = 2 * block.partsAt(indexOf(chunk), c.chunk) + k * c.shape.stepBytes(c.shape.mostColumnTiles);
        block.step(rows, chunkParts, right, columnTiles, std::nullopt, split);
      } else {
        std::optional<TileBlock::Fetch> fetch;
        if (c.panels > 1 && blocks > 1 &&
            columnTiles == c.shape.mostColumnTiles) { // behind the last panel, too: that touches nothing
          fetch = block.share(chunkAt(chunk.panel + 1), index, blocks, k, columnTiles);
        }
        block.step(rows, weights, own.at + k * c.shape.stepBytes(columnTiles), columnTiles, fetch);
      }
      block.stayAwake(c.spillsSums() ? k : number, c.spillsSums() ? c.chunk : c.steps());
    });
  }

  /// Where a flat copy has a row of the strip's input.
  Ix copiedRow(Ix row) const {
    return c.isFlat ? remainder(row, c.rowStep) * c.rowsOfRemainder() + floorDiv(row, c.rowStep) : row;
  }

  /// Where a step reads, from a pixel's first tap on. The last step of a run begins early where it would be too long.
  Ix leftAt(const Strip &s, Ix number) const {
    Ix run = floorDiv(number, c.stepsOfRun), k = remainder(number, c.stepsOfRun);
    Ix tap = copiedRow(floorDiv(run, c.runs) * c.rows().tapStep) * s.from.nextRow +
             remainder(run, c.runs) * s.from.columnTap;
    return tap + min(k * c.shape.depth, c.runBytes - c.shape.depth);
  }

  /// Rows [first, last) of the block: pixels of output row `y`, from `x` on.
  void finish(const Strip &s, const Chunk &chunk, Ix y, Ix x, int64_t first, int64_t last) {
    int64_t perStore = build.group.vectorsPerStore(lanes), whole = first + (last - first) / perStore * perStore;
    auto some = [&](Ix from, int64_t count) {
      for (int64_t v = 0; v < chunk.columnTiles; ++v) {
        Ix strip = chunk.panel * c.shape.mostColumnTiles + v;
        Value biases = bias ? w.load(bias, strip * lanes, lanes) : Value();
        SmallVector<Value> sums;
        SmallVector<Point> points;
        for (int64_t i = 0; i < count; ++i) {
          Value sum = block.sums(from + i, v, chunk.columnTiles);
          sums.push_back(bias ? arith::AddFOp::create(w.b, w.loc, sum, biases).getResult() : sum);
          Ix column = x + (from + i) - first, row = c.columns().out.number();
          points.push_back(c.isFlat ? point(s, strip, y + floorDiv(column, row), remainder(column, row))
                                    : point(s, strip, y, column));
        }
        build.group.finishSome(sums, space, points);
      }
    };
    w.loop(first, whole, perStore, [&](Ix i) { some(i, perStore); });
    w.loop(whole, last, 1, [&](Ix i) { some(i, 1); });
  }

  /// That the buffer of weights counts in.
  int64_t weightBytes() const { return c.splits() ? c.g.weightBytes : c.elementBytes(); }

  Point point(const Strip &s, Ix outputBlock, Ix y, Ix x) const {
    Point p;
    p.at.assign(space.sizes.size(), 0);
    p.at[0] = s.image, p.at[1] = outputBlock, p.lanes = lanes;
    std::array<Ix, 3> at{0, y, x};
    for (auto [axis, coordinate] : llvm::zip_equal(c.g.subConvs[0].axes, at)) {
      if (axis.dim >= 0) {
        p.at[axis.dim] = coordinate;
      }
    }
    return p;
  }
};

} // namespace

void buildTileConv(Build &build, const TileConv &conv) { Conv(build, conv).run(); }

} // namespace ingot::lower
