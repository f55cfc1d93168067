// Computes whether the caller gave an optional input: whether its pointer is not null.
#include "compiler/lower/Family.h"
#include "compiler/onnx/ops/Optional.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class HasElement : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::OptionalHasElementOp>(); }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override { return {}; }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    Value address = w.address(build.group.buffer(build.group.root->getOperand(0)));
    Value there = w.compare(arith::CmpIPredicate::ne, address, w.value(0));
    build.group.finish(there, build.group.space(build.group.resultType()), {});
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createHasElementFamily() { return std::make_unique<HasElement>(); }

} // namespace ingot::lower
