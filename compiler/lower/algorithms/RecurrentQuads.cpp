// The state of a recurrent network by weights that are bytes, as two or three digits of 8 bits, on machines that
// multiply bytes.
#include "compiler/lower/product/StateProduct.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentQuads : public RecurrentAlgorithm {
public:
  RecurrentQuads() : RecurrentAlgorithm("quads of bytes", /*rank=*/3, RecurrentPlan::Form::Quads) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return !isOfBytes(kernel)                           ? "weights are not bytes"
           : !machine.has(target::Instruction::QuadDot) ? "the machine does not multiply quads of bytes"
                                                        : "";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentQuadsAlgorithm() { return std::make_unique<RecurrentQuads>(); }

} // namespace ingot::lower
