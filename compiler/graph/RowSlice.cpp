// Exporters write "row i" in this way where frameworks have no other. From -1 to 0 a Slice is empty, while Gather
// counts -1 from the end: that number becomes one outside of the axis.
#include "compiler/graph/RowSlice.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Formula.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::graph {

/// Whether b is a + 1, of tensors of one element.
static bool isNext(Value a, Value b) {
  a = onnx::withoutReshapes(a), b = onnx::withoutReshapes(b);
  auto sum = b.getDefiningOp<onnx::AddOp>();
  auto adds = [&](Value x, Value y) { return onnx::withoutReshapes(x) == a && onnx::splatOf(y) == 1; };
  return sum && (adds(sum.getA(), sum.getB()) || adds(sum.getB(), sum.getA()));
}

static bool isLoopNumber(Value v) {
  auto argument = dyn_cast<BlockArgument>(onnx::withoutReshapes(v));
  return argument && argument.getArgNumber() == 0 && isa<onnx::LoopOp>(argument.getOwner()->getParentOp());
}

LogicalResult sliceToGather(Operation *op, PatternRewriter &rewriter) {
  auto slice = dyn_cast<onnx::SliceOp>(op);
  if (!slice || onnx::sizesIn(slice.getStarts()) || !onnx::isSized(slice.getData()) ||
      !onnx::isStatic(slice.getStarts()) || onnx::ranked(slice.getStarts()).getShape() != ArrayRef<int64_t>{1} ||
      !isNext(slice.getStarts(), slice.getEnds()) ||
      (onnx::present(slice.getSteps()) && onnx::splatOf(slice.getSteps()) != 1)) {
    return failure();
  }
  auto data = onnx::ranked(slice.getData());
  auto given = onnx::present(slice.getAxes()) ? onnx::integersOf(slice.getAxes()) : SmallVector<int64_t>{0};
  auto axis = given && given->size() == 1 ? onnx::normalAxis(given->front(), data.getRank()) : std::nullopt;
  if (!axis) {
    return failure();
  }
  rewriter.setInsertionPoint(op);
  onnx::Formula f(rewriter, op->getLoc());
  Value row = slice.getStarts();
  if (!isLoopNumber(row)) {
    auto constant = [&](int64_t v) {
      return onnx::makeConstant(rewriter, f.loc, onnx::constantFromIntegers(onnx::ranked(row), {v}));
    };
    Value outside = onnx::makeSizes(rewriter, f.loc, {onnx::sizeOf(data, *axis)}, onnx::ranked(row));
    row = f.op("Where", {f.op("Equal", {row, constant(-1)}), outside, row});
  }
  rewriter.replaceOp(op, f.op("Gather", {slice.getData(), row}, {f.integer("axis", *axis)}));
  return success();
}

} // namespace ingot::graph
