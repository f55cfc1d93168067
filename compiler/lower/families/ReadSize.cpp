// Reads a number in data that is a size of tensors. A number that cannot be one ends the run before anything is made of
// it, and 0 is stored in its place.
#include "compiler/lower/Family.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ReadSize : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ReadSizeOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override {
    KernelShape shape;
    shape.checked = true;
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    auto op = cast<onnx::ReadSizeOp>(build.group.root);
    Space space = build.group.space(Group::typeOf(op.getX()));
    Value number = build.group.read(op.getX(), space, Point{SmallVector<Ix>(space.sizes.size(), 0), 1, {}});
    std::optional<onnx::SizesAttr> bound = op.getSizes();
    Ix most = bound ? Ix(bound->getValues().front()) : Ix(onnx::mostUnbounded);
    Value last = w.integer(most, w.b.getI64Type());
    Value bad = w.compare(arith::CmpIPredicate::ugt, number, last); // unsigned, so a negative number is too large
    build.failIf(bad, INGOT_ERROR_SIZE);
    w.store(arith::SelectOp::create(w.b, w.loc, bad, w.constant(0, w.b.getI64Type()), number), build.group.result(0),
            0);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createReadSizeFamily() { return std::make_unique<ReadSize>(); }

} // namespace ingot::lower
