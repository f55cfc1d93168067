// Multiplies the state of a recurrent network by weights that are floats.
#include "compiler/lower/product/StateProduct.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentFloats : public RecurrentAlgorithm {
public:
  RecurrentFloats() : RecurrentAlgorithm("floats", /*rank=*/0, RecurrentPlan::Method::Floats) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return isOfBytes(kernel) ? "weights are bytes" : "";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentFloatsAlgorithm() { return std::make_unique<RecurrentFloats>(); }

} // namespace ingot::lower
