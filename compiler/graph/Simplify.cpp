// Visits each op once: when all its operands have their final types, and are constants if they ever will be. Ops that a
// rewrite puts in front of the current one are visited next. Blocks in regions are walked where their op stands.
#include "compiler/graph/Simplify.h"
#include "compiler/graph/FoldSizes.h"
#include "compiler/graph/ReadSizes.h"
#include "compiler/graph/RowSlice.h"
#include "compiler/graph/SimplifyControl.h"
#include "compiler/graph/SolveSizes.h"
#include "compiler/graph/WidenFloats.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Rewrite.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::graph {

/// The bytes that folding may add to the module: a larger result stays an op unless its operands already take as much
/// memory, or it becomes weights.
static constexpr int64_t foldLimitBytes = 1 << 20, weightLimitBytes = 64 << 20;

static int64_t bytesOfType(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked && ranked.hasStaticShape() ? ranked.getNumElements() * onnx::elementBytes(ranked.getElementType()) : 0;
}

/// Whether no input of a run goes into an op, as far as can be told from a few ops.
static bool isOfConstants(Operation *op) {
  static constexpr size_t most = 64;
  llvm::SmallSetVector<Operation *, 16> ops;
  ops.insert(op);
  for (size_t next = 0; next < ops.size(); ++next) {
    for (Value v : ops[next]->getOperands()) {
      if (!v.getDefiningOp() || v.getDefiningOp()->getNumRegions()) {
        return false;
      }
      ops.insert(v.getDefiningOp());
    }
    if (ops.size() > most) {
      return false;
    }
  }
  return true;
}

/// Whether a product or a convolution takes what is made of `v`, element by element or in another shape, as weights. A
/// kernel packs weights that are constant, and the filters of a resampler take longer to compute than to apply.
static bool becomesWeights(Value v, int depth = 0) {
  static constexpr int deepest = 16;
  return depth < deepest &&
         llvm::any_of(
             v.getUses(),
             [&](OpOperand &use) {
               Operation *op = use.getOwner();
               if (isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::MatMulOp>(op)) {
                 return use.getOperandNumber() == 1;
               }
               bool goesOn =
                   isa<onnx::Elementwise, onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp, onnx::TransposeOp>(op);
               return goesOn && isOfConstants(op) && becomesWeights(op->getResult(0), depth + 1);
             });
}

/// Whether the results are worth having as constants. One value in all places takes no memory at all.
static bool mayFold(Operation *op) {
  if (isa<onnx::ConstantOfShapeOp>(op)) {
    return true;
  }
  // Integer kernels read weights as they are; a value that none of them reads is better computed now than in each run.
  if (isa<onnx::DequantizeOp>(op)) {
    return onnx::isQuantizationDone(op);
  }
  int64_t in = 0, out = 0;
  for (Value v : op->getOperands()) {
    in += bytesOfType(v.getType());
  }
  for (Value v : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type || !type.hasStaticShape()) {
      return false;
    }
    out += bytesOfType(type);
  }
  return out <= std::max(foldLimitBytes, in) ||
         (out <= weightLimitBytes && isOfConstants(op) && becomesWeights(op->getResult(0)));
}

/// Returns the op's results as constants; empty when it cannot be computed.
static SmallVector<ElementsAttr> evaluate(Operation *op) {
  if (!mayFold(op)) {
    return {};
  }
  SmallVector<ElementsAttr> operands, results;
  bool all = true;
  for (Value v : op->getOperands()) {
    operands.push_back(onnx::constantOf(v));
    all &= operands.back() || !onnx::present(v);
  }
  if (auto evaluable = dyn_cast<onnx::Evaluable>(op)) {
    // Ops that look at types only (Shape, Size) answer even when an operand is not a constant.
    return succeeded(evaluable.evaluate(operands, results)) ? results : SmallVector<ElementsAttr>();
  }
  if (all && isa<onnx::Elementwise>(op)) {
    if (ElementsAttr result = onnx::evaluateElementwise(op, operands)) {
      return {result};
    }
  }
  return {};
}

static bool foldToConstants(Operation *op, PatternRewriter &rewriter) {
  SmallVector<ElementsAttr> results = evaluate(op);
  if (results.empty()) {
    return false;
  }
  rewriter.setInsertionPoint(op);
  SmallVector<Value> values;
  for (ElementsAttr result : results) {
    values.push_back(onnx::makeConstant(rewriter, op->getLoc(), result));
  }
  rewriter.replaceOp(op, values);
  return true;
}

static void removeUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions()) {
      removeUnused(region.front());
    }
  }
}
static void removeUnused(func::FuncOp function) { removeUnused(function.getBody().front()); }

