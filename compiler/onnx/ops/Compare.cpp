#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/OldBroadcast.h"
#include "compiler/onnx/ScalarMath.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Compare.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

#define COMPARISON(Name, formula)                                                                                      \
  Value Name##Op::emit(OpBuilder &builder, ValueRange x) {                                                             \
    Num a(builder, getLoc(), x[0], elementOf(getA())), b = a.like(x[1]);                                               \
    return formula;                                                                                                    \
  }                                                                                                                    \
  LogicalResult Name##Op::upgrade(Node &node) { return upgradeBroadcast(node); }
COMPARISON(Equal, a == b)
COMPARISON(Less, a < b)
COMPARISON(Greater, a > b)
COMPARISON(LessOrEqual, a <= b)
COMPARISON(GreaterOrEqual, a >= b)
#undef COMPARISON

void registerCompare(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Compare.cpp.inc"
      >();
}

} // namespace ingot::onnx
