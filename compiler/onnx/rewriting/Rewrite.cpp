#include "compiler/onnx/rewriting/Rewrite.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// Counts what a pattern changes while it is tried.
struct ChangeCounter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override { ++changes; }
  void notifyOperationModified(Operation *) override { ++changes; }
  void notifyOperationReplaced(Operation *, ValueRange) override { ++changes; }
  void notifyOperationErased(Operation *) override { ++changes; }
  void notifyPatternBegin(const Pattern &, Operation *) override { changes = 0; }
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (failed(status) && changes) {
      llvm::report_fatal_error("the pattern " + pattern.getDebugName() + " changed the program and failed");
    }
  }
  int64_t changes = 0;
};

} // namespace

LogicalResult rewrite(func::FuncOp function, RewritePatternSet patterns, ArrayRef<std::string> without) {
  ChangeCounter counter;
  GreedyRewriteConfig config;
  config.enableConstantCSE(false); // weights are large; equal ones are one attribute already
  config.setListener(&counter);
  return applyPatternsGreedily(function, FrozenRewritePatternSet(std::move(patterns), without), config);
}

} // namespace ingot::onnx
