#include "compiler/driver/execution/ModelElsewhere.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::driver {

static std::vector<ingot_tensor_info> tensorsOf(llvm::ArrayRef<emit::Descriptor::Tensor> tensors) {
  std::vector<ingot_tensor_info> all;
  for (const emit::Descriptor::Tensor &tensor : tensors) {
    all.push_back({tensor.name.c_str(), tensor.type, int32_t(tensor.dims.size()), tensor.dims.data(), tensor.elements,
                   tensor.bytes, tensor.flags, tensor.inPlaceOf, tensor.device});
  }
  return all;
}

ModelDescription::ModelDescription(emit::Descriptor descriptor) : from(std::move(descriptor)) {
  inputs = tensorsOf(from.inputs), outputs = tensorsOf(from.outputs);
  for (const std::string &node : from.nodes) {
    nodes.push_back(node.c_str());
  }
  for (const emit::Descriptor::Symbol &symbol : from.symbols) {
    symbols.push_back({symbol.name.c_str(), symbol.least, symbol.most});
  }
  whole.abi = INGOT_ABI, whole.flags = from.flags;
  whole.name = from.name.c_str(), whole.target = from.target.c_str();
  whole.input_count = int32_t(inputs.size()), whole.output_count = int32_t(outputs.size());
  whole.node_count = int32_t(nodes.size()), whole.level_count = int32_t(from.levels.size());
  whole.symbol_count = from.symbolCount, whole.found_count = from.dataDependentCount;
  whole.workspace_bytes = from.workspaceBytes, whole.workspace_align = from.workspaceAlign;
  whole.weight_bytes = from.weightBytes, whole.weight_hash = from.weightHash;
  whole.inputs = inputs.data(), whole.outputs = outputs.data(), whole.nodes = nodes.data();
  whole.symbols = symbols.data(), whole.levels = from.levels.data();
}

bool ModelDescription::isSound() const {
  auto isKnown = [&](int64_t dim) {
    return !INGOT_DIM_IS_SYMBOL(dim) || INGOT_DIM_SYMBOL(dim) < int32_t(symbols.size());
  };
  auto areKnown = [&](const emit::Descriptor::Tensor &tensor) { return llvm::all_of(tensor.dims, isKnown); };
  return llvm::all_of(from.inputs, areKnown) && llvm::all_of(from.outputs, areKnown);
}

llvm::Error refuseStrings(const ingot_model &model) {
  auto isOfStrings = [](const ingot_tensor_info &info) { return info.type == INGOT_STRING; };
  bool hasSome = llvm::any_of(inputsOf(model), isOfStrings) || llvm::any_of(outputsOf(model), isOfStrings);
  return hasSome ? llvm::createStringError("--runner: the model has strings, which are not sent to other machines")
                 : llvm::Error::success();
}

} // namespace ingot::driver
