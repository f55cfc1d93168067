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

/// The smallest B of which `B - symbol` is a fact; -1 when there is none.
static int64_t upperBound(llvm::StringRef symbol, llvm::ArrayRef<support::Size> facts) {
  int64_t most = -1;
  for (const support::Size &fact : facts) {
    support::Size bound = fact + support::Size::symbol(symbol);
    if (bound.isNumber() && (most < 0 || bound.number() < most)) {
      most = bound.number();
    }
  }
  return most;
}

static plan::TensorInfo tensorInfo(Type type, StringAttr name, const std::string &fallback) {
  auto t = cast<RankedTensorType>(type);
  plan::TensorInfo info;
  info.name = name ? name.str() : fallback;
  info.type = typeNumber(t.getElementType());
  info.dims = onnx::sizesOf(t);
  info.bytes = support::product(info.dims) * support::Size(onnx::elementBytes(t.getElementType()));
  return info;
}

/// The symbols of the inputs, each where it occurs first, with what the function's facts say of it alone.
static std::vector<plan::SymbolInfo> symbolsOf(func::FuncOp function, llvm::ArrayRef<plan::TensorInfo> inputs) {
  std::vector<plan::SymbolInfo> symbols;
  support::Sizes facts = onnx::factsOf(function);
  for (const plan::TensorInfo &input : inputs) {
    for (const support::Size &dim : input.dims) {
      dim.eachSymbol([&](llvm::StringRef name) {
        if (!llvm::any_of(symbols, [&](const plan::SymbolInfo &s) { return s.name == name; })) {
          symbols.push_back({name.str(), upperBound(name, facts)});
        }
      });
    }
  }
  return symbols;
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
  info.symbols = symbolsOf(function, info.inputs);
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
