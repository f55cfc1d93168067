#include "compiler/plan/Model.h"
#include "compiler/onnx/constants/Constants.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace ingot::plan {

/// The entry with the same content and recipe; remembers the next one under them when there is none.
std::optional<size_t> WeightTable::equalTo(mlir::ElementsAttr source, const Recipe &recipe, size_t device) {
  std::vector<char> storage, other;
  llvm::ArrayRef<char> bytes = onnx::bytesOf(source, storage);
  std::pair key(llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}), recipe.key);
  auto [from, to] = byContent.equal_range(key);
  for (const auto &[_, number] : llvm::make_range(from, to)) {
    const Constant &entry = entries[number];
    if (entry.device == device && entry.source.getType() == source.getType() &&
        onnx::bytesOf(entry.source, other) == bytes) {
      return number;
    }
  }
  byContent.emplace(key, entries.size());
  return std::nullopt;
}

int64_t WeightTable::add(mlir::ElementsAttr source, const Recipe &recipe, size_t device) {
  auto [it, isNew] = known.try_emplace({source.getAsOpaquePointer(), recipe.key, device}, entries.size());
  if (std::optional<size_t> equal = isNew && sharesEqual ? equalTo(source, recipe, device) : std::nullopt) {
    it->second = *equal;
  } else if (isNew) {
    sizes.resize(std::max(sizes.size(), device + 1));
    entries.push_back({source, recipe, sizes[device], device});
    sizes[device] = llvm::alignTo(sizes[device] + recipe.bytes, alignment);
  }
  Constant &entry = entries[it->second];
  entry.readers |= reader;
  return entry.offset;
}

int64_t WeightTable::bytesOf(unsigned reader, bool only) const {
  uint64_t bit = uint64_t(1) << reader;
  int64_t bytes = 0;
  for (const Constant &entry : entries) {
    if (only ? entry.readers == bit : (entry.readers & bit) != 0) {
      bytes += llvm::alignTo(entry.recipe.bytes, alignment);
    }
  }
  return bytes;
}

void WeightTable::write(llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const {
  std::vector<char> packed;
  for (size_t device = 0; device < sizes.size(); ++device) {
    for (const Constant &entry : entries) {
      if (entry.device == device) {
        pack(entry, packed);
        sink(packed);
      }
    }
  }
}

const WeightTable::Constant &WeightTable::atOffset(int64_t offset) const {
  auto entry = llvm::find_if(entries, [&](const Constant &each) {
    return each.device == 0 && each.offset == offset && each.recipe.bytes > 0;
  });
  assert(entry != entries.end() && "no constant begins there");
  return *entry;
}

int64_t WeightTable::bytesAt(int64_t offset) const {
  return static_cast<int64_t>(llvm::alignTo(atOffset(offset).recipe.bytes, alignment));
}

int64_t WeightTable::stream(llvm::ArrayRef<int64_t> offsets) {
  auto [read, isNew] = reads.try_emplace({offsets.begin(), offsets.end()}, streamedEnd);
  for (int64_t offset : isNew ? offsets : llvm::ArrayRef<int64_t>()) {
    streamed.push_back(atOffset(offset));
    streamed.back().offset = streamedEnd;
    streamedEnd += bytesAt(offset);
  }
  return read->second;
}

std::map<int64_t, int64_t> WeightTable::keep(const std::set<int64_t> &offsets) {
  std::map<int64_t, int64_t> moved;
  std::vector<Constant> kept;
  sizes[0] = 0;
  for (Constant &entry : entries) {
    if (entry.device == 0) {
      if (!offsets.count(entry.offset)) {
        continue;
      }
      moved[entry.offset] = sizes[0];
      entry.offset = sizes[0];
      sizes[0] += static_cast<int64_t>(llvm::alignTo(entry.recipe.bytes, alignment));
    }
    kept.push_back(std::move(entry));
  }
  entries = std::move(kept);
  known.clear();
  byContent.clear();
  return moved;
}

void WeightTable::writeStreamed(llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const {
  std::vector<char> packed;
  for (const Constant &entry : streamed) {
    pack(entry, packed);
    sink(packed);
  }
}

void WeightTable::pack(const Constant &entry, std::vector<char> &packed) const {
  packed.assign(llvm::alignTo(entry.recipe.bytes, alignment), 0);
  std::vector<char> storage;
  llvm::ArrayRef<char> from = onnx::bytesOf(entry.source, storage);
  if (entry.recipe.pack) {
    // In a model file they may lie at any byte.
    if (reinterpret_cast<uintptr_t>(from.data()) % alignof(double)) {
      storage.assign(from.begin(), from.end());
      from = storage;
    }
    entry.recipe.pack(from, llvm::MutableArrayRef<char>(packed).take_front(entry.recipe.bytes));
  } else {
    std::copy(from.begin(), from.end(), packed.begin());
  }
}

} // namespace ingot::plan
