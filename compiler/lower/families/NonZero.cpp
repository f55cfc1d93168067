// Writes the indices of elements that are not zero, one column for each element. The length of the rows is known only
// when all elements have been counted, so with more than one axis the elements are read twice.
#include "compiler/lower/Family.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Find.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class Search {
public:
  explicit Search(Build &build)
      : w(build.w), group(build.group), op(cast<onnx::NonZeroOp>(group.root)),
        space(group.space(Group::typeOf(op.getX()))), wantsIndices(!op.getY().use_empty()),
        indices(wantsIndices ? group.result(0) : Buffer()), count(group.result(wantsIndices ? 1 : 0)) {}

  void write() {
    bool flat = space.sizes.size() <= 1;
    if (!flat || !wantsIndices) {
      search([](Ix, ArrayRef<Ix>) {});
    }
    if (wantsIndices) {
      Ix length = flat ? Ix(0) : w.ix(w.load(count, 0));
      search([&](Ix n, ArrayRef<Ix> at) {
        if (at.empty()) { // the tensor is a scalar
          return put(0, n);
        }
        for (auto [row, i] : llvm::enumerate(at)) {
          put(i, length * static_cast<int64_t>(row) + n);
        }
      });
    }
  }

private:
  Writer &w;
  Group &group;
  onnx::NonZeroOp op;
  Space space;
  bool wantsIndices;
  Buffer indices, count;

  void put(Ix value, Ix at) { w.store(w.integer(value, w.b.getI64Type()), indices, at); }

  /// Calls found(n, at) for the n-th element that is not zero, and leaves their number in `count`.
  void search(llvm::function_ref<void(Ix, ArrayRef<Ix>)> found) {
    w.store(w.constant(0, w.b.getI64Type()), count, 0);
    SmallVector<Ix> at;
    walk(at, [&] {
      w.ifThen(isSet(group.read(op.getX(), space, Point{at, 1, {}})), [&] { found(w.ix(w.countUp(count)), at); });
    });
  }

  /// Calls the body for each point of the tensor.
  void walk(SmallVector<Ix> &at, llvm::function_ref<void()> body) {
    size_t d = at.size();
    if (d == space.sizes.size()) {
      return body();
    }
    w.loop(0, space.sizes[d], 1, [&](Ix i) {
      at.push_back(i);
      walk(at, body);
      at.pop_back();
    });
  }

  /// Returns (i1) whether an element is not zero.
  Value isSet(Value x) {
    if (onnx::isBool(x.getType())) {
      return x;
    }
    Value zero = w.constant(0, x.getType());
    if (isa<FloatType>(x.getType())) {
      return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::UNE, x, zero);
    }
    return w.compare(arith::CmpIPredicate::ne, x, zero);
  }
};

class NonZero : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::NonZeroOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override { return {}; }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Search(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createNonZeroFamily() { return std::make_unique<NonZero>(); }

} // namespace ingot::lower