/// Collects what must hold for the ops that require it ("a=b" in onnx.requires), and keeps it on the function as sizes
/// that may not be negative. Ops in regions say nothing, since they may not run.
static void collectFacts(func::FuncOp function) {
  support::Facts facts = onnx::factsOf(function);
  auto learn = [&](Operation &op) {
    for (const auto &[sizes, node] : onnx::requirementsOf(&op)) {
      for (const onnx::Size &rest : support::implied(sizes[0], sizes[1])) {
        onnx::Size fact = rest.simplified(facts);
        if (fact.atLeast(0, facts)) {
          continue;
        }
        facts = facts.with({fact});
        onnx::addCheck(function, {{fact}, node});
      }
    }
  };
  learn(*function);
  llvm::for_each(function.getBody().front(), learn);
  onnx::setFacts(function, facts.sizes());
}

/// Whether a run must look at the size of an axis, since it may be negative, or be divided by what may be zero.
static bool mustCheck(const onnx::Size &size, const support::Facts &facts) {
  return !size.isUnknown() && !size.isNumber() && (!size.atLeast(0, facts) || size.divides());
}

/// Keeps what ops require of sizes on the function, or at the end of the branch that they are in: the ops may be
/// replaced by others later.
static void collectChecks(func::FuncOp function) {
  support::Facts facts = onnx::factsOf(function);
  function.walk([&](Operation *op) {
    Operation *owner = op == function ? function : checksOwner(op->getBlock());
    for (const onnx::SizeCheck &requirement : onnx::requirementsOf(op)) {
      if (requirement.sizes[0] != requirement.sizes[1]) { // they may have become equal
        onnx::addCheck(owner, requirement);
      }
    }
    op->removeAttr(onnx::inheritedName);
    for (Value v : op->getResults()) {
      if (auto type = onnx::ranked(v)) {
        for (const onnx::Size &size : onnx::sizesOf(type)) {
          if (mustCheck(size, facts)) {
            onnx::addCheck(owner, {{size}, onnx::nodeOf(op->getLoc())});
          }
        }
      }
    }
  });
}

/// Replaces an op that finds a size by an earlier op that finds the same size.
static bool mergeFinder(Operation *op, PatternRewriter &rewriter) {
  std::optional<onnx::Symbol> symbol;
  if (op->getNumOperands() && op->getNumRegions() == 0) {
    symbol = onnx::dataDependentSizeOf(op);
  }
  if (!symbol) {
    return false;
  }
  auto attributes = [](Operation *finder) {
    NamedAttrList all(finder->getAttrs());
    all.erase(onnx::dataDependentSizeName);
    return all.getDictionary(finder->getContext());
  };
  for (Operation *other : op->getOperand(0).getUsers()) {
    if (other->getName() == op->getName() && other->getBlock() == op->getBlock() && other->isBeforeInBlock(op) &&
        onnx::dataDependentSizeOf(other) && llvm::equal(other->getOperands(), op->getOperands()) &&
        attributes(other) == attributes(op)) {
      onnx::replaceSymbol(op, *symbol, *onnx::dataDependentSizeOf(other));
      rewriter.replaceOp(op, other->getResults());
      return true;
    }
  }
  return false;
}

/// Writes sizes down again, since an earlier round did so without the facts learned since. Returns the op that takes
/// the place.
static Operation *simplifySizes(onnx::SizesOp op, PatternRewriter &rewriter) {
  onnx::Sizes sizes = *onnx::sizesIn(op);
  support::Facts facts = onnx::factsOf(op);
  for (onnx::Size &size : sizes) {
    size = size.simplified(facts);
  }
  if (same(op.getValues().getValues(), sizes)) {
    return op;
  }
  rewriter.setInsertionPoint(op);
  Value made = onnx::makeSizes(rewriter, op.getLoc(), sizes, onnx::ranked(op));
  rewriter.replaceOp(op, made);
  return made.getDefiningOp();
}

/// Replaces an op by simpler ones. What it required of sizes must still hold: its block's owner inherits it.
static LogicalResult rewrite(Operation *op, PatternRewriter &rewriter) {
  std::vector<onnx::SizeCheck> requirements = onnx::requirementsOf(op);
  Operation *owner = checksOwner(op->getBlock());
  auto decompose = [&] {
    auto decomposable = dyn_cast<onnx::Decomposable>(op);
    rewriter.setInsertionPoint(op);
    return decomposable ? decomposable.decompose(rewriter) : failure();
  };
  rewriter.setInsertionPoint(op);
  if (failed(foldSizes(op, rewriter)) && failed(sliceToGather(op, rewriter)) && failed(readSizes(op, rewriter)) &&
      failed(widenFloats(op, rewriter)) && failed(decompose())) {
    return failure();
  }
  for (const onnx::SizeCheck &requirement : requirements) {
    onnx::addCheck(owner, requirement, onnx::inheritedName);
  }
  return success();
}

