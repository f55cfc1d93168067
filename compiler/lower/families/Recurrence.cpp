// Builds the steps of an LSTM, GRU or RNN (product/Recurrence.cpp). How the state is multiplied is chosen
// (lower/Algorithm.h).
#include "compiler/lower/Algorithm.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Recurrence : public ByAlgorithm<> {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::RecurrenceOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    auto op = cast<onnx::RecurrenceOp>(root);
    if (!onnx::computedIn(onnx::elementOf(op.getP())).isF32()) {
      return "recurrent networks of this element type are not built";
    }
    return onnx::isSized(op.getP()) && onnx::isStatic(op.getR()) ? "" : "its shapes are not known at compile time";
  }
  bool fusesEpilogue(Operation *) const override { return false; }
};

} // namespace

std::unique_ptr<KernelFamily> createRecurrenceFamily() { return std::make_unique<Recurrence>(); }

} // namespace ingot::lower
