// ImageDecoder is two calls of the support library: one reads the image's size from its header, the other decodes it
// into memory of that size. Between them the size is a parameter that the run reads, so it is data-dependent like
// others.
#include "compiler/onnx/ops/Image.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/support/Attributes.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringSwitch.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Image.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult ImageDecoderOp::upgrade(Node &node) {
  StringRef format = node.text("pixel_format", "RGB");
  int64_t order = llvm::StringSwitch<int64_t>(format)
                      .Case("RGB", INGOT_IMAGE_RGB)
                      .Case("BGR", INGOT_IMAGE_BGR)
                      .Case("Grayscale", INGOT_IMAGE_GRAY)
                      .Default(-1);
  if (order < 0) {
    return node.error("attribute 'pixel_format' is '" + format + "'; it may be RGB, BGR or Grayscale");
  }
  auto type = ranked(node.operand(0));
  if (!isUint(elementOf(node.operand(0)), 8) || (type && type.getRank() != 1)) {
    return node.error("needs a tensor of uint8 of one axis");
  }
  if (node.builder.getInsertionBlock()->getParent()->getParentOfType<ModuleOp>()->hasAttr(support::reproducibleName)) {
    return node.error("decodes by libraries of the system, whose bits --accuracy reproducible cannot promise");
  }
  Formula f(node.builder, node.loc);
  Value encoded = node.operand(0);
  node.results.push_back(f.op("DecodeImage", {encoded, f.op("ImageSize", {encoded})}, {f.integer("order", order)}));
  return success();
}

LogicalResult ImageSizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({2}, IntegerType::get(getContext(), 64)));
  return success();
}

LogicalResult DecodeImageOp::inferTypes(SmallVectorImpl<Type> &types) {
  Sizes sizes = sizesIn(getSize()).value_or(Sizes(2, Size::unknown()));
  sizes.emplace_back(getOrder() == INGOT_IMAGE_GRAY ? 1 : 3);
  types.push_back(sizedType(sizes, elementOf(getEncoded())));
  return success();
}
bool DecodeImageOp::isParameter(unsigned operand) { return operand == 1; }

void registerImage(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Image.cpp.inc"
      >();
}

} // namespace ingot::onnx
