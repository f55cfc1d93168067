// Writes sizes that an op reads as a tensor: each is computed from the model's symbols and stored.
#include "compiler/lower/Family.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Sizes : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::SizesOp>(); }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override { return {}; }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    Value root = build.group.root->getResult(0);
    Space space = build.group.space(Group::typeOf(root));
    support::Sizes sizes = *onnx::sizesIn(root);
    for (auto [i, size] : llvm::enumerate(sizes)) {
      build.group.finish(number(w, size, getElementTypeOrSelf(root.getType())), space, pointOf(space, i));
    }
    return success();
  }

private:
  /// Returns the point of the i-th element in row-major order.
  static Point pointOf(const Space &space, int64_t i) {
    Point point;
    point.at.assign(space.sizes.size(), 0);
    for (size_t axis = space.sizes.size(); axis-- > 0;) {
      int64_t length = space.sizes[axis].number(); // the op lists its sizes, so their number is known
      point.at[axis] = i % length;
      i /= length;
    }
    return point;
  }

  /// Returns a size as a number of the tensor's type.
  static Value number(Writer &w, Ix size, Type element) {
    if (isa<FloatType>(element)) {
      return arith::SIToFPOp::create(w.b, w.loc, element, w.integer(size, w.b.getI64Type()));
    }
    return w.integer(size, valueType(element));
  }
};

} // namespace

std::unique_ptr<KernelFamily> createSizesFamily() { return std::make_unique<Sizes>(); }

} // namespace ingot::lower
