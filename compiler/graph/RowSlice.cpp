// Replaces Slices by Gathers. Exporters write "row i" as a Slice where frameworks have no other way. A Slice from -1 to
// 0 is empty, while Gather counts -1 from the end: that number becomes one outside of the axis.
#include "compiler/graph/RowSlice.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/LoopSizes.h"

using namespace mlir;

namespace ingot::graph {

/// Whether b is a + 1, where both are tensors of one element.
static bool isNext(Value a, Value b) {
  a = onnx::withoutReshapes(a), b = onnx::withoutReshapes(b);
  auto sum = b.getDefiningOp<onnx::AddOp>();
  auto adds = [&](Value x, Value y) { return onnx::withoutReshapes(x) == a && onnx::splatNumber(y) == 1; };
  return sum && (adds(sum.getA(), sum.getB()) || adds(sum.getB(), sum.getA()));
}

/// Returns the loop whose iteration number `v` is; null: it is none.
static onnx::LoopOp loopOf(Value v) {
  auto argument = dyn_cast<BlockArgument>(onnx::withoutReshapes(v));
  bool counts = argument && argument.getArgNumber() == 0;
  return counts ? dyn_cast<onnx::LoopOp>(argument.getOwner()->getParentOp()) : onnx::LoopOp();
}

/// Returns whether an axis of `d` elements has a row for each iteration.
static bool staysInside(onnx::LoopOp loop, const onnx::Size &d) {
  return (d - onnx::LoopSizes::maxTripCount(loop)).atLeast(0, onnx::factsOf(loop));
}

/// Returns whether `constant` is a list of integers that are all at least 1.
static bool isPositive(Value constant) {
  auto numbers = onnx::integersOf(constant);
  return numbers && llvm::all_of(*numbers, [](int64_t n) { return n > 0; });
}

/// Returns whether every reader of a list takes it for a shape: its length is a rank, which must be known.
static bool isShape(Value v) {
  return !v.use_empty() && llvm::all_of(v.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<onnx::CastOp, onnx::IdentityOp, onnx::ConcatOp>(user)) {
      return isShape(user->getResult(0));
    }
    return isa<onnx::ReshapeOp, onnx::ExpandOp, onnx::ConstantOfShapeOp>(user) &&
           use.getOperandNumber() == user->getNumOperands() - 1;
  });
}

/// Returns whether every reader of `v` is right only where its axis `axis` has an element.
static bool isNeeded(Value v, int64_t axis) {
  auto type = onnx::ranked(v);
  int64_t rank = type ? type.getRank() : 0;
  auto names = [&](Value axes) {
    auto numbers = onnx::integersOf(axes);
    return numbers && llvm::any_of(*numbers, [&](int64_t n) { return onnx::normalAxis(n, rank) == axis; });
  };
  auto needs = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<onnx::IfOp, onnx::LoopOp>(user)) { // the value is the condition or the trip count
      return use.getOperandNumber() < 2;
    }
    if (auto squeeze = dyn_cast<onnx::SqueezeOp>(user)) {
      return !onnx::present(squeeze.getAxes()) || names(squeeze.getAxes());
    }
    if (auto gather = dyn_cast<onnx::GatherOp>(user)) {
      return use.getOperandNumber() == 0 && onnx::normalAxis(gather.getAxis(), rank) == axis &&
             onnx::integersOf(gather.getIndices()).has_value();
    }
    if (auto reshape = dyn_cast<onnx::ReshapeOp>(user)) {
      return use.getOperandNumber() == 0 && isPositive(reshape.getShape());
    }
    return isa<onnx::CastOp, onnx::IdentityOp>(user) && isNeeded(user->getResult(0), axis);
  };
  return type && !v.use_empty() && ((rank == 1 && isShape(v)) || llvm::all_of(v.getUses(), needs));
}

std::optional<int64_t> rowAxis(Operation *op) {
  auto slice = dyn_cast<onnx::SliceOp>(op);
  if (!slice || onnx::sizesIn(slice.getStarts()) || !onnx::isSized(slice.getData()) ||
      !onnx::isStatic(slice.getStarts()) || onnx::ranked(slice.getStarts()).getShape() != ArrayRef<int64_t>{1} ||
      !isNext(slice.getStarts(), slice.getEnds()) ||
      (onnx::present(slice.getSteps()) && onnx::splatNumber(slice.getSteps()) != 1)) {
    return std::nullopt;
  }
  auto given = onnx::present(slice.getAxes()) ? onnx::integersOf(slice.getAxes()) : SmallVector<int64_t>{0};
  return given && given->size() == 1 ? onnx::normalAxis(given->front(), onnx::ranked(slice.getData()).getRank())
                                     : std::nullopt;
}

LogicalResult sliceToGather(Operation *op, PatternRewriter &rewriter) {
  std::optional<int64_t> axis = rowAxis(op);
  if (!axis) {
    return failure();
  }
  auto slice = cast<onnx::SliceOp>(op);
  Value row = slice.getStarts();
  onnx::Size d = onnx::sizeOf(onnx::ranked(slice.getData()), *axis);
  onnx::LoopOp loop = loopOf(row);
  if (!(loop && staysInside(loop, d)) && !isNeeded(slice.getY(), *axis)) {
    return failure();
  }
  rewriter.setInsertionPoint(op);
  onnx::Formula f(rewriter, op->getLoc());
  if (!loop) {
    auto constant = [&](int64_t v) {
      return onnx::makeConstant(rewriter, f.loc, onnx::constantFromIntegers(onnx::ranked(row), {v}));
    };
    Value outside = onnx::makeSizes(rewriter, f.loc, {d}, onnx::ranked(row));
    row = f.op("Where", {f.op("Equal", {row, constant(-1)}), outside, row});
  }
  rewriter.replaceOp(op, f.op("Gather", {slice.getData(), row}, {f.integer("axis", *axis)}));
  return success();
}

} // namespace ingot::graph
