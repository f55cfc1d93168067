#include "compiler/partition/Dependencies.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"

using namespace mlir;

namespace ingot::partition {

Dependencies::Dependencies(Block &block) {
  std::map<support::Symbol, Operation *> finders;
  for (Operation &op : block) {
    onnx::SymbolSet symbols = onnx::symbolsDefinedInside(&op);
    symbols.merge(onnx::symbolsDefinedBy(&op));
    for (support::Symbol symbol : symbols) {
      finders[symbol] = &op;
    }
  }
  for (Operation &op : block) {
    auto note = [&](support::Symbol symbol) {
      auto finder = finders.find(symbol);
      if (finder != finders.end() && finder->second != &op) {
        definingOps[&op].insert(finder->second);
      }
    };
    if (!finders.empty()) {
      op.walk(
          [&](Operation *inner) { onnx::walkSizes(inner, [&](const onnx::Size &size) { size.eachSymbol(note); }); });
    }
  }
}

void Dependencies::each(Operation *op, llvm::function_ref<void(Operation *)> f) const {
  onnx::eachOutsideOperand(op, [&](OpOperand &use) {
    if (Operation *maker = use.get().getDefiningOp()) {
      f(maker);
    }
  });
  if (auto finders = definingOps.find(op); finders != definingOps.end()) {
    llvm::for_each(finders->second, f);
  }
}

} // namespace ingot::partition