LogicalResult walkForward(Block &block, PatternRewriter &rewriter) {
  for (Operation *op = &block.front(); op;) {
    Operation *previous = op->getPrevNode();
    static_cast<onnx::PlaceListener *>(rewriter.getListener())->replacing(op);
    auto next = [&] { return previous ? previous->getNextNode() : &block.front(); };
    if (isa<onnx::IfOp, onnx::LoopOp>(op)) {
      Visit visit = simplifyControl(op, rewriter);
      if (visit == Visit::Failed) {
        return failure();
      }
      op = visit == Visit::Replaced ? next() : op->getNextNode();
      continue;
    }
    if (mergeFinder(op, rewriter)) {
      op = next();
      continue;
    }
    if (auto sizes = dyn_cast<onnx::SizesOp>(op)) {
      op = simplifySizes(sizes, rewriter)->getNextNode();
      continue;
    }
    if (failed(onnx::updateTypes(op))) {
      return failure();
    }
    if (!isa<onnx::ConstantOp, onnx::NoneOp>(op) && op->getNumResults() && foldToConstants(op, rewriter)) {
      op = next();
      // The constants stand in the op's place and need no visit.
      while (op && isa<onnx::ConstantOp>(op)) {
        op = op->getNextNode();
      }
      continue;
    }
    op = succeeded(rewrite(op, rewriter)) ? next() : op->getNextNode();
  }
  removeUnused(block);
  return success();
}

