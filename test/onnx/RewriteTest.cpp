// That a pattern which changes the function and then fails ends the compiler, by name.
#include "compiler/onnx/rewriting/Rewrite.h"
#include "Values.h"

namespace ingot::onnx {
namespace {

class Rewriting : public OpsOnConstants {
protected:
  mlir::func::FuncOp function;

  void SetUp() override {
    context.loadDialect<mlir::func::FuncDialect>();
    OpsOnConstants::SetUp();
    function = mlir::func::FuncOp::create(b, loc, "f", b.getFunctionType({}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    mlir::Value x = floats({1}, {1});
    auto y = createOp(b, loc, "onnx.Neg", {x})->getResult(0);
    mlir::func::ReturnOp::create(b, loc, y);
    function.setType(b.getFunctionType({}, {y.getType()}));
  }
};

/// Makes an Abs of what is negated, to no avail.
struct Careless : mlir::RewritePattern {
  explicit Careless(mlir::MLIRContext *context) : RewritePattern("onnx.Neg", 1, context) {}
  mlir::LogicalResult matchAndRewrite(mlir::Operation *op, mlir::PatternRewriter &rewriter) const override {
    createOp(rewriter, op->getLoc(), "onnx.Abs", op->getOperands());
    return mlir::failure();
  }
};

struct NegToAbs : mlir::RewritePattern {
  explicit NegToAbs(mlir::MLIRContext *context) : RewritePattern("onnx.Neg", 1, context) {}
  mlir::LogicalResult matchAndRewrite(mlir::Operation *op, mlir::PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, createOp(rewriter, op->getLoc(), "onnx.Abs", op->getOperands()));
    return mlir::success();
  }
};

TEST_F(Rewriting, APatternThatMatches) {
  mlir::RewritePatternSet patterns(&context);
  patterns.add<NegToAbs>(&context);
  EXPECT_TRUE(mlir::succeeded(rewrite(function, std::move(patterns))));
  EXPECT_EQ(function.getBody().front().back().getOperand(0).getDefiningOp()->getName().getStringRef(), "onnx.Abs");
}

TEST_F(Rewriting, APatternThatChangesAndFails) {
  mlir::RewritePatternSet patterns(&context);
  patterns.add<Careless>(&context);
  EXPECT_DEATH((void)rewrite(function, std::move(patterns)), "the pattern .*Careless changed the program and failed");
}

} // namespace
} // namespace ingot::onnx
