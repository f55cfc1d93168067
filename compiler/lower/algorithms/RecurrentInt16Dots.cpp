// Multiplies the state of a recurrent network by weights that are bytes, as two digits of 12 bits: more instructions
// than floats take, but a quarter of the memory, for which one row of a batch waits.
#include "compiler/lower/product/StateProduct.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentInt16Dots : public RecurrentAlgorithm {
public:
  RecurrentInt16Dots() : RecurrentAlgorithm("int16 dots", /*rank=*/2, RecurrentPlan::Method::Int16Dots) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!isOfBytes(kernel)) {
      return "weights are not bytes";
    }
    RankedTensorType p = Group::typeOf(cast<onnx::RecurrenceOp>(kernel.root()).getP());
    support::Size batch = onnx::sizeOf(p, 1);
    if (!machine.has(target::Instruction::Int16Dot2)) {
      return "the machine does not multiply pairs of int16";
    }
    if (!batch.isNumber() || batch.number() > 1) {
      return "a batch may have several rows";
    }
    int64_t hidden = Group::typeOf(cast<onnx::RecurrenceOp>(kernel.root()).getR()).getDimSize(1);
    return hidden <= onnx::mostOfPairs ? "" : "the state is too long for sums of int32";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentInt16DotsAlgorithm() { return std::make_unique<RecurrentInt16Dots>(); }

} // namespace ingot::lower
