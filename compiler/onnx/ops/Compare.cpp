// Comparisons of elements, each a formula from which constants are folded and kernels are made. Strings are compared by
// the support library, so Equal of strings becomes a Text op when the node is resolved.
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/rewriting/OldBroadcast.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Compare.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

#define EMIT(Name, formula)                                                                                            \
  Value Name##Op::emit(OpBuilder &builder, ValueRange x) {                                                             \
    Num a(builder, getLoc(), x[0], elementOf(getA())), b = a.like(x[1]);                                               \
    return formula;                                                                                                    \
  }
#define COMPARISON(Name, formula)                                                                                      \
  EMIT(Name, formula)                                                                                                  \
  LogicalResult Name##Op::upgrade(Node &node) { return upgradeBroadcast(node); }
EMIT(Equal, a == b)
COMPARISON(Less, a < b)
COMPARISON(Greater, a > b)
COMPARISON(LessOrEqual, a <= b)
COMPARISON(GreaterOrEqual, a >= b)
#undef COMPARISON
#undef EMIT

LogicalResult EqualOp::upgrade(Node &node) {
  if (failed(upgradeBroadcast(node)) || failed(node.needs(2))) {
    return failure();
  }
  Value a = node.operand(0), b = node.operand(1);
  if (isString(elementOf(a)) && isString(elementOf(b))) { // types that differ are refused when the op is made
    Formula f(node.builder, node.loc);
    node.results.push_back(makeText(f, {a, b}, {"equal", INGOT_BOOL}));
  }
  return success();
}

void registerCompare(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Compare.cpp.inc"
      >();
}

} // namespace ingot::onnx
