// Branches are simplified on their own: one that turns out to contradict itself becomes an onnx.Fail. A loop's body is
// simplified under the types that all iterations share; then ops that compute the same in every iteration are moved in
// front of it, except those that may fail on data: they must not run when no iteration does.
//
// Exporters ask "is this axis 1?" and go on with one axis less or not: results of different ranks. The ops behind such
// an If are taken into its branches, one after the other, until the ranks of all results are the same again, or a
// branch cannot be computed. Where a rank reaches the end of the model and the answer depends on its symbols, the
// branch for equal sizes is taken, and a run for which they are not equal is not let in.
#include "compiler/graph/SimplifyControl.h"
#include "compiler/graph/ReadSizes.h"
#include "compiler/graph/ScalarRanks.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace ingot::graph {

Operation *checksOwner(Block *block) {
  while (!isa<func::FuncOp>(block->getParentOp())) {
    if (isa<onnx::IfOp>(block->getParentOp())) {
      return block->getTerminator();
    }
    block = block->getParentOp()->getBlock();
  }
  return block->getParentOp();
}

/// Moves the ops of a region's block in front of `op`, whose results become `results`.
static void inlineBlock(Block &block, Operation *op, ValueRange results, PatternRewriter &rewriter) {
  SmallVector<Value> values(results);
  for (Operation &inner : llvm::make_early_inc_range(block.without_terminator())) {
    inner.moveBefore(op);
  }
  rewriter.replaceOp(op, values);
}

static std::optional<bool> truthOf(Value condition) {
  auto value = onnx::integersOf(condition);
  return value && value->size() == 1 ? std::optional(value->front() != 0) : std::nullopt;
}

/// Makes a condition or trip count that is not known to have one element a value that has, which the run checks. It is
/// an operand of `owner`, or of the end of its region.
static bool makeNumber(OpOperand &use, Operation *owner, PatternRewriter &rewriter) {
  Value v = use.get();
  if (!onnx::present(v) || onnx::isStatic(v)) {
    return false;
  }
  rewriter.setInsertionPoint(use.getOwner());
  Value number = onnx::Formula(rewriter, owner->getLoc()).reshape(v, {});
  rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(number); });
  return true;
}

// These simplify an If.

static Visit takeBranch(onnx::IfOp op, bool condition, PatternRewriter &rewriter) {
  Block &branch = (condition ? op.getThenBranch() : op.getElseBranch()).front();
  if (onnx::FailOp fail = onnx::failureOf(branch)) {
    op.emitOpError("always takes a branch that cannot be computed: ") << fail.getWhy();
    return Visit::Failed;
  }
  Operation *end = branch.getTerminator();
  for (StringRef attribute : {onnx::checksName, onnx::inheritedName}) {
    for (const onnx::SizeCheck &check : onnx::checksOf(end, attribute)) {
      onnx::addCheck(checksOwner(op->getBlock()), check, attribute);
    }
  }
  for (const onnx::BranchSizes &choice : onnx::choicesOf(op)) {
    onnx::replaceSymbol(op, choice.symbol, choice.sizes[condition ? 0 : 1]);
  }
  inlineBlock(branch, op, end->getOperands(), rewriter);
  return Visit::Replaced;
}

/// Whether the value is a result of an If whose branches give it sizes that no common type has.
static bool isSplit(Value v) {
  auto op = v.getDefiningOp<onnx::IfOp>();
  return op && !onnx::isSized(v) && llvm::all_of(op->getRegions(), [&](Region &region) {
           Value inner = region.front().getTerminator()->getOperand(cast<OpResult>(v).getResultNumber());
           return onnx::isSized(inner) || isSplit(inner);
         });
}
static bool disagree(onnx::IfOp op) { return llvm::any_of(op.getOuts(), isSplit); }

/// Returns the op of the If's block that reads a result first; null: only the block's end does.
static Operation *firstReader(onnx::IfOp op) {
  Operation *first = op->getBlock()->getTerminator();
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    first = here->isBeforeInBlock(first) ? here : first;
  }
  return first == op->getBlock()->getTerminator() ? nullptr : first;
}

