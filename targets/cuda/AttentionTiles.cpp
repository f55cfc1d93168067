#include "targets/cuda/AttentionTiles.h"
#include "compiler/lower/Policies.h"
#include "compiler/lower/attention/AttentionParts.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/AttentionRows.h"
#include "targets/cuda/FewRows.h"
#include "targets/cuda/Images.h"
#include "targets/cuda/Instructions.h"
#include "targets/cuda/SplitFloats.h"
#include "targets/cuda/TensorProduct.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::AttentionOther;
using lower::Ix;
using lower::Ixs;
using Values = SmallVector<Value>;

constexpr int64_t keysOfTile = 32;

/// Columns of rows that products take: whole tiles of 16.
int64_t paddedTo16(int64_t width) { return static_cast<int64_t>(llvm::alignTo(width, 16)); }

/// Returns the elements of a vector of 16 bytes.
int64_t lanesOf(Type element) { return element.isF32() ? 4 : 8; }
/// Returns the elements from a row in shared memory to the next one.
int64_t pitchOf(int64_t width, Type element) { return paddedTo16(width) + lanesOf(element); }

/// A matrix in memory: rows of `width` elements.
struct Rows {
  lower::Buffer buffer;
  int64_t width;
  Ix column, count;              ///< the stride of its elements; how many rows there are
  std::function<Ix(Ix)> beginOf; ///< where a row begins
};

/// Builds the loops of one kernel.
class Builder {
public:
  Builder(lower::Build &build, const lower::AttentionPlan &plan)
      : build(build), w(build.w), op(cast<onnx::AttendOp>(build.group.root)), p(plan.problem), others(plan.others),
        lastKey(plan.lastKey), scores(build.group.space(lower::Group::typeOf(op.product()))),
        result(build.group.space(lower::Group::typeOf(op.getY()))), sumType(w.b.getF32Type()),
        element(onnx::elementOf(op.getQ())), lanes(lanesOf(element)), bytes(16 / lanes),
        numbers(TensorProduct::numbersFor(op, op.getQ(), op.getK(), w.machine)) {
    products = op->getParentOfType<ModuleOp>()->hasAttr(lower::fastName) ? 1 : 2;
    Ix thread = lower::threadNumber(w), lane = remainder(thread, FewRows::warp);
    warp = floorDiv(thread, FewRows::warp), group = floorDiv(lane, 4), within = remainder(lane, 4);
  }

  void run() {
    place();
    Wide vectors = vectorsOf(w, op, p, build.group, lanes), pairs(w, 2);
    pairs.require(result, accessesOf(result));
    pairs.require(op.getPerm().back() + 1 == static_cast<int64_t>(result.sizes.size()) ? 0 : 1); // columns are last
    TensorProduct::writeAsMemoryIs(w, vectors, pairs, [&](TensorProduct::Accesses accesses) {
      by = accesses;
      tile();
    });
  }

private:
  lower::Build &build;
  lower::Writer &w;
  onnx::AttendOp op;
  const lower::AttentionProblem &p;
  ArrayRef<AttentionOther> others;
  const std::optional<AttentionOther> &lastKey;
  lower::Space scores, result;
  Type sumType, element;
  int64_t lanes, bytes;           ///< elements of a vector of 16 bytes, bytes of an element
  TensorProduct::Numbers numbers; ///< of float32: what tensor cores multiply
  int64_t products;               ///< of a weight and a value, where these are narrow
  bool isExact = false;           ///< what is written multiplies no parts of numbers, whatever the architecture
  TensorProduct::Accesses by;
  Ix warp, group, within;
  AttentionPlace head;   ///< where the keys of the rows are
  Ix firstRow, keyCount; ///< of the tile's rows: the first one, and how many keys they look at
  /// The coordinates of this thread's two rows, of which those behind the last one are the last one.
  std::array<Ixs, 2> at;

