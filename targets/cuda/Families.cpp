#include "targets/cuda/Families.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot::targets::cuda {

/// Threads of a block whose threads have nothing to do with each other: few enough that many blocks fit a
/// multiprocessor whatever registers they take, and a whole number of warps.
static constexpr int64_t threads = 128;

Families::Families() {
  own.push_back(createElements());
  own.push_back(createProducts());
  own.push_back(createConvolutions());
}

const lower::KernelFamily *Families::of(Operation *root) const {
  for (const auto &family : own) {
    bool isRoot = root ? llvm::is_contained(family->roots(), root->getName().getTypeID()) : family->roots().empty();
    if (isRoot && (!root || family->isFor(root))) {
      return family.get();
    }
  }
  const lower::KernelFamily *common = lower::compilersFamily(root);
  if (!common) {
    return nullptr;
  }
  std::lock_guard<std::mutex> guard(lock);
  std::unique_ptr<lower::ByThreads> &wrapped = byThreads[common];
  if (!wrapped) {
    wrapped = std::make_unique<lower::ByThreads>(*common, threads);
  }
  return wrapped.get();
}

std::string Families::refuses(Operation *op) const {
  constexpr const char *oneThread = "its kernel is one work item, which would be one thread";
  static const llvm::StringMap<const char *> reasons = {
      {"Elimination", oneThread},
      {"Recurrence", oneThread},
      {"RoiSample", "each of its work items has tables in memory, and a GPU runs thousands"},
      {"Scatter", oneThread},
      {"TopK", oneThread},
  };
  const lower::KernelFamily *family = of(op);
  auto known = family ? reasons.find(family->stem) : reasons.end();
  return known == reasons.end() ? "" : known->second;
}

} // namespace ingot::targets::cuda
