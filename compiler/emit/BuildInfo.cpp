#include "compiler/emit/BuildInfo.h"
#include "compiler/plan/SymbolBounds.h"

namespace ingot::emit {

int64_t callerBytes(const plan::TensorInfo &tensor, const plan::ModelInfo &model) {
  if (tensor.device != 0 || tensor.inPlaceOf >= 0) {
    return 0;
  }
  if (tensor.isAllocated) {
    return -1;
  }
  auto boundsOf = [&](llvm::StringRef name) { return plan::boundsOf(model.symbols, name); };
  return support::rangeOf(tensor.bytes, boundsOf).most.value_or(-1);
}

void addUp(const plan::ModelInfo &model, bool hasMachineCode, BuildSizes &sizes) {
  if (hasMachineCode) {
    sizes.flash = sizes.code + sizes.constants + sizes.data + model.weightBytes;
  }
  bool known = model.workspaceBytes >= 0 && model.allocations.empty() && !model.makesStrings;
  int64_t ram = model.workspaceBytes + sizes.data + sizes.zeroed;
  for (const auto *tensors : {&model.inputs, &model.outputs}) {
    for (const plan::TensorInfo &tensor : *tensors) {
      int64_t bytes = callerBytes(tensor, model);
      known &= bytes >= 0;
      ram += bytes;
    }
  }
  sizes.ram = known ? ram : -1;
}

} // namespace ingot::emit
