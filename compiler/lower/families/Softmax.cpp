// Computes Softmax and LogSoftmax along one axis. A row that is short enough stays in registers from the first load to
// the store, and rows of a few elements are exchanged with columns there. A longer one is read for the maximum and
// again for the sum, while the exponentials wait in the result, and then scaled. Where the axis is not the last, each
// lane is a softmax of its own, and many such columns of a large tensor go down together (core/Columns.h). A NaN need
// not win the maximum, because it makes the sum NaN.
#include "compiler/lower/core/Columns.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ingot::lower {
namespace {

constexpr int64_t heldVectors = 8; ///< the most vectors of a row that stays in registers
/// The most elements of columns that stay in registers, or on the stack beside them.
constexpr int64_t heldInColumn = 16;

/// What the op asks for.
struct Wanted {
  Value x;
  int64_t axis;
  bool log;
};
Wanted wantedOf(Operation *root) {
  bool log = isa<onnx::LogSoftmaxOp>(root);
  int64_t axis = log ? cast<onnx::LogSoftmaxOp>(root).getAxis() : cast<onnx::SoftmaxOp>(root).getAxis();
  return {root->getOperand(0), *onnx::normalAxis(axis, onnx::ranked(root->getOperand(0)).getRank()), log};
}

/// Builds the loops of one kernel.
class SoftmaxLoops {
public:
  explicit SoftmaxLoops(Build &build)
      : build(build), w(build.w), group(build.group), wanted(wantedOf(group.root)),
        element(valueType(onnx::elementOf(wanted.x))),
        split(group, Group::typeOf(wanted.x), group.resultType(), {wanted.axis}, /*keeps=*/true) {
    // Exponentials may wait in the result only if they are not rounded on the way.
    storesAhead = !wanted.log && group.resultType().getElementType() == element &&
                  split.out.results.size() == group.kernel.getNumResults();
    held = split.across && split.lanes > 1 && split.team == 1 && split.count.known() && !split.count.is(0) &&
           split.count.number() <= heldVectors * split.lanes;
    heldColumns = !split.across && split.inner.size() == 1 && split.count.known() && !split.count.is(0) &&
                  split.count.number() <= heldInColumn;
    if (held && split.count.number() < split.lanes && !w.machine.maskedAccess) {
      shortRow = w.local(element, split.lanes);
    }
  }

  void run() {
    if (!heldColumns && hasWideColumns(w, split)) {
      return strips();
    }
    Ix begin = split.shortRows(w, group, wanted.x, build.begin, build.end,
                               [&](Ix row, SmallVector<Value> columns) { rows(row, std::move(columns)); });
    split.positions(w, begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      if (held) {
        heldRow(at);
      } else if (heldColumns && lanes > 1) {
        heldColumn(at, lanes, mask);
      } else {
        passes(at, lanes, mask);
      }
    });
  }

private:
  Build &build;
  Writer &w;
  const size_t accumulators = w.machine.tuning.chains;
  Group &group;
  Wanted wanted;
  Type element;
  AxisSplit split;
  bool storesAhead, held, heldColumns;
  Buffer shortRow;

  Value sub(Value a, Value b) { return arith::SubFOp::create(w.b, w.loc, a, b); }
  Value exp(Value a) { return w.expOfNegative(a); }
  /// Returns a vector as it is, and a scalar in all lanes.
  Value splatTo(Value scalar, int64_t lanes) {
    return isa<VectorType>(scalar.getType()) ? scalar : w.splat(scalar, lanes);
  }
  Value read(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    return group.read(wanted.x, split.in, Point{SmallVector<Ix>(at), lanes, mask});
  }
  void finish(Value v, ArrayRef<Ix> at, int64_t lanes, Value mask) {
    group.finish(v, split.out, Point{split.outAt(at), lanes, mask});
  }
  /// Returns what each exponential (or, for the logarithm, each difference) is combined with at the end.
  Value factorOf(Value sum) {
    return wanted.log ? math::LogOp::create(w.b, w.loc, sum).getResult()
                      : arith::DivFOp::create(w.b, w.loc, w.constant(1, sum.getType()), sum).getResult();
  }
  /// Combines an exponential or a difference with that factor.
  Value scaled(Value e, Value factor) {
    return wanted.log ? sub(e, factor) : arith::MulFOp::create(w.b, w.loc, e, factor).getResult();
  }

  /// Replaces `x` by its differences from `max`, and returns their exponentials.
  SmallVector<Value> exponentials(MutableArrayRef<Value> x, Value max) {
    SmallVector<Value> e;
    for (Value &v : x) {
      v = sub(v, max);
      e.push_back(exp(v));
    }
    return e;
  }

  // A row in registers

  /// A vector of the row: where it starts, and which of its lanes belong to no other vector as well.
  struct RowVector {
    int64_t start;
    Value own; ///< null: all lanes
  };

