// Builds reductions over any axes. Where the last dimension is reduced, vectors run along it into several accumulators,
// which are combined across their lanes at the end, those of several rows together. Of rows of a few elements each lane
// has one. Else each lane is a result of its own, and nothing is combined across lanes. Both layouts work.
// Many columns of a large tensor go down together (core/Columns.h), each of which adds its elements in order.
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/lower/core/Columns.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Returns how a kind of reduction combines elements.
Combine combineOf(StringRef kind, Type element) {
  bool isUnsigned = element.isUnsignedInteger();
  if (kind == "Max") {
    return isUnsigned ? Combine::UnsignedMax : Combine::Max;
  }
  if (kind == "Min") {
    return isUnsigned ? Combine::UnsignedMin : Combine::Min;
  }
  return kind == "Prod" ? Combine::Mul : Combine::Add;
}

/// Builds the loops of one kernel.
class ReduceLoops {
public:
  ReduceLoops(Build &build, Value data, StringRef kind, AxisSplit split)
      : build(build), w(build.w), group(build.group), data(data), kind(kind),
        how(combineOf(kind, onnx::elementOf(data))), element(valueType(onnx::elementOf(data))),
        split(std::move(split)) {}

  void run() {
    if (hasWideColumns(w, split) && !onnx::isBool(element)) {
      return strips();
    }
    Ix begin = split.shortRows(w, group, data, build.begin, build.end, [&](Ix row, SmallVector<Value> columns) {
      finish(shortRows(std::move(columns)), *split.rowsOut, Point{{row}, split.lanes, {}});
    });
    if (split.rowsOut && !split.shortRowsIn && !onnx::isBool(element)) {
      begin = rows(begin, build.end);
    }
    split.positions(w, begin, build.end, accumulators,
                    [&](SmallVector<Ix> at, int64_t vectors, int64_t lanes, Value mask) {
                      split.across ? row(at) : columns(at, vectors, lanes, mask);
                    });
  }

private:
  Build &build;
  Writer &w;
  const size_t accumulators = w.machine.tuning.chains;
  Group &group;
  Value data;
  StringRef kind;
  Combine how;
  Type element;
  AxisSplit split;

  Value read(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    return group.read(data, split.in, Point{SmallVector<Ix>(at), lanes, mask});
  }

  /// What is left of a row: a vector, and a scalar where rows end with scalars.
  struct RowParts {
    Value vector, scalar;
  };

  /// Combines the elements of a row lane by lane. Of a row whose length is open, the run knows whether it fills all
  /// accumulators: to combine those of a short one would take longer than its elements.
  RowParts partsOf(ArrayRef<Ix> at) {
    if (split.count.known()) {
      int64_t vectors = llvm::divideCeil(split.count.number(), split.lanes);
      return partsOf(at, std::clamp<int64_t>(vectors, 1, static_cast<int64_t>(accumulators)));
    }
    Value isLong = w.compare(arith::CmpIPredicate::sge, split.count, static_cast<int64_t>(accumulators) * split.lanes);
    auto written = [&](int64_t slots) {
      RowParts parts = partsOf(at, slots);
      return parts.scalar ? SmallVector<Value>{parts.vector, parts.scalar} : SmallVector<Value>{parts.vector};
    };
    SmallVector<Value> parts =
        w.chooseValues(isLong, [&] { return written(static_cast<int64_t>(accumulators)); }, [&] { return written(1); });
    return {parts[0], parts.size() > 1 ? parts[1] : Value()};
  }

  RowParts partsOf(ArrayRef<Ix> at, int64_t slots) {
    SmallVector<Value> sums(slots, neutral(w, how, w.vectorOf(element, split.lanes)));
    if (split.hasScalarTail(w)) {
      sums.push_back(neutral(w, how, element));
    }
    sums = split.sweep(w, at, 1, {}, slots, sums, [&](const AxisSplit::Step &s, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value x = read(s.at, s.lanes, s.mask);
      if (s.mask) {
        x = arith::SelectOp::create(w.b, w.loc, s.mask, x, neutral(w, how, x.getType()));
      }
      next[s.slot] = combine(w, how, next[s.slot], x);
      return next;
    });
    Value vector = tree(w, how, SmallVector<Value>(ArrayRef<Value>(sums).take_front(slots)));
    return {vector, split.hasScalarTail(w) ? sums.back() : Value()};
  }

