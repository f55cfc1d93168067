// Infers the types of TopK. The number k is a parameter: where it is a size, known or computed from symbols, the result
// has it along the axis, and the run checks that the axis has so many elements. A k in data is read first
// (graph/readers/Lists.cpp).
#include "compiler/onnx/ops/TopK.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/TopK.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult TopKOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  Type i64 = IntegerType::get(getContext(), 64), element = elementOf(getX());
  if (!x) {
    types.assign({unrankedOf(element), unrankedOf(i64)});
    return success();
  }
  auto axis = normalAxis(getAxis(), x.getRank());
  if (!axis) {
    return emitOpError("axis ") << static_cast<int64_t>(getAxis()) << " is outside of " << x;
  }
  auto k = sizesIn(getK());
  if (auto type = ranked(getK()); type && type.getRank() > 0 && failed(requireLength(*this, getK(), 1))) {
    return emitOpError("k of type ") << type << " is not one number";
  }
  Sizes shape = sizesOf(x);
  if (k && k->size() == 1) {
    const Size &wanted = k->front(), &d = shape[*axis];
    if (wanted.isNumber() && (wanted.number() < 0 || (d.isNumber() && wanted.number() > d.number()))) {
      return emitOpError("k is ") << wanted.number() << ", along an axis of " << d.text();
    }
    if (failed(require(*this, min(wanted, d), wanted))) {
      return emitOpError("k is ") << wanted.text() << ", along an axis of " << d.text();
    }
    shape[*axis] = wanted;
  } else {
    shape[*axis] = Size::unknown();
  }
  types.assign({sizedType(shape, element), sizedType(shape, i64)});
  return success();
}
bool TopKOp::isParameter(unsigned operand) { return operand == 1; }

LogicalResult TopKOp::upgrade(Node &node) {
  node.attributeToOperand("k", 1); // opsets before 10 have it as an attribute
  return success();
}

void registerTopK(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/TopK.cpp.inc"
      >();
}

} // namespace ingot::onnx
