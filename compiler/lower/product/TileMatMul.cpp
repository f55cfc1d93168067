// For a panel of B, `columnTiles` tiles wide and K deep / for a block of rows, as many as two tiles have:
//   for k, 64 bytes at a time: load, multiply, add
//   sums to memory; row by row from there as vectors: what follows the product, store
//
// All steps read equally many bytes of a row. Where the row is no multiple of that, the last step begins early: it
// reads again some bytes that the step before it has read, and its weights for those bytes are zeros, so that they are
// not added twice. With bfloat16 zero times an infinity would make a NaN: there the step divides the row, or the kernel
// is not computed in tiles. Blocks have one height, so that the tiles are configured once: the last block begins early
// and computes some rows twice. While a panel is read the next one is prefetched.
//
// Rows of float32 are copied first, split, a strip of blocks at a time, to be read by all panels that a thread has of
// the strip. What a copied row has behind the last element is zero, up to a whole step.
#include "compiler/lower/product/TileMatMul.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/target/Roof.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

/// The number of rows for which cycles are estimated where only a run knows how many there are.
static constexpr int64_t someRows = 64;

/// The bytes that move between the third cache and the registers. They are 0 where rows and results stay in the second
/// cache.
struct Passing {
  double rows, results; ///< bytes
};
static Passing passingOf(const MatMulProblem &p, int64_t rows, const target::MachineModel &machine) {
  auto bytes = [&](const Size &columns) { return 4.0 * static_cast<double>(rows * columns.number()); };
  double all = bytes(p.k) + bytes(p.n);
  bool stay = all <= target::cacheShare * static_cast<double>(machine.l2Bytes);
  return stay ? Passing{0, 0} : Passing{bytes(p.k), bytes(p.n)};
}

// These functions estimate cycles. Their numbers for factors that are split are fitted to 70 products of nine networks
// on a Xeon of 2023 (docs/decisions/split-floats.md).

/// Returns the cycles that copying rows takes, 4.2 for a vector of each part.
static double copyCycles(const TileMatMul &t, int64_t rows) {
  return t.splits() ? 4.2 * static_cast<double>(t.parts * rows * t.depth) / 32 : 0;
}

static double tileCycles(const TileMatMul &t, const MatMulProblem &p, int64_t rows, double weightRate,
                         const target::MachineModel &machine) {
  int64_t groups = llvm::divideCeil(rows, t.shape.mostRowTiles * 16), height = llvm::divideCeil(rows, groups);
  double panel =
      static_cast<double>(t.steps) * tileStepCycles(t.shape, height, t.shape.mostColumnTiles, t.groupsOfStrip) +
      tileBlockCycles(height, t.shape.mostColumnTiles);
  double products = static_cast<double>(groups * t.panels) * panel;
  if (!t.splits()) {
    return machine.tiles.startCycles + products;
  }
  double notHidden = weightRate > machine.memoryRate || t.shape.splitsRight ? 0.5 : 0.7;
  Passing passing = passingOf(p, rows, machine);
  double weightCycles = notHidden * static_cast<double>(t.matrixBytes()) / weightRate +
                        (0.6 * passing.rows + 2 * passing.results) / machine.l3Rate;
  return machine.tiles.startCycles + products + copyCycles(t, rows) + weightCycles;
}

/// Cuts the rows of a left factor that is split into strips, such that the copied rows of a strip stay in the second
/// cache beside a panel. Where even a few blocks of rows would not, the depth is cut into parts as well (`depths`).
static void cutSplitRows(TileMatMul &t, const MatMulProblem &p, int64_t groups, const target::MachineModel &machine) {
  // A panel's weights come from the third cache or from memory, so this many blocks of rows are to use each of them.
  constexpr int64_t reuses = 4;
  const int64_t room = machine.l2Bytes / (t.shape.splitsRight ? 2 : 4),
                rows = t.shape.mostRowTiles * machine.tiles.rows;
  int64_t wanted = std::min(reuses, groups) * rows * t.copiedRowBytes();
  t.depths = std::min<int64_t>(t.steps, llvm::divideCeil(wanted, room));
  t.steps = static_cast<int64_t>(llvm::alignTo(t.steps, t.depths));
  t.depth = t.steps * t.shape.depth;
  t.groupsOfStrip = std::max<int64_t>(1, std::min(groups, room / (rows * t.copiedRowBytes())));
  if (t.groups.isNumber()) { // the number of strips is even, so that two threads have as many each
    auto strips = static_cast<int64_t>(llvm::divideCeil(groups, t.groupsOfStrip));
    t.groupsOfStrip = llvm::divideCeil(groups, std::min(groups, strips > 1 ? strips + strips % 2 : 1));
  }
  t.stripCount = max(Size(1), ceilDiv(t.groups, t.groupsOfStrip));
  int64_t batch = p.batch.isNumber() ? p.batch.number() : 1;
  t.shares = sharesOfStrip(static_cast<int64_t>(llvm::divideCeil(groups, t.groupsOfStrip)) * batch, t.panels);
  t.chunk = t.shape.stepsOfChunk(t.stepsOfPanel(), t.groupsOfStrip, machine);
}

