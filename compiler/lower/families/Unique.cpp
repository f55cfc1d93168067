// Finds the things (elements, or slices along an axis) that differ. Sorting their numbers by value brings equal things
// together, the first of them first; that one stands for them all, and is called their leader. Leaders are numbered in
// the order that the op asks for, by value or as they occur, and then all results are written thing by thing.
//
// The scratch has three lists of int64: the sorted numbers, the leader of each thing, and the number of each leader.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Sort.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

/// A tensor seen as [outer][things][inner].
struct Things {
  support::Size outer = 1, count, inner = 1;

  explicit Things(onnx::UniqueOp op) {
    support::Sizes sizes = onnx::sizesOf(Group::typeOf(op.getX()));
    ArrayRef<support::Size> all(sizes);
    if (!op.getAxis()) {
      count = support::product(all);
      return;
    }
    int64_t axis = *onnx::normalAxis(*op.getAxis(), all.size());
    outer = support::product(all.take_front(axis)), count = sizes[axis];
    inner = support::product(all.drop_front(axis + 1));
  }
};

/// Builds the loops of one kernel.
class Uniqueness {
public:
  explicit Uniqueness(Build &build)
      : w(build.w), op(cast<onnx::UniqueOp>(build.group.root)), element(onnx::elementOf(op.getX())),
        i64(w.b.getI64Type()), x(build.group.buffer(op.getX())) {
    Things things(op);
    outer = things.outer, count = things.count, inner = things.inner;
    extent = Ix(things.outer * things.inner);
    unsigned next = 0;
    auto result = [&](Value v) { return v.use_empty() ? Buffer() : build.group.result(next++); };
    y = result(op.getY()), first = result(op.getFirst()), inverse = result(op.getInverse());
    counts = result(op.getCounts()), leaders = build.group.result(next);
    Ix line = Ix(things.count) * 8;
    int64_t most = memoryExtent(things.count);
    order = w.scratch(build.scratch, 0, i64, most), leader = w.scratch(build.scratch, line, i64, most);
    number = w.scratch(build.scratch, line * 2, i64, most);
  }

  void write() {
    w.loop(0, count, 1, [&](Ix i) { w.store(w.integer(i, i64), order, i); });
    sort(w, order, count, [&](Value a, Value b) { return before(a, b); });
    w.store(w.constant(0, i64), leaders, 0);
    lead();
    if (!op.getSorted()) {
      w.loop(0, count, 1, [&](Ix i) { w.ifThen(leads(i), [&] { w.store(w.countUp(leaders), number, i); }); });
    }
    w.loop(0, count, 1, [&](Ix i) { writeThing(i); });
  }

private:
  Writer &w;
  onnx::UniqueOp op;
  Type element, i64;
  Ix outer, count, inner, extent; ///< the tensor is [outer][count][inner]; extent: elements of a thing
  Buffer x, y, first, inverse, counts, leaders, order, leader, number;

  Num value(Value v) { return Num(w.b, w.loc, v, element); }
  Value truth(bool yes) { return w.constant(yes ? 1 : 0, w.b.getI1Type()); }

  /// Returns where element `e` of thing `i` is, in a tensor of so many things.
  Ix at(Ix i, Ix e, Ix things) {
    return outer.is(1) ? i * inner + e : floorDiv(e, inner) * (things * inner) + i * inner + remainder(e, inner);
  }
  Num load(Value i, Ix e) { return value(w.load(x, at(w.ix(i), e, count))); }

  /// NaN counts as the largest number, and as equal to itself.
  Value less(Num a, Num b) { return a.isFloat() ? Value((a < b) | (isNaN(b) & ~isNaN(a))) : Value(a < b); }
  Value equal(Num a, Num b) { return a.isFloat() ? Value((a == b) | (isNaN(a) & isNaN(b))) : Value(a == b); }

  /// Returns the first element in which two things differ; `extent` when they are equal.
  Ix difference(Value a, Value b) {
    if (extent.is(1)) {
      return w.ix(arith::IndexCastUIOp::create(w.b, w.loc, w.b.getIndexType(), equal(load(a, 0), load(b, 0))));
    }
    return w.ix(repeatWhile(
        w, ValueRange{w.value(0), truth(true)},
        [&](ValueRange state) -> Value {
          Value more = w.compare(arith::CmpIPredicate::slt, state[0], w.value(extent));
          return arith::AndIOp::create(w.b, w.loc, more, state[1]);
        },
        [&](ValueRange state) {
          Value same = equal(load(a, w.ix(state[0])), load(b, w.ix(state[0])));
          Value one = arith::IndexCastUIOp::create(w.b, w.loc, w.b.getIndexType(), same);
          return SmallVector<Value>{arith::AddIOp::create(w.b, w.loc, state[0], one), same};
        })[0]);
  }

  /// Returns (i1) whether thing `a` comes before thing `b` in the sorted order.
  Value before(Value a, Value b) {
    Ix e = difference(a, b);
    Value differ = w.compare(arith::CmpIPredicate::slt, e, extent);
    Ix there = min(e, extent - 1);
    return arith::SelectOp::create(w.b, w.loc, differ, less(load(a, there), load(b, there)),
                                   w.compare(arith::CmpIPredicate::slt, a, b));
  }

  /// Finds the leader of each thing. Where the op wants them in sorted order, leaders are numbered here as well.
  void lead() {
    w.loop(0, count, 1, [&](Ix t) {
      Value i = w.load(order, t), before = w.load(order, max(t - 1, 0));
      Value same = w.compare(arith::CmpIPredicate::eq, difference(i, before), extent);
      Value later = w.compare(arith::CmpIPredicate::sgt, t, 0);
      Value follows = arith::AndIOp::create(w.b, w.loc, same, later);
      Value who = arith::SelectOp::create(w.b, w.loc, follows, w.load(leader, w.ix(before)), i);
      w.store(who, leader, w.ix(i));
      if (op.getSorted()) {
        Value starts = arith::XOrIOp::create(w.b, w.loc, follows, truth(true));
        w.ifThen(starts, [&] { w.store(w.countUp(leaders), number, w.ix(i)); });
      }
    });
  }
  /// Returns (i1) whether a thing is its own leader.
  Value leads(Ix i) { return w.compare(arith::CmpIPredicate::eq, w.load(leader, i), w.integer(i, i64)); }

  /// Writes the results that thing `i` contributes to.
  void writeThing(Ix i) {
    Value n = w.load(number, w.ix(w.load(leader, i)));
    if (inverse) {
      w.store(n, inverse, i);
    }
    w.ifThen(leads(i), [&] { // `i` is a leader
      Ix things = w.ix(w.load(leaders, 0));
      if (y) {
        w.loop(0, extent, 1, [&](Ix e) { w.store(w.load(x, at(i, e, count)), y, at(w.ix(n), e, things)); });
      }
      if (first) {
        w.store(w.integer(i, i64), first, w.ix(n));
      }
      if (counts) {
        w.store(w.constant(0, i64), counts, w.ix(n));
      }
    });
    if (counts) {
      Value many = w.load(counts, w.ix(n));
      w.store(arith::AddIOp::create(w.b, w.loc, many, w.constant(1, i64)), counts, w.ix(n));
    }
  }
};

class Unique : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::UniqueOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    Things things(cast<onnx::UniqueOp>(kernel.root()));
    KernelShape shape;
    shape.scratchBytes = support::Size(24) * max(support::Size(1), things.count);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Uniqueness(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createUniqueFamily() { return std::make_unique<Unique>(); }

} // namespace ingot::lower
