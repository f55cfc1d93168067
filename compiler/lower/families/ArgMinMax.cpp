// Computes ArgMax and ArgMin. The best value and its position are carried side by side, lane by lane. Of rows of a few
// elements each lane has one. Along a row each lane sees every `lanes`-th element. At the end of the row the best value
// over all lanes decides, and the first (or last) position of those lanes that have it. Many columns of a large tensor
// go down together (core/Columns.h). Nothing beats a NaN, as in NumPy, which ONNX's reference calls.
#include "compiler/lower/core/Columns.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// What the op asks for, of the two kinds of op alike.
struct Wanted {
  Value data;
  int64_t axis;
  bool keepdims, last, max;
};

Wanted wantedOf(Operation *root) {
  auto from = [](auto op, bool max) {
    int64_t rank = onnx::ranked(op.getData()).getRank();
    return Wanted{op.getData(), *onnx::normalAxis(op.getAxis(), rank), op.getKeepdims() != 0,
                  op.getSelectLastIndex() != 0, max};
  };
  auto max = dyn_cast<onnx::ArgMaxOp>(root);
  return max ? from(max, true) : from(cast<onnx::ArgMinOp>(root), false);
}

/// Builds the loops of one kernel.
class ArgMinMaxLoops {
public:
  explicit ArgMinMaxLoops(Build &build)
      : build(build), w(build.w), group(build.group), wanted(wantedOf(group.root)),
        element(valueType(onnx::elementOf(wanted.data))), isUnsigned(onnx::elementOf(wanted.data).isUnsignedInteger()),
        index(w.b.getI32Type()), split(group, Group::typeOf(wanted.data), Group::typeOf(group.root->getResult(0)),
                                       {wanted.axis}, wanted.keepdims) {}

  void run() {
    if (hasWideColumns(w, split)) {
      return strips();
    }
    Ix begin = split.shortRows(w, group, wanted.data, build.begin, build.end, [&](Ix at, ArrayRef<Value> columns) {
      finish(positions(columns), *split.rowsOut, Point{{at}, split.lanes, {}});
    });
    split.positions(w, begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      Value position = split.across ? row(at) : columns(at, lanes, mask);
      split.once(w, [&] { finish(position, split.out, Point{split.outAt(at), lanes, mask}); });
    });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  Wanted wanted;
  Type element;
  bool isUnsigned;
  Type index;
  AxisSplit split;

  /// Writes positions as the numbers of 64 bits that they are in the model.
  void finish(Value position, const Space &space, const Point &point) {
    position = arith::ExtSIOp::create(w.b, w.loc, w.vectorOf(w.b.getI64Type(), point.lanes), position);
    group.finish(position, space, point);
  }

  Value compare(arith::CmpFPredicate how, Value x, Value y) { return arith::CmpFOp::create(w.b, w.loc, how, x, y); }

  /// Returns how values are combined.
  Combine how() const {
    return wanted.max ? (isUnsigned ? Combine::UnsignedMax : Combine::Max)
                      : (isUnsigned ? Combine::UnsignedMin : Combine::Min);
  }

  /// Returns (i1) whether x takes the place of the best value so far. A later one of equal values does so where the op
  /// wants the last position.
  Value better(Value x, Value best) {
    if (isa<FloatType>(element)) {
      using P = arith::CmpFPredicate;
      Value isNaN = compare(P::UNO, x, x);
      if (wanted.last) {
        return arith::OrIOp::create(w.b, w.loc, compare(wanted.max ? P::OGE : P::OLE, x, best), isNaN);
      }
      Value isFirst = arith::AndIOp::create(w.b, w.loc, isNaN, compare(P::ORD, best, best));
      return arith::OrIOp::create(w.b, w.loc, compare(wanted.max ? P::OGT : P::OLT, x, best), isFirst);
    }
    using P = arith::CmpIPredicate;
    P more = isUnsigned ? (wanted.last ? P::uge : P::ugt) : (wanted.last ? P::sge : P::sgt);
    P less = isUnsigned ? (wanted.last ? P::ule : P::ult) : (wanted.last ? P::sle : P::slt);
    return w.compare(wanted.max ? more : less, x, best);
  }

  /// Returns (i1) whether lanes have the best value of all: a NaN where any lane has one.
  Value hasValue(Value lanes, Value all) {
    if (!isa<FloatType>(element)) {
      return w.compare(arith::CmpIPredicate::eq, lanes, all);
    }
    return arith::OrIOp::create(w.b, w.loc, compare(arith::CmpFPredicate::OEQ, lanes, all),
                                compare(arith::CmpFPredicate::UNO, lanes, lanes));
  }

