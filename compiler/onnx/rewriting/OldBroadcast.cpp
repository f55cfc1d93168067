// With `axis` 1, an operand of [C] beside one of [N, C, H, W] gets the shape [C, 1, 1], with which numpy's rules give
// the same.
#include "compiler/onnx/rewriting/OldBroadcast.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::onnx {

Value appendAxes(OpBuilder &b, Location loc, Value v, int64_t count) {
  if (count <= 0) {
    return v;
  }
  int64_t rank = ranked(v).getRank();
  return make<UnsqueezeOp>(b, loc, {v, makeIntegers(b, loc, llvm::to_vector(llvm::seq(rank, rank + count)))});
}

LogicalResult upgradeBroadcast(Node &node) {
  auto broadcast = dyn_cast_or_null<IntegerAttr>(node.attributes.erase("broadcast"));
  auto axis = dyn_cast_or_null<IntegerAttr>(node.attributes.erase("axis"));
  if (!broadcast || broadcast.getInt() == 0 || !axis || node.operands.size() < 2) {
    return success(); // without an axis the last axes match, as in numpy
  }
  auto a = ranked(node.operands[0]), c = ranked(node.operands[1]);
  if (!a || !c) {
    return node.error("broadcasts along an axis of a tensor whose rank is not known");
  }
  auto first = normalAxis(axis.getInt(), a.getRank());
  if (!first || *first + c.getRank() > a.getRank()) {
    return c.getRank() == 0 ? success()
                            : node.error("'axis' " + Twine(axis.getInt()) + " is outside of the first operand's shape");
  }
  node.operands[1] = appendAxes(node.builder, node.loc, node.operands[1], a.getRank() - *first - c.getRank());
  return success();
}

} // namespace ingot::onnx
