// Builds the loops of attention; families/Attention.cpp describes the algorithm. Blocks of rows are in
// AttentionBlocks.cpp, their products in matrix registers in AttentionInTiles.cpp, and rows that fill no vector in
// AttentionRows.cpp.
#pragma once
#include "compiler/lower/attention/AttentionPlan.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ops/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot::lower {

/// Builds one kernel. A task is a block of rows for one index of the outer axes; each work item does several tasks.
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
  const std::optional<Other> &lastKey;
  onnx::AttendOp op;
  Type element, vector;
  Space space, result;
  Buffer q, k, v, queries, keyCopy, scores, sums, best, total, worth;
  Ix own;
  std::optional<TileBlock> block; ///< the block of products in matrix registers, if they are used
  // The current task: its index along the outer axes, where its operands begin, and its first row.
  Ixs outer;
  Ix baseQ, baseK, baseV, firstRow;
  Ix keys;         ///< how many keys the rows that are being computed look at
  Value otherRows; ///< whether the rows differ from those of the task before; null: they always do

  /// Return a stretch of this work item's scratch, of floats or of bfloat16s.
  Buffer piece(int64_t at) { return w.scratch(build.scratch, own + Ix(at), element, c.bytes / 4); }
  Buffer bf16Scratch(int64_t at) { return w.scratch(build.scratch, own + Ix(at), w.b.getBF16Type(), c.bytes / 2); }
  Value compare(mlir::arith::CmpFPredicate how, Value a, Value b) {
    return mlir::arith::CmpFOp::create(w.b, w.loc, how, a, b);
  }
  Value select(Value condition, Value a, Value b) { return mlir::arith::SelectOp::create(w.b, w.loc, condition, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulFOp::create(w.b, w.loc, a, b); }
  Value add(Value a, Value b) { return mlir::arith::AddFOp::create(w.b, w.loc, a, b); }
  /// Returns exp(a - b), where a is at most b.
  Value expOfDifference(Value a, Value b);
  Value lowest(Type type) { return neutral(w, Combine::Larger, type); }
  /// Builds one task, the first of which is `firstTask` in a work item.
  void oneTask(Ix task, Ix firstTask);

  // Rows

  /// Returns the coordinates of a row: the index along each axis that shares keys, then the query.
  Ixs rowAt(Ix row);
  /// Returns where a row of Q begins.
  Ix queryAt(Ix row);
  /// Returns the row, or the last one where there is no such row.
  Ix clamped(Ix row) { return min(row, Ix(p.rows) - Ix(1)); }
  /// Returns a point of the scores, or of the result, with `lanes` elements along the last axis.
  Point pointAt(llvm::ArrayRef<Ix> row, Ix last, int64_t lanes, Value mask = {});

  // Keys

  /// Sets `keys` for so many rows from `firstRow` on.
  void findKeys(Ix rows);
  /// Builds the body for each block of the rows' keys: its first one, and how many there are.
  void eachBlockOfKeys(llvm::function_ref<void(Ix first, Ix count)> body);

  // The region

  /// Returns the score for a product: the region's ops on it, and on the other values that `read` gives.
  Value scoreOf(Value product, int64_t lanes, llvm::function_ref<Value(const Other &)> read);
  /// Returns the scratch in which a value's vectors of rows are.
  Buffer packed(const Other &other);
  /// Returns what the region reads at a key, for a vector of the block's rows.
  Value alongRows(const Other &other, Ix key, Ix keyInBlock, Ix row);
  /// Writes vectors of rows, into scratch, of values that vary along the rows, for keys [first, first + count). Those
  /// that vary along the keys as well (`alongKeys`) and those that do not have different moments.
  void packOthers(Ix vectors, Ix first, Ix count, bool alongKeys);
  /// Writes the vectors of one value.
  void pack(const Other &other, Ix vectors, Ix first, Ix count);
  /// Writes a square of rows and keys, transposed in registers.
  void packSquare(const Other &other, Buffer to, Ix row, Ix first, Ix key, Value mask);

  // Statistics and sums

  /// Initializes statistics and sums, as they are before the first key.
  void begin(Ix rows);
  /// Reduces [0, count) with `body`, in `tuning.unroll` accumulators that iterations use one after the other, so that
  /// an operation need not wait for the one before. Returns the accumulators combined.
  Value reduceUnrolled(Ix count, Combine how, Type type, llvm::function_ref<Value(Ix, Value)> body);
  /// Returns the new maximum, and what is subtracted from the scores: the maximum, or 0 while there is no key.
  std::pair<Value, Value> newBest(Value before, Value now);
  /// Returns where vector `i` of a row of V begins. The last one may overlap the one before.
  int64_t columnOf(int64_t i) const { return std::min(i * c.valueLanes, p.valueWidth - c.valueLanes); }
  Value loadV(Ix key, int64_t i) { return w.load(v, baseV + key * Ix(p.v.row()) + Ix(columnOf(i)), c.valueLanes); }
  /// Returns where vector `i` of a row's sums lies.
  Ix sumAt(Ix row, int64_t i) { return row * c.valueStride() + Ix(i * c.valueLanes); }
  /// Divides a row's sums of values by its sum of weights, applies the epilogue, and stores the result.
  void end(Ix row, Value sum, mlir::ValueRange values);
  /// Ends a row whose sums lie in scratch.
  void endOf(Ix row);

  // Blocks of rows

  /// Builds a block of rows, from its queries to its results.
  void rowBlock(Ix block);
  /// Writes the queries of a block as [width][row] into scratch.
  void packQueries(Ix vectors);
  /// Copies a block of keys that lie side by side. Read where they are, the columns of one key would compete for a few
  /// sets of the caches.
  void copyKeys(Ix first, Ix count);
  /// Computes the scores of a block of rows and a block of keys. Each tile of keys, which then is in the first cache,
  /// goes through all vectors of rows.
  void scoreBlock(Ix vectors, Ix first, Ix count);
  /// Computes the scores of a tile of keys for `width` vectors of rows. Past the last key it computes that one again,
  /// and nobody reads the result.
  void scoreTile(Ix row, int64_t width, Ix first, Ix key);
  /// Replaces the scores of a vector of rows by their exponentials, and updates the statistics of its rows.
  void weigh(Ix row, Ix count);
  /// Adds the values of a block of keys to the rows' sums. Each panel of V's columns, which then is in the first cache,
  /// goes through all tiles of rows.
  void valueTiles(Ix rows, Ix first, Ix count);
  /// Adds some vectors of columns to the sums of a tile of rows.
  void valueTile(Ix row, int64_t from, int64_t vectors, Ix first, Ix count);

  // Blocks of rows with products in matrix registers

  /// Loads two squares of elements that lie `distance` apart, and returns both transposed.
  std::pair<mlir::SmallVector<Value>, mlir::SmallVector<Value>> squares(Buffer from, llvm::ArrayRef<Ix> rows,
                                                                        Ix distance);
  /// Writes the queries as packed steps of right factors, two vectors of rows side by side.
  void splitQueries(Ix vectors);
  /// Writes a block of keys as left factors, row by row as they lie.
  void splitKeys(Ix first, Ix count);
  /// Writes a block of values as packed steps of right factors, two vectors of columns side by side.
  void splitValues(Ix first, Ix count);
  /// Writes the weights of a block as left factors, transposed from the scores.
  void splitWeights(Ix vectors, Ix count);
  /// Returns the steps of products over so many keys.
  static Ix stepsOver(Ix count);
  /// Computes the scores of a block of rows and a block of keys.
  void scoreBlocks(Ix vectors, Ix first, Ix count);
  /// Adds the values of a block of keys to the sums of a block of rows.
  void valueBlocks(Ix vectors, Ix count);
  /// Multiplies a block of two factors, over so many steps.
  void multiply(Buffer left, Ix leftAt, int64_t rowBytes, int64_t partBytes, Buffer right, Ix rightAt,
                int64_t columnTiles, Ix steps);

  // Few rows

  /// Builds the rows that fill no vector.
  void rowByRow();
  /// Builds these rows with blocks of keys.
  void blocksOfKeys();
  /// Builds a row whose keys fill one vector at most, from its products to its result.
  void oneVectorOfKeys(Ix row);
  /// Return the elements between copied queries, and how many elements the last vector of a dot product has.
  int64_t queryStride() const { return p.width + c.lanes; }
  int64_t dotRest() const { return p.width % c.dotLanes; }
  /// Copies a query to scratch, in whole vectors. Elements that the last vector has in common with the one before are 0
  /// in it, so that they count once.
  void copyQuery(Ix row);
  /// Computes the products of a row with keys, as many at a time as a vector has lanes, by dot products along the
  /// width.
  void dots(Ix row, Ix first, Ix count);
  /// Computes the products of a row with keys that lie side by side, with lanes along the keys.
  void columns(Ix row, Ix first, Ix count);
  /// Returns such products for some vectors of keys.
  mlir::SmallVector<Value> columnProducts(Ix row, Ix key, int64_t vectors, int64_t lanes, Value mask);
  /// Applies the region to a row's products. Behind the last key, to the end of the vector, it writes scores whose
  /// weight is 0.
  void scoreRow(Ix row, Ix first, Ix count);
  /// Returns the region's scores of some keys; lanes without a key get a score whose weight is 0.
  Value liveScore(Ix row, Ix key, int64_t lanes, Value mask, Value product);
  /// Replaces a row's scores by their exponentials, and updates its statistics.
  void weighRow(Ix row, Ix count);
  /// Adds the values of a block of keys to a row's sums.
  void addValues(Ix row, Ix first, Ix count);
  /// Returns `before` plus the weighed values of a block of keys, for the vectors of V from `from` on. Several
  /// accumulators of one vector, to which keys are added alternately, hide the latency of an addition.
  mlir::SmallVector<Value> addedValues(int64_t from, mlir::ValueRange before, Ix first, Ix count);
  /// Calls the body with groups of V's vectors that fit the registers.
  void eachValueVectors(llvm::function_ref<void(int64_t from, int64_t vectors)> body);
};

} // namespace ingot::lower
