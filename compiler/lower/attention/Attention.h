// The builder of Attention's loops: see families/Attention.cpp. Blocks of rows are in AttentionBlocks.cpp, their
// products in matrix registers in AttentionInTiles.cpp, rows that fill no vector in AttentionRows.cpp.
#pragma once
#include "compiler/lower/attention/AttentionPlan.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ops/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot::lower {

class Attention {
public:
  Attention(Build &build, const AttentionPlan &plan);

  void run();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Other = AttentionOther;

  Build &build;
  Writer &w;
  Group &group;
  const AttentionProblem &p;
  const AttentionCut &c;
  llvm::ArrayRef<Other> others;
  onnx::AttendOp op;
  Type element, vector;
  Space space, result;
  Buffer q, k, v, queries, scores, sums, best, total, worth;
  Ix own;
  std::optional<TileBlock> block; ///< of products in matrix registers
  // Of the current task.
  Ixs outer;
  Ix baseQ, baseK, baseV, firstRow;
  Value otherRows; ///< whether the rows are not those of the task before; null: they never are

  Buffer piece(int64_t at) { return w.scratch(build.scratch, own + Ix(at), element, c.bytes / 4); }
  Buffer halves(int64_t at) { return w.scratch(build.scratch, own + Ix(at), w.b.getBF16Type(), c.bytes / 2); }
  Value compare(mlir::arith::CmpFPredicate how, Value a, Value b) {
    return mlir::arith::CmpFOp::create(w.b, w.loc, how, a, b);
  }
  Value select(Value condition, Value a, Value b) { return mlir::arith::SelectOp::create(w.b, w.loc, condition, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulFOp::create(w.b, w.loc, a, b); }
  Value add(Value a, Value b) { return mlir::arith::AddFOp::create(w.b, w.loc, a, b); }
  Value expOfDifference(Value a, Value b);
  Value lowest(Type type) { return neutral(w, Combine::Larger, type); }
  void oneTask(Ix task, Ix firstTask);

  // Rows.

  /// Coordinates of a row along the axes that share keys, then its query.
  Ixs rowAt(Ix row);
  Ix queryAt(Ix row);
  Ix clamped(Ix row) { return min(row, Ix(p.rows) - Ix(1)); }
  Point pointAt(llvm::ArrayRef<Ix> row, Ix last, int64_t lanes, Value mask = {});

  // The region.

  /// The score for a product; `read` gives what it reads besides.
  Value scoreOf(Value product, int64_t lanes, llvm::function_ref<Value(const Other &)> read);
  Buffer packed(const Other &other);
  /// What the region reads at a key, for a vector of the block's rows.
  Value alongRows(const Other &other, Ix key, Ix keyInBlock, Ix row);
  /// Vectors of rows of what differs from row to row, for keys [first, first + count).
  void packOthers(Ix vectors, Ix first, Ix count, bool alongKeys);
  void pack(const Other &other, Ix vectors, Ix first, Ix count);
  void packSquare(const Other &other, Buffer to, Ix row, Ix first, Ix key, Value mask);

  // Statistics and sums.

  /// Statistics and sums of no key at all.
  void begin(Ix rows);
  /// Runs `body` for [0, count) with values carried, `unroll` of which are slots that turns take one after the other;
  /// gives them combined.
  Value inTurns(Ix count, Combine how, Type type, llvm::function_ref<Value(Ix, Value)> body);
  /// The new maximum, and what is taken off the scores.
  std::pair<Value, Value> newBest(Value before, Value now);
  /// Where vector `i` of a row of V begins: the last one may overlap the one before.
  int64_t columnOf(int64_t i) const { return std::min(i * c.valueLanes, p.valueWidth - c.valueLanes); }
  Value loadV(Ix key, int64_t i) { return w.load(v, baseV + key * Ix(p.v.row()) + Ix(columnOf(i)), c.valueLanes); }
  Ix sumAt(Ix row, int64_t i) { return row * c.valueStride() + Ix(i * c.valueLanes); }
  /// Divides a row's sums of values by that of its weights and stores what follows.
  void end(Ix row, Value sum, mlir::ValueRange values);
  /// The same with the sums that lie in scratch.
  void endOf(Ix row);

  // Blocks of rows.

  void rowBlock(Ix block);
  /// Queries [width][row].
  void packQueries(Ix vectors);
  void scoreBlock(Ix vectors, Ix first, Ix count);
  /// Scores of a tile of keys for `width` vectors of rows. Past the last key it is computed again: nobody looks there.
  void scoreTile(Ix row, int64_t width, Ix first, Ix key);
  /// Exponentials of the scores of a vector of rows.
  void weigh(Ix row, Ix count);
  /// Adds the values of a block of keys to the sums of a tile of rows.
  void valueTiles(Ix row, Ix first, Ix count);
  void valueTile(Ix row, int64_t from, int64_t vectors, Ix first, Ix count);

  // The same with products in matrix registers.

  std::pair<mlir::SmallVector<Value>, mlir::SmallVector<Value>> squares(Buffer from, llvm::ArrayRef<Ix> rows,
                                                                        Ix distance);
  /// Queries as packed steps of right factors, two vectors of rows side by side.
  void splitQueries(Ix vectors);
  void splitKeys(Ix first, Ix count);
  void splitValues(Ix first, Ix count);
  void splitWeights(Ix vectors, Ix count);
  /// Steps of products over so many keys.
  static Ix stepsOver(Ix count);
  void scoreBlocks(Ix vectors, Ix first, Ix count);
  void valueBlocks(Ix vectors, Ix count);
  void multiply(Buffer left, Ix leftAt, int64_t rowBytes, int64_t partBytes, Buffer right, Ix rightAt, int64_t wide,
                Ix steps);

  // Few rows.

  void rowByRow();
  void blocksOfKeys();
  /// A row whose keys fill one vector at most, from its products to its result.
  void oneVectorOfKeys(Ix row);
  int64_t queryStride() const { return p.width + c.lanes; }
  int64_t dotRest() const { return p.width % c.dotLanes; }
  /// The query in vectors; what the last one has in common with the one before is 0 in it.
  void copyQuery(Ix row);
  /// Products of a row with as many keys at a time as a vector has lanes.
  void dots(Ix row, Ix first, Ix count);
  /// The same where keys lie side by side.
  void columns(Ix row, Ix first, Ix count);
  mlir::SmallVector<Value> columnProducts(Ix row, Ix key, int64_t vectors, int64_t lanes, Value mask);
  /// The region along the keys; behind them, to the end of the vector, scores that weigh nothing.
  void scoreRow(Ix row, Ix first, Ix count);
  /// The region's score of some keys; where there are none, one that weighs nothing.
  Value liveScore(Ix row, Ix key, int64_t lanes, Value mask, Value product);
  void weighRow(Ix row, Ix count);
  void addValues(Ix row, Ix first, Ix count);
  /// Sums of vectors of V from `from` on, `before` and the weighed values of a block of keys. Several sums of the same
  /// vector, which keys take in turns, hide the latency of an addition.
  mlir::SmallVector<Value> addedValues(int64_t from, mlir::ValueRange before, Ix first, Ix count);
  void eachValueVectors(llvm::function_ref<void(int64_t from, int64_t vectors)> body);
};

} // namespace ingot::lower