  void place() {
    Ix tiles = ceilDiv(p.rows, AttentionTiles::rows);
    head = AttentionPlace(p, floorDiv(build.begin, tiles));
    firstRow = remainder(build.begin, tiles) * AttentionTiles::rows;
    for (int64_t i = 0; i < 2; ++i) {
      at[i] = head.pointOf(p, min(rowOf(i), Ix(p.rows) - 1));
    }
    keyCount = lastKey ? keysUpTo(w, p, lastOfRows()) : Ix(p.keys);
  }
  /// Returns the last key (i64) that any row of the tile looks at. A warp's threads have two rows each.
  Value lastOfRows() {
    auto lastOf = [&](Ix row) {
      lower::Point point{head.pointOf(p, min(row, Ix(p.rows) - 1)), 1, {}};
      point.at.push_back(0);
      return lastKeyAt(w, build.group, *lastKey, scores, point);
    };
    if (!lastKey->alongRows) {
      return lastOf(firstRow);
    }
    auto later = [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(w.b, w.loc, a, b); };
    Ix own = firstRow + remainder(lower::threadNumber(w), FewRows::warp);
    Value last = later(lastOf(own), lastOf(own + FewRows::warp));
    for (int64_t distance = 1; distance < FewRows::warp; distance *= 2) {
      last = later(last, lower::exchange(w, last, distance));
    }
    return last;
  }
  /// Returns this thread's row `i`, of 2.
  Ix rowOf(int64_t i) const { return firstRow + warp * 16 + group + i * 8; }

  Rows queries() {
    auto begin = [&](Ix row) { return head.queryOf(p, row); };
    return {TensorProduct::raw(w, build.group.buffer(op.getQ())), p.width, p.q.column(), p.rows, begin};
  }
  Rows keys() {
    auto begin = [&](Ix row) { return head.k + row * Ix(p.k.row()); };
    return {TensorProduct::raw(w, build.group.buffer(op.getK())), p.width, p.k.column(), keyCount, begin};
  }
  Rows values() {
    auto begin = [&](Ix row) { return head.v + row * Ix(p.v.row()); };
    return {TensorProduct::raw(w, build.group.buffer(op.getV())), p.valueWidth, p.v.column(), keyCount, begin};
  }

  /// A piece of shared memory with some rows.
  struct Shared {
    lower::Buffer buffer;
    int64_t rows, pitch;
  };
  Shared sharedAt(int64_t byte, int64_t rows, int64_t width) {
    int64_t pitch = pitchOf(width, element);
    Type type = element.isF32() ? element : Type(w.b.getI16Type());
    return {w.scratch(lower::sharedMemory(w), byte, type, rows * pitch), rows, pitch};
  }

  /// Begins to copy rows, or does it element by element; what is behind the last row or column becomes zeros.
  void bring(const Rows &from, Ix first, const Shared &to) {
    w.ifThen(w.compare(arith::CmpIPredicate::sgt, from.count, 0), [&] { bringSome(from, first, to); });
  }
  void bringSome(const Rows &from, Ix first, const Shared &to) {
    int64_t vectors = paddedTo16(from.width) / lanes;
    w.loop(lower::threadNumber(w), to.rows * vectors, AttentionTiles::threads, [&](Ix number) {
      Ix row = floorDiv(number, vectors), column = remainder(number, vectors) * lanes, place = row * to.pitch + column;
      Value isRow = w.compare(arith::CmpIPredicate::slt, first + row, from.count);
      Ix begin = from.beginOf(min(first + row, from.count - 1));
      auto isThere = [&](Ix at) {
        return arith::AndIOp::create(w.b, w.loc, isRow, w.compare(arith::CmpIPredicate::slt, at, from.width));
      };
      if (by.inVectors) {
        Ix there = begin + min(column, from.width - lanes);
        copyVector(w, TensorProduct::addressIn(w, to.buffer, place, bytes),
                   TensorProduct::addressIn(w, from.buffer, there, bytes), isThere(column));
        return;
      }
      for (int64_t i = 0; i < lanes; ++i) {
        Value v = w.load(from.buffer, begin + min(column + i, from.width - 1) * from.column);
        v = arith::SelectOp::create(w.b, w.loc, isThere(column + i), v, w.constant(0, v.getType()));
        w.store(v, to.buffer, place + i);
      }
    });
  }