/// Cuts the rows into strips. There are enough strips for several threads, and the rows of A that a strip reads stay in
/// the second cache.
static void cutRows(TileMatMul &t, const MatMulProblem &p, const target::MachineModel &machine) {
  constexpr int64_t leastWork = int64_t(1) << 20, enough = 16;
  int64_t highest = t.shape.mostRowTiles * machine.tiles.rows;
  t.groups = ceilDiv(p.m, highest);
  t.height = ceilDiv(p.m, max(t.groups, 1));
  int64_t held = std::max<int64_t>(1, machine.l2Bytes / 2 / (highest * t.depth));
  int64_t least = llvm::divideCeil(leastWork, highest * t.depth * t.shape.mostColumnTiles * machine.lanes);
  int64_t groups = t.groups.isNumber() ? t.groups.number() : held;
  if (t.splits()) {
    return cutSplitRows(t, p, groups, machine);
  }
  t.shares = t.panels, t.chunk = t.steps;
  int64_t items = p.batch.isNumber() ? t.panels * p.batch.number() : t.panels;
  t.groupsOfStrip = std::max<int64_t>(1, std::min({groups, held, std::max(least, groups * items / enough)}));
  t.stripCount = max(Size(1), ceilDiv(t.groups, t.groupsOfStrip));
}

std::optional<TileMatMul> tileMatMulOf(plan::KernelOp kernel, const MatMulProblem &p, int64_t parts,
                                       const target::MachineModel &machine) {
  TileMatMul t;
  constexpr int64_t word = 4, bf16Bytes = 2;
  t.parts = parts;
  t.depth = t.splits() ? static_cast<int64_t>(llvm::alignTo(p.k.number() * bf16Bytes, word))
                       : p.k.number() * word - (p.restA ? word - p.restA : 0);
  int64_t bytes = t.splits() ? std::min(machine.tiles.rowBytes, static_cast<int64_t>(llvm::alignTo(t.depth, 32)))
                             : TileShape::depthOf(t.depth, !p.isBf16(), machine);
  if (bytes <= 0) {
    return std::nullopt;
  }
  int64_t rows = p.m.isNumber() ? p.m.number() : someRows;
  t.strips = llvm::divideCeil(p.n.number(), machine.lanes);
  t.shape = TileShape::of(p.m.isNumber() ? rows : std::numeric_limits<int64_t>::max(), t.strips, bytes, machine);
  t.shape.parts = t.parts;
  t.shape.splitsRight = p.m.isNumber() && splitsOnTheWay(kernel, t.parts, rows, machine);
  t.steps = llvm::divideCeil(t.depth, bytes);
  t.depth = t.splits() ? t.steps * bytes : t.depth;
  t.panels = llvm::divideCeil(t.strips, t.shape.mostColumnTiles);
  cutRows(t, p, machine);
  double weightRate = t.splits() ? weightRateOf(kernel, machine) : 0;
  t.cycles = tileCycles(t, p, rows, weightRate, machine);
  if (!t.splits()) {
    t.cycles = whileWeightsCome(t.cycles, static_cast<double>(t.matrixBytes()), kernel, machine);
  }
  t.copyShare = shareOfCopy(copyCycles(t, rows), t.cycles);
  return t;
}

// The functions below pack the weights. Matrices follow each other; in a matrix the parts of the depth do, in a part
// the panels, in a panel the steps, and in a step the tiles, whose words are stored row by row.

namespace {

/// Where the tiles of a packed matrix are.
struct PackedTile {
  int64_t strip;       ///< the number of the strip of columns, as wide as a tile
  int64_t columnTiles; ///< how many tiles its panel has side by side
  int64_t step;
  char *tile;
};

} // namespace

