#include "compiler/fusion/Fuse.h"
#include "compiler/fusion/Match.h"
#include "compiler/onnx/rewriting/Rewrite.h"

using namespace mlir;

namespace ingot::fusion {

#define FUSION(Name) void populate##Name(RewritePatternSet &patterns);
#include "compiler/fusion/Fusions.inc"
#undef FUSION

LogicalResult fuse(func::FuncOp function, bool strict) {
  RewritePatternSet patterns(function.getContext());
#define FUSION(Name) populate##Name(patterns);
#include "compiler/fusion/Fusions.inc"
#undef FUSION
  SmallVector<std::string> left;
  if (strict) {
    left.push_back(roundsOtherwise.str());
  }
  return onnx::rewrite(function, std::move(patterns), left);
}

} // namespace ingot::fusion
