// Exporters of while loops keep a flag as a number in one place and as a list of one number in another: in both
// branches of an If, or before a loop and behind an iteration. No type has both ranks. But a flag is negated, combined
// with others and at last a condition, so that only its element counts; then it becomes a scalar wherever it is made.
#include "compiler/graph/ScalarRanks.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// Whether values have one element, and rank 0 or 1. A value that a loop carries does if it begins so and each
/// iteration keeps it so.
class OneElement {
public:
  bool has(Value v) {
    if (auto type = onnx::ranked(v)) {
      return type.getRank() == 0 || (type.getRank() == 1 && type.getDimSize(0) == 1);
    }
    if (!assumed.insert(v).second) {
      return true;
    }
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      auto loop = dyn_cast<onnx::LoopOp>(argument.getOwner()->getParentOp());
      return loop && argument.getArgNumber() >= 2 && hasCarried(loop, argument.getArgNumber() - 2);
    }
    Operation *op = v.getDefiningOp();
    unsigned number = cast<OpResult>(v).getResultNumber();
    if (auto branch = dyn_cast<onnx::IfOp>(op)) {
      return hasAllYields(branch, number);
    }
    if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
      return number < loop.carried() && hasCarried(loop, number);
    }
    return isa<onnx::Elementwise>(op) &&
           llvm::all_of(op->getOperands(), [&](Value x) { return !onnx::present(x) || has(x); });
  }

  bool hasAllYields(onnx::IfOp op, unsigned number) {
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return !onnx::failureOf(region.front()) && has(region.front().getTerminator()->getOperand(number));
    });
  }

  bool hasCarried(onnx::LoopOp loop, unsigned number) {
    return has(loop.getInitial()[number]) && has(loop.yielded(number).get());
  }

private:
  llvm::SmallPtrSet<Value, 8> assumed;
};

/// Whether a reader of a value of one element would see its rank, be it 0 or 1.
class RankReaders {
public:
  bool see(Value v) {
    return seen.insert(v).second && llvm::any_of(v.getUses(), [&](OpOperand &use) { return sees(use); });
  }

  bool seeCarried(onnx::LoopOp loop, unsigned number) {
    return see(loop.argument(number)) || see(loop.getResult(number));
  }

private:
  llvm::SmallPtrSet<Value, 8> seen;

  bool sees(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<onnx::IfOp>(op)) {
      return false;
    }
    if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
      unsigned first = loop.getInitial().getBeginOperandIndex();
      return use.getOperandNumber() >= first && seeCarried(loop, use.getOperandNumber() - first);
    }
    if (isa<onnx::YieldOp>(op)) {
      return yieldSees(op->getParentOp(), use.getOperandNumber());
    }
    if (isa<onnx::ReshapeOp>(op) && use.getOperandNumber() == 0) {
      auto shape = onnx::integersOf(op->getOperand(1));
      return !shape || llvm::is_contained(*shape, 0); // the size is kept
    }
    if (!isa<onnx::Elementwise>(op)) {
      return true;
    }
    bool isCovered = llvm::any_of(op->getOperands(), [&](Value x) {
      auto type = onnx::ranked(x);
      return x != use.get() && type && type.getRank() > 0;
    });
    return !isCovered && see(op->getResult(0));
  }

  bool yieldSees(Operation *parent, unsigned number) {
    auto loop = dyn_cast<onnx::LoopOp>(parent);
    if (!loop) {
      return see(parent->getResult(number));
    }
    bool isCarried = number > 0 && number <= loop.carried();
    return number > loop.carried() || (isCarried && seeCarried(loop, number - 1));
  }
};

} // namespace

static void makeScalar(OpOperand &use, PatternRewriter &rewriter) {
  rewriter.setInsertionPoint(use.getOwner());
  Value scalar = onnx::Formula(rewriter, use.getOwner()->getLoc()).reshape(use.get(), {});
  rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(scalar); });
}

bool makeScalars(onnx::IfOp op, PatternRewriter &rewriter) {
  bool changed = false;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (onnx::ranked(op.getResult(i)) || !OneElement().hasAllYields(op, i) || RankReaders().see(op.getResult(i))) {
      continue;
    }
    for (Region &region : op->getRegions()) {
      makeScalar(region.front().getTerminator()->getOpOperand(i), rewriter);
    }
    changed = true;
  }
  return changed;
}

bool makeScalars(onnx::LoopOp loop, PatternRewriter &rewriter) {
  bool changed = false;
  for (unsigned i = 0; i < loop.carried(); ++i) {
    if (onnx::ranked(loop.argument(i)) || !OneElement().hasCarried(loop, i) || RankReaders().seeCarried(loop, i)) {
      continue;
    }
    makeScalar(loop.getInitialMutable()[i], rewriter);
    makeScalar(loop.yielded(i), rewriter);
    changed = true;
  }
  return changed;
}

} // namespace ingot::graph