static int64_t countOps(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// Adds a copy of `reader`, which reads results of `op`, to the end of a branch of `op`.
static void append(Block &branch, onnx::IfOp op, Operation *reader, PatternRewriter &rewriter) {
  Operation *end = branch.getTerminator();
  IRMapping map;
  map.map(op->getResults(), end->getOperands());
  rewriter.setInsertionPoint(end);
  Operation *copy = rewriter.clone(*reader, map);
  SmallVector<Value> yields(end->getOperands());
  yields.append(copy->result_begin(), copy->result_end());
  end->setOperands(yields);
}

/// Takes the first op that reads a result into both branches. Returns false where that would make them too large, or
/// where the op finds a size, which would have two meanings then.
static bool moveReaderIntoBranches(onnx::IfOp op, PatternRewriter &rewriter) {
  constexpr int64_t mostOps = 1000;
  Operation *reader = firstReader(op);
  if (!reader || countOps(op) + 2 * countOps(reader) > mostOps || !onnx::symbolsDefinedBy(reader).empty() ||
      !onnx::symbolsDefinedInside(reader).empty()) {
    return false;
  }
  SmallVector<Type> types(op->getResultTypes());
  llvm::append_range(types, reader->getResultTypes());
  rewriter.setInsertionPoint(reader);
  auto wide = onnx::IfOp::create(rewriter, op.getLoc(), types, op.getCondition());
  wide->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), wide->getRegions())) {
    to.takeBody(from);
    if (onnx::FailOp fail = onnx::failureOf(to.front())) {
      onnx::failInstead(to.front(), fail.getWhy().str());
    } else {
      append(to.front(), op, reader, rewriter);
    }
  }
  rewriter.replaceOp(reader, wide->getResults().take_back(reader->getNumResults()));
  rewriter.replaceOp(op, wide->getResults().take_front(op->getNumResults()));
  return true;
}

/// Takes the branch for sizes that are equal; a run in which they are not equal is refused.
static Visit requireEqual(onnx::IfOp op, PatternRewriter &rewriter) {
  auto [sizes, then] = *onnx::equalityOf(op.getCondition());
  onnx::addCheck(checksOwner(op->getBlock()), {{sizes.first, sizes.second}, onnx::nodeOf(op.getLoc())},
                 onnx::inheritedName);
  return takeBranch(op, then, rewriter);
}

/// Whether the If asks for equal sizes, and cannot be computed if they are not.
static bool failsUnlessEqual(onnx::IfOp op) {
  auto equality = onnx::equalityOf(op.getCondition());
  return equality && onnx::failureOf(op->getRegion(equality->second ? 1 : 0).front()) &&
         !onnx::failureOf(op->getRegion(equality->second ? 0 : 1).front());
}

/// Whether `more` is `fewer` and an axis of `size`.
static bool isWithAxis(ArrayRef<onnx::Size> more, ArrayRef<onnx::Size> fewer, const onnx::Size &size) {
  for (size_t axis = 0; more.size() == fewer.size() + 1 && axis < more.size(); ++axis) {
    if (more[axis] == size && more.take_front(axis) == fewer.take_front(axis) &&
        more.drop_front(axis + 1) == fewer.drop_front(axis)) {
      return true;
    }
  }
  return false;
}

/// Lets results keep an axis that is left out where its size is 1, as behind a Squeeze without axes, if the model
/// declares for all of them that they have it.
static bool keepAxes(onnx::IfOp op, PatternRewriter &rewriter) {
  auto equality = onnx::equalityOf(op.getCondition());
  if (!equality || (!equality->first.first.is(1) && !equality->first.second.is(1))) {
    return false;
  }
  const auto &[a, b] = equality->first;
  Operation *equal = op->getRegion(equality->second ? 0 : 1).front().getTerminator(),
            *other = op->getRegion(equality->second ? 1 : 0).front().getTerminator();
  SmallVector<unsigned> split;
  for (auto [i, v] : llvm::enumerate(op->getResults())) {
    if (!isSplit(v)) {
      continue;
    }
    Value fewer = equal->getOperand(i), more = other->getOperand(i);
    if (!onnx::isSized(fewer) || !onnx::isSized(more) || !(onnx::declaredRank(v) >= onnx::ranked(more).getRank()) ||
        !isWithAxis(onnx::sizesOf(onnx::ranked(more)), onnx::sizesOf(onnx::ranked(fewer)), a.is(1) ? b : a)) {
      return false;
    }
    split.push_back(i);
  }
  rewriter.setInsertionPoint(equal);
  onnx::Formula f(rewriter, op.getLoc());
  for (unsigned i : split) {
    equal->setOperand(i, f.reshapeTo(equal->getOperand(i), onnx::sizesOf(onnx::ranked(other->getOperand(i)))));
  }
  return true;
}