  /// Returns the best value and its position after one more vector (or scalar) `x`, which is at `here`. `mask` has the
  /// lanes that count; null: all.
  SmallVector<Value> step(Value best, Value position, Value x, Value here, Value mask) {
    Value wins = better(x, best);
    if (mask) {
      wins = arith::AndIOp::create(w.b, w.loc, wins, mask);
    }
    return {arith::SelectOp::create(w.b, w.loc, wins, x, best),
            arith::SelectOp::create(w.b, w.loc, wins, here, position)};
  }
  SmallVector<Value> step(Value best, Value position, const AxisSplit::Step &s) {
    Value x = group.read(wanted.data, split.in, Point{SmallVector<Ix>(s.at), s.lanes, s.mask});
    Value here = w.splat(w.integer(s.at[split.inner.back()], index), s.lanes);
    if (split.across && s.lanes > 1) {
      here = arith::AddIOp::create(w.b, w.loc, here, counting(w, s.lanes));
    }
    return step(best, position, x, here, split.across ? s.mask : Value());
  }

  /// Returns the positions of short rows, one in each lane.
  Value positions(ArrayRef<Value> columns) {
    SmallVector<Value> best = start(split.lanes);
    for (auto [i, x] : llvm::enumerate(columns)) {
      best = step(best[0], best[1], x, w.constant(i, best[1].getType()), {});
    }
    return best[1];
  }

  /// Returns the best value and its position before the first element.
  SmallVector<Value> start(int64_t lanes) {
    return {neutral(w, how(), w.vectorOf(element, lanes)), w.constant(0, w.vectorOf(index, lanes))};
  }

  /// Returns the positions for columns, one in each lane.
  Value columns(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    return split.sweep(w, at, lanes, mask, 1, start(lanes), [&](const AxisSplit::Step &s, ValueRange carried) {
      return step(carried[0], carried[1], s);
    })[1];
  }

  /// Finds the positions of columns in strips.
  void strips() {
    constexpr int64_t most = 512, rowsTogether = 8;
    int64_t width = widthOfStrips(split, most);
    Buffer best = arrayForColumns(w, split, element, width), places = arrayForColumns(w, split, index, width);
    eachStrip(w, split, build.begin, build.end, width, [&](const Strip &strip) {
      auto load = [&](Ix place, int64_t lanes) {
        return SmallVector<Value>{w.load(best, place, lanes), w.load(places, place, lanes)};
      };
      auto store = [&](ArrayRef<Value> pair, Ix place) {
        w.store(pair[0], best, place), w.store(pair[1], places, place);
      };
      strip.vectors(w, [&](const SmallVector<Ix> &, Ix place, int64_t lanes, Value) { store(start(lanes), place); });
      strip.down(w, rowsTogether, [&](Ix from, int64_t rows) {
        strip.vectors(w, [&](const SmallVector<Ix> &at, Ix place, int64_t lanes, Value mask) {
          SmallVector<Value> pair = load(place, lanes);
          for (int64_t r = 0; r < rows; ++r) {
            SmallVector<Ix> here = strip.below(at, from + Ix(r));
            pair = step(pair[0], pair[1], {here, lanes, mask, 0});
          }
          store(pair, place);
        });
      });
      strip.vectors(w, [&](const SmallVector<Ix> &at, Ix place, int64_t lanes, Value mask) {
        finish(load(place, lanes)[1], split.out, Point{split.outAt(at), lanes, mask});
      });
    });
  }

  /// Returns the position for a row.
  Value row(ArrayRef<Ix> at) {
    SmallVector<Value> carried = start(split.lanes);
    if (split.hasScalarTail(w)) {
      carried.append(start(1));
    }
    carried = split.sweep(w, at, 1, {}, 1, carried, [&](const AxisSplit::Step &s, ValueRange c) {
      SmallVector<Value> next(c);
      auto pair = step(c[2 * s.slot], c[2 * s.slot + 1], s);
      next[2 * s.slot] = pair[0], next[2 * s.slot + 1] = pair[1];
      return next;
    });
    Value best = split.whole(w, how(), carried[0]), position = carried[1];
    if (split.lanes > 1 || split.team > 1) {
      Value all = w.splat(best, split.lanes);
      Value has = hasValue(carried[0], all);
      Combine order = wanted.last ? Combine::Max : Combine::Min;
      position = split.whole(w, order,
                             arith::SelectOp::create(w.b, w.loc, has, position, neutral(w, order, position.getType())));
    }
    if (carried.size() > 2) { // the scalar tail of the row comes after its vectors
      Value wins = better(carried[2], best);
      position = arith::SelectOp::create(w.b, w.loc, wins, carried[3], position);
    }
    return position;
  }
};

class ArgMinMax : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ArgMaxOp, onnx::ArgMinOp>(); }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Wanted wanted = wantedOf(kernel.root());
    KernelShape shape;
    AxisSplit::share(shape, Group::typeOf(wanted.data), {wanted.axis}, machine);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    ArgMinMaxLoops(build).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createArgMinMaxFamily() { return std::make_unique<ArgMinMax>(); }

} // namespace ingot::lower