  /// Returns the vectors of a row.
  SmallVector<RowVector> rowVectors() {
    SmallVector<RowVector> all;
    int64_t l = split.lanes, count = split.count.number(), tail = count % l;
    for (int64_t i = 0; i + l <= count; i += l) {
      all.push_back({i, {}});
    }
    if (tail && (w.machine.maskedAccess || count < l)) {
      all.push_back({count - tail, w.maskFor(tail, l)});
    } else if (tail) { // this vector overlaps the one before it, whose lanes are left out of maximum and sum
      SmallVector<bool> own(l, false);
      std::fill(own.end() - tail, own.end(), true);
      auto type = VectorType::get({l}, w.b.getI1Type());
      all.push_back(
          {count - l, arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, ArrayRef<bool>(own)))});
    }
    return all;
  }

  /// Returns the point of the row at `start`.
  SmallVector<Ix> pointAt(ArrayRef<Ix> at, Ix start) {
    SmallVector<Ix> to(at);
    to.back() = start;
    return to;
  }

  Value readVector(ArrayRef<Ix> at, const RowVector &vector) {
    Value x;
    if (shortRow) {
      w.loop(0, split.count, 1, [&](Ix i) { w.store(read(pointAt(at, i), 1, {}), shortRow, i); });
      x = w.load(shortRow, 0, split.lanes);
    } else {
      x = read(pointAt(at, vector.start), split.lanes, w.machine.maskedAccess ? vector.own : Value());
    }
    return vector.own ? arith::SelectOp::create(w.b, w.loc, vector.own, x, neutral(w, Combine::Larger, x.getType()))
                            .getResult()
                      : x;
  }

  /// Writes a row that stays in registers.
  void heldRow(ArrayRef<Ix> at) {
    SmallVector<RowVector> row = rowVectors();
    SmallVector<Value> x;
    for (const RowVector &vector : row) {
      x.push_back(readVector(at, vector));
    }
    Value max = w.splat(across(w, Combine::Larger, tree(w, Combine::Larger, x)), split.lanes);
    SmallVector<Value> e = exponentials(x, max);
    Value factor = w.splat(factorOf(across(w, Combine::Add, tree(w, Combine::Add, e))), split.lanes);
    // The last vector is written first, so that the one before it overwrites what they share.
    for (size_t i = row.size(); i-- > 0;) {
      Value y = scaled(wanted.log ? x[i] : e[i], factor);
      if (!shortRow) {
        finish(y, pointAt(at, row[i].start), split.lanes, w.machine.maskedAccess ? row[i].own : Value());
        continue;
      }
      w.store(y, shortRow, 0);
      w.loop(0, split.count, 1, [&](Ix k) { finish(w.load(shortRow, k), pointAt(at, k), 1, {}); });
    }
  }

  /// Replaces the elements of columns, one in each lane, by the results. `sum` adds the exponentials.
  void normalize(SmallVector<Value> &x, llvm::function_ref<Value(SmallVector<Value>)> sum) {
    SmallVector<Value> e = exponentials(x, tree(w, Combine::Larger, x));
    Value factor = factorOf(sum(e));
    for (auto [i, v] : llvm::enumerate(x)) {
      v = scaled(wanted.log ? v : e[i], factor);
    }
  }

  /// Writes short rows, one in each lane. A row has the same bits as in heldRow(), which has those that are left.
  void rows(Ix row, SmallVector<Value> x) {
    normalize(x, [&](SmallVector<Value> e) { return acrossColumns(w, Combine::Add, std::move(e)); });
    for (auto [i, v] : llvm::enumerate(interleave(w, x))) {
      Ix at = row * split.count + Ix(int64_t(i) * split.lanes);
      group.finish(v, *split.rowsOut, Point{{at}, split.lanes, {}});
    }
  }

  /// Writes columns that stay in registers, one in each lane.
  void heldColumn(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    SmallVector<Value> x;
    SmallVector<SmallVector<Ix>> places;
    for (int64_t i = 0; i < split.count.number(); ++i) {
      places.emplace_back(at)[split.inner.front()] = i;
      x.push_back(read(places.back(), lanes, mask));
    }
    normalize(x, [&](SmallVector<Value> e) { return tree(w, Combine::Add, std::move(e)); });
    for (auto [v, place] : llvm::zip_equal(x, places)) {
      finish(v, place, lanes, mask);
    }
  }

  // Any other row, and longer columns

  /// Combines f(x) over all steps into a scalar (rows) or a vector (columns). Masked lanes of rows do not count.
  Value fold(ArrayRef<Ix> at, int64_t lanes, Value mask, Combine how,
             llvm::function_ref<Value(const AxisSplit::Step &)> f) {
    int64_t wide = split.across ? split.lanes : lanes;
    SmallVector<Value> sums(accumulators, neutral(w, how, w.vectorOf(element, wide)));
    if (split.hasScalarTail(w)) {
      sums.push_back(neutral(w, how, element));
    }
    sums = split.sweep(w, at, lanes, mask, accumulators, sums, [&](const AxisSplit::Step &s, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value x = f(s);
      if (split.across && s.mask) {
        x = arith::SelectOp::create(w.b, w.loc, s.mask, x, neutral(w, how, x.getType()));
      }
      next[s.slot] = combine(w, how, next[s.slot], x);
      return next;
    });
    Value sum = tree(w, how, SmallVector<Value>(ArrayRef<Value>(sums).take_front(accumulators)));
    if (split.across) {
      sum = split.whole(w, how, sum);
      sum = sums.size() > accumulators ? combine(w, how, sum, sums.back()) : sum;
    }
    return sum;
  }

  /// Returns the exponential of an element less the maximum, and lets it wait in the result where it may.
  Value exponential(ArrayRef<Ix> at, int64_t lanes, Value mask, Value max) {
    Value e = exp(sub(read(at, lanes, mask), splatTo(max, lanes)));
    if (storesAhead) {
      const Access &y = split.out.results[0];
      w.store(e, y.buffer, y.at(split.outAt(at)), mask);
    }
    return e;
  }

  /// Writes an element, of which the exponential may wait in the result.
  void finishScaled(ArrayRef<Ix> at, int64_t lanes, Value mask, Value max, Value factor) {
    const Access &y = split.out.results[0];
    Value v;
    if (storesAhead) {
      v = w.load(y.buffer, y.at(split.outAt(at)), lanes, mask);
    } else {
      v = sub(read(at, lanes, mask), splatTo(max, lanes));
      v = wanted.log ? v : exp(v);
    }
    finish(scaled(v, splatTo(factor, lanes)), at, lanes, mask);
  }

  /// Writes columns in strips, in the same three passes as passes(). A strip is as narrow as the second cache asks for,
  /// which has what the passes read and write.
  void strips() {
    constexpr int64_t leastVectors = 16, most = 512, rowsTogether = 8;
    int64_t fit = split.count.known() ? w.machine.l2Bytes / 16 / split.count.number() : most / 2;
    int64_t width = widthOfStrips(split, std::clamp<int64_t>(fit, leastVectors * split.lanes, most));
    width = std::max(split.lanes, width / split.lanes * split.lanes);
    Buffer maxima = arrayForColumns(w, split, element, width), sums = arrayForColumns(w, split, element, width);
    eachStrip(w, split, build.begin, build.end, width, [&](const Strip &strip) {
      using At = const SmallVector<Ix> &;
      auto fill = [&](const Buffer &with, Combine how) {
        strip.vectors(w, [&](At, Ix place, int64_t lanes, Value) {
          w.store(neutral(w, how, w.vectorOf(element, lanes)), with, place);
        });
      };
      auto foldTo = [&](const Buffer &to, Combine how, llvm::function_ref<Value(ArrayRef<Ix>, Ix, int64_t, Value)> f) {
        fill(to, how);
        strip.down(w, rowsTogether, [&](Ix from, int64_t rows) {
          strip.vectors(w, [&](At at, Ix place, int64_t lanes, Value mask) {
            SmallVector<Value> x;
            for (int64_t r = 0; r < rows; ++r) {
              x.push_back(f(strip.below(at, from + Ix(r)), place, lanes, mask));
            }
            w.store(combine(w, how, w.load(to, place, lanes), tree(w, how, std::move(x))), to, place);
          });
        });
      };
      foldTo(maxima, Combine::Larger,
             [&](ArrayRef<Ix> at, Ix, int64_t lanes, Value mask) { return read(at, lanes, mask); });
      foldTo(sums, Combine::Add, [&](ArrayRef<Ix> at, Ix place, int64_t lanes, Value mask) {
        return exponential(at, lanes, mask, w.load(maxima, place, lanes));
      });
      strip.vectors(
          w, [&](At, Ix place, int64_t lanes, Value) { w.store(factorOf(w.load(sums, place, lanes)), sums, place); });
      strip.down(w, 1, [&](Ix row, int64_t) {
        strip.vectors(w, [&](At at, Ix place, int64_t lanes, Value mask) {
          finishScaled(strip.below(at, row), lanes, mask, w.load(maxima, place, lanes), w.load(sums, place, lanes));
        });
      });
    });
  }

  /// Writes a row or columns in three passes: maximum, sum, and scaling.
  void passes(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    Value max =
        fold(at, lanes, mask, Combine::Larger, [&](const AxisSplit::Step &s) { return read(s.at, s.lanes, s.mask); });
    Value sum = fold(at, lanes, mask, Combine::Add,
                     [&](const AxisSplit::Step &s) { return exponential(s.at, s.lanes, s.mask, max); });
    Value factor = factorOf(sum);
    split.sweep(w, at, lanes, mask, accumulators, {}, [&](const AxisSplit::Step &s, ValueRange) {
      finishScaled(s.at, s.lanes, s.mask, max, factor);
      return SmallVector<Value>();
    });
  }
};

class Softmax : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::SoftmaxOp, onnx::LogSoftmaxOp>(); }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Wanted wanted = wantedOf(kernel.root());
    KernelShape shape;
    AxisSplit::share(shape, Group::typeOf(wanted.x), {wanted.axis}, machine);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    SoftmaxLoops(build).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createSoftmaxFamily() { return std::make_unique<Softmax>(); }

} // namespace ingot::lower
