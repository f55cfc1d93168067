// Attention without a matrix of scores: online softmax over blocks of keys (Milakov and Gimelshein 2018), as in
// FlashAttention (Dao et al. 2022). Queries that look at the same keys (of all heads that share them) are rows.
//
//   for a block of rows:
//     Q' of the block into scratch, lanes along rows
//     for a block of keys:
//       scores[key][row]: register tiles of keys times vectors of rows, K broadcast from where it lies; the region
//       for each vector of rows: its maximum, what the sums so far are worth now, exponentials in place of the scores
//       sums[row][column] of V: register tiles of rows times vectors of columns, V read where it lies
//     sums / sum of the exponentials
//
// With rows along the lanes neither K nor V is packed, no lane is ever combined with another, and statistics are
// vectors. What the region reads that differs from row to row is transposed into scratch, block by block; the heads of
// a block of rows follow each other, so that a mask is transposed once for all of them where there is one block of
// keys.
//
// A few rows that fill no vector (decoding: one; the class token of a ViT) go through the keys one by one. Their scores
// are dot products with lanes along the width, or along the keys where K is stored so. This is bound by reading K and
// V.
//
// -inf is what the maximum starts from; as long as it is one, 0 is taken off instead, so that no NaN arises before the
// end: a row without a key has a sum of 0, and 0 / 0 gives what softmax gives. A NaN may get lost in the maximum but
// not in the sum.
#include "compiler/onnx/ops/Attention.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/Vectors.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"
#include <limits>

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;
using support::Sizes;

constexpr int64_t rowsHeld = 32;  ///< of a block
constexpr int64_t keysHeld = 128; ///< of a block
constexpr int64_t mostItems = 16;

/// How an operand is read: sizes of the walk's strides along the batch, then rows, then columns.
struct Walked {
  Size offset = 0;
  Sizes strides;
  const Size &row() const { return strides[strides.size() - 2]; }
  const Size &column() const { return strides.back(); }
};

Walked walkedBy(ArrayAttr texts) {
  Walked walk;
  for (Attribute text : texts) {
    walk.strides.push_back(*Size::parse(cast<StringAttr>(text).getValue()));
  }
  walk.offset = walk.strides.front();
  walk.strides.erase(walk.strides.begin());
  return walk;
}

struct Problem {
  Sizes batch;
  Size queries, keys, rows, outer = 1;
  int64_t width, valueWidth;
  Walked q, k, v;
  size_t own = 0; ///< batch axes [0, own) have keys of their own; those behind share them: rows
};

Problem problemOf(plan::KernelOp kernel) {
  auto op = cast<onnx::AttendOp>(rootOf(kernel));
  Sizes axes = plan::sizesOf(Group::typeOf(op.product()));
  Problem p;
  p.batch.assign(axes.begin(), axes.end() - 2);
  p.queries = axes[axes.size() - 2], p.keys = axes.back();
  p.width = op.getWidth(), p.valueWidth = op.getValueWidth();
  p.q = walkedBy(op.getWalkQ()), p.k = walkedBy(op.getWalkK()), p.v = walkedBy(op.getWalkV());
  p.own = p.batch.size();
  while (p.own > 0 && (p.batch[p.own - 1].is(1) || (p.k.strides[p.own - 1].is(0) && p.v.strides[p.own - 1].is(0)))) {
    --p.own;
  }
  p.rows = p.queries * product(ArrayRef(p.batch).drop_front(p.own));
  p.outer = product(ArrayRef(p.batch).take_front(p.own));
  return p;
}

int64_t powerOfTwoIn(int64_t n, int64_t most) { return std::min<int64_t>(most, llvm::bit_floor<uint64_t>(n)); }

/// How the work is cut, and where things lie in a work item's scratch (in bytes).
struct Cut {
  int64_t lanes, rowsBlock, keysBlock, keyTile;
  int64_t most;                                       ///< rows that are computed one by one
  int64_t dotLanes;                                   ///< along the width, for few rows
  int64_t valueLanes, valueVectors, valueTile, panel; ///< columns of V in vectors; rows and vectors of a tile
  Size vectors, blocks, tasks, items;
  Size left; ///< rows behind the vectors; negative where the last vector is not full
  int64_t q, s, sums, best, total, worth, others, bytes = 0;
  int64_t valueStride() const { return valueVectors * valueLanes; }
};

struct Other;

/// Parts of `n`, at most `most` each and of equal size, rounded up.
int64_t evenly(int64_t n, int64_t most) { return llvm::divideCeil(n, llvm::divideCeil(n, most)); }