  /// Returns the registers of 16 lines by 32 bytes of the depth, from these on; `isLeft`: of the left factor, else of
  /// the right one, of which the first two are those of 8 lines. `alongDepth`: rows are lines, else steps.
  Values matrices(const Shared &from, bool isLeft, bool alongDepth, Ix line, int64_t step) {
    Ix lane = remainder(lower::threadNumber(w), FewRows::warp), own = remainder(lane, 8);
    Ix second = remainder(floorDiv(lane, 8), 2), third = floorDiv(lane, 16);
    Ix ofLine = (isLeft ? second : third) * 8, ofDepth = (isLeft ? third : second) * lanes;
    Ix row = alongDepth ? line + ofLine + own : ofDepth + own + step,
       column = alongDepth ? ofDepth + step : line + ofLine;
    return loadMatrices(w, TensorProduct::addressIn(w, from.buffer, row * from.pitch + column, bytes), !alongDepth);
  }

  Value mul(Value a, Value b) { return arith::MulFOp::create(w.b, w.loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(w.b, w.loc, a, b); }
  Value larger(Value a, Value b) { return combine(w, lower::Combine::Larger, a, b); }
  /// Combines what the four threads of a row have.
  Value amongFour(lower::Combine how, Value v) {
    for (int64_t distance = 1; distance < 4; distance *= 2) {
      v = combine(w, how, v, lower::exchange(w, v, distance));
    }
    return v;
  }

  /// The state of a thread's two rows: their largest scores so far, its part of their sums of weights, zeroIfFinite of
  /// the products that scores were made of, and its sums of weighed values, four of each tile of 8 columns.
  struct State {
    std::array<Value, 2> best, total;
    Value zero;
    Values sums;

    explicit State(ValueRange all)
        : best{all[0], all[1]}, total{all[2], all[3]}, zero(all[4]), sums(all.drop_front(5)) {}
    Values values() const {
      Values all = {best[0], best[1], total[0], total[1], zero};
      all.append(sums.begin(), sums.end());
      return all;
    }
  };

  void tile() {
    State state = overKeys();
    if (element.isF32() && !numbers) { // all of it was multiply-adds
      finish(state);
      return;
    }
    isExact = true;
    Value zero = zeroIfFinite(w, state.sums, state.zero);
    finish(State(againIfNotFinite(w, zero, numbers.without, state.values(), [&](Ix) { return overKeys().values(); })));
    isExact = false;
  }

  /// Goes over all keys.
  State overKeys() {
    int64_t ofRow = pitchOf(p.width, element) * bytes, ofQuery = AttentionTiles::rows * ofRow,
            ofKey = keysOfTile * ofRow;
    Shared ofQueries = sharedAt(0, AttentionTiles::rows, p.width), ofKeys = sharedAt(ofQuery, keysOfTile, p.width);
    Shared ofValues = sharedAt(ofQuery + ofKey, keysOfTile, p.valueWidth);
    bring(queries(), firstRow, ofQueries);
    bring(keys(), 0, ofKeys);
    endAndWait();
    Values none = {lowest(w), lowest(w)};
    none.append(3, w.constant(0, sumType));
    none.append(paddedTo16(p.valueWidth) / 8 * 4, w.constant(0, sumType));
    Values all = w.loop(0, keyCount, keysOfTile, none, [&](Ix first, ValueRange carried) {
      lower::barrier(w); // the keys are there (and the queries), and all have read the values of the tile before
      bring(values(), first, ofValues);
      endCopiesInVectors();
      Values score = scoresOf(ofQueries, ofKeys);
      waitInVectors();
      lower::barrier(w); // the values are there, and all have read the keys
      bring(keys(), first + keysOfTile, ofKeys);
      endCopiesInVectors();
      State state(carried);
      if (element.isF32()) {
        state.zero = zeroIfFinite(w, score, state.zero);
      }
      state = addKeys(score, first, state, ofValues);
      waitInVectors();
      return state.values();
    });
    return State(all);
  }

  void endAndWait() {
    endCopiesInVectors();
    waitInVectors();
  }
  void endCopiesInVectors() {
    if (by.inVectors) {
      endCopies(w);
    }
  }
  void waitInVectors() {
    if (by.inVectors) {
      waitForCopies(w, 0);
    }
  }

  /// Returns the products of the rows and the keys of a tile, four of each 8 keys.
  Values scoresOf(const Shared &ofQueries, const Shared &ofKeys) {
    if (element.isF32()) {
      return asTheGpuDoes([&] { return scoresByThreads(ofQueries, ofKeys); },
                          [&] { return scoresOfFloats(ofQueries, ofKeys); });
    }
    Values all(keysOfTile / 8 * 4, w.constant(0, sumType));
    for (int64_t step = 0; step < paddedTo16(p.width); step += 16) {
      Values rows = matrices(ofQueries, true, true, warp * 16, step);
      for (int64_t key = 0; key < keysOfTile; key += 16) {
        Values columns = matrices(ofKeys, false, true, key, step);
        addProducts(rows, columns, MutableArrayRef(all).slice(key / 8 * 4, 8));
      }
    }
    return all;
  }

  /// Writes what threads multiply or what tensor cores do, as the image's architecture has it for float32.
  Values asTheGpuDoes(llvm::function_ref<Values()> byThreads, llvm::function_ref<Values()> byInstructions) {
    if (isExact || !numbers) {
      return byThreads();
    }
    return numbers.without.empty() ? byInstructions()
                                   : w.chooseValues(isForAny(w, numbers.without), byThreads, byInstructions);
  }

  Values scoresOfFloats(const Shared &ofQueries, const Shared &ofKeys) {
    Values all(keysOfTile / 8 * 4, w.constant(0, sumType));
    for (int64_t step = 0; step < paddedTo16(p.width); step += 16) {
      auto halves = [&](const Shared &from, bool isLeft, Ix line) {
        std::array<Values, 2> words;
        for (int64_t half = 0; half < 2; ++half) {
          words[half] = matrices(from, isLeft, true, line, step + half * 8);
        }
        return words;
      };
      SmallVector<SplitFloats, 2> rows;
      for (const Values &words : halves(ofQueries, true, warp * 16)) {
        rows.emplace_back(w, words, numbers.products);
      }
      for (int64_t key = 0; key < keysOfTile; key += 16) {
        std::array<Values, 2> words = halves(ofKeys, false, key);
        for (int64_t eight = 0; eight < 2; ++eight) {
          SmallVector<SplitFloats, 2> columns;
          for (const Values &each : words) {
            columns.emplace_back(w, ArrayRef(each).slice(eight * 2, 2), numbers.products);
          }
          addSplitProducts(w, rows, columns, MutableArrayRef(all).slice((key / 8 + eight) * 4, 4));
        }
      }
    }
    return all;
  }

  /// Returns the same by multiply-adds: a thread has two rows, and two of each eight keys.
  Values scoresByThreads(const Shared &ofQueries, const Shared &ofKeys) {
    Values none(keysOfTile / 8 * 4, w.constant(0, sumType));
    return w.loop(0, paddedTo16(p.width), lanes, none, [&](Ix step, ValueRange carried) {
      auto vectorAt = [&](const Shared &from, Ix row) { return w.load(from.buffer, row * from.pitch + step, lanes); };
      Values all(carried);
      std::array<Value, 2> rows;
      for (int64_t row = 0; row < 2; ++row) {
        rows[row] = vectorAt(ofQueries, warp * 16 + group + row * 8);
      }
      for (int64_t i = 0; i < keysOfTile / 4; ++i) {
        Value key = vectorAt(ofKeys, within * 2 + (i / 2 * 8 + i % 2));
        for (int64_t row = 0; row < 2; ++row) {
          Value &sum = all[i / 2 * 4 + row * 2 + i % 2];
          for (int64_t lane = 0; lane < lanes; ++lane) {
            sum = w.fma(elementIn(rows[row], lane), elementIn(key, lane), sum);
          }
        }
      }
      return all;
    });
  }
  Value elementIn(Value vector, int64_t lane) { return vector::ExtractOp::create(w.b, w.loc, vector, lane); }

  /// Adds the products with 16 columns to the eight sums of them.
  void addProducts(ArrayRef<Value> rows, ArrayRef<Value> columns, MutableArrayRef<Value> sums) {
    for (int64_t half = 0; half < 2; ++half) {
      MutableArrayRef<Value> own = sums.slice(half * 4, 4);
      llvm::copy(multiplyMatrices(w, element, rows, columns.slice(half * 2, 2), ValueRange(own)), own.begin());
    }
  }

  /// Makes weights of scores, and adds the values that they weigh.
  State addKeys(Values &score, Ix first, const State &before, const Shared &ofValues) {
    State after = before;
    makeScores(score, first);
    std::array<Value, 2> worth;
    for (int64_t row = 0; row < 2; ++row) {
      Values own;
      for (auto [i, each] : llvm::enumerate(score)) {
        if (static_cast<int64_t>(i) % 4 / 2 == row) {
          own.push_back(each);
        }
      }
      Value most = amongFour(lower::Combine::Larger, tree(w, lower::Combine::Larger, own));
      after.best[row] = larger(before.best[row], most);
      Value base = baseOf(w, after.best[row]);
      worth[row] = w.expOfNegative(subtract(before.best[row], base));
      Values weights = llvm::map_to_vector(own, [&](Value each) { return w.expOfNegative(subtract(each, base)); });
      after.total[row] = w.fma(before.total[row], worth[row], tree(w, lower::Combine::Add, weights));
      for (auto [i, each] : llvm::enumerate(weights)) {
        auto number = static_cast<int64_t>(i);
        score[number / 2 * 4 + row * 2 + number % 2] = each;
      }
    }
    for (auto [i, sum] : llvm::enumerate(after.sums)) {
      sum = mul(sum, worth[i % 4 / 2]);
    }
    addValues(score, ofValues, after.sums);
    return after;
  }

  /// Makes scores of products.
  void makeScores(Values &score, Ix first) {
    for (auto [i, each] : llvm::enumerate(score)) {
      auto number = static_cast<int64_t>(i);
      Ix key = first + (number / 4 * 8 + number % 2) + within * 2, there = min(key, Ix(p.keys) - 1);
      each = attentionScore(w, op, others, each, 1, [&](const AttentionOther &other) {
        lower::Point point{{at[number % 4 / 2].begin(), at[number % 4 / 2].end()}, 1, {}};
        point.at.push_back(there);
        return build.group.read(other.inRegion, scores, point);
      });
      Value isThere = w.compare(arith::CmpIPredicate::slt, key, keyCount);
      each = arith::SelectOp::create(w.b, w.loc, isThere, each, lowest(w));
    }
  }

  /// Returns two float32 as a word of the type, and leaves of them what that lacks.
  Value wordOf(Value &x, Value &y) {
    auto pair = [&](Type type) { return VectorType::get({2}, type); };
    Value both = vector::FromElementsOp::create(w.b, w.loc, pair(sumType), ValueRange{x, y});
    Value narrow = arith::TruncFOp::create(w.b, w.loc, pair(element), both);
    Value rest = subtract(both, arith::ExtFOp::create(w.b, w.loc, pair(sumType), narrow));
    x = vector::ExtractOp::create(w.b, w.loc, rest, 0), y = vector::ExtractOp::create(w.b, w.loc, rest, 1);
    Value bits = arith::BitcastOp::create(w.b, w.loc, pair(w.b.getI16Type()), narrow);
    return LLVM::BitcastOp::create(w.b, w.loc, w.b.getI32Type(), bits);
  }

  /// Adds the products of weights and the values of a tile.
  void addValues(Values &weights, const Shared &ofValues, Values &sums) {
    if (element.isF32()) {
      sums = asTheGpuDoes([&] { return withValuesByThreads(weights, ofValues, sums); },
                          [&] { return withValuesOfFloats(weights, ofValues, sums); });
      return;
    }
    if (isExact) {
      sums = withValuesByThreads(weights, ofValues, sums);
      return;
    }
    for (int64_t key = 0; key < keysOfTile; key += 16) {
      // Sums of two tiles of 8 keys are where the left factor of 16 steps has its words.
      MutableArrayRef<Value> own = MutableArrayRef(weights).slice(key / 8 * 4, 8);
      SmallVector<Values, 2> parts(products);
      for (Values &words : parts) {
        for (int64_t i = 0; i < 8; i += 2) {
          words.push_back(wordOf(own[i], own[i + 1]));
        }
      }
      for (int64_t column = 0; column < paddedTo16(p.valueWidth); column += 16) {
        Values columns = matrices(ofValues, false, false, column, key);
        for (ArrayRef<Value> words : llvm::reverse(parts)) {
          addProducts(words, columns, MutableArrayRef(sums).slice(column / 8 * 4, 8));
        }
      }
    }
  }

  /// Returns the sums with those products. Of eight keys a thread's scores are of two neighbours, which are counted as
  /// the instruction's numbers `within` and `within + 4` of the depth; the words of values are of the same keys.
  Values withValuesOfFloats(const Values &weights, const Shared &ofValues, Values sums) {
    for (int64_t key = 0; key < keysOfTile; key += 16) {
      SmallVector<SplitFloats, 2> rows;
      for (int64_t half = 0; half < 2; ++half) {
        ArrayRef<Value> own = ArrayRef(weights).slice((key / 8 + half) * 4, 4);
        rows.emplace_back(w, ValueRange{own[0], own[2], own[1], own[3]}, numbers.products);
      }
      for (int64_t column = 0; column < paddedTo16(p.valueWidth); column += 8) {
        SmallVector<SplitFloats, 2> columns;
        for (int64_t half = 0; half < 2; ++half) {
          Ix first = (within * 2 + (key + half * 8)) * ofValues.pitch + group + column;
          columns.emplace_back(
              w, ValueRange{w.load(ofValues.buffer, first), w.load(ofValues.buffer, first + ofValues.pitch)},
              numbers.products);
        }
        addSplitProducts(w, rows, columns, MutableArrayRef(sums).slice(column / 8 * 4, 4));
      }
    }
    return sums;
  }

  /// Returns the same by multiply-adds: the four threads of a row exchange its weights. A step of the loop has two
  /// neighbours of eight keys, for which a thread has weights; those of the next step then take their place.
  Values withValuesByThreads(const Values &weights, const Shared &ofValues, const Values &sums) {
    lower::Buffer buffer = element.isF32() ? ofValues.buffer : lower::Buffer{ofValues.buffer.memref, sumType, element};
    constexpr size_t ofStep = 4;
    Values all(weights);
    all.append(sums.begin(), sums.end());
    all = w.loop(0, keysOfTile, 8, all, [&](Ix key, ValueRange carried) {
      Values next(carried.drop_front(weights.size()));
      for (int64_t other = 0; other < 4; ++other) {
        Values weight; // of two rows for a key, and for the next one
        for (int64_t i = 0; i < 4; ++i) {
          Value own = carried[i % 2 * 2 + i / 2];
          weight.push_back(other == 0 ? own : lower::exchange(w, own, other));
        }
        Ix thread = w.ix(arith::XOrIOp::create(w.b, w.loc, w.value(within), w.value(other)));
        for (int64_t i = 0; i < 2; ++i) {
          addWeighed(ArrayRef(weight).slice(2 * i, 2), buffer, (thread * 2 + key + i) * ofValues.pitch, next);
        }
      }
      Values turned(carried.slice(ofStep, weights.size() - ofStep));
      llvm::append_range(turned, carried.take_front(ofStep));
      llvm::append_range(turned, next);
      return turned;
    });
    return Values(ArrayRef(all).drop_front(weights.size()));
  }

  /// Adds a key's values, which begin at `row`, by the weights for a thread's two rows.
  void addWeighed(ArrayRef<Value> weight, const lower::Buffer &values, Ix row, MutableArrayRef<Value> sums) {
    for (int64_t column = 0; column < paddedTo16(p.valueWidth); column += 8) {
      Value two = w.load(values, row + within * 2 + column, 2);
      for (int64_t e = 0; e < 4; ++e) {
        Value &sum = sums[column / 8 * 4 + e];
        sum = w.fma(weight[e / 2], elementIn(two, e % 2), sum);
      }
    }
  }

  void finish(const State &state) {
    for (int64_t row = 0; row < 2; ++row) {
      Value total = amongFour(lower::Combine::Add, state.total[row]), isEmpty = isEmptyRow(w, op, p, total);
      w.ifThen(w.compare(arith::CmpIPredicate::slt, rowOf(row), p.rows), [&] {
        int64_t together = by.inPairs ? 2 : 1;
        for (int64_t i = 0; i < paddedTo16(p.valueWidth) / 8 * 2; i += together) {
          Ix column = within * 2 + (i / 2 * 8 + i % 2);
          auto sums = ArrayRef(state.sums).slice(i / 2 * 4 + row * 2 + i % 2, together);
          w.ifThen(w.compare(arith::CmpIPredicate::slt, column, p.valueWidth),
                   [&] { finishColumns(sums, total, isEmpty, row, column); });
        }
      });
    }
  }

  /// Ends one column of a thread's row, or two neighbours.
  void finishColumns(ArrayRef<Value> sums, Value total, Value isEmpty, int64_t row, Ix column) {
    Values all;
    for (Value sum : sums) {
      Value y = arith::DivFOp::create(w.b, w.loc, sum, total);
      all.push_back(isEmpty ? arith::SelectOp::create(w.b, w.loc, isEmpty, w.constant(0, sumType), y).getResult() : y);
    }
    lower::Point point{{at[row].begin(), at[row].end()}, static_cast<int64_t>(all.size()), {}};
    point.at.push_back(column);
    Value y =
        all.size() == 1
            ? all[0]
            : vector::FromElementsOp::create(w.b, w.loc, VectorType::get({point.lanes}, sumType), all).getResult();
    build.group.finish(y, result, attentionResultAt(op, point));
  }
};

} // namespace

