// Reductions over any axes. Where the last dimension is reduced, vectors run along it into several accumulators, which
// are combined across their lanes at the end; else each lane is a result of its own and nothing is combined across.
// Works in both layouts.
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/Split.h"
#include "compiler/lower/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

constexpr int64_t accumulators = 4;

Combine combineOf(onnx::ReduceOp op) {
  bool isUnsigned = onnx::elementOf(op.getData()).isUnsignedInteger();
  if (op.getKind() == "Max") {
    return isUnsigned ? Combine::UnsignedMax : Combine::Max;
  }
  if (op.getKind() == "Min") {
    return isUnsigned ? Combine::UnsignedMin : Combine::Min;
  }
  return op.getKind() == "Prod" ? Combine::Mul : Combine::Add;
}

class Reducer {
public:
  explicit Reducer(Build &build)
      : build(build), w(build.w), group(build.group), op(cast<onnx::ReduceOp>(group.root)), how(combineOf(op)),
        element(valueType(onnx::elementOf(op.getData()))),
        split(group, Split::shaped(group.kernel, op.getData()), group.resultType(), op.getAxes(), op.getKeepdims()) {}

  void run() {
    split.positions(w, build.begin, build.end, accumulators,
                    [&](SmallVector<Ix> at, int64_t vectors, int64_t lanes, Value mask) {
                      split.across ? row(at) : columns(at, vectors, lanes, mask);
                    });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  onnx::ReduceOp op;
  Combine how;
  Type element;
  Split split;

  Value read(ArrayRef<Ix> at, int64_t lanes, Value mask) {
    return group.read(op.getData(), split.in, Point{SmallVector<Ix>(at), lanes, mask});
  }

  void row(ArrayRef<Ix> at) {
    SmallVector<Value> sums(accumulators, neutral(w, how, w.vectorOf(element, split.lanes)));
    if (split.hasScalarTail(w)) {
      sums.push_back(neutral(w, how, element));
    }
    sums = split.sweep(w, at, 1, {}, accumulators, sums, [&](const Split::Step &s, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value x = read(s.at, s.lanes, s.mask);
      if (s.mask) {
        x = arith::SelectOp::create(w.b, w.loc, s.mask, x, neutral(w, how, x.getType()));
      }
      next[s.slot] = combine(w, how, next[s.slot], x);
      return next;
    });
    Value sum = across(w, how, tree(w, how, SmallVector<Value>(ArrayRef<Value>(sums).take_front(accumulators))));
    if (sums.size() > accumulators) {
      sum = combine(w, how, sum, sums.back());
    }
    finish(sum, at, 1, {});
  }

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
    sums = split.sweep(w, at, lanes, mask, unroll, sums, [&](const Split::Step &s, ValueRange carried) {
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
      finish(tree(w, how, mine), beside(at, v), lanes, mask);
    }
  }

  void finish(Value sum, ArrayRef<Ix> at, int64_t lanes, Value mask) {
    if (op.getKind() == "Mean") {
      Value count = counted(w, split.count, sum.getType());
      if (isa<FloatType>(element)) {
        sum = arith::DivFOp::create(w.b, w.loc, sum, count);
      } else if (!split.count.is(0)) {
        sum = onnx::elementOf(op.getData()).isUnsignedInteger()
                  ? arith::DivUIOp::create(w.b, w.loc, sum, count).getResult()
                  : arith::DivSIOp::create(w.b, w.loc, sum, count).getResult();
      }
    }
    group.finish(sum, split.out, Point{split.outAt(at), lanes, mask});
  }
};

class Reduce : public KernelFamily {
public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    auto op = cast<onnx::ReduceOp>(rootOf(kernel));
    KernelShape shape;
    shape.items = Split::items(Split::shaped(kernel, op.getData()), op.getAxes());
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Reducer(build).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createReduceFamily() { return std::make_unique<Reduce>(); }

} // namespace ingot::lower
