// Writes the indices of elements that are not zero, one column for each element. The length of the rows is known only
// when all elements have been counted, so with more than one axis the elements are read twice.
//
// If the tensor is one row in memory, a vector of elements is compared with zero at once, and the comparison becomes a
// number with a bit for each element. A loop takes the lowest bit until none is left. There is no branch for each
// element, which a processor could not predict. The indices along the axes are quotients and remainders of the
// element's number by known sizes.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Find.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class Search {
public:
  explicit Search(Build &build)
      : w(build.w), group(build.group), op(cast<onnx::NonZeroOp>(group.root)),
        space(group.space(Group::typeOf(op.getX()))), wantsIndices(!op.getY().use_empty()),
        indices(wantsIndices ? group.result(0) : Buffer()), count(group.result(wantsIndices ? 1 : 0)) {
    Space row = space;
    row.collapse();
    bool divides = llvm::all_of(ArrayRef(space.sizes).drop_front(space.sizes.empty() ? 0 : 1),
                                [](const Ix &size) { return size.known() && size.number() > 0; });
    if (row.sizes.size() == 1 && divides && w.machine.machineCode && w.machine.lanes > 1) {
      oneRow = row;
    }
  }

  void write() {
    bool flat = space.sizes.size() <= 1;
    if (!flat || !wantsIndices) {
      oneRow ? countInVectors() : search([](Ix, ArrayRef<Ix>) {});
    }
    if (wantsIndices) {
      Ix length = flat ? Ix(0) : w.ix(w.load(count, 0));
      auto found = [&](Ix n, ArrayRef<Ix> at) {
        if (at.empty()) { // the tensor is a scalar
          return put(0, n);
        }
        for (auto [row, i] : llvm::enumerate(at)) {
          put(i, length * static_cast<int64_t>(row) + n);
        }
      };
      oneRow ? searchInVectors(found) : search(found);
    }
  }

private:
  Writer &w;
  Group &group;
  onnx::NonZeroOp op;
  Space space;
  std::optional<Space> oneRow; ///< the space with one axis, where vectors are searched
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

  Value isSet(Ix i, int64_t lanes) { return isSet(group.read(op.getX(), *oneRow, Point{{i}, lanes, {}})); }
  Ix wholeVectors() { return oneRow->sizes[0] - remainder(oneRow->sizes[0], w.machine.lanes); }

  /// Leaves the number of elements that are not zero in `count`.
  void countInVectors() {
    Type i32 = w.b.getI32Type(), i64 = w.b.getI64Type();
    int64_t lanes = w.machine.lanes;
    auto sumOf = [&](Ix from, Ix to, int64_t many) {
      Type type = w.vectorOf(i32, many);
      return w.loop(from, to, many, w.constant(0, type), [&](Ix i, ValueRange sum) {
        Value one = arith::ExtUIOp::create(w.b, w.loc, type, isSet(i, many));
        return SmallVector<Value>{arith::AddIOp::create(w.b, w.loc, sum[0], one)};
      })[0];
    };
    Value all = across(w, Combine::Add, sumOf(0, wholeVectors(), lanes));
    all = arith::AddIOp::create(w.b, w.loc, all, sumOf(wholeVectors(), oneRow->sizes[0], 1));
    w.store(arith::ExtUIOp::create(w.b, w.loc, i64, all), count, 0);
  }

  /// Does what search() does, a vector at a time.
  void searchInVectors(llvm::function_ref<void(Ix, ArrayRef<Ix>)> found) {
    int64_t lanes = w.machine.lanes;
    Value n = w.loop(0, wholeVectors(), lanes, w.value(0), [&](Ix i, ValueRange before) {
      Value bits = bitsOf(isSet(i, lanes)), many = math::CtPopOp::create(w.b, w.loc, bits);
      auto takeLowest = [&](Ix, ValueRange carried) {
        Value left = carried[0], less = arith::SubIOp::create(w.b, w.loc, left, w.constant(1, left.getType()));
        found(w.ix(carried[1]), pointOf(i + w.ix(math::CountTrailingZerosOp::create(w.b, w.loc, left))));
        left = arith::AndIOp::create(w.b, w.loc, left, less);
        return SmallVector<Value>{left, w.value(w.ix(carried[1]) + 1)};
      };
      Value after = w.loop(0, w.ix(many), 1, {bits, before[0]}, takeLowest, /*unroll=*/false)[1];
      return SmallVector<Value>{after};
    })[0];
    n = w.loop(wholeVectors(), oneRow->sizes[0], 1, n, [&](Ix i, ValueRange before) {
      auto one = [&] {
        found(w.ix(before[0]), pointOf(i));
        return SmallVector<Value>{w.value(w.ix(before[0]) + 1)};
      };
      return w.chooseValues(isSet(i, 1), one, [&] { return SmallVector<Value>{before[0]}; });
    })[0];
    w.store(w.integer(w.ix(n), w.b.getI64Type()), count, 0);
  }

  /// Returns an int32 that has the lanes of a mask as its bits.
  Value bitsOf(Value mask) {
    Type number = w.b.getIntegerType(cast<VectorType>(mask.getType()).getNumElements()), i32 = w.b.getI32Type();
    Value bits = vector::BitCastOp::create(w.b, w.loc, VectorType::get({1}, number), mask);
    bits = vector::ExtractOp::create(w.b, w.loc, bits, 0);
    return number == i32 ? bits : arith::ExtUIOp::create(w.b, w.loc, i32, bits).getResult();
  }

  /// Returns the coordinates of an element of the row.
  SmallVector<Ix> pointOf(Ix element) {
    SmallVector<Ix> at(space.sizes.size());
    for (size_t d = at.size(); d-- > 1;) {
      at[d] = remainder(element, space.sizes[d]);
      element = floorDiv(element, space.sizes[d]);
    }
    at[0] = element;
    return at;
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
    if (onnx::isBool(getElementTypeOrSelf(x.getType()))) {
      return x;
    }
    Value zero = w.constant(0, x.getType());
    if (isa<FloatType>(getElementTypeOrSelf(x.getType()))) {
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
