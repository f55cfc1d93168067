// Puts kernels in order again, since phases put them where they are needed, not where all their operands are.
#include "compiler/onnx/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/Plan.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace ingot::pipeline {

/// Puts the ops of a block behind all that they need: operands, and the ops that find the sizes of which they speak.
/// Returns false when two need each other.
static bool sortByDefinitions(Block &block) {
  onnx::SymbolSet open; // symbols of this block that no placed op has defined
  llvm::DenseMap<Operation *, onnx::SymbolSet> finds;
  for (Operation &op : block) {
    finds[&op] = onnx::symbolsDefinedInside(&op);
    finds[&op].merge(onnx::symbolsDefinedBy(&op));
    open.insert(finds[&op].begin(), finds[&op].end());
  }
  SmallVector<Operation *> waiting;
  for (Operation &op : block.without_terminator()) {
    waiting.push_back(&op);
  }
  llvm::SmallPtrSet<Operation *, 32> placed;
  auto ready = [&](Operation *op) {
    bool all = true;
    onnx::eachOutsideOperand(op, [&](OpOperand &use) {
      Operation *producer = use.get().getDefiningOp();
      all &= !producer || producer->getBlock() != &block || placed.contains(producer);
    });
    onnx::SymbolSet missing = open;
    for (onnx::Symbol own : finds[op]) {
      missing.erase(own);
    }
    return all && !onnx::mentionsAny(op, missing);
  };
  while (!waiting.empty()) {
    size_t before = waiting.size();
    llvm::erase_if(waiting, [&](Operation *op) {
      if (!ready(op)) {
        return false;
      }
      op->moveBefore(&block, block.back().getIterator());
      placed.insert(op);
      for (onnx::Symbol symbol : finds[op]) {
        open.erase(symbol);
      }
      return true;
    });
    if (waiting.size() == before) {
      return false;
    }
  }
  return true;
}

void sortBlocks(func::FuncOp function) {
  bool hasSizes = !onnx::symbolsDefinedInside(function).empty();
  function.walk([&](Block *block) {
    if (!isa<plan::KernelOp>(block->getParentOp()) &&
        !(hasSizes ? sortByDefinitions(*block) : sortTopologically(block))) {
      llvm::report_fatal_error("kernels wait for one another");
    }
  });
}

} // namespace ingot::pipeline