void cutRows(Cut &c, const Problem &p, const target::MachineModel &machine) {
  c.most = c.lanes / 3;
  c.vectors = floorDiv(p.rows + Size(c.lanes - 1 - c.most), c.lanes);
  c.left = p.rows - c.vectors * Size(c.lanes);
  c.rowsBlock = std::max(rowsHeld, c.lanes);
  c.valueTile = machine.registers >= 32 ? 8 : 4;
  if (c.vectors.isNumber()) {
    int64_t rows = c.vectors.number() * c.lanes;
    c.rowsBlock = std::min(c.rowsBlock, std::max(rows, c.lanes));
    if (rows > 0 && rows <= c.rowsBlock) {
      c.valueTile = evenly(std::min(rows, p.rows.number()), c.valueTile);
    }
  }
  c.blocks = max(Size(1), ceilDiv(c.vectors, c.rowsBlock / c.lanes));
  c.tasks = p.outer * c.blocks;
  c.items = max(Size(1), min(c.tasks, mostItems));
}

void cutKeys(Cut &c, const Problem &p, const target::MachineModel &machine) {
  c.keyTile = std::min<int64_t>(8, machine.matmulTile.rows);
  c.keysBlock = keysHeld;
  if (p.keys.isNumber()) {
    c.keysBlock = evenly(p.keys.number(), c.keysBlock);
    c.keyTile = evenly(c.keysBlock, c.keyTile);
  }
  c.keysBlock = static_cast<int64_t>(llvm::alignTo(c.keysBlock, c.keyTile));
}

Cut cutOf(const Problem &p, const target::MachineModel &machine) {
  Cut c;
  c.lanes = std::max<int64_t>(1, machine.lanes);
  cutRows(c, p, machine);
  cutKeys(c, p, machine);
  c.dotLanes = powerOfTwoIn(p.width, c.lanes);
  c.valueLanes = powerOfTwoIn(p.valueWidth, c.lanes);
  c.valueVectors = llvm::divideCeil(p.valueWidth, c.valueLanes);
  int64_t spare = machine.fusedMultiplyAdd ? 2 : 3;
  c.panel = std::max<int64_t>(1, (machine.registers - spare) / (c.valueTile + 1));
  c.panel = evenly(c.valueVectors, c.panel);
  return c;
}

/// A piece of scratch.
int64_t take(Cut &c, int64_t bytes) {
  int64_t at = c.bytes;
  c.bytes += static_cast<int64_t>(llvm::alignTo(bytes, 64));
  return at;
}

/// What the region reads besides the product.
struct Other {
  Value inRegion; ///< of the kernel
  Value argument; ///< of Attend's region
  bool alongRows = false, alongKeys = false, alongHeads = false;
  int64_t packed = 0; ///< where its vectors of rows lie in scratch, when it differs from row to row
  Type element() const { return valueType(getElementTypeOrSelf(inRegion.getType())); }
};

/// The arguments of the kernel's region that a value is computed from.
void collectArguments(Value v, llvm::function_ref<void(BlockArgument)> f) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    return f(argument);
  }
  for (Value operand : v.getDefiningOp()->getOperands()) {
    collectArguments(operand, f);
  }
}

SmallVector<Other> othersOf(plan::KernelOp kernel, const Problem &p) {
  auto op = cast<onnx::AttendOp>(rootOf(kernel));
  SmallVector<Other> others;
  int64_t rank = static_cast<int64_t>(p.batch.size()) + 2;
  for (auto [i, v] : llvm::enumerate(op.getOthers())) {
    Other other{v, op.block().getArgument(i + 1)};
    collectArguments(v, [&](BlockArgument argument) {
      Sizes sizes = plan::sizesOf(Group::typeOf(argument));
      int64_t shift = rank - static_cast<int64_t>(sizes.size());
      for (auto [axis, size] : llvm::enumerate(sizes)) {
        int64_t of = static_cast<int64_t>(axis) + shift;
        bool along = !size.repeats();
        other.alongKeys |= along && of == rank - 1;
        other.alongHeads |= along && of == static_cast<int64_t>(p.own) - 1;
        other.alongRows |= along && of >= static_cast<int64_t>(p.own) && of < rank - 1;
      }
    });
    others.push_back(other);
  }
  return others;
}

/// Gives everything its place in scratch.
void place(Cut &c, const Problem &p, MutableArrayRef<Other> others) {
  bool many = !c.vectors.is(0);
  int64_t rows = many ? c.rowsBlock : std::max<int64_t>(1, c.most), keys = c.keysBlock + c.lanes;
  c.q = take(c, 4 * std::max(many ? rows * p.width : 0, c.most * (p.width + c.lanes)));
  c.s = take(c, 4 * keys * (many ? rows : 1));
  c.sums = take(c, 4 * rows * c.valueStride());
  c.best = take(c, 4 * rows), c.total = take(c, 4 * rows), c.worth = take(c, 4 * rows);
  for (Other &other : others) {
    if (other.alongRows && many) {
      int64_t bytes = llvm::divideCeil(memoryType(other.element()).getIntOrFloatBitWidth(), 8);
      other.packed = take(c, bytes * rows * (other.alongKeys ? keys : 1));
    }
  }
}

