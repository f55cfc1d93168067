#include "compiler/onnx/Shapes.h"
#include "compiler/pipeline/State.h"

using namespace mlir;

namespace ingot::pipeline {

/// ONNX's TensorProto.DataType.
static int32_t typeNumber(Type t) {
  if (t.isF32() || t.isF64() || t.isF16() || t.isBF16()) {
    return t.isF32() ? 1 : t.isF64() ? 11 : t.isF16() ? 10 : 16;
  }
  auto integer = cast<IntegerType>(t);
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 9;
  case 8:
    return isUnsigned ? 2 : 3;
  case 16:
    return isUnsigned ? 4 : 5;
  case 32:
    return isUnsigned ? 12 : 6;
  default:
    return isUnsigned ? 13 : 7;
  }
}

static plan::TensorInfo tensorInfo(Type type, StringAttr name, const std::string &fallback) {
  auto t = cast<RankedTensorType>(type);
  plan::TensorInfo info;
  info.name = name ? name.str() : fallback;
  info.type = typeNumber(t.getElementType());
  info.dims.assign(t.getShape().begin(), t.getShape().end());
  info.bytes = t.getNumElements() * onnx::elementBytes(t.getElementType());
  return info;
}

void describe(func::FuncOp function, plan::ModelInfo &info) {
  info.inputs.clear(), info.outputs.clear();
  for (auto [i, t] : llvm::enumerate(function.getArgumentTypes())) {
    info.inputs.push_back(
        tensorInfo(t, function.getArgAttrOfType<StringAttr>(i, "onnx.name"), "input" + std::to_string(i)));
  }
  for (auto [i, t] : llvm::enumerate(function.getResultTypes())) {
    info.outputs.push_back(
        tensorInfo(t, function.getResultAttrOfType<StringAttr>(i, "onnx.name"), "output" + std::to_string(i)));
  }
}

int64_t countMacs(func::FuncOp function) {
  int64_t macs = 0;
  auto size = [](Value v) { return onnx::isStatic(v) ? onnx::elements(onnx::ranked(v).getShape()) : 0; };
  function.walk([&](Operation *op) {
    StringRef name = op->getName().stripDialect();
    if (name == "Conv" || name == "ConvTranspose") {
      // Every weight of an output (input) channel is used once an output (input) pixel.
      auto w = onnx::ranked(op->getOperand(1));
      macs += size(name == "Conv" ? op->getResult(0) : op->getOperand(0)) *
              (onnx::elements(w.getShape()) / std::max<int64_t>(1, w.getDimSize(0)));
    } else if (name == "MatMul") {
      macs += size(op->getResult(0)) * onnx::ranked(op->getOperand(0)).getShape().back();
    }
  });
  return macs;
}

} // namespace ingot::pipeline