/// Decides about an If whose ranks differ and reach the end of its block.
static Visit decideSplitRanks(onnx::IfOp op, PatternRewriter &rewriter) {
  // It says that the If around this one could do nothing either.
  static constexpr StringRef cannotMoveName = "onnx.cannot_move";
  bool inIf = isa<onnx::IfOp>(op->getParentOp()) && !firstReader(op);
  if (inIf && !op->hasAttr(cannotMoveName)) {
    return Visit::Kept; // ops that read that one's results will be taken in
  }
  if (keepAxes(op, rewriter)) {
    return Visit::Replaced;
  }
  if (auto equality = onnx::equalityOf(op.getCondition())) {
    const auto &[a, b] = equality->first;
    InFlightDiagnostic warning = op.emitWarning("gives other shapes where sizes are equal: only runs with ")
                                 << a.text() << "=" << b.text() << " are let in";
    a.eachSymbol([&](support::Symbol symbol) {
      onnx::Size equal = b - (a - onnx::Size(symbol)); // the symbol's value then
      if (equal.isNumber()) {
        warning << ", and --dim " << symbol.str() << "=" << equal.number() + 1 << ".. lets in larger ones";
      }
    });
    return requireEqual(op, rewriter);
  }
  bool again = false;
  for (Region &region : op->getRegions()) {
    for (Value v : region.front().getTerminator()->getOperands()) {
      if (isSplit(v) && !v.getDefiningOp()->hasAttr(cannotMoveName)) {
        v.getDefiningOp()->setAttr(cannotMoveName, rewriter.getUnitAttr());
        again = true;
      }
    }
  }
  return again ? Visit::Replaced : Visit::Kept;
}

/// Leaves out outputs that nobody reads, and those that are the same value in both branches.
static bool removeUnreadResults(onnx::IfOp op, PatternRewriter &rewriter) {
  Operation *ends[] = {op.getThenBranch().front().getTerminator(), op.getElseBranch().front().getTerminator()};
  llvm::BitVector keep(op.getNumResults());
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (ends[0]->getOperand(i) == ends[1]->getOperand(i)) {
      rewriter.replaceAllUsesWith(op.getResult(i), ends[0]->getOperand(i));
    }
    keep[i] = !op.getResult(i).use_empty();
  }
  if (keep.all()) {
    return false;
  }
  SmallVector<Type> types;
  for (unsigned i : keep.set_bits()) {
    types.push_back(op.getResult(i).getType());
  }
  rewriter.setInsertionPoint(op);
  auto narrow = onnx::IfOp::create(rewriter, op.getLoc(), types, op.getCondition());
  narrow->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), narrow->getRegions())) {
    to.takeBody(from);
    Operation *end = to.front().getTerminator();
    SmallVector<Value> kept;
    for (unsigned i : keep.set_bits()) {
      kept.push_back(end->getOperand(i));
    }
    if (onnx::FailOp fail = onnx::failureOf(to.front())) {
      onnx::failInstead(to.front(), fail.getWhy().str());
    } else {
      end->setOperands(kept);
    }
  }
  for (auto [n, i] : llvm::enumerate(keep.set_bits())) {
    rewriter.replaceAllUsesWith(op.getResult(i), narrow.getResult(n));
  }
  rewriter.eraseOp(op);
  return true;
}

static Visit simplifyIf(onnx::IfOp op, PatternRewriter &rewriter) {
  if (auto condition = truthOf(op.getCondition())) {
    return takeBranch(op, *condition, rewriter);
  }
  if (makeNumber(op.getConditionMutable(), op, rewriter)) {
    return Visit::Replaced;
  }
  if (failed(onnx::updateTypes(op))) {
    return Visit::Failed;
  }
  for (Region &region : op->getRegions()) {
    Block &branch = region.front();
    if (onnx::failureOf(branch)) {
      continue;
    }
    std::string error = onnx::firstError(op.getContext(), [&] { return walkForward(branch, rewriter); });
    if (!error.empty()) {
      onnx::failInstead(branch, error);
    }
  }
  if (failed(onnx::updateTypes(op))) {
    return Visit::Failed;
  }
  if (failsUnlessEqual(op)) {
    return requireEqual(op, rewriter);
  }
  if (removeUnreadResults(op, rewriter) || makeScalars(op, rewriter)) {
    return Visit::Replaced;
  }
  return !disagree(op)                          ? Visit::Kept
         : moveReaderIntoBranches(op, rewriter) ? Visit::Replaced
                                                : decideSplitRanks(op, rewriter);
}

// These simplify a Loop.

/// Returns whether the loop has at least one iteration; nothing where that is not known.
static std::optional<bool> hasIterations(onnx::LoopOp loop) {
  auto condition = onnx::present(loop.getCondition()) ? truthOf(loop.getCondition()) : true;
  std::optional<int64_t> trips = onnx::constantTrips(loop);
  if (condition == false || (trips && *trips <= 0)) {
    return false;
  }
  bool some = !onnx::present(loop.getTrips()) || trips;
  return condition == true && some ? std::optional(true) : std::nullopt;
}

