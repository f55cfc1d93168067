// Infers types; there are kernels for these ops (compiler/lower/families/Elimination.cpp).
#include "compiler/onnx/ops/LinearAlgebra.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/LinearAlgebra.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Checks that the last two axes are those of square matrices, once the type is known.
static LogicalResult checkSquare(Operation *op, Value x) {
  auto type = ranked(x);
  int64_t rank = type ? type.getRank() : 0;
  if (type && (rank < 2 || failed(require(op, sizeOf(type, rank - 2), sizeOf(type, rank - 1))))) {
    return op->emitOpError("needs square matrices, not ") << type;
  }
  return success();
}

LogicalResult DetOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto type = ranked(getX());
  if (failed(checkSquare(*this, getX()))) {
    return failure();
  }
  types.push_back(type ? Type(sizedType(ArrayRef<Size>(sizesOf(type)).drop_back(2), type.getElementType()))
                       : Type(unrankedOf(elementOf(getX()))));
  return success();
}

LogicalResult InverseOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  return checkSquare(*this, getX());
}

void registerLinearAlgebra(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/LinearAlgebra.cpp.inc"
      >();
}

} // namespace ingot::onnx
