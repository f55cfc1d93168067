// Infers the types of the products that kernels read. Their right operands are packed into words of 32 bits along K:
//
//   Bf16MatMul        two bfloat16 of a column in a word: B of [K / 2, N] words
//   FewBitsMatMul     4, 8 or 16 numbers of a column in a word; the attribute k says how many of them there are
//
// So inner sizes are compared in numbers, not in words.
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"
#define GET_OP_CLASSES
#include "compiler/onnx/formats/Products.cpp.inc"

using namespace mlir;
using namespace ingot::onnx;

namespace ingot::formats {

LogicalResult Int8MatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  return inferProduct(*this, getA(), getB(), false, false, IntegerType::get(getContext(), 32), types);
}

/// Kernels read constant matrices, of which four rows at a time are packed; others are widened.
LogicalResult Int8MatMulOp::decompose(PatternRewriter &rewriter) {
  if (constantOf(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Type i32 = rewriter.getI32Type();
  auto wide = [&](Value v) { return f.cast(v, i32, numberOfElement(i32)); };
  rewriter.replaceOp(*this, f.op("MatMul", {wide(getA()), wide(getB())}));
  return success();
}

LogicalResult Bf16MatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto a = ranked(getA()), b = ranked(getB());
  Sizes sizes = sizesOf(a);
  if (failed(require(*this, sizes.back(), Size(2 * b.getDimSize(0))))) {
    return emitOpError("inner dimensions differ: A is ") << a << " and B has words of two for " << b;
  }
  sizes.back() = b.getDimSize(1);
  types.push_back(sizedType(sizes, Float32Type::get(getContext())));
  return success();
}

LogicalResult FewBitsMatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto a = ranked(getA()), b = ranked(getB());
  if (!a) {
    types.push_back(unrankedOf(elementOf(getA())));
    return success();
  }
  if (a.getRank() == 0) {
    return emitOpError("operands must have at least one dimension");
  }
  Sizes sizes = sizesOf(a);
  if (failed(require(*this, sizes.back(), Size(static_cast<int64_t>(getK()))))) {
    return emitOpError("inner dimensions differ: A is ") << a << " and B has " << getK() << " rows";
  }
  sizes.back() = b.getDimSize(1);
  types.push_back(sizedType(sizes, a.getElementType()));
  return success();
}

LogicalResult SplitIntegerMatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  Sizes sizes = sizesOf(ranked(getCoarse()));
  sizes.back() = ranked(getB()).getDimSize(1);
  types.push_back(sizedType(sizes, elementOf(getUnit())));
  return success();
}

void registerProducts(FormatsDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/formats/Products.cpp.inc"
      >();
}

} // namespace ingot::formats