/// Returns the number of iterations where it is known to be 0 or 1.
static std::optional<int> fewIterations(onnx::LoopOp loop) {
  bool once = onnx::constantTrips(loop) == 1 || truthOf(loop.continues().get()) == false;
  std::optional<bool> iterations = hasIterations(loop);
  return iterations == false ? std::optional(0) : iterations == true && once ? std::optional(1) : std::nullopt;
}

/// Writes numbers for the data-dependent sizes of a loop of no or one iteration, which no run has to find any more.
static void replaceLoopSizes(onnx::LoopOp loop, int64_t times) {
  if (std::optional<onnx::Symbol> symbol = onnx::dataDependentSizeOf(loop)) {
    onnx::replaceSymbol(loop, *symbol, times);
  }
  for (const onnx::Growth &g : onnx::growthsOf(loop)) {
    if (g.inside) {
      onnx::replaceSymbol(loop, *g.inside, g.start);
    }
  }
  for (const onnx::Growth &g : onnx::growthsOf(loop)) {
    if (times == 0 || !g.next.isUnknown()) {
      onnx::replaceSymbol(loop, g.after, times == 0 ? g.start : g.next);
    }
  }
}

static Visit removeLoop(onnx::LoopOp loop, PatternRewriter &rewriter) {
  SmallVector<Value> results(loop.getInitial());
  for (unsigned i = loop.carried(); i < loop.getNumResults(); ++i) {
    auto type = onnx::ranked(loop.getResult(i));
    if (!type || llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic)) {
      return Visit::Kept;
    }
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = 0;
    results.push_back(onnx::makeConstant(rewriter, loop.getLoc(),
                                         onnx::constantFromBytes(onnx::tensorOf(shape, type.getElementType()), {})));
  }
  replaceLoopSizes(loop, 0);
  rewriter.replaceOp(loop, results);
  return Visit::Replaced;
}

static Visit inlineOnlyIteration(onnx::LoopOp loop, PatternRewriter &rewriter) {
  auto constant = [&](Value like, int64_t v) {
    return onnx::makeConstant(rewriter, loop.getLoc(), onnx::constantFromIntegers(onnx::ranked(like), {v}));
  };
  rewriter.replaceAllUsesWith(loop.number(), constant(loop.number(), 0));
  rewriter.replaceAllUsesWith(loop.enters(), constant(loop.enters(), 1));
  for (unsigned i = 0; i < loop.carried(); ++i) {
    rewriter.replaceAllUsesWith(loop.argument(i), loop.getInitial()[i]);
  }
  for (Operation &inner : llvm::make_early_inc_range(loop.block().without_terminator())) {
    inner.moveBefore(loop);
  }
  SmallVector<Value> results;
  Value front = onnx::makeIntegers(rewriter, loop.getLoc(), {0});
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value v = loop.yielded(i).get();
    results.push_back(i < loop.carried() ? v : onnx::make<onnx::UnsqueezeOp>(rewriter, loop.getLoc(), {v, front}));
  }
  replaceLoopSizes(loop, 1);
  rewriter.replaceOp(loop, results);
  return Visit::Replaced;
}

/// Replaces carried values that no iteration changes by their initial values, and leaves out those that nobody reads,
/// as well as scan outputs that nobody reads.
static bool removeUnreadResults(onnx::LoopOp loop, PatternRewriter &rewriter) {
  llvm::BitVector keep(loop.getNumResults(), true);
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (i < loop.carried()) {
      Value argument = loop.argument(i), initial = loop.getInitial()[i], next = loop.yielded(i).get();
      if (next == argument || next == initial) {
        rewriter.replaceAllUsesWith(argument, initial);
        rewriter.replaceAllUsesWith(loop.getResult(i), initial);
      }
      bool onlyForItself =
          llvm::all_of(loop.argument(i).getUses(), [&](OpOperand &use) { return &use == &loop.yielded(i); });
      keep[i] = !loop.getResult(i).use_empty() || !onlyForItself;
    } else {
      keep[i] = !loop.getResult(i).use_empty();
    }
  }
  if (keep.all()) {
    return false;
  }
  onnx::narrowLoop(rewriter, loop, keep);
  return true;
}

/// Whether two types have different ranks, or a size that is not the same number.
static bool differ(RankedTensorType a, RankedTensorType b) {
  return !a || !b || a.getRank() != b.getRank() ||
         llvm::any_of(llvm::zip_equal(onnx::sizesOf(a), onnx::sizesOf(b)), [](auto pair) {
           const auto &[s, t] = pair;
           return !(s == t) && (s.isNumber() || t.isNumber());
         });
}

