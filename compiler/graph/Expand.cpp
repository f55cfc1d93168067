#include "compiler/graph/Expand.h"
#include "compiler/onnx/interfaces/Expansion.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult expand(func::FuncOp function) {
  // Ops in subgraphs are expanded before the one that holds them, which copies what is in there.
  bool good = true;
  function.walk([&](onnx::Expandable op) {
    OpBuilder b(op);
    SmallVector<Value> results;
    if (failed(op.expand(b, results))) { // the user is to see what is wrong with other ops, too
      good = false;
      return;
    }
    for (auto [from, to] : llvm::zip_equal(op->getResults(), results)) {
      if (to) { // else nobody reads the result
        from.replaceAllUsesWith(to);
      }
    }
    op->erase();
  });
  Operation *end = function.front().getTerminator();
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), end->getOperandTypes()));
  return success(good);
}

} // namespace ingot::graph
