// Elementwise kernels: each thread computes one element of the result, threads that are neighbours computing
// neighbours, so that a warp reads and writes whole lines.
#include "compiler/lower/core/Threads.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/Places.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

class Elements final : public lower::KernelFamily {
public:
  Elements() { stem = "Elementwise"; }

  SmallVector<TypeID> roots() const override { return {}; }
  lower::LayoutRule layoutRule(Operation *, const target::MachineModel &) const override {
    return lower::LayoutRule::Follow;
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    lower::KernelShape shape;
    auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
    shape.items = ceilDiv(support::product(onnx::sizesOf(type)), threads);
    shape.grid = lower::Grid{{threads, 1, 1}, 0};
    shape.inPlace = llvm::to_vector(llvm::seq<int64_t>(kernel->getNumOperands()));
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    lower::Writer &w = build.w;
    lower::Space space = build.group.space(build.group.resultType());
    space.collapse();
    lower::Ix place = build.begin * threads + lower::threadNumber(w);
    w.ifThen(w.compare(arith::CmpIPredicate::slt, place, elementsOf(space)),
             [&] { build.group.finish({}, space, {placeOf(space, place), space.block, {}}); });
    return success();
  }

private:
  static constexpr int64_t threads = 256;
};

} // namespace

std::unique_ptr<lower::KernelFamily> createElements() { return std::make_unique<Elements>(); }

} // namespace ingot::targets::cuda
