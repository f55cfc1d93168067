#include "compiler/plan/Model.h"
#include "compiler/onnx/Constants.h"
#include "llvm/Support/MathExtras.h"

namespace ingot::plan {

static constexpr int64_t entryAlign = 64;

int64_t WeightTable::add(mlir::ElementsAttr source, const Recipe &recipe) {
  auto [it, isNew] = known.try_emplace({source.getAsOpaquePointer(), recipe.key}, size);
  if (isNew) {
    entries.push_back({source, recipe, size});
    size = llvm::alignTo(size + recipe.bytes, entryAlign);
  }
  return it->second;
}

void WeightTable::write(llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const {
  std::vector<char> packed;
  for (const Entry &e : entries) {
    packed.assign(llvm::alignTo(e.recipe.bytes, entryAlign), 0);
    std::vector<char> storage;
    llvm::ArrayRef<char> from = onnx::bytesOf(e.source, storage);
    if (e.recipe.pack) {
      // In a model file they may lie at any byte.
      if (reinterpret_cast<uintptr_t>(from.data()) % alignof(double)) {
        storage.assign(from.begin(), from.end());
        from = storage;
      }
      e.recipe.pack(from, llvm::MutableArrayRef<char>(packed).take_front(e.recipe.bytes));
    } else {
      std::copy(from.begin(), from.end(), packed.begin());
    }
    sink(packed);
  }
}

} // namespace ingot::plan
