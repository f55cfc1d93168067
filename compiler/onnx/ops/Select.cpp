// Holds the formulas of Where and Clip for one element, and Clip's upgrade: before opset 11 its bounds are attributes.
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Select.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

Value WhereOp::emit(OpBuilder &b, ValueRange x) {
  Num condition(b, getLoc(), x[0], b.getI1Type()), yes(b, getLoc(), x[1], elementOf(getX()));
  return select(condition, yes, yes.like(x[2]));
}
LogicalResult WhereOp::verify() {
  if (elementOf(getX()) != elementOf(getZ())) {
    return emitOpError("operands have element types that differ: ")
           << elementOf(getX()) << " and " << elementOf(getZ());
  }
  return success();
}

Value ClipOp::emit(OpBuilder &b, ValueRange operands) {
  Num x(b, getLoc(), operands[0], elementOf(getX()));
  if (operands[1]) {
    x = atLeast(x, x.like(operands[1]));
  }
  return operands[2] ? atMost(x, x.like(operands[2])) : x;
}
LogicalResult ClipOp::upgrade(Node &node) {
  node.floatAttributeToOperand("min", 1);
  node.floatAttributeToOperand("max", 2);
  return success();
}

// A bound of the magnitude: Clip gives its operand or one of its bounds. The sum of the three covers all, and a bound
// that is left out counts as 0.
double ClipOp::magnitude(llvm::function_ref<double(unsigned)> operand) { return operand(0) + operand(1) + operand(2); }

void registerSelect(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Select.cpp.inc"
      >();
}

} // namespace ingot::onnx