  /// Reduces a row, along which the vectors lie.
  void row(ArrayRef<Ix> at) {
    RowParts parts = partsOf(at);
    Value sum = split.whole(w, how, parts.vector);
    sum = parts.scalar ? combine(w, how, sum, parts.scalar) : sum;
    split.once(w, [&] { finish(sum, split.out, Point{split.outAt(at), 1, {}}); });
  }

  /// Reduces rows of items [begin, end), as many at a time as there are lanes, and returns the first that is left. The
  /// lanes of all of them are combined together, which takes a fraction of the shuffles, in the order of row().
  Ix rows(Ix begin, Ix end) {
    int64_t lanes = split.lanes;
    Buffer vectors = w.local(element, lanes * lanes), scalars = w.local(element, lanes);
    Ix whole = end - remainder(end - begin, lanes);
    w.loop(begin, whole, lanes, [&](Ix first) {
      w.loop(0, lanes, 1, [&](Ix i) {
        RowParts parts = partsOf(split.positionOf(first + i));
        w.store(parts.vector, vectors, i * Ix(lanes));
        if (parts.scalar) {
          w.store(parts.scalar, scalars, i);
        }
      });
      SmallVector<Value> all;
      for (int64_t i = 0; i < lanes; ++i) {
        all.push_back(w.load(vectors, i * lanes, lanes));
      }
      Value sums = acrossEach(w, how, std::move(all));
      sums = split.hasScalarTail(w) ? combine(w, how, sums, w.load(scalars, 0, lanes)) : sums;
      finish(sums, *split.rowsOut, Point{{first}, lanes, {}});
    });
    return whole;
  }

  /// Reduces short rows, one in each lane, in the order of row(), which has those that are left.
  Value shortRows(SmallVector<Value> columns) {
    Value sum = neutral(w, how, columns.front().getType());
    if (!split.hasScalarTail(w)) {
      return combine(w, how, sum, acrossColumns(w, how, std::move(columns)));
    }
    for (Value x : columns) {
      sum = combine(w, how, sum, x);
    }
    return sum;
  }

  /// Reduces `vectors` neighbouring vectors of columns, each with as many accumulators as are left for it.
  void columns(ArrayRef<Ix> at, int64_t vectors, int64_t lanes, Value mask) {
    int64_t unroll = accumulators / vectors;
    SmallVector<Value> sums(vectors * unroll, neutral(w, how, w.vectorOf(element, lanes)));
    auto beside = [&](ArrayRef<Ix> from, int64_t v) {
      SmallVector<Ix> to(from);
      if (v) {
        to.back() = to.back() + Ix(v * lanes);
      }
      return to;
    };
    sums = split.sweep(w, at, lanes, mask, unroll, sums, [&](const AxisSplit::Step &s, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[s.slot * vectors + v];
        sum = combine(w, how, sum, read(beside(s.at, v), lanes, mask));
      }
      return next;
    });
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Value> mine;
      for (int64_t u = 0; u < unroll; ++u) {
        mine.push_back(sums[u * vectors + v]);
      }
      finish(tree(w, how, mine), split.out, Point{split.outAt(beside(at, v)), lanes, mask});
    }
  }

  /// Reduces all columns in strips.
  void strips() {
    constexpr int64_t most = 1024, rowsTogether = 8;
    int64_t width = widthOfStrips(split, most);
    Buffer sums = arrayForColumns(w, split, element, width);
    eachStrip(w, split, build.begin, build.end, width, [&](const Strip &strip) {
      strip.vectors(w, [&](const SmallVector<Ix> &, Ix place, int64_t lanes, Value) {
        w.store(neutral(w, how, w.vectorOf(element, lanes)), sums, place);
      });
      strip.down(w, rowsTogether, [&](Ix from, int64_t rows) {
        strip.vectors(w, [&](const SmallVector<Ix> &at, Ix place, int64_t lanes, Value mask) {
          Value sum = w.load(sums, place, lanes);
          for (int64_t r = 0; r < rows; ++r) {
            sum = combine(w, how, sum, read(strip.below(at, from + Ix(r)), lanes, mask));
          }
          w.store(sum, sums, place);
        });
      });
      strip.vectors(w, [&](const SmallVector<Ix> &at, Ix place, int64_t lanes, Value mask) {
        finish(w.load(sums, place, lanes), split.out, Point{split.outAt(at), lanes, mask});
      });
    });
  }

  /// Divides by the number of elements for a mean, and stores.
  void finish(Value sum, const Space &space, const Point &point) {
    if (kind == "Mean") {
      Value count = counted(w, isa<FloatType>(element) ? split.count : max(split.count, 1), sum.getType());
      if (isa<FloatType>(element)) {
        sum = arith::DivFOp::create(w.b, w.loc, sum, count);
      } else {
        sum = onnx::elementOf(data).isUnsignedInteger() ? arith::DivUIOp::create(w.b, w.loc, sum, count).getResult()
                                                        : arith::DivSIOp::create(w.b, w.loc, sum, count).getResult();
      }
    }
    group.finish(sum, space, point);
  }
};