class Attention {
public:
  Attention(Build &build, const Problem &p, const Cut &c, ArrayRef<Other> others)
      : build(build), w(build.w), group(build.group), p(p), c(c), others(others), op(cast<onnx::AttendOp>(group.root)),
        element(w.b.getF32Type()), vector(w.vectorOf(element, c.lanes)),
        space(group.space(Group::typeOf(op.product()))), result(group.space(Group::typeOf(op.getY()))) {
    q = group.buffer(op.getQ()), k = group.buffer(op.getK()), v = group.buffer(op.getV());
    own = build.begin * Ix(c.bytes); // whoever runs [begin, end) has the piece of `begin` for itself
    queries = piece(c.q), scores = piece(c.s), sums = piece(c.sums);
    best = piece(c.best), total = piece(c.total), worth = piece(c.worth);
  }

  void run() {
    auto firstOf = [&](Ix item) { return c.tasks == c.items ? item : floorDiv(item * c.tasks, c.items); };
    Ix first = firstOf(build.begin);
    w.loop(first, firstOf(build.end), 1, [&](Ix task) { oneTask(task, first); });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  const Problem &p;
  const Cut &c;
  ArrayRef<Other> others;
  onnx::AttendOp op;
  Type element, vector;
  Space space, result;
  Buffer q, k, v, queries, scores, sums, best, total, worth;
  Ix own;
  // Of the current task.
  Ixs outer;
  Ix baseQ, baseK, baseV, firstRow;
  Value otherRows; ///< whether the rows are not those of the task before; null: they never are

  Buffer piece(int64_t at) { return w.scratch(build.scratch, own + Ix(at), element, c.bytes / 4); }
  Value compare(arith::CmpFPredicate how, Value a, Value b) { return arith::CmpFOp::create(w.b, w.loc, how, a, b); }
  Value select(Value condition, Value a, Value b) { return arith::SelectOp::create(w.b, w.loc, condition, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(w.b, w.loc, a, b); }
  Value add(Value a, Value b) { return arith::AddFOp::create(w.b, w.loc, a, b); }
  Value expOfDifference(Value a, Value b) {
    return math::ExpOp::create(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, a, b));
  }
  Value lowest(Type type) { return neutral(w, Combine::Larger, type); }

  void oneTask(Ix task, Ix firstTask) {
    Ix heads = p.own ? Ix(p.batch[p.own - 1]) : Ix(1), head = remainder(task, heads);
    Ix block = remainder(floorDiv(task, heads), c.blocks), index = floorDiv(floorDiv(task, heads), c.blocks);
    outer.assign(p.own, head);
    for (size_t d = p.own - (p.own > 0); d-- > 0;) {
      outer[d] = d == 0 ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
    }
    baseQ = p.q.offset, baseK = p.k.offset, baseV = p.v.offset;
    for (size_t d = 0; d < p.own; ++d) {
      baseQ = baseQ + outer[d] * Ix(p.q.strides[d]);
      baseK = baseK + outer[d] * Ix(p.k.strides[d]);
      baseV = baseV + outer[d] * Ix(p.v.strides[d]);
    }
    otherRows = {};
    if (!heads.is(1)) {
      otherRows = arith::OrIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::eq, head, 0),
                                       w.compare(arith::CmpIPredicate::eq, task, firstTask));
    }
    if (c.vectors.isNumber()) {
      c.vectors.is(0) ? void() : rowBlock(block);
    } else {
      w.ifThen(w.compare(arith::CmpIPredicate::sgt, c.vectors, 0), [&] { rowBlock(block); });
    }
    if (!c.left.isNumber() || c.left.number() > 0) {
      Value some = w.compare(arith::CmpIPredicate::sgt, c.left, 0);
      Value last = w.compare(arith::CmpIPredicate::eq, block, c.blocks - Size(1));
      w.ifThen(arith::AndIOp::create(w.b, w.loc, some, last), [&] { rowByRow(); });
    }
  }

  // Rows.

  /// Coordinates of a row along the axes that share keys, then its query.
  Ixs rowAt(Ix row) {
    Ixs at(p.batch.size() - p.own + 1, 0);
    at.back() = p.rows == p.queries ? row : remainder(row, p.queries);
    Ix index = p.rows == p.queries ? Ix(0) : floorDiv(row, p.queries);
    for (size_t d = p.batch.size(); d-- > p.own;) {
      at[d - p.own] = d == p.own ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
    }
    return at;
  }
  Ix queryAt(Ix row) {
    Ix at = baseQ;
    for (auto [i, x] : llvm::enumerate(rowAt(row))) {
      at = at + x * Ix(p.q.strides[p.own + i]);
    }
    return at;
  }
  Ix clamped(Ix row) { return min(row, Ix(p.rows) - Ix(1)); }
  Point pointAt(ArrayRef<Ix> row, Ix last, int64_t lanes, Value mask = {}) {
    Point at{{outer.begin(), outer.end()}, lanes, mask};
    at.at.append(row.begin(), row.end());
    at.at.push_back(last);
    return at;
  }

  // The region.

  /// The score for a product; `read` gives what it reads besides.
  Value scoreOf(Value product, int64_t lanes, llvm::function_ref<Value(const Other &)> read) {
    llvm::DenseMap<Value, Value> known;
    known[op.product()] = product;
    for (const Other &other : others) {
      known[other.argument] = read(other);
    }
    for (Operation &inner : op.block().without_terminator()) {
      Value y = inner.getResult(0);
      if (onnx::constantOf(y)) {
        known[y] = w.constant(*onnx::splatOf(y), w.vectorOf(valueType(getElementTypeOrSelf(y.getType())), lanes));
      } else if (auto elementwise = dyn_cast<onnx::Elementwise>(inner)) {
        auto operands = llvm::map_to_vector(inner.getOperands(), [&](Value x) { return known.lookup(x); });
        known[y] = elementwise.emit(w.b, operands);
      }
    }
    return known.lookup(op.score());
  }

  Buffer packed(const Other &other) {
    return {w.scratch(build.scratch, own + Ix(other.packed), memoryType(other.element()), c.bytes).memref,
            other.element()};
  }
  /// What the region reads at a key, for a vector of the block's rows.
  Value alongRows(const Other &other, Ix key, Ix keyInBlock, Ix row) {
    if (other.alongRows) {
      return w.load(packed(other), (other.alongKeys ? keyInBlock : Ix(0)) * Ix(c.rowsBlock) + row, c.lanes);
    }
    Ixs anywhere(p.batch.size() - p.own + 1, 0);
    return w.splat(group.read(other.inRegion, space, pointAt(anywhere, key, 1)), c.lanes);
  }

  /// Vectors of rows of what differs from row to row, for keys [first, first + count).
  void packOthers(Ix vectors, Ix first, Ix count, bool alongKeys) {
    for (const Other &other : others) {
      if (!other.alongRows || other.alongKeys != alongKeys) {
        continue;
      }
      if (!otherRows || other.alongHeads) {
        pack(other, vectors, first, count);
        continue;
      }
      Value needed = otherRows;
      if (alongKeys) { // each block of keys takes the place of the one before
        Value several = w.compare(arith::CmpIPredicate::sgt, p.keys, c.keysBlock);
        needed = arith::OrIOp::create(w.b, w.loc, otherRows, several);
      }
      w.ifThen(needed, [&] { pack(other, vectors, first, count); });
    }
  }
  void pack(const Other &other, Ix vectors, Ix first, Ix count) {
    Buffer to = packed(other);
    auto one = [&](Ix row, Ix key) {
      Point at = pointAt(rowAt(clamped(firstRow + row)), first + key, 1);
      w.store(group.read(other.inRegion, space, at), to, key * Ix(c.rowsBlock) + row);
    };
    if (!other.alongKeys) {
      return w.loop(0, vectors * c.lanes, 1, [&](Ix row) { one(row, 0); });
    }
    Ix whole = count - remainder(count, c.lanes);
    w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) {
      w.loop(0, whole, c.lanes, [&](Ix key) { packSquare(other, to, row, first, key, {}); });
      if (w.machine.maskedAccess) {
        w.loop(whole, count, c.lanes,
               [&](Ix key) { packSquare(other, to, row, first, key, w.maskFor(count - key, c.lanes)); });
      } else {
        w.loop(whole, count, 1, [&](Ix key) { w.loop(0, c.lanes, 1, [&](Ix lane) { one(row + lane, key); }); });
      }
    });
  }
  void packSquare(const Other &other, Buffer to, Ix row, Ix first, Ix key, Value mask) {
    SmallVector<Value> square;
    bool bits = other.element().isInteger(1);
    for (int64_t i = 0; i < c.lanes; ++i) {
      Point at = pointAt(rowAt(clamped(firstRow + row + Ix(i))), first + key, c.lanes, mask);
      Value x = group.read(other.inRegion, space, at);
      square.push_back(bits ? arith::ExtUIOp::create(w.b, w.loc, w.vectorOf(w.b.getI32Type(), c.lanes), x) : x);
    }
    square = transpose(w, square);
    for (auto [i, x] : llvm::enumerate(square)) {
      Value y = bits ? arith::TruncIOp::create(w.b, w.loc, w.vectorOf(w.b.getI1Type(), c.lanes), x) : x;
      w.store(y, to, (key + Ix(static_cast<int64_t>(i))) * Ix(c.rowsBlock) + row);
    }
  }

  // Blocks of rows.

  void rowBlock(Ix block) {
    Ix from = floorDiv(block * c.vectors, c.blocks), vectors = floorDiv((block + 1) * c.vectors, c.blocks) - from;
    vectors = w.settled(vectors);
    firstRow = from * c.lanes;
    Ix rows = min(Ix(p.rows) - firstRow, vectors * c.lanes);
    packQueries(vectors);
    packOthers(vectors, 0, 1, /*alongKeys=*/false);
    begin(vectors * c.lanes);
    w.loop(0, p.keys, c.keysBlock, [&](Ix first) {
      Ix count = min(Ix(p.keys) - first, c.keysBlock);
      packOthers(vectors, first, count, /*alongKeys=*/true);
      scoreBlock(vectors, first, count);
      w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) { weigh(row, count); });
      Ix tiles = floorDiv(rows + Ix(c.valueTile - 1), c.valueTile);
      w.loop(0, tiles, 1, [&](Ix tile) { valueTiles(tile * c.valueTile, first, count); });
    });
    w.loop(0, rows, 1, [&](Ix row) { end(row); });
  }

  /// Statistics and sums of no key at all.
  void begin(Ix rows) {
    w.loop(0, rows, 1, [&](Ix row) {
      w.store(lowest(element), best, row);
      w.store(w.constant(0, element), total, row);
      w.loop(0, c.valueStride(), c.valueLanes, [&](Ix column) {
        w.store(w.constant(0, w.vectorOf(element, c.valueLanes)), sums, row * c.valueStride() + column);
      });
    });
  }

  /// Queries [width][row].
  void packQueries(Ix vectors) {
    Ix step = p.q.column();
    int64_t whole = step.is(1) ? p.width - p.width % c.lanes : 0;
    w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) {
      SmallVector<Ix> from;
      for (int64_t i = 0; i < c.lanes; ++i) {
        from.push_back(queryAt(clamped(firstRow + row + Ix(i))));
      }
      w.loop(0, whole, c.lanes, [&](Ix d) {
        SmallVector<Value> square;
        for (const Ix &at : from) {
          square.push_back(w.load(q, at + d, c.lanes));
        }
        square = transpose(w, square);
        for (auto [i, x] : llvm::enumerate(square)) {
          w.store(x, queries, (d + Ix(static_cast<int64_t>(i))) * c.rowsBlock + row);
        }
      });
      w.loop(whole, p.width, 1, [&](Ix d) {
        for (auto [i, at] : llvm::enumerate(from)) {
          w.store(w.load(q, at + d * step), queries, d * c.rowsBlock + row + Ix(static_cast<int64_t>(i)));
        }
      });
    });
  }

  void scoreBlock(Ix vectors, Ix first, Ix count) {
    constexpr int64_t wide = 2;
    Ix whole = vectors - remainder(vectors, wide);
    auto columns = [&](Ix vector, int64_t width) {
      w.loop(0, count, c.keyTile, [&](Ix key) { scoreTile(vector * c.lanes, width, first, key); });
    };
    w.loop(0, whole, wide, [&](Ix vector) { columns(vector, wide); });
    w.loop(whole, vectors, 1, [&](Ix vector) { columns(vector, 1); });
  }

  /// Scores of a tile of keys for `width` vectors of rows. Past the last key it is computed again: nobody looks there.
  void scoreTile(Ix row, int64_t width, Ix first, Ix key) {
    constexpr int64_t unroll = 4;
    SmallVector<Ix> keys, from;
    for (int64_t i = 0; i < c.keyTile; ++i) {
      keys.push_back(min(first + key + Ix(i), Ix(p.keys) - Ix(1)));
      from.push_back(w.settled(baseK + keys.back() * Ix(p.k.row())));
    }
    auto step = [&](Ix d, int64_t count, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t u = 0; u < count; ++u) {
        SmallVector<Value> vectors;
        for (int64_t i = 0; i < width; ++i) {
          vectors.push_back(w.load(queries, (d + Ix(u)) * c.rowsBlock + row + Ix(i * c.lanes), c.lanes));
        }
        for (int64_t i = 0; i < c.keyTile; ++i) {
          Value x = w.splat(w.load(k, from[i] + (d + Ix(u)) * Ix(p.k.column())), c.lanes);
          for (int64_t j = 0; j < width; ++j) {
            next[i * width + j] = w.fma(x, vectors[j], next[i * width + j]);
          }
        }
      }
      return next;
    };
    int64_t whole = p.width - p.width % unroll;
    SmallVector<Value> products(c.keyTile * width, w.constant(0, vector));
    products = w.loop(0, whole, unroll, products, [&](Ix d, ValueRange carried) { return step(d, unroll, carried); });
    products = step(whole, p.width - whole, products);
    for (int64_t i = 0; i < c.keyTile; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        Ix at = row + Ix(j * c.lanes);
        Value score = scoreOf(products[i * width + j], c.lanes,
                              [&](const Other &other) { return alongRows(other, keys[i], key + Ix(i), at); });
        w.store(score, scores, (key + Ix(i)) * c.rowsBlock + at);
      }
    }
  }

  /// Runs `body` for [0, count) with values carried, `unroll` of which are slots that turns take one after the other;
  /// gives them combined.
  Value inTurns(Ix count, Combine how, Type type, llvm::function_ref<Value(Ix, Value)> body) {
    constexpr int64_t unroll = 4;
    SmallVector<Value> slots(unroll, neutral(w, how, type));
    Ix whole = count - remainder(count, unroll);
    slots = w.loop(0, whole, unroll, slots, [&](Ix i, ValueRange carried) {
      SmallVector<Value> next;
      for (int64_t u = 0; u < unroll; ++u) {
        next.push_back(body(i + Ix(u), carried[u]));
      }
      return next;
    });
    Value first = w.loop(whole, count, 1, slots[0],
                         [&](Ix i, ValueRange carried) { return SmallVector<Value>{body(i, carried[0])}; })[0];
    slots[0] = first;
    return tree(w, how, slots);
  }

  /// The new maximum, and what is taken off the scores.
  std::pair<Value, Value> newBest(Value before, Value now) {
    Value most = combine(w, Combine::Larger, now, before);
    Value none = compare(arith::CmpFPredicate::OEQ, most, lowest(most.getType()));
    return {most, select(none, w.constant(0, most.getType()), most)};
  }

  /// Exponentials of the scores of a vector of rows.
  void weigh(Ix row, Ix count) {
    auto at = [&](Ix key) { return key * c.rowsBlock + row; };
    Value most = inTurns(count, Combine::Larger, vector, [&](Ix key, Value m) {
      return combine(w, Combine::Larger, w.load(scores, at(key), c.lanes), m);
    });
    Value before = w.load(best, row, c.lanes);
    auto [after, off] = newBest(before, most);
    Value factor = expOfDifference(before, off);
    Value sum = inTurns(count, Combine::Add, vector, [&, off = off](Ix key, Value s) {
      Value e = expOfDifference(w.load(scores, at(key), c.lanes), off);
      w.store(e, scores, at(key));
      return add(s, e);
    });
    w.store(after, best, row);
    w.store(factor, worth, row);
    w.store(w.fma(w.load(total, row, c.lanes), factor, sum), total, row);
  }

  /// Where vector `i` of a row of V begins: the last one may overlap the one before.
  int64_t columnOf(int64_t i) const { return std::min(i * c.valueLanes, p.valueWidth - c.valueLanes); }
  Value loadV(Ix key, int64_t i) { return w.load(v, baseV + key * Ix(p.v.row()) + Ix(columnOf(i)), c.valueLanes); }
  Ix sumAt(Ix row, int64_t i) { return row * c.valueStride() + Ix(i * c.valueLanes); }

  /// Adds the values of a block of keys to the sums of a tile of rows.
  void valueTiles(Ix row, Ix first, Ix count) {
    for (int64_t from = 0; from < c.valueVectors; from += c.panel) {
      valueTile(row, from, std::min(c.panel, c.valueVectors - from), first, count);
    }
  }
  void valueTile(Ix row, int64_t from, int64_t vectors, Ix first, Ix count) {
    constexpr int64_t unroll = 4;
    SmallVector<Value> carried;
    for (int64_t i = 0; i < c.valueTile; ++i) {
      Value factor = w.splat(w.load(worth, row + Ix(i)), c.valueLanes);
      for (int64_t j = 0; j < vectors; ++j) {
        carried.push_back(mul(w.load(sums, sumAt(row + Ix(i), from + j), c.valueLanes), factor));
      }
    }
    auto step = [&](Ix key, ValueRange now) {
      SmallVector<Value> next(now), columns;
      for (int64_t j = 0; j < vectors; ++j) {
        columns.push_back(loadV(first + key, from + j));
      }
      for (int64_t i = 0; i < c.valueTile; ++i) {
        Value weight = w.splat(w.load(scores, key * c.rowsBlock + row + Ix(i)), c.valueLanes);
        for (int64_t j = 0; j < vectors; ++j) {
          next[i * vectors + j] = w.fma(weight, columns[j], next[i * vectors + j]);
        }
      }
      return next;
    };
    Ix whole = count - remainder(count, unroll);
    carried = w.loop(0, whole, unroll, carried, [&](Ix key, ValueRange now) {
      SmallVector<Value> next(now);
      for (int64_t u = 0; u < unroll; ++u) {
        next = step(key + Ix(u), next);
      }
      return next;
    });
    carried = w.loop(whole, count, 1, carried, [&](Ix key, ValueRange now) { return step(key, now); });
    for (int64_t i = 0; i < c.valueTile; ++i) {
      for (int64_t j = 0; j < vectors; ++j) {
        w.store(carried[i * vectors + j], sums, sumAt(row + Ix(i), from + j));
      }
    }
  }

  /// Divides a row's sums and stores what follows from them.
  void end(Ix row) {
    Value sum = w.load(total, row), zero = w.constant(0, element);
    Value share = arith::DivFOp::create(w.b, w.loc, w.constant(1, element), sum), nothing;
    if (op.getEmpty() == "never-nan") {
      nothing = arith::XOrIOp::create(w.b, w.loc, compare(arith::CmpFPredicate::OGT, sum, zero),
                                      w.constant(1, w.b.getI1Type()));
    } else if (op.getEmpty() == "zero") {
      nothing = compare(arith::CmpFPredicate::OEQ, sum, zero);
    } else if (!p.keys.atLeast(1)) {
      nothing = w.compare(arith::CmpIPredicate::eq, p.keys, 0);
    }
    Ixs at = rowAt(firstRow + row);
    for (int64_t i = 0; i < c.valueVectors; ++i) {
      Value y = mul(w.load(sums, sumAt(row, i), c.valueLanes), w.splat(share, c.valueLanes));
      if (nothing) {
        y = select(w.splat(nothing, c.valueLanes), w.constant(0, y.getType()), y);
      }
      Point axes = pointAt(at, columnOf(i), c.valueLanes), to{{}, c.valueLanes, {}};
      for (int64_t axis : op.getPerm()) {
        to.at.push_back(axes.at[axis]);
      }
      group.finish(y, result, to);
    }
  }

  // Few rows.

  void rowByRow() {
    firstRow = c.vectors * Size(c.lanes);
    w.loop(0, c.left, 1, [&](Ix row) { copyQuery(row); });
    begin(c.left);
    w.loop(0, p.keys, c.keysBlock, [&](Ix first) {
      Ix count = min(Ix(p.keys) - first, c.keysBlock);
      w.loop(0, c.left, 1, [&](Ix row) {
        p.k.column().is(1) ? dots(row, first, count) : columns(row, first, count);
        scoreRow(row, first, count);
        weighRow(row, count);
        addValues(row, first, count);
      });
    });
    w.loop(0, c.left, 1, [&](Ix row) { end(row); });
  }

  int64_t queryStride() const { return p.width + c.lanes; }
  int64_t dotRest() const { return p.width % c.dotLanes; }

  /// The query in vectors; what the last one has in common with the one before is 0 in it.
  void copyQuery(Ix row) {
    Ix from = queryAt(firstRow + row), to = row * queryStride();
    w.loop(0, p.width, 1, [&](Ix d) { w.store(w.load(q, from + d * Ix(p.q.column())), queries, to + d); });
    if (p.k.column().is(1) && dotRest()) {
      w.loop(0, dotRest(), 1, [&](Ix i) {
        Ix last = to + Ix(p.width - dotRest());
        w.store(w.load(queries, last + Ix(dotRest() - 1) - i), queries, last + Ix(c.dotLanes - 1) - i);
      });
      w.loop(0, c.dotLanes - dotRest(), 1,
             [&](Ix i) { w.store(w.constant(0, element), queries, to + Ix(p.width - dotRest()) + i); });
    }
  }

  /// Products of a row with as many keys at a time as a vector has lanes.
  void dots(Ix row, Ix first, Ix count) {
    w.loop(0, count, c.dotLanes, [&](Ix key) {
      SmallVector<Ix> from;
      for (int64_t i = 0; i < c.dotLanes; ++i) {
        from.push_back(baseK + min(first + key + Ix(i), Ix(p.keys) - Ix(1)) * Ix(p.k.row()));
      }
      SmallVector<Value> products(c.dotLanes, w.constant(0, w.vectorOf(element, c.dotLanes)));
      auto step = [&](Ix d, Ix inKey, Value live, ValueRange carried) {
        SmallVector<Value> next;
        Value x = w.load(queries, row * queryStride() + d, c.dotLanes);
        for (int64_t i = 0; i < c.dotLanes; ++i) {
          Value y = w.load(k, from[i] + inKey, c.dotLanes);
          y = live ? select(live, y, w.constant(0, y.getType())) : y;
          next.push_back(w.fma(x, y, carried[i]));
        }
        return next;
      };
      int64_t whole = p.width - dotRest();
      products = w.loop(0, whole, c.dotLanes, products, [&](Ix d, ValueRange now) { return step(d, d, {}, now); });
      if (dotRest()) {
        SmallVector<bool> live(c.dotLanes, true);
        std::fill_n(live.begin(), c.dotLanes - dotRest(), false);
        auto type = VectorType::get({c.dotLanes}, w.b.getI1Type());
        Value mask = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, ArrayRef<bool>(live)));
        products = step(whole, p.width - c.dotLanes, mask, products);
      }
      w.store(sumsOf(w, products), scores, key);
    });
  }

  /// The same where keys lie side by side.
  void columns(Ix row, Ix first, Ix count) {
    constexpr int64_t wide = 4;
    auto some = [&](Ix key, int64_t vectors, int64_t lanes, Value mask) {
      SmallVector<Value> products(vectors, w.constant(0, w.vectorOf(element, lanes)));
      products = w.loop(0, p.width, 1, products, [&](Ix d, ValueRange carried) {
        SmallVector<Value> next;
        Value x = w.splat(w.load(queries, row * queryStride() + d), lanes);
        Ix at = baseK + d * Ix(p.k.column()) + first + key;
        for (int64_t i = 0; i < vectors; ++i) {
          next.push_back(w.fma(x, w.load(k, at + Ix(i * lanes), lanes, mask), carried[i]));
        }
        return next;
      });
      for (int64_t i = 0; i < vectors; ++i) {
        w.store(products[i], scores, key + Ix(i * lanes), mask);
      }
    };
    Ix whole = count - remainder(count, wide * c.lanes);
    w.loop(0, whole, wide * c.lanes, [&](Ix key) { some(key, wide, c.lanes, {}); });
    w.lanes(count - whole, [&](Ix key, int64_t lanes, Value mask) { some(whole + key, 1, lanes, mask); });
  }

  /// The region along the keys; behind them, to the end of the vector, scores that weigh nothing.
  void scoreRow(Ix row, Ix first, Ix count) {
    Ixs at = rowAt(firstRow + row);
    w.lanes(count, [&](Ix key, int64_t lanes, Value mask) {
      Value score = scoreOf(w.load(scores, key, lanes, mask), lanes, [&](const Other &other) {
        return group.read(other.inRegion, space, pointAt(at, first + key, lanes, mask));
      });
      w.store(score, scores, key, mask);
    });
    Ix padded = floorDiv(count + Ix(c.lanes - 1), c.lanes) * c.lanes;
    w.loop(count, padded, 1, [&](Ix key) { w.store(lowest(element), scores, key); });
  }

  void weighRow(Ix row, Ix count) {
    Ix vectors = floorDiv(count + Ix(c.lanes - 1), c.lanes);
    Value most = across(w, Combine::Larger, inTurns(vectors, Combine::Larger, vector, [&](Ix i, Value m) {
                          return combine(w, Combine::Larger, w.load(scores, i * c.lanes, c.lanes), m);
                        }));
    Value before = w.load(best, row);
    auto [after, off] = newBest(before, most);
    Value factor = expOfDifference(before, off), less = w.splat(off, c.lanes);
    Value sum = across(w, Combine::Add, inTurns(vectors, Combine::Add, vector, [&](Ix i, Value s) {
                         Value e = expOfDifference(w.load(scores, i * c.lanes, c.lanes), less);
                         w.store(e, scores, i * c.lanes);
                         return add(s, e);
                       }));
    w.store(after, best, row);
    w.store(factor, worth, row);
    w.store(w.fma(w.load(total, row), factor, sum), total, row);
  }

  void addValues(Ix row, Ix first, Ix count) {
    constexpr int64_t most = 8; ///< vectors at a time
    for (int64_t from = 0; from < c.valueVectors; from += most) {
      addValues(row, from, std::min(most, c.valueVectors - from), first, count);
    }
  }
  /// Several sums of the same vector, which keys take in turns, hide the latency of an addition.
  void addValues(Ix row, int64_t from, int64_t vectors, Ix first, Ix count) {
    int64_t turns = std::clamp<int64_t>(8 / vectors, 1, 4);
    SmallVector<Value> carried(turns * vectors, w.constant(0, w.vectorOf(element, c.valueLanes)));
    Value factor = w.splat(w.load(worth, row), c.valueLanes);
    for (int64_t j = 0; j < vectors; ++j) {
      carried[j] = mul(w.load(sums, sumAt(row, from + j), c.valueLanes), factor);
    }
    auto step = [&](Ix key, int64_t turn, SmallVector<Value> &now) {
      Value weight = w.splat(w.load(scores, key), c.valueLanes);
      for (int64_t j = 0; j < vectors; ++j) {
        now[turn * vectors + j] = w.fma(weight, loadV(first + key, from + j), now[turn * vectors + j]);
      }
    };
    Ix whole = count - remainder(count, turns);
    carried = w.loop(0, whole, turns, carried, [&](Ix key, ValueRange now) {
      SmallVector<Value> next(now);
      for (int64_t turn = 0; turn < turns; ++turn) {
        step(key + Ix(turn), turn, next);
      }
      return next;
    });
    carried = w.loop(whole, count, 1, carried, [&](Ix key, ValueRange now) {
      SmallVector<Value> next(now);
      step(key, 0, next);
      return next;
    });
    for (int64_t j = 0; j < vectors; ++j) {
      SmallVector<Value> parts;
      for (int64_t turn = 0; turn < turns; ++turn) {
        parts.push_back(carried[turn * vectors + j]);
      }
      w.store(tree(w, Combine::Add, parts), sums, sumAt(row, from + j));
    }
  }
};

class AttentionFamily : public KernelFamily {
public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Plan plan = planOf(kernel, machine);
    KernelShape shape;
    shape.items = plan.c.items;
    shape.scratchBytes = shape.items * Size(plan.c.bytes);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Plan plan = planOf(build.group.kernel, build.w.machine);
    Attention(build, plan.p, plan.c, plan.others).run();
    return success();
  }

private:
  struct Plan {
    Problem p;
    Cut c;
    SmallVector<Other> others;
  };
  static Plan planOf(plan::KernelOp kernel, const target::MachineModel &machine) {
    Problem p = problemOf(kernel);
    Plan plan{p, cutOf(p, machine), othersOf(kernel, p)};
    place(plan.c, p, plan.others);
    return plan;
  }
};

} // namespace

std::unique_ptr<KernelFamily> createAttentionFamily() { return std::make_unique<AttentionFamily>(); }

} // namespace ingot::lower
