#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Cast.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

Type CastOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
Value CastOp::emit(OpBuilder &b, ValueRange x) { return Num(b, getLoc(), x[0], elementOf(getX())).to(resultElement()); }

/// That the attribute `to` is the number of a type that there is.
static LogicalResult checkTarget(Node &node) {
  auto number = dyn_cast_or_null<IntegerAttr>(node.attributes.get("to"));
  if (!number) {
    return node.error("attribute 'to' is missing");
  }
  return elementOfNumber(number.getInt(), node.builder.getContext())
             ? success()
             : node.error("casts to element type " + Twine(number.getInt()) + ", which is unsupported");
}

// Opsets before 6 name the type.
LogicalResult CastOp::upgrade(Node &node) {
  node.attributes.erase("saturate"); // of 8-bit floats only
  node.attributes.erase("round_mode");
  static constexpr StringLiteral names[] = {"",      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                            "INT64", "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  if (auto name = dyn_cast_or_null<StringAttr>(node.attributes.get("to"))) {
    int64_t number = std::find(std::begin(names), std::end(names), name.getValue()) - std::begin(names);
    node.attributes.set("to", node.builder.getI64IntegerAttr(number));
  }
  return checkTarget(node);
}

Type BitCastOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
LogicalResult BitCastOp::upgrade(Node &node) { return checkTarget(node); }
LogicalResult BitCastOp::verify() {
  if (elementBytes(elementOf(getX())) != elementBytes(resultElement())) {
    return emitOpError("gives the bits of ") << elementOf(getX()) << " as " << resultElement() << ", which has others";
  }
  return success();
}
/// A boolean is a byte of 0 or 1 in memory; any other byte counts as 1.
Value BitCastOp::emit(OpBuilder &b, ValueRange x) {
  Num from(b, getLoc(), x[0], elementOf(getX()));
  Type element = resultElement();
  if (from.isBool() || element.isInteger(1)) {
    return from.to(element);
  }
  Type signless = isa<FloatType>(element) ? element : b.getIntegerType(element.getIntOrFloatBitWidth());
  Type type = isa<VectorType>(x[0].getType()) ? cast<VectorType>(x[0].getType()).clone(signless) : signless;
  return type == x[0].getType() ? x[0] : arith::BitcastOp::create(b, getLoc(), type, x[0]).getResult();
}

LogicalResult CastLikeOp::upgrade(Node &node) {
  node.attributes.erase("saturate");
  node.attributes.erase("round_mode");
  return success();
}
LogicalResult CastLikeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(cast<TensorType>(getX().getType()).clone(elementOf(getTarget())));
  return success();
}
LogicalResult CastLikeOp::decompose(PatternRewriter &rewriter) {
  auto to = rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(numberOfElement(elementOf(getTarget()))));
  rewriter.replaceOp(*this, make<CastOp>(rewriter, getLoc(), {getX()}, {to}));
  return success();
}

void registerCast(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Cast.cpp.inc"
      >();
}

} // namespace ingot::onnx