/// Builds a reduction over axes that only the run knows, with one body for each way in which the lanes may run.
void reduceTo(Build &build, onnx::ReduceToOp op) {
  Writer &w = build.w;
  RankedTensorType in = Group::typeOf(op.getData()), out = build.group.resultType();
  int64_t last = AxisSplit::lastAxis(in);
  Ix from = onnx::sizeOf(in, last), to = onnx::sizeOf(out, last);
  auto run = [&](bool across) {
    ReduceLoops(build, op.getData(), op.getKind(), AxisSplit(build.group, in, out, across)).run();
  };
  if (same(from, to)) {
    return run(false);
  }
  w.ifThen(w.compare(arith::CmpIPredicate::ult, to, from), [&] { run(true); });
  w.ifThen(w.compare(arith::CmpIPredicate::uge, to, from), [&] { run(false); });
}

class Reduce : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ReduceOp, onnx::ReduceToOp>(); }
  bool readsThrough(Operation *, unsigned operand) const override { return operand == 0; }
  /// A reduction of whole images works in any layout: its result has one pixel and the same channels.
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    auto op = dyn_cast<onnx::ReduceOp>(root);
    bool follows = op && op.getKeepdims() && isSpatial(op.getAxes(), onnx::ranked(op.getData()).getRank());
    return follows ? LayoutRule::Follow : LayoutRule::RowMajor;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    if (auto to = dyn_cast<onnx::ReduceToOp>(kernel.root())) {
      // Behind the last axis of the data there are positions only where that is kept, which the run knows.
      SmallVector<int64_t> last;
      if (!machine.itemsAreThreads) {
        last.push_back(AxisSplit::lastAxis(Group::typeOf(to.getData())));
      }
      AxisSplit::share(shape, Group::typeOf(to.getReduced()), last, machine, /*teams=*/false);
    } else {
      auto op = cast<onnx::ReduceOp>(kernel.root());
      AxisSplit::share(shape, AxisSplit::shaped(kernel, op.getData()), op.getAxes(), machine);
    }
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    if (auto to = dyn_cast<onnx::ReduceToOp>(build.group.root)) {
      reduceTo(build, to);
      return success();
    }
    auto op = cast<onnx::ReduceOp>(build.group.root);
    AxisSplit split(build.group, AxisSplit::shaped(build.group.kernel, op.getData()), build.group.resultType(),
                    op.getAxes(), op.getKeepdims());
    ReduceLoops(build, op.getData(), op.getKind(), std::move(split)).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createReduceFamily() { return std::make_unique<Reduce>(); }

} // namespace ingot::lower
