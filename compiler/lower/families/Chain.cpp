// Kernels of kernels (lower/conv/Chain.h), which layout::formChains makes.
#include "compiler/lower/conv/Chain.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ChainFamily : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<plan::KernelOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return chainShape(kernel, *chainOf(linksOf(kernel), machine));
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    buildChain(build, *chainOf(linksOf(build.group.kernel), build.w.machine));
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createChainFamily() { return std::make_unique<ChainFamily>(); }

} // namespace ingot::lower