static void eachTile(const TileMatMul &t, char *to, llvm::function_ref<void(const PackedTile &)> body) {
  for (int64_t strip = 0; strip < t.strips; ++strip) {
    int64_t panel = strip / t.shape.mostColumnTiles,
            columnTiles = std::min(t.shape.mostColumnTiles, t.strips - panel * t.shape.mostColumnTiles);
    for (int64_t step = 0; step < t.steps; ++step) {
      char *packed = to + t.stepAt(panel, step, columnTiles);
      body({strip, columnTiles, step, packed + strip % t.shape.mostColumnTiles * t.shape.storedTileBytes()});
    }
  }
}

static void packMatrix(const MatMulProblem &p, const TileMatMul &t, const char *from, char *to) {
  constexpr int64_t word = 4, columns = 16;
  int64_t n = p.n.number(), rows = t.shape.depth / word;
  eachTile(t, to, [&](const PackedTile &packed) {
    int64_t first = packed.step * t.shape.depth, at = std::min(first, t.lastAt());
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t column = packed.strip * columns + i % columns, k = at + i / columns * word;
      for (int64_t b = 0; column < n && b < word; ++b) {
        if (k + b >= first) {
          // The source is a row-major matrix of bytes, or one of words, which are pairs of bfloat16 of a column.
          packed.tile[word * i + b] =
              p.isInteger() ? from[(k + b) * n + column] : from[(k / word * n + column) * word + b];
        }
      }
    }
  });
}

/// Packs weights of float32, or of narrow floats that are widened to it, as the parts into which they are split.
static void packSplit(const MatMulProblem &p, const TileMatMul &t, Type element, const char *from, char *to) {
  constexpr int64_t columns = 16, pair = 2;
  FloatAt floats(element, from);
  int64_t k = p.k.number(), n = p.n.number(), rowStride = p.stepB.number(), stride = p.columnB.number();
  int64_t rows = t.shape.depth / pair; // of a tile
  // Weights that are split when the model runs are packed row by row, since storeSplit interleaves rows itself.
  int64_t rowDistance = t.shape.splitsRight ? columns : 1, next = t.shape.splitsRight ? 1 : pair;
  SmallVector<float, 512> tile(rows * columns);
  eachTile(t, to, [&](const PackedTile &packed) {
    llvm::fill(tile, 0);
    int64_t first = packed.strip * columns, count = std::min(columns, n - first);
    for (int64_t i = 0; i < rows; ++i) {
      int64_t row = splitOrder(packed.step * rows + i, t.depth / pair);
      float *own = tile.data() + i / pair * (pair * columns) + i % pair * rowDistance;
      for (int64_t c = 0; row < k && c < count; ++c) {
        own[next * c] = floats(row * rowStride + (first + c) * stride);
      }
    }
    if (t.shape.splitsRight) {
      std::memcpy(packed.tile, tile.data(), sizeof(float) * tile.size());
    } else {
      storeSplit(tile, t.parts, packed.tile, packed.columnTiles * t.shape.rightBytes());
    }
  });
}

KernelShape tileMatMulShape(plan::KernelOp kernel, const MatMulProblem &p, const TileMatMul &t) {
  KernelShape shape;
  shape.ofTiles = true;
  shape.items = t.items(p.batch);
  if (t.splits()) {
    Size sums = p.batch * t.stripCount * Size(t.depths > 1 ? t.sumBytes() : 0);
    shape.scratchBytes = max(Size(64), shape.items * t.itemBytes() + sums);
  }
  Type element = onnx::elementOf(kernel.root()->getOperand(1));
  plan::WeightTable::Recipe recipe;
  std::string elements = p.isInteger() ? "bytes" : "bf16";
  if (t.splits()) {
    elements = llvm::formatv("floats {0} {1} by {2}{3}", t.shape.splitsRight ? "for" : "in", t.parts, t.depths,
                             p.transB ? " transposed" : "")
                   .str();
  }
  recipe.key = llvm::formatv("tiles {0} wide {1} deep of {2} x {3} {4} {5}", t.shape.mostColumnTiles, t.shape.depth,
                             t.depth, p.n.number(), p.matricesB.number(), elements)
                   .str();
  recipe.bytes = p.matricesB.number() * t.matrixBytes();
  recipe.pack = [p, t, element](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t matrixBytes = static_cast<int64_t>(from.size()) / p.matricesB.number();
    for (int64_t matrix = 0; matrix < p.matricesB.number(); ++matrix) {
      const char *own = from.data() + matrix * matrixBytes;
      char *packed = to.data() + matrix * t.matrixBytes();
      t.splits() ? packSplit(p, t, element, own, packed) : packMatrix(p, t, own, packed);
    }
  };
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = recipe;
  shape.build = [p, t](Build &build) { buildTileMatMul(build, p, t); };
  return shape;
}

