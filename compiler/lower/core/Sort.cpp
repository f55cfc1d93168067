// Heap sort serves any order: it needs no memory of its own, and is never slower than n log n. The first half of the
// iterations makes the heap, with the thing that comes last on top; each of the others moves the top behind the heap.
//
// Radix sort serves numbers. There is a pass for each byte of the key, from the lowest on. A pass counts how often each
// value of the byte occurs, which tells where the numbers with that value begin, and moves them there in their order. A
// few numbers are sorted by insertion, which takes less time than counting.
#include "compiler/lower/core/Sort.h"
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

/// Writes a heap sort.
class Heap {
public:
  Heap(Writer &w, Buffer order, llvm::function_ref<Value(Value, Value)> before) : w(w), order(order), before(before) {}

  void sort(Ix count) {
    Ix half = floorDiv(count, 2), iterations = half + max(count - 1, 0);
    w.loop(0, iterations, 1, [&](Ix t) {
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

namespace {

/// Writes a radix sort.
class Radix {
public:
  Radix(Writer &w, Buffer counts) : w(w), counts(counts), i64(w.b.getI64Type()) {}

  void sort(Buffer numbers, Buffer spare, Ix count) {
    w.ifElse(
        w.compare(arith::CmpIPredicate::sle, count, few), [&] { insert(numbers, count); },
        [&] {
          // The number of passes is even, so the last one writes `numbers`.
          for (int64_t shift = 32; shift < 64; shift += 8) {
            pass(numbers, spare, count, shift);
            std::swap(numbers, spare);
          }
        });
  }

private:
  /// The most numbers that are sorted by insertion.
  static constexpr int64_t few = 40;
  Writer &w;
  Buffer counts;
  Type i64;

  /// Returns a byte of a number.
  Ix digit(Value number, int64_t shift) {
    Value down = arith::ShRUIOp::create(w.b, w.loc, number, w.constant(shift, i64));
    return w.ix(arith::AndIOp::create(w.b, w.loc, down, w.constant(sortCounts - 1, i64)));
  }
  /// Returns how often a value came before, and counts it once more.
  Ix next(Ix digit) {
    Ix n = w.ix(w.load(counts, digit));
    w.store(w.integer(n + 1, i64), counts, digit);
    return n;
  }

  /// Moves the numbers into the order of one byte.
  void pass(Buffer from, Buffer to, Ix count, int64_t shift) {
    w.loop(0, sortCounts, 1, [&](Ix d) { w.store(w.constant(0, i64), counts, d); });
    w.loop(0, count, 1, [&](Ix i) { next(digit(w.load(from, i), shift)); });
    w.loop(0, sortCounts, 1, ValueRange{w.constant(0, i64)}, [&](Ix d, ValueRange begin) {
      Value n = w.load(counts, d);
      w.store(begin[0], counts, d);
      return SmallVector<Value>{arith::AddIOp::create(w.b, w.loc, begin[0], n)};
    });
    w.loop(0, count, 1, [&](Ix i) {
      Value number = w.load(from, i);
      w.store(number, to, next(digit(number, shift)));
    });
  }

  /// Sorts the numbers by insertion.
  void insert(Buffer numbers, Ix count) {
    auto key = [&](Value number) -> Value { return arith::ShRUIOp::create(w.b, w.loc, number, w.constant(32, i64)); };
    w.loop(1, count, 1, [&](Ix i) {
      Value number = w.load(numbers, i), yes = w.constant(1, w.b.getI1Type());
      repeatWhile(
          w, ValueRange{w.value(i), yes},
          [&](ValueRange state) -> Value {
            Value more = w.compare(arith::CmpIPredicate::sgt, w.ix(state[0]), 0);
            return arith::AndIOp::create(w.b, w.loc, state[1], more);
          },
          [&](ValueRange state) {
            Ix at = w.ix(state[0]);
            Value before = w.load(numbers, at - 1),
                  later = w.compare(arith::CmpIPredicate::ugt, key(before), key(number));
            w.ifThen(later, [&] { w.store(before, numbers, at), w.store(number, numbers, at - 1); });
            return SmallVector<Value>{w.value(at - 1), later};
          });
    });
  }
};

} // namespace

void sortByHighHalf(Writer &w, Buffer numbers, Buffer spare, Buffer counts, Ix count) {
  Radix(w, counts).sort(numbers, spare, count);
}

Value keyed(Writer &w, Value key, Value rest) {
  Type i64 = w.b.getI64Type();
  Value high = arith::ShLIOp::create(w.b, w.loc, arith::ExtUIOp::create(w.b, w.loc, i64, key), w.constant(32, i64));
  return arith::OrIOp::create(w.b, w.loc, high, restOf(w, rest));
}

Value restOf(Writer &w, Value number) {
  return arith::AndIOp::create(w.b, w.loc, number, w.constant(0xffffffff, w.b.getI64Type()));
}

Value highestFirst(Writer &w, Value x) {
  // The bits of positive floats grow with them, and those of negative ones fall, so those of positive floats are
  // inverted.
  Type i32 = w.b.getI32Type();
  Value oneZero = arith::AddFOp::create(w.b, w.loc, x, w.constant(0, x.getType()));
  Value bits = arith::BitcastOp::create(w.b, w.loc, i32, oneZero);
  Value positive = w.compare(arith::CmpIPredicate::sge, bits, w.constant(0, i32));
  Value inverted = arith::SelectOp::create(w.b, w.loc, positive, w.constant(0x7fffffff, i32), w.constant(0, i32));
  return arith::XOrIOp::create(w.b, w.loc, bits, inverted);
}

} // namespace ingot::lower