/// Gives an initial value the shape of what follows it. Exporters of while loops carry values that are only made
/// inside, and begin with any value, perhaps a number. Where the loop has an iteration nobody sees that value, so that
/// its shape does not matter.
static bool shapePlaceholders(onnx::LoopOp loop, PatternRewriter &rewriter) {
  if (hasIterations(loop) != true) {
    return false;
  }
  bool changed = false;
  onnx::SymbolSet inner = onnx::symbolsDefinedInside(loop);
  rewriter.setInsertionPoint(loop);
  onnx::Formula f(rewriter, loop.getLoc());
  for (unsigned i = 0; i < loop.carried(); ++i) {
    auto next = onnx::ranked(loop.yielded(i).get());
    bool isMade = next && !onnx::isString(next.getElementType()) && onnx::isSized(loop.yielded(i).get());
    if (!isMade || !loop.argument(i).use_empty() || !differ(onnx::ranked(loop.getInitial()[i]), next) ||
        llvm::any_of(onnx::sizesOf(next), [&](const onnx::Size &s) { return onnx::mentionsAny(s, inner); })) {
      continue;
    }
    Value placeholder = f.zeros(onnx::sizesOf(next), next.getElementType());
    rewriter.modifyOpInPlace(loop, [&] { loop.getInitialMutable()[i].set(placeholder); });
    changed = true;
  }
  return changed;
}

/// Whether the op may fail on data, or does nothing, or speaks of sizes that the iteration finds.
static bool mustStay(Operation *op, const onnx::SymbolSet &symbols) {
  bool stays = onnx::mentionsAny(op, symbols);
  op->walk([&](Operation *inner) {
    stays |= isa<onnx::Indexer, onnx::FailOp, onnx::LoopOp>(inner) || inner->hasTrait<OpTrait::IsTerminator>();
  });
  return stays || !isMemoryEffectFree(op);
}

static bool hoist(onnx::LoopOp loop) {
  bool moved = false;
  onnx::SymbolSet defined = onnx::symbolsDefinedInside(loop);
  for (Operation &op : llvm::make_early_inc_range(loop.block().without_terminator())) {
    bool same = true;
    onnx::eachOutsideOperand(&op, [&](OpOperand &use) {
      Operation *home = use.get().getParentBlock()->getParentOp();
      same &= !loop->isAncestor(home);
    });
    if (same && !mustStay(&op, defined)) {
      op.moveBefore(loop);
      moved = true;
    }
  }
  return moved;
}

static Visit simplifyLoop(onnx::LoopOp loop, PatternRewriter &rewriter) {
  bool asks = makeNumber(loop.getTripsMutable(), loop, rewriter);
  asks |= makeNumber(loop.getConditionMutable(), loop, rewriter);
  if (asks) {
    return Visit::Replaced;
  }
  makeNumber(loop.continues(), loop, rewriter);
  if (failed(onnx::updateTypes(loop))) {
    return Visit::Failed;
  }
  if (succeeded(readSizes(loop, rewriter))) {
    return Visit::Replaced;
  }
  rewriter.setInsertionPoint(loop);
  std::optional<int> iterations = fewIterations(loop);
  if (iterations == 0) {
    if (Visit visit = removeLoop(loop, rewriter); visit != Visit::Kept) {
      return visit;
    }
  } else if (iterations == 1) {
    return inlineOnlyIteration(loop, rewriter);
  }
  if (!loop.enters().use_empty()) {
    rewriter.setInsertionPointToStart(&loop.block());
    auto type = onnx::ranked(loop.enters());
    rewriter.replaceAllUsesWith(loop.enters(),
                                onnx::makeConstant(rewriter, loop.getLoc(), onnx::constantFromIntegers(type, {1})));
  }
  if (failed(walkForward(loop.block(), rewriter)) || failed(onnx::updateTypes(loop))) {
    return Visit::Failed;
  }
  bool again = iterations != fewIterations(loop);
  again |= hoist(loop);
  again |= shapePlaceholders(loop, rewriter);
  again |= makeScalars(loop, rewriter);
  again |= removeUnreadResults(loop, rewriter);
  return again ? Visit::Replaced : Visit::Kept;
}

Visit simplifyControl(Operation *op, PatternRewriter &rewriter) {
  auto branch = dyn_cast<onnx::IfOp>(op);
  return branch ? simplifyIf(branch, rewriter) : simplifyLoop(cast<onnx::LoopOp>(op), rewriter);
}

} // namespace ingot::graph
