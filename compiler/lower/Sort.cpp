// Heap sort: no memory of its own, and never slower than n log n. The first half of the turns makes the heap, with the
// one that comes last on top; each of the others moves the top behind the heap.
#include "compiler/lower/Sort.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ingot::lower {

SmallVector<Value> repeatWhile(Writer &w, ValueRange start, llvm::function_ref<Value(ValueRange)> test,
                               llvm::function_ref<SmallVector<Value>(ValueRange)> step) {
  OpBuilder outside = w.b;
  auto loop = scf::WhileOp::create(
      w.b, w.loc, start.getTypes(), start,
      [&](OpBuilder &b, Location loc, ValueRange state) {
        w.b = b;
        Value goOn = test(state);
        scf::ConditionOp::create(w.b, loc, goOn, state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        w.b = b;
        SmallVector<Value> next = step(state);
        scf::YieldOp::create(w.b, loc, next);
      });
  w.b = outside;
  w.b.setInsertionPointAfter(loop);
  return SmallVector<Value>(loop.getResults());
}

namespace {

class Heap {
public:
  Heap(Writer &w, Buffer order, llvm::function_ref<Value(Value, Value)> before) : w(w), order(order), before(before) {}

  void sort(Ix count) {
    Ix half = floorDiv(count, 2), turns = half + max(count - 1, 0);
    w.loop(0, turns, 1, [&](Ix t) {
      Value making = w.compare(arith::CmpIPredicate::slt, t, half);
      Value end = choose(making, count, count - 1 - (t - half)), root = choose(making, half - 1 - t, 0);
      Value taking = arith::XOrIOp::create(w.b, w.loc, making, w.constant(1, w.b.getI1Type()));
      w.ifThen(taking, [&] { swap(0, w.ix(end)); });
      sink(root, w.ix(end));
    });
  }

private:
  Writer &w;
  Buffer order;
  llvm::function_ref<Value(Value, Value)> before;

  Value choose(Value condition, Ix a, Ix b) {
    return arith::SelectOp::create(w.b, w.loc, condition, w.value(a), w.value(b));
  }
  void swap(Ix a, Ix b) {
    Value x = w.load(order, a), y = w.load(order, b);
    w.store(y, order, a);
    w.store(x, order, b);
  }

  /// Moves what stands at `root` down to its place in [0, end).
  void sink(Value root, Ix end) {
    Value yes = w.constant(1, w.b.getI1Type());
    repeatWhile(
        w, ValueRange{root, yes},
        [&](ValueRange state) -> Value {
          Value hasChild = w.compare(arith::CmpIPredicate::slt, w.ix(state[0]) * 2 + 1, end);
          return arith::AndIOp::create(w.b, w.loc, state[1], hasChild);
        },
        [&](ValueRange state) {
          Ix left = w.ix(state[0]) * 2 + 1, right = min(left + 1, end - 1);
          Value rightIsLater = before(w.load(order, left), w.load(order, right));
          Value child = choose(rightIsLater, right, left);
          Value sinks = before(w.load(order, w.ix(state[0])), w.load(order, w.ix(child)));
          w.ifThen(sinks, [&] { swap(w.ix(state[0]), w.ix(child)); });
          return SmallVector<Value>{child, sinks};
        });
  }
};

} // namespace

void sort(Writer &w, Buffer order, Ix count, llvm::function_ref<Value(Value, Value)> before) {
  Heap(w, order, before).sort(count);
}

} // namespace ingot::lower