namespace {

class Product {
public:
  Product(Build &build, const MatMulProblem &p, const TileMatMul &t)
      : build(build), w(build.w), group(build.group), p(p), t(t), block(w, t.shape, !p.isInteger()),
        space(group.space(group.resultType())), a(group.buffer(group.root->getOperand(0))),
        b(group.buffer(group.root->getOperand(1))) {
    shapeSpace(space, p);
  }

  void run() {
    height = w.hidden(max(Ix(t.height), 1));
    block.configure(height);
    StripWork work = {p.batch,  t.stripCount, t.groupsOfStrip, t.groups - (t.stripCount - 1) * Size(t.groupsOfStrip),
                      t.panels, t.copyShare,  t.items(p.batch)};
    work.eachStrip(w, build.begin, build.end, [&](Ix strip, Ix firstPanel, Ix endPanel) {
      enterMatrix(floorDiv(strip, t.stripCount));
      Ix from = remainder(strip, t.stripCount) * t.groupsOfStrip, to = min(from + t.groupsOfStrip, t.groups);
      w.loop(0, t.depths, 1, [&](Ix d) {
        if (t.splits()) {
          takeScratch(strip, from);
          copyRows(from, to, d);
        }
        if (t.shape.splitsRight) {
          block.splitRest(chunkAt(firstPanel * t.chunks(), d), chunkParts,
                          block.partsAt(firstPanel * t.chunks(), t.chunk), 0, 1);
        }
        w.loop(firstPanel, endPanel, 1, [&](Ix panel) { eachBlock(panel, endPanel, from, to, d); });
      });
    });
    block.release();
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  const MatMulProblem &p;
  const TileMatMul &t;
  TileBlock block;
  Space space;
  Buffer a, b;
  Ix height;
  SmallVector<Ix> batchAt;
  /// Where the matrices of the batch begin, in bytes; `baseA` counts elements where A is split.
  Ix baseA, baseB;
  Buffer copied = {}; ///< the copied rows of A, split, from row `firstCopied` on
  /// Sums that wait in memory until the next part of the depth, or the next chunk, is added to them.
  Buffer sums = {};
  Buffer chunkParts = {}; ///< the parts of two chunks of weights that are split on the way
  Ix firstCopied;

  int64_t elementBytes() const { return p.isBf16() ? 2 : 1; }               ///< how much baseA grows for an element
  int64_t weightBytes() const { return p.isInteger() ? 1 : p.weightBytes; } ///< the bytes of an element of `b`

  void enterMatrix(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    baseA = 0, baseB = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      bool outermost = d == 0 && !p.batchSizes[d].isNumber();
      batchAt[d] = outermost ? index : remainder(index, p.batchSizes[d]), index = floorDiv(index, p.batchSizes[d]);
      baseA = baseA + batchAt[d] * Ix(p.batchA[d]) * elementBytes();
      baseB = baseB + batchAt[d] * Ix(p.batchB[d]) * t.matrixBytes();
    }
  }

  /// Takes the scratch memory of the first of the items that this call runs, for all of them: it stays in the cache of
  /// the thread.
  void takeScratch(Ix strip, Ix from) {
    Ix own = build.begin * Ix(t.itemBytes()), chunks = own + Ix(t.copiedBytes());
    copied = w.scratch(build.scratch, own, w.b.getBF16Type(), memoryExtent(t.itemBytes()));
    firstCopied = w.hidden(max(min(from * height, Ix(p.m) - height), 0));
    if (t.shape.splitsRight) {
      // There is room for two chunks. chunkBytes() are as many as two chunks have elements, of two bytes each.
      chunkParts = w.scratch(build.scratch, chunks, w.b.getBF16Type(), t.shape.chunkBytes(t.chunk));
    }
    if (t.spillsSums()) {
      Ix behindItems = Ix(t.items(p.batch) * t.itemBytes()) + strip * t.sumBytes();
      Ix at = t.depths > 1 ? behindItems : chunks + 2 * t.shape.chunkBytes(t.chunk);
      sums = w.scratch(build.scratch, at, w.b.getF32Type(), t.sumBytes() / 4);
    }
  }

