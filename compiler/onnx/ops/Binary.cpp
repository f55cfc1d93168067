// Holds the formulas of arithmetic and logic on two or more numbers: each op writes its result for one element (emit),
// and the family of elementwise kernels writes the loop and broadcasts. Definitions before opset 7 are upgraded.
//
//   Mod with fmod = 0     a - b * floor(a / b), which has the sign of b
//   Mod with fmod = 1     a - b * trunc(a / b), which has the sign of a
//   SwiGLU                a * sigmoid(alpha * a) * b
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/rewriting/OldBroadcast.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Binary.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns operand i of an op, whose value is x[i], as a number with the signedness of the operand's ONNX type.
static Num numberOf(Operation *op, OpBuilder &b, ValueRange x, unsigned i) {
  return Num(b, op->getLoc(), x[i], elementOf(op->getOperand(i)));
}

#define EMIT(Name, formula)                                                                                            \
  Value Name##Op::emit(OpBuilder &builder, ValueRange x) {                                                             \
    Num a = numberOf(*this, builder, x, 0), b = numberOf(*this, builder, x, 1);                                        \
    return formula;                                                                                                    \
  }
EMIT(Add, a + b)
EMIT(Sub, a - b)
EMIT(Mul, a *b)
EMIT(Div, a / b)
EMIT(Pow, power(a, b))
EMIT(And, a &b)
EMIT(Or, a | b)
EMIT(Xor, a ^ b)
EMIT(BitwiseAnd, a &b)
EMIT(BitwiseOr, a | b)
EMIT(BitwiseXor, a ^ b)
EMIT(Mod, getFmod() ? truncatedRemainder(a, b) : floorRemainder(a, b))
EMIT(BitShift, getDirection() == "LEFT" ? shiftLeft(a, b) : shiftRight(a, b))
EMIT(SwiGLU, a *sigmoid(getAlpha().convertToDouble() * a) * b)
EMIT(PRelu, select(a < 0.0, a *b, a))
#undef EMIT

/// Combines all operands from the first to the last: combine(combine(x0, x1), x2) ...
template <typename Combine> static Num fold(Operation *op, OpBuilder &b, ValueRange x, Combine combine) {
  Num all = numberOf(op, b, x, 0);
  for (unsigned i = 1; i < x.size(); ++i) {
    all = combine(all, numberOf(op, b, x, i));
  }
  return all;
}
Value MinOp::emit(OpBuilder &b, ValueRange x) { return fold(*this, b, x, minimum); }
Value MaxOp::emit(OpBuilder &b, ValueRange x) { return fold(*this, b, x, maximum); }
Value SumOp::emit(OpBuilder &b, ValueRange x) {
  return fold(*this, b, x, [](Num a, Num c) { return a + c; });
}
Value MeanOp::emit(OpBuilder &b, ValueRange x) {
  return fold(*this, b, x, [](Num a, Num c) { return a + c; }) / static_cast<double>(x.size());
}

LogicalResult AddOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult SubOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult MulOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult DivOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult PowOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult AndOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult OrOp::upgrade(Node &node) { return upgradeBroadcast(node); }
LogicalResult XorOp::upgrade(Node &node) { return upgradeBroadcast(node); }

// Before opset 7 the slope is one number, or one for each channel (axis 1): axes of size 1 behind it make it broadcast.
LogicalResult PReluOp::upgrade(Node &node) {
  auto x = ranked(node.operand(0)), slope = ranked(node.operand(1));
  if (node.opset >= 7 || (slope && slope.getRank() != 1)) {
    return success();
  }
  if (!x || !slope) {
    return node.error("the slope is given by channel, and the rank of the operand is not known");
  }
  if (slope.getDimSize(0) != 1) {
    node.operands[1] = appendAxes(node.builder, node.loc, node.operands[1], x.getRank() - 2);
  }
  return success();
}

// These return a bound of the result's magnitude; `operand` returns one of each operand's (Curve.td). |a + b| and |a -
// b| are at most |a| + |b|.
double AddOp::magnitude(llvm::function_ref<double(unsigned)> operand) { return operand(0) + operand(1); }
double SubOp::magnitude(llvm::function_ref<double(unsigned)> operand) { return operand(0) + operand(1); }
double MulOp::magnitude(llvm::function_ref<double(unsigned)> operand) { return operand(0) * operand(1); }

void registerBinary(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Binary.cpp.inc"
      >();
}

} // namespace ingot::onnx