static LogicalResult walkForward(func::FuncOp function) {
  removeUnused(function);
  PatternRewriter rewriter(function.getContext());
  onnx::PlaceListener places;
  rewriter.setListener(&places);
  Block &block = function.getBody().front();
  if (failed(walkForward(block, rewriter))) {
    return failure();
  }
  // The results' types are the function's.
  Operation *end = block.getTerminator();
  function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

static bool isMentioned(const onnx::Growth &g, const onnx::SymbolSet &symbols) {
  return (g.inside && symbols.count(*g.inside)) || symbols.count(g.after);
}

/// Returns the data-dependent sizes that ops, types and checks speak of.
static onnx::SymbolSet mentionedSizes(func::FuncOp function) {
  onnx::SymbolSet symbols;
  auto add = [&](const onnx::Size &size) {
    if (size.isDataDependent()) {
      size.eachSymbol([&](onnx::Symbol symbol) { symbols.insert(symbol); });
    }
  };
  function.walk([&](Operation *op) { onnx::walkSizes(op, add, onnx::growsName, /*used=*/true); });
  // Sizes that change in a loop speak of others if they are spoken of.
  for (size_t before = 0; before != symbols.size();) {
    before = symbols.size();
    function.walk([&](onnx::LoopOp loop) {
      for (const onnx::Growth &g : onnx::growthsOf(loop)) {
        if (isMentioned(g, symbols)) {
          add(g.start), add(g.next);
        }
      }
    });
  }
  return symbols;
}

/// Removes what finds a size that nobody mentions: an op of which nobody reads a result, an If's choice, or a loop's
/// growth. Returns whether there was one.
static bool removeIdle(Operation *op, const onnx::SymbolSet &mentioned) {
  if (isa<onnx::IfOp>(op)) {
    SmallVector<onnx::BranchSizes> choices = onnx::choicesOf(op);
    llvm::erase_if(choices, [&](const onnx::BranchSizes &choice) { return !mentioned.count(choice.symbol); });
    bool fewer = choices.size() != onnx::choicesOf(op).size();
    onnx::setChoices(op, choices);
    return fewer;
  }
  if (isa<onnx::LoopOp>(op)) {
    SmallVector<onnx::Growth> growths = onnx::growthsOf(op);
    llvm::erase_if(growths, [&](const onnx::Growth &growth) { return !isMentioned(growth, mentioned); });
    bool fewer = growths.size() != onnx::growthsOf(op).size();
    onnx::setGrowths(op, growths);
    return fewer;
  }
  if (!op->use_empty() || mentioned.count(*onnx::dataDependentSizeOf(op))) {
    return false;
  }
  op->erase();
  return true;
}

/// Removes idle ops that find sizes; other passes keep them, since they look as if they had effects.
static void removeIdleFinders(func::FuncOp function) {
  for (bool again = true; again;) {
    again = false;
    SmallVector<Operation *> finders;
    function.walk([&](Operation *op) {
      if (!onnx::symbolsDefinedBy(op).empty()) {
        finders.push_back(op);
      }
    });
    onnx::SymbolSet mentioned = finders.empty() ? onnx::SymbolSet() : mentionedSizes(function);
    for (Operation *op : finders) {
      again |= removeIdle(op, mentioned);
    }
    if (again) {
      removeUnused(function);
    }
  }
}

void eliminateCommon(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  removeUnused(function);
}

LogicalResult simplify(func::FuncOp function) {
  static constexpr int mostRounds = 4; // each round learns bounds from what the one before requires
  for (int round = 0; round < mostRounds; ++round) {
    Attribute before = function->getAttr(onnx::factsName);
    if (failed(walkForward(function))) {
      return failure();
    }
    collectFacts(function);
    while (round + 1 < mostRounds && solveSizes(function)) {
      if (failed(walkForward(function))) {
        return failure();
      }
    }
    // The rounds end where no fact is new (no bound of a data-dependent size either), or after the last one.
    if (function->getAttr(onnx::factsName) == before || round + 1 == mostRounds) {
      collectChecks(function);
      onnx::setSolved(function);
      break;
    }
  }
  removeIdleFinders(function);
  return success();
}

static bool isSized(func::FuncOp function) {
  return !function
              .walk([](Operation *op) {
                bool sized = llvm::all_of(op->getResults(),
                                          [](Value v) { return !isa<TensorType>(v.getType()) || onnx::isSized(v); });
                return sized ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

LogicalResult findSizes(func::FuncOp function, bool unbounded) {
  // Sizes that have a bound come first, since what they tell may be all that is missing.
  for (bool any : {false, true}) {
    if (isSized(function) || (any && !unbounded)) {
      break;
    }
    onnx::setSizeReading(function, any);
    if (failed(simplify(function))) {
      return failure();
    }
  }
  return success();
}

static std::string whyUnsized(onnx::LoopOp loop, unsigned result) {
  bool known = onnx::isSized(loop.yielded(result).get());
  if (result < loop.carried()) {
    return !onnx::isSized(loop.getInitial()[result]) ? ""
           : !onnx::isSized(loop.argument(result))
               ? "carries a value whose shape changes from one iteration to the next in a way that is unsupported"
           : known ? "carries a value whose shape changes from one iteration to the next, and nothing bounds it: "
                     "--no-allocate forbids to ask for memory"
                   : "";
  }
  return known ? "has a scan output of unsupported size: how often the loop turns is known only when the model runs"
               : "";
}

/// Returns why the result of a control op has no size although all that goes into it has; empty where the reason lies
/// inside.
static std::string whyUnsized(Operation *op, unsigned result) {
  auto sized = [](Value v) { return isa<BlockArgument>(v) || onnx::isSized(v); };
  if (auto branch = dyn_cast<onnx::IfOp>(op)) {
    Value a = branch.getThenBranch().front().getTerminator()->getOperand(result),
          b = branch.getElseBranch().front().getTerminator()->getOperand(result);
    auto text = [](Value v) {
      return onnx::ranked(v) ? onnx::textOf(onnx::sizesOf(onnx::ranked(v))) : "one of any rank";
    };
    return sized(a) && sized(b)
               ? "has branches that give different shapes, which is unsupported: " + text(a) + " and " + text(b)
               : "";
  }
  auto loop = dyn_cast<onnx::LoopOp>(op);
  if (isa<onnx::SqueezeOp>(op) && onnx::isSized(op->getOperand(0)) && !onnx::present(op->getOperand(1))) {
    return "squeezes every axis of size 1 of " + onnx::textOf(onnx::sizesOf(onnx::ranked(op->getOperand(0)))) +
           ", which is unsupported: how many axes are left is known only when the model runs; name the axes, or fix "
           "sizes with --dim";
  }
  if (!loop && !onnx::ranked(op->getResult(result))) {
    return "has a result of unsupported shape: its rank is known only when the model runs";
  }
  if (!loop) {
    return "has a result of unsupported shape: it depends on data that is known only when the model runs";
  }
  return whyUnsized(loop, result);
}

LogicalResult requireSizes(func::FuncOp function) {
  bool ok = true, told = false;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Only the first op of a chain tells something, so ops that follow from an operand are skipped.
    bool follows =
        llvm::any_of(op->getOperands(), [](Value x) { return isa<TensorType>(x.getType()) && !onnx::isSized(x); });
    for (OpResult v : op->getResults()) {
      if (!isa<TensorType>(v.getType()) || onnx::isSized(v)) {
        continue;
      }
      ok = false;
      std::string why = follows ? "" : whyUnsized(op, v.getResultNumber());
      if (!why.empty()) {
        op->emitError(why);
        told = true;
        break;
      }
    }
  });
  return ok || told ? success(ok) : emitError(function.getLoc(), "has values whose sizes are known only when it runs");
}

} // namespace ingot::graph
