// Multiplies the state of a recurrent network by weights that are bytes, as two or three digits of 8 bits, on machines
// that multiply bytes.
#include "compiler/lower/product/StateProduct.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentByteDots : public RecurrentAlgorithm {
public:
  RecurrentByteDots() : RecurrentAlgorithm("byte dots", /*rank=*/3, RecurrentPlan::Method::ByteDots) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return !isOfBytes(kernel)                            ? "weights are not bytes"
           : !machine.has(target::Instruction::ByteDot4) ? "the machine has no dot product of four bytes"
                                                         : "";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentByteDotsAlgorithm() { return std::make_unique<RecurrentByteDots>(); }

} // namespace ingot::lower
