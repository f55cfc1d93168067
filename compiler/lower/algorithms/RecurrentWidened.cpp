// Multiplies the state of a recurrent network by weights that are bytes, which become floats in registers.
#include "compiler/lower/product/StateProduct.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentWidened : public RecurrentAlgorithm {
public:
  RecurrentWidened() : RecurrentAlgorithm("widened bytes", /*rank=*/1, RecurrentPlan::Method::WidenedBytes) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return isOfBytes(kernel) ? "" : "weights are not bytes";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentWidenedAlgorithm() { return std::make_unique<RecurrentWidened>(); }

} // namespace ingot::lower
