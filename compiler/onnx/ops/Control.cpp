// Infers types through regions: a control op infers the types of everything inside. LoopSizes.cpp finds the types that
// a loop's iterations share.
//
//   If, results of [2] and of [n]        an axis whose size the run chooses, 2 or n (chosenSize)
//   Loop of 3 iterations, slices [n]     a scan output of [3, n]
//   Loop with a condition                a scan output of [k, n], where k is a data-dependent size
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Messages.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/LoopSizes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/BitVector.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Control.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// These help other ops.

/// An op's own operands count, and those that ops in its regions read from around it.
void eachOutsideOperand(Operation *op, llvm::function_ref<void(OpOperand &)> f) {
  op->walk([&](Operation *inner) {
    for (OpOperand &use : inner->getOpOperands()) {
      Block *home = use.get().getParentBlock();
      Operation *owner = home->getParentOp();
      bool inside = owner && op != inner && op->isAncestor(owner);
      if (!inside) {
        f(use);
      }
    }
  });
}

/// A fused location has several names, of which the first is the node whose op stayed.
std::string nodeOf(Location loc) {
  std::string node;
  loc->walk([&](Location l) {
    if (auto named = dyn_cast<NameLoc>(l); named && node.empty()) {
      node = named.getName().str();
    }
    return WalkResult::advance();
  });
  return node;
}

void eachNode(Location loc, llvm::function_ref<void(StringRef, StringRef)> f) {
  loc->walk([&](Location l) {
    auto named = dyn_cast<NameLoc>(l);
    auto op = named ? dyn_cast<NameLoc>(named.getChildLoc()) : NameLoc(); // "Conv, opset 17"
    if (!op) {
      return WalkResult::advance();
    }
    f(named.getName().strref(), op.getName().strref().split(',').first);
    return WalkResult::skip();
  });
}

/// Errors are kept from the user: a branch that cannot be computed is no error of the model, as long as another one
/// can.
std::string firstError(MLIRContext *context, llvm::function_ref<LogicalResult()> f) {
  std::string text;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &d) {
    if (d.getSeverity() != DiagnosticSeverity::Error) {
      return failure(); // the location belongs to something else
    }
    if (text.empty()) {
      std::string node = nodeOf(d.getLocation());
      text = (node.empty() ? "" : "node '" + node + "': ") + withStrings(d.str());
    }
    return success();
  });
  LogicalResult ok = f();
  return succeeded(ok) ? "" : text.empty() ? "it cannot be computed" : text;
}

FailOp failureOf(Block &branch) { return branch.empty() ? FailOp() : dyn_cast<FailOp>(branch.front()); }

/// The branch keeps its results, which onnx.Fail makes of nothing, so that the If stays well formed.
void failInstead(Block &branch, StringRef why) {
  Operation *owner = branch.getParentOp();
  while (!branch.empty()) {
    branch.back().dropAllUses();
    branch.back().erase();
  }
  OpBuilder b = OpBuilder::atBlockEnd(&branch);
  auto fail = FailOp::create(b, owner->getLoc(), owner->getResultTypes(), why);
  YieldOp::create(b, owner->getLoc(), fail.getOuts());
}

/// What differs becomes unknown: [2, n] and [3, n] are [?, n], and ranks that differ leave no rank.
TensorType join(Type a, Type b) {
  if (a == b) {
    return cast<TensorType>(a);
  }
  if (getElementTypeOrSelf(a) != getElementTypeOrSelf(b)) {
    return {};
  }
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  if (!x || !y || x.getRank() != y.getRank()) {
    return unrankedOf(getElementTypeOrSelf(a));
  }
  Sizes sizes = sizesOf(x);
  for (auto [s, t] : llvm::zip_equal(sizes, sizesOf(y))) {
    s = s == t ? s : Size::unknown();
  }
  return sizedType(sizes, x.getElementType());
}

/// Follows the condition through negations and casts to a comparison of two sizes that the caller chooses. The boolean
/// says whether the condition holds where they are equal, or where they differ.
std::optional<std::pair<std::pair<Size, Size>, bool>> equalityOf(Value condition) {
  bool equal = true;
  while (Operation *op = condition.getDefiningOp()) {
    if (isa<EqualOp>(op)) {
      auto a = sizesIn(op->getOperand(0)), b = sizesIn(op->getOperand(1));
      if (!a || !b || a->size() != 1 || b->size() != 1 || a->front().isDataDependent() ||
          b->front().isDataDependent()) {
        return std::nullopt;
      }
      return std::make_pair(std::make_pair(a->front(), b->front()), equal);
    }
    if (!isa<NotOp, CastOp, IdentityOp, ReshapeOp>(op)) {
      return std::nullopt;
    }
    equal ^= isa<NotOp>(op);
    condition = op->getOperand(0);
  }
  return std::nullopt;
}

/// The loop has no condition of its own: its body hands on the one that it got, which holds.
std::optional<int64_t> constantTrips(LoopOp loop) {
  auto trips = present(loop.getTrips()) ? integersOf(loop.getTrips()) : std::nullopt;
  return trips && trips->size() == 1 ? std::optional(trips->front()) : std::nullopt;
}

