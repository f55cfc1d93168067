// A Cast stands behind what makes the bytes, whose kernel it becomes part of where that is on the device of the
// product; what dequantizes them there reads the int16, too, so that often nobody reads bytes.
#include "compiler/integer/Int16Factors.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/rewriting/Rewrite.h"

using namespace mlir;

namespace ingot::integer {

bool isDepthwise(formats::Int8ConvOp op) {
  auto weights = onnx::ranked(op.getW());
  auto group = static_cast<int64_t>(op.getGroup());
  return group > 1 && weights && weights.getDimSize(0) == group && weights.getDimSize(1) == 1;
}

bool multipliesBytes(Operation *op) {
  if (auto conv = dyn_cast<formats::Int8ConvOp>(op)) {
    return !isDepthwise(conv) && onnx::isUint(onnx::elementOf(conv.getX()), 8);
  }
  return isa<formats::Int8MatMulOp>(op) && onnx::isUint(onnx::elementOf(op->getOperand(0)), 8);
}

bool widenFactors(func::FuncOp function, FormsOf formsOf) {
  llvm::MapVector<Value, Operation *> factors; ///< each with a product that reads it
  auto isWidened = [&](Operation *op) {
    return multipliesBytes(op) && !onnx::int16DotsOf(op) && formsOf(op).int16Factors;
  };
  function.walk([&](Operation *op) {
    if (isWidened(op)) {
      factors.insert({op->getOperand(0), op});
    }
  });
  Type i16 = IntegerType::get(function.getContext(), 16);
  for (auto [bytes, product] : factors) {
    onnx::PlaceListener places;
    places.replacing(product);
    OpBuilder b(function.getContext(), &places);
    b.setInsertionPointAfterValue(bytes);
    onnx::Formula f(b, bytes.getLoc());
    Value wide = f.cast(bytes, i16, onnx::numberOfElement(i16));
    for (Operation *user : llvm::make_early_inc_range(bytes.getUsers())) {
      auto dequantize = dyn_cast<onnx::DequantizeOp>(user);
      auto zeros = dequantize ? onnx::integersOf(dequantize.getZero()) : std::nullopt;
      if (isWidened(user)) {
        user->setOperand(0, wide);
      } else if (zeros && dequantize.getX() == bytes &&
                 user->getAttr(onnx::placeName) == product->getAttr(onnx::placeName)) {
        b.setInsertionPoint(user);
        auto type = onnx::tensorOf(onnx::ranked(dequantize.getZero()).getShape(), i16);
        Value zero = onnx::makeConstant(b, user->getLoc(), onnx::constantFromIntegers(type, *zeros));
        user->setOperand(0, wide), user->setOperand(2, zero);
      }
    }
  }
  return !factors.empty();
}

} // namespace ingot::integer