  /// Copies part `d` of the depth of the rows of the blocks [from, to), split.
  void copyRows(Ix from, Ix to, Ix d) {
    constexpr int64_t bf16Bytes = 2;
    int64_t lanes = w.machine.lanes, k = p.k.number(), part = t.partBytes() / bf16Bytes;
    int64_t together = part % (2 * lanes) == 0 ? 2 * lanes : lanes;
    Ix first = d * part, whole = max(min(k / together * together - first, part), 0);
    w.loop(firstCopied, min(to * height, p.m), 1, [&](Ix row) {
      Ix at = w.hidden(baseA + row * Ix(p.rowA) + first);
      Ix own = w.hidden((row - firstCopied) * (t.copiedRowBytes() / bf16Bytes));
      auto copy = [&](Ix i, bool isWhole) {
        SmallVector<Value, 2> vectors;
        for (int64_t j = 0; j < together; j += lanes) {
          Value mask = isWhole ? Value() : w.maskFor(max(min(k - first - (i + j), lanes), 0), lanes);
          vectors.push_back(w.load(a, at + (i + j), lanes, mask));
        }
        storeSplit(w, vectors, t.parts, copied, own + i, part);
      };
      w.loop(0, whole, together, [&](Ix i) {
        for (int64_t j = 0; j < together; j += lanes) {
          w.prefetch(a, at + Ix(p.rowA) + (i + j), 3); // of the next row
        }
        copy(i, true);
      });
      if (k < t.depth / bf16Bytes || k % together) {
        w.loop(whole, part, together, [&](Ix i) { copy(i, false); });
      }
    });
  }

  void eachBlock(Ix panel, Ix end, Ix from, Ix to, Ix d) {
    int64_t last = t.strips - (t.panels - 1) * t.shape.mostColumnTiles;
    if (last == t.shape.mostColumnTiles && p.n.number() % w.machine.lanes == 0) {
      return columns(panel, end, t.shape.mostColumnTiles, from, to, d, false);
    }
    if (t.panels > 1) {
      w.ifThen(w.compare(arith::CmpIPredicate::slt, panel, t.panels - 1),
               [&] { columns(panel, end, t.shape.mostColumnTiles, from, to, d, false); });
    }
    w.ifThen(w.compare(arith::CmpIPredicate::eq, panel, t.panels - 1),
             [&] { columns(t.panels - 1, end, last, from, to, d, true); });
  }

  /// Returns a chunk, counted from the first panel on.
  TileBlock::Panel chunkAt(Ix chunk, Ix d) const {
    int64_t chunkBytes = t.chunk * t.shape.storedBytes(t.shape.mostColumnTiles); // a narrower panel is the last one
    return {b, baseB + d * (t.matrixBytes() / t.depths) + chunk * chunkBytes, weightBytes(), t.chunk};
  }

  void columns(Ix panel, Ix end, int64_t columnTiles, Ix from, Ix to, Ix d, bool isLast) {
    w.loop(0, t.chunks(), 1, [&](Ix c) {
      Ix chunk = panel * t.chunks() + c, next = min(chunk + 1, end * t.chunks() - 1);
      w.loop(from, to, 1, [&](Ix g) {
        Ix row = min(g * height, Ix(p.m) - height), index = g - from;
        enterBlock(panel, d, c, index, columnTiles);
        multiply(row, chunk, next, d, columnTiles, index, isLast);
        leaveBlock(panel, d, c, index, columnTiles, row, isLast);
      });
      if (t.shape.splitsRight) {
        block.splitRest(chunkAt(next, d), chunkParts, block.partsAt(chunk + 1, t.chunk), (to - from) * t.chunk,
                        block.splitPairs(t.groupsOfStrip));
      }
    });
  }

  /// Returns the place in `sums` where those of a block wait.
  Ix sumsAt(Ix panel, Ix index) const {
    return (t.depths > 1 ? panel * t.groupsOfStrip + index : index) * t.shape.sumBytes();
  }

