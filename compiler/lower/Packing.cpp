#include "compiler/lower/Packing.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::lower {

plan::WeightTable::Recipe plainRecipe(Value constant) {
  return {"", plan::physicalBytes(cast<RankedTensorType>(constant.getType())).number(), {}};
}

// Kernels of one shape share their function, but each has constants of its own, so the constant that is packed with
// another one is looked up here, and is a part of the key.
plan::WeightTable::Recipe recipeOf(plan::KernelOp kernel, const KernelShape &shape, unsigned number) {
  auto packed = shape.packed.find(number);
  plan::WeightTable::Recipe recipe =
      packed == shape.packed.end() ? plainRecipe(kernel.getIns()[number]) : packed->second;
  auto joined = shape.joined.find(number);
  if (joined == shape.joined.end()) {
    return recipe;
  }
  ElementsAttr with = onnx::constantOf(kernel.getIns()[joined->second.with]);
  recipe.key += " with " + std::to_string(reinterpret_cast<uintptr_t>(with.getAsOpaquePointer()));
  recipe.pack = [with, pack = joined->second.pack](ArrayRef<char> from, MutableArrayRef<char> to) {
    std::vector<char> storage;
    pack(from, onnx::bytesOf(with, storage), to);
  };
  return recipe;
}

} // namespace ingot::lower
