// The k best elements of each line along an axis, by insertion: the best ones so far stand in the result, in order; an
// element that beats the last of them moves the worse ones up by one. Equal elements keep the order of their indices.
#include "compiler/onnx/ops/TopK.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Selection {
public:
  explicit Selection(Build &build) : w(build.w), group(build.group), op(cast<onnx::TopKOp>(group.root)) {
    type = Group::typeOf(op.getX());
    int64_t axis = *onnx::normalAxis(op.getAxis(), type.getRank());
    support::Sizes sizes = onnx::sizesOf(type);
    ArrayRef<support::Size> all(sizes);
    outer = support::product(all.take_front(axis));
    length = sizes[axis];
    inner = support::product(all.drop_front(axis + 1));
    support::Size wanted = onnx::sizeOf(Group::typeOf(op.getValues()), axis);
    k = wanted;
    int64_t line = memoryExtent(wanted);
    x = group.buffer(op.getX());
    // A result that nobody uses is not one of the kernel's: it gets a line of scratch.
    unsigned next = 0;
    valueLine = !op.getValues().use_empty(), indexLine = !op.getIndices().use_empty();
    values = valueLine ? group.result(next++) : w.scratch(build.scratch, 0, type.getElementType(), line);
    indices = indexLine ? group.result(next) : w.scratch(build.scratch, 0, w.b.getI64Type(), line);
  }

  void write() {
    if (k.is(0)) {
      return;
    }
    auto lines = [&] {
      w.loop(0, outer, 1, [&](Ix o) {
        w.loop(0, inner, 1, [&](Ix i) {
          from = o * (length * inner) + i;
          to = o * (k * inner) + i;
          w.loop(0, length, 1, [&](Ix j) { element(j); });
        });
      });
    };
    if (k.known()) {
      return lines();
    }
    w.ifThen(w.compare(arith::CmpIPredicate::sgt, k, 0), lines);
  }

private:
  Writer &w;
  Group &group;
  onnx::TopKOp op;
  RankedTensorType type;
  Ix outer, length, inner, k;
  Buffer x, values, indices;
  bool valueLine, indexLine;
  Ix from = 0, to = 0;

  Ix placeOf(Ix p, bool line) { return line ? to + p * inner : p; }

  Value better(Value a, Value b) {
    onnx::Num n(w.b, w.loc, a, type.getElementType());
    onnx::Num m = n.like(b);
    if (!n.isFloat()) {
      return op.getLargest() ? n > m : n < m;
    }
    // NaN is the largest of all.
    return op.getLargest() ? (n > m) | (isNaN(n) & ~isNaN(m)) : (n < m) | (isNaN(m) & ~isNaN(n));
  }

  void move(Ix p, Ix q) {
    w.store(w.load(values, placeOf(p, valueLine)), values, placeOf(q, valueLine));
    w.store(w.load(indices, placeOf(p, indexLine)), indices, placeOf(q, indexLine));
  }

  void element(Ix j) {
    Value v = w.load(x, from + j * inner);
    // While the list is not full every element is taken.
    Value filling = w.compare(arith::CmpIPredicate::slt, j, k);
    Value beats = better(v, w.load(values, placeOf(k - 1, valueLine)));
    w.ifThen(arith::OrIOp::create(w.b, w.loc, filling, beats), [&] { insert(v, j); });
  }

  void insert(Value v, Ix j) {
    Value last = w.value(min(j, k - 1)), zero = w.value(0);
    auto loop = scf::WhileOp::create(
        w.b, w.loc, TypeRange{w.b.getIndexType()}, ValueRange{last},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          OpBuilder outside = w.b;
          w.b = b;
          Ix p = w.ix(args[0]);
          // Place p - 1 is read only where p is not the first: min with the place itself keeps it inside.
          Value before = w.load(values, placeOf(max(p - 1, 0), valueLine));
          Value first = arith::CmpIOp::create(w.b, loc, arith::CmpIPredicate::eq, args[0], zero);
          Value stays = arith::XOrIOp::create(w.b, loc, first, w.constant(1, w.b.getI1Type()));
          Value goOn = arith::AndIOp::create(w.b, loc, stays, better(v, before));
          scf::ConditionOp::create(w.b, loc, goOn, args);
          w.b = outside;
        },
        [&](OpBuilder &b, Location loc, ValueRange args) {
          OpBuilder outside = w.b;
          w.b = b;
          Ix p = w.ix(args[0]);
          move(p - 1, p);
          scf::YieldOp::create(w.b, loc, w.value(p - 1));
          w.b = outside;
        });
    Ix p = w.ix(loop.getResult(0));
    w.store(v, values, placeOf(p, valueLine));
    w.store(w.integer(j, w.b.getI64Type()), indices, placeOf(p, indexLine));
  }
};

class TopK : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::TopKOp>(); }
  std::string unsupported(Operation *root) const override {
    auto op = cast<onnx::TopKOp>(root);
    bool known = onnx::isSized(op.getX()) && onnx::isSized(op.getValues());
    return known ? "" : "its shape or k is not known at compile time";
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    auto op = cast<onnx::TopKOp>(kernel.root());
    auto values = cast<RankedTensorType>(op.getValues().getType());
    KernelShape s;
    if (op.getValues().use_empty() || op.getIndices().use_empty()) {
      support::Size k = onnx::sizeOf(values, *onnx::normalAxis(op.getAxis(), values.getRank()));
      s.scratchBytes = support::Size(8) * max(support::Size(1), k);
    }
    return s;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Selection(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createTopKFamily() { return std::make_unique<TopK>(); }

} // namespace ingot::lower
