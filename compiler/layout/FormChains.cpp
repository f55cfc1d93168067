// Cuts paths of kernels into chains. A path is a list of kernels of which each is the only reader of the one before it,
// and reads it row by row. It is cut such that the sum of what the chains gain is largest.
//
// This is dynamic programming: the best cut of the first n kernels consists of a last chain of some length and of the
// best cut of the kernels before that chain.
//   best[n] = max(best[n - 1], best[n - length] + gain of the last `length` kernels)
#include "compiler/layout/FormChains.h"
#include "compiler/lower/conv/Chain.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace ingot::layout {
namespace {

/// The most links of a chain. Longer chains gain nothing more, because what lies between their links is small.
constexpr size_t mostLinks = 3;
/// What a chain has to gain, as a share of the time that its kernels take apart.
constexpr double leastGain = 0.05;

/// Returns whether `kernel` reads `x` row by row: as its root's data, or element by element.
bool readsRows(plan::KernelOp kernel, Value x) {
  Operation *root = kernel.root();
  unsigned number = llvm::find(kernel.getIns(), x) - kernel.getIns().begin();
  BlockArgument argument = kernel.getBody().getArgument(number);
  if (!root) {
    auto type = cast<RankedTensorType>(x.getType()), result = cast<RankedTensorType>(kernel.getResult(0).getType());
    return type.getShape() == result.getShape() && plan::blockedOf(type) && plan::blockedOf(result);
  }
  return root->getNumOperands() > 0 && root->getOperand(0) == argument && argument.hasOneUse();
}

/// Returns the kernel that alone reads what `kernel` makes, if it can be the next link; else null.
plan::KernelOp nextOf(plan::KernelOp kernel) {
  if (kernel.getPiece() || kernel.getNumResults() != 1 || !kernel.getResult(0).hasOneUse()) {
    return {};
  }
  auto next = dyn_cast<plan::KernelOp>(*kernel.getResult(0).user_begin());
  bool fits = next && !next.getPiece() && next->getBlock() == kernel->getBlock() &&
              next.getTarget() == kernel.getTarget() && readsRows(next, kernel.getResult(0));
  return fits ? next : plan::KernelOp();
}

/// Cuts paths into chains and makes kernels of them.
class ChainSearch {
public:
  ChainSearch(lower::MachineOf machineOf, Chains chains) : machineOf(machineOf), chains(chains) {}

  /// Cuts one path. best[n] is the gain of the best cut of its first n kernels, lastLength[n] the length of that cut's
  /// last chain.
  void form(ArrayRef<plan::KernelOp> path) {
    std::vector<std::optional<lower::Chain::Link>> links;
    for (plan::KernelOp kernel : path.size() > 1 ? path : ArrayRef<plan::KernelOp>()) {
      links.push_back(lower::linkOf(kernel, machineOf(kernel.getTarget())));
    }
    std::vector<double> best(path.size() + 1, 0);
    std::vector<size_t> lastLength(path.size() + 1, 1);
    for (size_t end = 1; end <= path.size(); ++end) {
      best[end] = best[end - 1];
      for (size_t length = 2; length <= std::min(end, mostLinks); ++length) {
        double gain = gainOf(ArrayRef(links).slice(end - length, length));
        if (gain > 0 && best[end - length] + gain > best[end]) {
          best[end] = best[end - length] + gain, lastLength[end] = length;
        }
      }
    }
    for (size_t end = path.size(); end > 0; end -= lastLength[end]) {
      if (lastLength[end] > 1) {
        wrap(path.slice(end - lastLength[end], lastLength[end]));
      }
    }
  }

private:
  lower::MachineOf machineOf;
  Chains chains;

  /// Returns what a chain of these kernels gains in cycles, or 0 where it does not pay. With Chains::Possible it is the
  /// number of kernels, so that the longest chains win.
  double gainOf(ArrayRef<std::optional<lower::Chain::Link>> kernels) {
    if (!llvm::all_of(kernels, [](const auto &link) { return link.has_value(); })) {
      return 0;
    }
    auto links = llvm::map_to_vector(kernels, [](const auto &link) { return *link; });
    std::optional<lower::Chain> chain = lower::chainOf(links, machineOf(links.front().kernel.getTarget()));
    if (!chain) {
      return 0;
    }
    double gain = chain->separateCycles - chain->cycles;
    bool isWorth = gain > leastGain * chain->separateCycles && chain->isSmaller();
    return chains == Chains::Possible ? static_cast<double>(kernels.size()) : isWorth ? gain : 0;
  }

  /// Moves the kernels into the region of a new kernel, which stands in the place of the last one.
  static void wrap(ArrayRef<plan::KernelOp> kernels) {
    plan::KernelOp last = kernels.back();
    SmallVector<Value> ins;
    SmallVector<Location> locs;
    for (plan::KernelOp kernel : kernels) {
      locs.push_back(kernel.getLoc());
      llvm::copy_if(kernel.getIns(), std::back_inserter(ins), [&](Value v) { return !isMade(v, kernels); });
    }
    OpBuilder b(last);
    auto chain = plan::KernelOp::create(b, b.getFusedLoc(locs), last.getResultTypes(), ins, last.getTarget());
    last.replaceAllUsesWith(chain);
    Block *body = b.createBlock(&chain.getBody());
    for (Value v : ins) {
      body->addArgument(v.getType(), v.getLoc());
    }
    unsigned next = 0;
    for (plan::KernelOp kernel : kernels) {
      kernel->moveBefore(body, body->end());
      for (OpOperand &use : kernel->getOpOperands()) {
        if (!isMade(use.get(), kernels)) {
          use.set(body->getArgument(next++));
        }
      }
    }
    b.setInsertionPointToEnd(body);
    plan::YieldOp::create(b, last.getLoc(), last.getResults());
  }

  /// Returns whether `v` is made by one of these kernels, so that it stays inside of the chain.
  static bool isMade(Value v, ArrayRef<plan::KernelOp> kernels) {
    auto kernel = v.getDefiningOp<plan::KernelOp>();
    return kernel && llvm::is_contained(kernels, kernel);
  }
};

} // namespace

void formChains(func::FuncOp function, lower::MachineOf machineOf, Chains chains) {
  if (chains == Chains::Off) {
    return;
  }
  SmallVector<SmallVector<plan::KernelOp>> paths;
  llvm::SmallPtrSet<Operation *, 32> seen;
  function.walk([&](plan::KernelOp kernel) {
    if (!seen.insert(kernel).second) {
      return;
    }
    auto &path = paths.emplace_back(SmallVector<plan::KernelOp>{kernel});
    while (plan::KernelOp next = nextOf(path.back())) {
      seen.insert(next);
      path.push_back(next);
    }
  });
  for (ArrayRef<plan::KernelOp> path : paths) {
    ChainSearch(machineOf, chains).form(path);
  }
}

} // namespace ingot::layout
