// Kernels of kernels (lower/conv/Chain.h), which layout::formChains makes.
#include "compiler/lower/conv/Chain.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ChainFamily : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<plan::KernelOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    SmallVector<Chain::Link> links;
    for (plan::KernelOp link : linksOf(kernel)) {
      links.push_back(*linkOf(link, machine));
    }
    return chainShape(*chainOf(links, machine), machine);
  }
};

} // namespace

std::unique_ptr<KernelFamily> createChainFamily() { return std::make_unique<ChainFamily>(); }

} // namespace ingot::lower
