// Moves a Gather or a Slice behind elementwise ops of constants to the constants:
//
//   Gather(Mul(Cast(w), s), i)  becomes  Mul(Cast(Gather(w, i)), s)     w: [V, D], s: [D]
//
// What is small enough has been folded to one constant before. A table of embeddings in float16 or in bytes may not be,
// and a run would convert all of it for the few rows that it reads. Each element is computed as before, so strict
// accuracy keeps the pattern.
//
// An operand has fewer axes than the result of its op, or axes of size 1, where it broadcasts. Along such an axis there
// is nothing to select: a Slice leaves the operand as it is, and a Gather, which puts the axes of its indices in the
// place of one, gives it as many axes of size 1. The pattern comes to an end, since each application moves a Gather or
// a Slice up and none moves one down.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Gather.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Chains with more ops than this above each other are left alone.
constexpr int64_t mostOps = 8;

/// Returns whether elementwise ops compute `v` from constants alone, or it is one. A Slice of a constant will be one.
bool isOfConstants(Value v, int64_t ops = mostOps) {
  if (isWeight(v)) {
    return true;
  }
  Operation *op = v.getDefiningOp();
  return ops > 0 && isa_and_nonnull<onnx::Elementwise>(op) && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return !onnx::present(operand) || isOfConstants(operand, ops - 1); });
}

/// Returns the elementwise op whose result `selected` takes parts of, if it may move above it: it has fixed sizes, as
/// constants have, and the selection does not make it larger.
Operation *computedFromConstants(Value data, Value selected) {
  if (isWeight(data) || !isOfConstants(data)) {
    return nullptr;
  }
  auto type = onnx::ranked(data), part = onnx::ranked(selected);
  bool isSmaller = part && (!part.hasStaticShape() || part.getNumElements() <= type.getNumElements());
  return isSmaller ? data.getDefiningOp() : nullptr;
}

/// Replaces `selection` by a copy of `op` on what `select` makes of its operands.
template <typename Select> void moveUp(PatternRewriter &rewriter, Operation *selection, Operation *op, Select select) {
  Location loc = jointLoc(rewriter, {op, selection});
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(onnx::present(operand) ? select(onnx::Formula(rewriter, loc), operand) : operand);
  }
  rewriter.replaceOp(selection, onnx::createOp(rewriter, loc, op->getName().getStringRef(), operands, op->getAttrs()));
}

struct Gathered : OpRewritePattern<onnx::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::GatherOp gather, PatternRewriter &rewriter) const override {
    Operation *op = computedFromConstants(gather.getData(), gather.getResult());
    auto indices = onnx::ranked(gather.getIndices());
    if (!op || !indices) {
      return failure();
    }
    auto data = onnx::ranked(gather.getData());
    auto axis = static_cast<int64_t>(gather.getAxis());
    axis += axis < 0 ? data.getRank() : 0;
    moveUp(rewriter, gather, op, [&](onnx::Formula f, Value operand) -> Value {
      if (auto own = ownAxis(operand, data, axis)) {
        return onnx::createOp(rewriter, f.loc, gather->getName().getStringRef(), {operand, gather.getIndices()},
                              withAxis(gather, *own, f))
            ->getResult(0);
      }
      auto shape = llvm::to_vector(onnx::ranked(operand).getShape());
      int64_t at = axis - (data.getRank() - static_cast<int64_t>(shape.size()));
      if (at < 0) {
        return operand;
      }
      shape.erase(shape.begin() + at);
      shape.insert(shape.begin() + at, indices.getRank(), 1);
      return f.reshape(operand, shape);
    });
    return success();
  }

  static SmallVector<NamedAttribute> withAxis(onnx::GatherOp gather, int64_t axis, onnx::Formula &f) {
    NamedAttrList attributes(gather->getAttrs());
    attributes.set("axis", f.integer("axis", axis).getValue());
    return llvm::to_vector(attributes.getAttrs());
  }
};

struct Sliced : OpRewritePattern<onnx::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::SliceOp slice, PatternRewriter &rewriter) const override {
    Operation *op = computedFromConstants(slice.getData(), slice.getResult());
    auto axes = onnx::integersOf(slice.getAxes());
    if (!op || !axes) {
      return failure();
    }
    auto data = onnx::ranked(slice.getData());
    moveUp(rewriter, slice, op, [&](onnx::Formula f, Value operand) -> Value {
      SmallVector<int64_t> entries, own; // of the slice's lists, those of axes that the operand has
      for (auto [entry, axis] : llvm::enumerate(*axes)) {
        if (auto of = ownAxis(operand, data, axis < 0 ? axis + data.getRank() : axis)) {
          entries.push_back(static_cast<int64_t>(entry)), own.push_back(*of);
        }
      }
      if (own.empty()) {
        return operand;
      }
      // A list of known numbers stays a constant: isWeight takes a Slice for a weight only if all its lists are.
      auto listed = [&](Value list) -> Value {
        if (!onnx::present(list) || entries.size() == axes->size()) {
          return list;
        }
        if (auto numbers = onnx::integersOf(list)) {
          auto chosen = llvm::map_to_vector(entries, [&](int64_t entry) { return (*numbers)[entry]; });
          return onnx::makeIntegers(f.b, f.loc, chosen);
        }
        return f.op("Gather", {list, onnx::makeIntegers(f.b, f.loc, entries)}, {f.integer("axis", 0)});
      };
      return onnx::createOp(rewriter, f.loc, slice->getName().getStringRef(),
                            {operand, listed(slice.getStarts()), listed(slice.getEnds()),
                             onnx::makeIntegers(f.b, f.loc, own), listed(slice.getSteps())},
                            slice->getAttrs())
          ->getResult(0);
    });
    return success();
  }
};

} // namespace

void populateSelectedConstants(RewritePatternSet &patterns) { patterns.add<Gathered, Sliced>(patterns.getContext()); }

} // namespace ingot::fusion
