#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Cast.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

Type CastOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
Value CastOp::emit(OpBuilder &b, ValueRange x) { return Num(b, getLoc(), x[0], elementOf(getX())).to(resultElement()); }

// Opsets before 6 name the type.
LogicalResult CastOp::upgrade(Node &node) {
  node.attributes.erase("saturate"); // of 8-bit floats only
  node.attributes.erase("round_mode");
  static constexpr StringLiteral names[] = {"",      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                            "INT64", "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  Attribute to = node.attributes.get("to");
  if (auto name = dyn_cast_or_null<StringAttr>(to)) {
    int64_t number = std::find(std::begin(names), std::end(names), name.getValue()) - std::begin(names);
    to = node.builder.getI64IntegerAttr(number);
    node.attributes.set("to", to);
  }
  auto number = dyn_cast_or_null<IntegerAttr>(to);
  if (!number) {
    return node.error("attribute 'to' is missing");
  }
  return elementOfNumber(number.getInt(), node.builder.getContext())
             ? success()
             : node.error("casts to element type " + Twine(number.getInt()) + ", which is unsupported");
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