LoopOp makeLoop(OpBuilder &b, Location loc, Value trips, ValueRange initial, ArrayRef<Type> scans,
                llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  OperationState made(loc, LoopOp::getOperationName());
  made.addOperands({trips, makeNone(b, loc)});
  made.addOperands(initial);
  made.addTypes(initial.getTypes());
  for (Type element : scans) {
    made.addTypes(unrankedOf(element));
  }
  Block &block = made.addRegion()->emplaceBlock();
  block.addArguments({tensorOf({}, b.getI64Type()), tensorOf({}, b.getI1Type())}, {loc, loc});
  block.addArguments(initial.getTypes(), SmallVector<Location>(initial.size(), loc));
  auto loop = cast<LoopOp>(b.create(made));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  SmallVector<Value> yielded = {loop.enters()};
  yielded.append(body(loop.number(), block.getArguments().drop_front(2)));
  YieldOp::create(b, loc, yielded);
  (void)updateTypes(loop); // a failure has been reported
  return loop;
}

/// The body moves to a new loop with fewer results; an argument that is left out must not be read any more.
LoopOp narrowLoop(RewriterBase &rewriter, LoopOp loop, const llvm::BitVector &keep) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> initial;
  SmallVector<Type> types;
  Operation *end = loop.block().getTerminator();
  SmallVector<Value> yields = {end->getOperand(0)};
  llvm::BitVector dead(loop.block().getNumArguments());
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (keep[i]) {
      types.push_back(loop.getResult(i).getType());
      yields.push_back(end->getOperand(1 + i));
    }
    if (i < loop.carried() && keep[i]) {
      initial.push_back(loop.getInitial()[i]);
    } else if (i < loop.carried()) {
      // The arguments before it are the number of the iteration and the condition.
      dead.set(2 + i);
    }
  }
  rewriter.modifyOpInPlace(end, [&] { end->setOperands(yields); });
  auto narrow = LoopOp::create(rewriter, loop.getLoc(), types, loop.getTrips(), loop.getCondition(), initial);
  narrow->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  narrow.getBody().takeBody(loop.getBody());
  narrow.block().eraseArguments(dead);
  unsigned next = 0;
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (keep[i]) {
      rewriter.replaceAllUsesWith(loop.getResult(i), narrow.getResult(next++));
    }
  }
  rewriter.eraseOp(loop);
  return narrow;
}

/// Infers the types of all ops of a block, in order.
static LogicalResult updateAll(Block &block) {
  for (Operation &op : block) {
    if (failed(updateTypes(&op))) {
      return failure();
    }
  }
  return success();
}

