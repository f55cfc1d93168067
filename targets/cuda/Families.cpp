#include "targets/cuda/Families.h"
#include "compiler/lower/core/OwnedPlaces.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/TopK.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/IR/Operation.h"
#include "targets/cuda/Recurrences.h"
#include "targets/cuda/Rows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot::targets::cuda {

/// Threads of a block whose threads have nothing to do with each other: few enough that many blocks fit a
/// multiprocessor whatever registers they take, and a whole number of warps.
static constexpr int64_t threads = 128;

Families::Families() {
  own.push_back(createElements());
  own.push_back(createProducts());
  own.push_back(createAttention());
  own.push_back(createConvolutions());
  own.push_back(createFewBitsProducts());
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
    static const llvm::StringSet<> ofRows = {"Reduce", "Softmax", "Standardize"};
    if (common->stem == "Recurrence") {
      wrapped = std::make_unique<Recurrences>(*common);
    } else if (ofRows.contains(common->stem)) {
      wrapped = std::make_unique<Rows>(*common, threads);
    } else {
      wrapped = std::make_unique<lower::ByThreads>(*common, threads);
    }
  }
  return wrapped.get();
}

std::string Families::refuses(Operation *op) const {
  const lower::KernelFamily *family = of(op);
  return family && family->stem == "RoiSample" ? "each of its work items has tables in memory, and a GPU runs thousands"
                                               : "";
}

/// A thread walks so many updates of a scatter, or elements of a line of TopK, in less time than the launch takes, or
/// not much more.
static constexpr int64_t fewUpdates = 4096, fewElements = 65'536;

bool Families::isSerial(Operation *op) const {
  const lower::KernelFamily *family = of(op);
  if (family && family->stem == "Scatter" && !lower::isOwnedBox(op)) {
    return lower::updatesOfOwner(op).value_or(0) > fewUpdates;
  }
  if (auto top = dyn_cast_or_null<onnx::TopKOp>(op)) {
    auto x = onnx::ranked(top.getX());
    support::Size length = x ? onnx::sizesOf(x)[*onnx::normalAxis(top.getAxis(), x.getRank())] : support::Size(0);
    return length.isNumber() && length.number() > fewElements;
  }
  return family && family->stem == "Elimination";
}

} // namespace ingot::targets::cuda
