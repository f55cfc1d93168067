#include "compiler/fusion/Fuse.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ingot::fusion {

#define FUSION(Name) void populate##Name(RewritePatternSet &patterns);
#include "compiler/fusion/Fusions.inc"
#undef FUSION

LogicalResult fuse(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
#define FUSION(Name) populate##Name(patterns);
#include "compiler/fusion/Fusions.inc"
#undef FUSION
  GreedyRewriteConfig config;
  config.enableConstantCSE(false); // weights are large; equal ones are one attribute already
  return applyPatternsGreedily(function, std::move(patterns), config);
}

} // namespace ingot::fusion
