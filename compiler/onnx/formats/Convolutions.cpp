// Types of the convolutions that kernels read, and how one without a kernel is computed.
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/elements/Convolution.h"
#define GET_OP_CLASSES
#include "compiler/onnx/formats/Convolutions.cpp.inc"

using namespace mlir;
using namespace ingot::onnx;

namespace ingot::formats {

LogicalResult Int8ConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return Convolution(*this).inferTypes(types, {}, IntegerType::get(getContext(), 32));
}

/// As products of int32, where no kernel can be made.
LogicalResult Int8ConvOp::decompose(PatternRewriter &rewriter) {
  Convolution conv(*this);
  auto window = conv.window();
  if (failed(window)) {
    return failure();
  }
  if (succeeded(explicitPads(*this, *window, rewriter))) {
    return success();
  }
  bool sized = isSized(getX()) && isSized(getW()) && isSized(getY());
  if (!sized || whyGathered(*this).empty()) {
    return failure();
  }
  Type i32 = rewriter.getI32Type();
  for (OpOperand &operand : (*this)->getOpOperands().take_front(2)) {
    Formula f(rewriter, getLoc());
    rewriter.modifyOpInPlace(*this, [&] { operand.set(f.cast(operand.get(), i32, numberOfElement(i32))); });
  }
  Value padding =
      makeConstant(rewriter, getLoc(), constantFromIntegers(tensorOf({}, i32), {static_cast<int64_t>(getPadding())}));
  rewriter.replaceOp(*this, conv.gathered(rewriter, *window, padding));
  return success();
}

LogicalResult Bf16ConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return Convolution(*this).inferTypes(types, {}, Float32Type::get(getContext()));
}

void registerConvolutions(FormatsDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/formats/Convolutions.cpp.inc"
      >();
}

} // namespace ingot::formats
