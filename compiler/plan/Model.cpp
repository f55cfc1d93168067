#include "compiler/plan/Model.h"
#include "compiler/onnx/Constants.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace ingot::plan {

static constexpr int64_t entryAlign = 64;

/// The entry with the same content and recipe; remembers the next one under them when there is none.
std::optional<size_t> WeightTable::equalTo(mlir::ElementsAttr source, const Recipe &recipe) {
  std::vector<char> storage, other;
  llvm::ArrayRef<char> bytes = onnx::bytesOf(source, storage);
  std::pair key(llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}), recipe.key);
  auto [from, to] = byContent.equal_range(key);
  for (const auto &[_, number] : llvm::make_range(from, to)) {
    const Entry &entry = entries[number];
    if (entry.source.getType() == source.getType() && onnx::bytesOf(entry.source, other) == bytes) {
      return number;
    }
  }
  byContent.emplace(key, entries.size());
  return std::nullopt;
}

int64_t WeightTable::add(mlir::ElementsAttr source, const Recipe &recipe) {
  auto [it, isNew] = known.try_emplace({source.getAsOpaquePointer(), recipe.key}, entries.size());
  if (std::optional<size_t> equal = isNew && sharesEqual ? equalTo(source, recipe) : std::nullopt) {
    it->second = *equal;
  } else if (isNew) {
    entries.push_back({source, recipe, size});
    size = llvm::alignTo(size + recipe.bytes, entryAlign);
  }
  Entry &entry = entries[it->second];
  entry.readers |= reader;
  return entry.offset;
}

int64_t WeightTable::bytesOf(unsigned reader, bool only) const {
  uint64_t bit = uint64_t(1) << reader;
  int64_t bytes = 0;
  for (const Entry &entry : entries) {
    if (only ? entry.readers == bit : (entry.readers & bit) != 0) {
      bytes += llvm::alignTo(entry.recipe.bytes, entryAlign);
    }
  }
  return bytes;
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
