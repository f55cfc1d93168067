// The state of a recurrent network by weights that are bytes, as two digits of 12 bits: more instructions than floats
// take, but a quarter of the memory, for which one row of a batch waits.
#include "compiler/lower/product/StateProduct.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RecurrentPairs : public RecurrentAlgorithm {
public:
  RecurrentPairs() : RecurrentAlgorithm("pairs of int16", /*rank=*/2, RecurrentPlan::Form::Pairs) {}

protected:
  std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!isOfBytes(kernel)) {
      return "weights are not bytes";
    }
    RankedTensorType p = Group::typeOf(cast<onnx::RecurrenceOp>(kernel.root()).getP());
    support::Size batch = onnx::sizeOf(p, 1);
    if (!machine.has(target::Instruction::PairDot) || !batch.isNumber() || batch.number() > 1) {
      return "the machine does not multiply pairs of int16, or a batch has several rows";
    }
    int64_t hidden = Group::typeOf(cast<onnx::RecurrenceOp>(kernel.root()).getR()).getDimSize(1);
    return hidden <= onnx::mostOfPairs ? "" : "the state is too long for sums of int32";
  }
};

} // namespace

std::unique_ptr<Algorithm> createRecurrentPairsAlgorithm() { return std::make_unique<RecurrentPairs>(); }

} // namespace ingot::lower
