// Runs MLIR's greedy rewriter with a listener that marks new ops with the device of the op they replace, and that
// catches patterns which change the function and then fail.
#include "compiler/onnx/rewriting/Rewrite.h"
#include "compiler/onnx/ops/Constant.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace ingot::onnx {
void PlaceListener::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  bool isNew = !previous.isSet(); // a moved op has been there before
  if (place && isNew && !isa<ConstantOp, NoneOp>(op) && !op->hasAttr(placeName)) {
    op->setAttr(placeName, place);
  }
}

namespace {

/// Counts what a pattern changes while it is tried.
struct ChangeCounter : PlaceListener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    PlaceListener::notifyOperationInserted(op, previous);
    ++changes;
  }
  void notifyOperationModified(Operation *) override { ++changes; }
  void notifyOperationReplaced(Operation *, ValueRange) override { ++changes; }
  void notifyOperationErased(Operation *) override { ++changes; }
  void notifyPatternBegin(const Pattern &, Operation *op) override {
    replacing(op);
    changes = 0;
  }
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (failed(status) && changes) {
      llvm::report_fatal_error("the pattern " + pattern.getDebugName() + " changed the program and failed");
    }
  }
  int64_t changes = 0;
};

} // namespace

LogicalResult rewrite(func::FuncOp function, RewritePatternSet patterns, ArrayRef<std::string> without, bool *changed) {
  ChangeCounter counter;
  GreedyRewriteConfig config;
  config.enableConstantCSE(false); // weights are large, and equal ones are one attribute already
  config.setListener(&counter);
  bool any = false;
  LogicalResult done =
      applyPatternsGreedily(function, FrozenRewritePatternSet(std::move(patterns), without), config, &any);
  if (changed) {
    *changed |= any;
  }
  return done;
}

} // namespace ingot::onnx
