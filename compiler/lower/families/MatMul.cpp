// Builds matrix products of floats, of bytes with sums of int32, and of bfloat16 with sums of float32, by the algorithm
// that is chosen (lower/Algorithm.h).
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/formats/Products.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class MatMul : public ByAlgorithm<> {
public:
  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp, formats::Bf16MatMulOp>();
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    if (isa<formats::Int8MatMulOp, formats::Bf16MatMulOp>(root)) {
      return onnx::constantThrough(root->getOperand(1)) ? "" : "its right operand is not constant";
    }
    Type element = onnx::computedIn(onnx::elementOf(root->getOperand(0)));
    bool built = element.isF32() || element.isF64() || (element.isInteger() && element.getIntOrFloatBitWidth() >= 32);
    return built ? "" : "products of this element type are not built";
  }
};

} // namespace

std::unique_ptr<KernelFamily> createMatMulFamily() { return std::make_unique<MatMul>(); }

} // namespace ingot::lower