bool AttentionTiles::areFor(onnx::AttendOp op, const lower::AttentionProblem &p, const target::MachineModel &machine) {
  constexpr int64_t leastRows = 16, mostColumns = 128;
  Type q = onnx::elementOf(op.getQ());
  int64_t lanes = lanesOf(q);
  bool areAlike = q == onnx::elementOf(op.getK()) && q == onnx::elementOf(op.getV());
  if (!areAlike || !p.rows.atLeast(leastRows) || p.width < lanes || p.valueWidth < lanes) {
    return false;
  }
  if (q.isF32()) {
    return grid(op, p).sharedBytes <= sharedBytesOfAll;
  }
  bool hasInstructions = q.isF16() || architectureOf(machine).tf32 != 0; // the oldest one's
  return (q.isF16() || q.isBF16()) && hasInstructions && std::max(p.width, p.valueWidth) <= mostColumns;
}

lower::Grid AttentionTiles::grid(onnx::AttendOp op, const lower::AttentionProblem &p) {
  Type element = onnx::elementOf(op.getQ());
  int64_t elements = (rows + keysOfTile) * pitchOf(p.width, element) + keysOfTile * pitchOf(p.valueWidth, element);
  return {{threads, 1, 1}, elements * (16 / lanesOf(element))};
}

void AttentionTiles::write(lower::Build &build, const lower::AttentionPlan &plan) {
  OpBuilder &b = build.w.b;
  b.getInsertionBlock()->getParentOp()->setAttr(oneBlockName, b.getUnitAttr());
  Builder(build, plan).run();
}

} // namespace ingot::targets::cuda