  void enterBlock(Ix panel, Ix d, Ix chunk, Ix index, int64_t columnTiles) {
    Ix before = d * t.chunks() + chunk;
    if (t.depths * t.chunks() == 1) {
      return block.clear(columnTiles);
    }
    w.ifElse(
        w.compare(arith::CmpIPredicate::eq, before, 0), [&] { block.clear(columnTiles); },
        [&] {
          if (t.spillsSums()) {
            block.reload(sums, sumsAt(panel, index), columnTiles);
          }
        });
  }

  void leaveBlock(Ix panel, Ix d, Ix chunk, Ix index, int64_t columnTiles, Ix row, bool isLast) {
    auto finishBlock = [&] {
      block.leave(columnTiles);
      finish(row, panel * (t.shape.mostColumnTiles * w.machine.lanes), columnTiles, isLast);
    };
    if (t.depths * t.chunks() == 1) {
      return finishBlock();
    }
    w.ifElse(w.compare(arith::CmpIPredicate::eq, d * t.chunks() + chunk, t.depths * t.chunks() - 1), finishBlock, [&] {
      if (t.spillsSums()) {
        block.spill(sums, sumsAt(panel, index), columnTiles);
      }
    });
  }

  /// Multiplies a block; `index` is its number among those of its item.
  void multiply(Ix row, Ix chunk, Ix next, Ix d, int64_t columnTiles, Ix index, bool isLast) {
    int64_t depth = t.shape.depth, rowBytes = t.splits() ? t.copiedRowBytes() : t.depth, steps = t.chunk;
    Ix first = t.splits() ? (row - firstCopied) * rowBytes : baseA + row * rowBytes;
    first = first + remainder(chunk, t.chunks()) * (steps * depth);
    Ix second = first + block.second() * rowBytes;
    TileBlock::Panel own = chunkAt(chunk, d);
    bool isOne = !t.groups.isNumber() || t.groups.is(1);
    auto fetch = [&](Ix k) -> std::optional<TileBlock::Fetch> {
      if (isOne && t.splits()) {
        return block.ahead(own, k, columnTiles);
      }
      if (isOne || isLast || t.panels == 1 || t.groupsOfStrip == 1) {
        return std::nullopt;
      }
      return block.share(chunkAt(chunk + 1, d), index, t.groupsOfStrip, k, columnTiles);
    };
    auto step = [&](Ix k, Ix at) {
      TileBlock::Rows rows{t.splits() ? copied : a, {first + at, second + at}, rowBytes, t.partBytes()};
      if (!t.shape.splitsRight) {
        block.step(rows, b, own.at + k * t.shape.stepBytes(columnTiles), columnTiles, fetch(k));
      } else {
        TileBlock::RightSplit split = block.splitShare(chunkAt(next, d), chunkParts, block.partsAt(chunk + 1, t.chunk),
                                                       index * steps + k, block.splitPairs(t.groupsOfStrip));
        Ix right = 2 * block.partsAt(chunk, t.chunk) + k * t.shape.stepBytes(t.shape.mostColumnTiles);
        block.step(rows, chunkParts, right, columnTiles, std::nullopt, split);
      }
      if (t.spillsSums()) {
        block.stayAwake(k, steps);
      } else {
        block.stayAwake(remainder(chunk, t.chunks()) * steps + k, t.stepsOfPanel());
      }
    };
    bool isEven = t.depth % depth == 0;
    w.loop(0, steps - (isEven ? 0 : 1), 1, [&](Ix k) { step(k, k * depth); });
    if (!isEven) {
      step(t.steps - 1, t.lastAt());
    }
  }

  void finish(Ix row, Ix column, int64_t columnTiles, bool isLast) {
    int64_t lanes = w.machine.lanes, rest = p.n.number() % lanes;
    Value mask = isLast && rest ? w.maskFor(rest, lanes) : Value();
    w.loop(0, height, 1, [&](Ix i) {
      SmallVector<Value> sums;
      SmallVector<Point> points;
      for (int64_t v = 0; v < columnTiles; ++v) {
        Point at{batchAt, lanes, v + 1 == columnTiles ? mask : Value()};
        at.at.push_back(row + i), at.at.push_back(column + v * lanes);
        sums.push_back(block.sums(i, v, columnTiles)), points.push_back(at);
      }
      group.finishSome(sums, space, points);
    });
  }
};

} // namespace

void buildTileMatMul(Build &build, const MatMulProblem &p, const TileMatMul &t) { Product(build, p, t).run(); }

} // namespace ingot::lower
