#include "compiler/partition/Roles.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/plan/Plan.h"

using namespace mlir;

namespace ingot::partition {

bool isView(Operation &op) {
  auto view = dyn_cast<onnx::View>(op);
  return view && view.viewOffset();
}

bool isParameterUse(OpOperand &use) {
  auto parametric = dyn_cast<onnx::Parametric>(use.getOwner());
  bool toView = isView(*use.getOwner()) && use.getOperandNumber() > 0; // the operand is a shape, and not what is viewed
  return toView || (parametric && parametric.isParameter(use.getOperandNumber()));
}

/// Whether nobody reads an op's result as a tensor, so that it needs no kernel.
static bool isParameterOnly(Operation &op) {
  return isa<onnx::SizesOp>(op) && llvm::all_of(op.getUses(), isParameterUse);
}

bool isComputed(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         !isa<onnx::ConstantOp, onnx::NoneOp, onnx::IfOp, onnx::LoopOp, onnx::FailOp, plan::KernelOp>(op) &&
         !isView(op) && !isParameterOnly(op) && !onnx::makesKeptWeights(&op);
}

std::vector<Block *> blocksOf(Operation *function) {
  std::vector<Block *> blocks;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && !isa<onnx::IfOp, onnx::LoopOp>(op)) {
      return WalkResult::skip();
    }
    for (Region &region : op->getRegions()) {
      blocks.push_back(&region.front());
    }
    return WalkResult::advance();
  });
  return blocks;
}

Value viewed(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isView(*op)) {
      break;
    }
    v = op->getOperand(0);
  }
  return v;
}

} // namespace ingot::partition