// If and Loop find sizes for the run even where nothing reads their results, so they have an effect.

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
static void addSizeEffect(Operation *op, Effects &effects) {
  if (!symbolsDefinedBy(op).empty()) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

void IfOp::getEffects(Effects &effects) { addSizeEffect(*this, effects); }
void LoopOp::getEffects(Effects &effects) { addSizeEffect(*this, effects); }

// These belong to If.

LogicalResult IfOp::verify() {
  for (Region &region : getOperation()->getRegions()) {
    if (region.front().empty() || !isa<YieldOp>(region.front().back())) {
      return emitOpError("has a branch that does not end with a yield");
    }
    if (region.front().back().getNumOperands() != getNumResults()) {
      return emitOpError("has ") << getNumResults() << " outputs, but a branch gives "
                                 << region.front().back().getNumOperands();
    }
  }
  return success();
}

/// Returns one size where two are equal, and another where they are not. With d = min(1, |a - b|), which is 0 where a =
/// b and else 1, it is max(equal * (1 - d), other * d).
static Size sizeByEquality(const std::pair<Size, Size> &sizes, const Size &equal, const Size &other) {
  Size difference = sizes.first - sizes.second;
  if (divideExactly(equal - other, difference)) { // both are the same where the two are equal
    return other;
  }
  Size differ = min(Size(1), max(difference, Size(0) - difference)); // 0 or 1
  return max(equal - equal * differ, other * differ);
}

/// Returns the size of a result's axis behind the If from those in both branches (null: the branch fails). It is a size
/// that the run finds where they differ, or where ops inside find it.
static Size sizeBehind(IfOp op, const Size *a, const Size *b, const SymbolSet &inner) {
  // Symbols that are defined in a branch mean nothing behind it.
  bool escapes = (a && mentionsAny(*a, inner)) || (b && mentionsAny(*b, inner));
  if (!escapes && (!a || !b || *a == *b)) {
    return a ? *a : *b;
  }
  if ((a && a->isUnknown()) || (b && b->isUnknown())) {
    return Size::unknown();
  }
  if (auto equality = escapes ? std::nullopt : equalityOf(op.getCondition())) {
    return sizeByEquality(equality->first, equality->second ? *a : *b, equality->second ? *b : *a);
  }
  return chosenSize(op, a ? *a : Size::unknown(), b ? *b : Size::unknown());
}

/// Returns the type of a result from those of the branches (null: the branch fails).
static TensorType typeBehind(IfOp op, Type a, Type b, const SymbolSet &inner) {
  auto x = dyn_cast_or_null<RankedTensorType>(a), y = dyn_cast_or_null<RankedTensorType>(b);
  TensorType joined = join(a ? a : b, b ? b : a);
  if (!joined || !joined.hasRank() || (!x && !y)) {
    return joined;
  }
  Sizes then = x ? sizesOf(x) : Sizes(), otherwise = y ? sizesOf(y) : Sizes(), sizes;
  for (int64_t i = 0; i < joined.getRank(); ++i) {
    sizes.push_back(sizeBehind(op, x ? &then[i] : nullptr, y ? &otherwise[i] : nullptr, inner));
  }
  return sizedType(sizes, joined.getElementType());
}

/// A branch whose types contradict becomes an onnx.Fail, and only two such branches are an error. Sizes that the
/// branches give differently become a size that the run chooses (chosenSize), or an expression where the condition is
/// an equality.
LogicalResult IfOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (!mayBeNumber(getCondition())) { // simplification makes the run check what the type does not tell
    return emitOpError("needs a condition of one element");
  }
  std::string errors[2];
  for (auto [region, error] : llvm::zip_equal(getOperation()->getRegions(), errors)) {
    Block &branch = region.front();
    if (FailOp fail = failureOf(branch)) {
      error = fail.getWhy().str();
      continue;
    }
    error = firstError(getContext(), [&, &branch = branch] { return updateAll(branch); });
    if (!error.empty()) {
      failInstead(branch, error);
    }
  }
  if (!errors[0].empty() && !errors[1].empty()) {
    return emitOpError("has no branch that can be computed: ") << errors[0] << "; " << errors[1];
  }
  Operation *ends[2] = {getThenBranch().front().getTerminator(), getElseBranch().front().getTerminator()};
  SymbolSet inner = symbolsDefinedInside(*this);
  for (unsigned i = 0; i < getNumResults(); ++i) {
    Type a = ends[0]->getOperand(i).getType(), b = ends[1]->getOperand(i).getType();
    TensorType joined = typeBehind(*this, errors[0].empty() ? a : Type(), errors[1].empty() ? b : Type(), inner);
    if (!joined) {
      return emitOpError("has branches that differ in the element type of output ")
             << i << ": " << getElementTypeOrSelf(a) << " and " << getElementTypeOrSelf(b);
    }
    types.push_back(joined);
  }
  for (auto [region, error] : llvm::zip_equal(getOperation()->getRegions(), errors)) {
    if (FailOp fail = failureOf(region.front())) {
      for (auto [v, type] : llvm::zip_equal(fail.getOuts(), types)) {
        v.setType(type);
      }
    }
  }
  return success();
}

// These belong to Loop.

/// The body gets (number of the iteration, condition, carried values...) and yields (condition, carried values..., scan
/// outputs...).
LogicalResult LoopOp::verify() {
  unsigned yields = block().empty() || !isa<YieldOp>(block().back()) ? 0 : block().back().getNumOperands();
  if (yields == 0 || block().getNumArguments() != 2 + carried() || yields != 1 + getNumResults() ||
      getNumResults() < carried()) {
    return emitOpError("has ") << carried() << " carried values and " << getNumResults()
                               << " outputs, which do not fit its body";
  }
  return success();
}

/// Returns the size of the scan outputs' first axis, which is found when a condition may end the loop before its trip
/// count does.
static Size tripsOf(LoopOp loop) {
  if (LoopSizes::runsAllTrips(loop)) {
    return LoopSizes::tripCount(loop);
  }
  Size most = LoopSizes::maxTripCount(loop);
  return most.isUnknown() ? unboundedSize(loop) : dataDependentSize(loop, most);
}

/// Scan outputs get an axis in front, of as many elements as there are iterations.
LogicalResult LoopOp::inferTypes(SmallVectorImpl<Type> &types) {
  if ((present(getTrips()) && !mayBeNumber(getTrips())) || (present(getCondition()) && !mayBeNumber(getCondition()))) {
    return emitOpError("needs a trip count and a condition of one element");
  }
  LoopSizes inner(*this);
  if (failed(inner.inferBody())) {
    return failure();
  }
  if (!isBool(elementOf(continues().get())) || !mayBeNumber(continues().get())) {
    return emitOpError("needs a body whose first output is a boolean of one element, not ")
           << continues().get().getType();
  }
  for (unsigned i = 0; i < carried(); ++i) {
    types.push_back(inner.carriedAfter(i));
  }
  Size trips = scans() ? tripsOf(*this) : Size(0);
  for (unsigned i = carried(); i < getNumResults(); ++i) {
    auto slice = ranked(yielded(i).get());
    if (!slice) {
      types.push_back(unrankedOf(elementOf(yielded(i).get())));
      continue;
    }
    Sizes sizes = inner.sliceAfter(i);
    sizes.insert(sizes.begin(), trips);
    types.push_back(sizedType(sizes, slice.getElementType()));
  }
  inner.finish();
  return success();
}

void registerControl(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Control.cpp.inc"
      >();
}

} // namespace ingot::onnx
