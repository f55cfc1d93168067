// Conversions of elements: of values (Cast, CastLike) and of bits (BitCast). Numbers are converted as ScalarMath does
// it, but for the 8-bit type of powers of two (float8e8m0), which is rounded up, down or to the nearest power. Casts to
// and from strings are Text ops. Within a kernel narrow floats are kept as float32 and integers below a byte as bytes,
// so that BitCast has to bring them back to their own width first.
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/text/Texts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Cast.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

Type CastOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
Value CastOp::emit(OpBuilder &b, ValueRange x) {
  Num from(b, getLoc(), x[0], elementOf(getX()));
  Type to = resultElement();
  if (rowOf(to).format.specials != support::Specials::Powers) {
    return from.to(to, getSaturate());
  }
  PowerRounding how = getRoundMode() == "up"     ? PowerRounding::Up
                      : getRoundMode() == "down" ? PowerRounding::Down
                                                 : PowerRounding::Nearest;
  return roundedToPower(from.to(b.getF32Type()), how, getSaturate());
}
LogicalResult CastOp::verify() { return oneOf(*this, "round_mode", getRoundMode(), {"up", "down", "nearest"}); }
LogicalResult CastLikeOp::verify() { return oneOf(*this, "round_mode", getRoundMode(), {"up", "down", "nearest"}); }

/// Writes a cast of strings, or to them, as other ops.
static LogicalResult upgradeText(Node &node, int64_t to) {
  Value x = node.operand(0);
  if (to == 8 || (x && isString(elementOf(x)))) {
    Formula f(node.builder, node.loc);
    node.results.push_back(castText(f, x, to));
  }
  return success();
}

/// Checks that the attribute `to` is the number of a type that there is.
static LogicalResult checkTarget(Node &node) {
  auto number = dyn_cast_or_null<IntegerAttr>(node.attributes.get("to"));
  if (!number) {
    return node.error("attribute 'to' is missing");
  }
  return elementOfNumber(number.getInt(), node.builder.getContext())
             ? success()
             : node.error("casts to element type " + Twine(number.getInt()) + ", which is unsupported");
}

// Takes the type's name, which opsets before 6 have, as a number.
LogicalResult CastOp::upgrade(Node &node) {
  static constexpr StringLiteral names[] = {"",      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                            "INT64", "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  if (auto name = dyn_cast_or_null<StringAttr>(node.attributes.get("to"))) {
    int64_t number = std::find(std::begin(names), std::end(names), name.getValue()) - std::begin(names);
    node.attributes.set("to", node.builder.getI64IntegerAttr(number));
  }
  return failed(checkTarget(node)) ? failure() : upgradeText(node, node.integer("to", 0));
}

Type BitCastOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
LogicalResult BitCastOp::upgrade(Node &node) {
  bool isText = node.integer("to", 0) == 8 || (node.operand(0) && isString(elementOf(node.operand(0))));
  return isText ? node.error("gives the bits of strings, which have none") : checkTarget(node);
}
LogicalResult BitCastOp::verify() {
  if (rowOf(elementOf(getX())).bits != rowOf(resultElement()).bits) {
    return emitOpError("gives the bits of ") << elementOf(getX()) << " as " << resultElement() << ", which has others";
  }
  return success();
}
/// A boolean is a byte of 0 or 1 in memory; any other byte counts as 1.
Value BitCastOp::emit(OpBuilder &b, ValueRange x) {
  Num from(b, getLoc(), x[0], elementOf(getX()));
  Type element = resultElement();
  if (from.isBool() || isBool(element)) {
    return from.to(element);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  auto like = [&](Type type) {
    auto vector = dyn_cast<VectorType>(x[0].getType());
    return vector ? Type(vector.clone(type)) : type;
  };
  Value v = x[0];
  if (isNarrowFloat(elementOf(getX()))) {
    v = arith::TruncFOp::create(b, getLoc(), like(elementOf(getX())), v);
  } else if (bits < 8) {
    v = arith::TruncIOp::create(b, getLoc(), like(b.getIntegerType(bits)), v);
  }
  Type type = like(isa<FloatType>(element) ? element : b.getIntegerType(bits));
  v = type == v.getType() ? v : arith::BitcastOp::create(b, getLoc(), type, v).getResult();
  if (isNarrowFloat(element)) {
    return arith::ExtFOp::create(b, getLoc(), like(b.getF32Type()), v);
  }
  if (bits >= 8) {
    return v;
  }
  Type byte = like(b.getI8Type());
  return element.isUnsignedInteger() ? arith::ExtUIOp::create(b, getLoc(), byte, v).getResult()
                                     : arith::ExtSIOp::create(b, getLoc(), byte, v).getResult();
}

LogicalResult CastLikeOp::upgrade(Node &node) {
  return failed(node.needs(2)) ? failure() : upgradeText(node, numberOfElement(elementOf(node.operand(1))));
}
LogicalResult CastLikeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(cast<TensorType>(getX().getType()).clone(elementOf(getTarget())));
  return success();
}
LogicalResult CastLikeOp::decompose(PatternRewriter &rewriter) {
  SmallVector<NamedAttribute> attributes(getOperation()->getAttrs());
  attributes.push_back(
      rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(numberOfElement(elementOf(getTarget())))));
  rewriter.replaceOp(*this, make<CastOp>(rewriter, getLoc(), {getX()}, attributes));
  return success();
}

double CastOp::magnitude(llvm::function_ref<double(unsigned)>) { return largestOf(elementOf(getX())); }

void registerCast(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Cast.cpp.inc"
      >();
}

} // namespace ingot::onnx
