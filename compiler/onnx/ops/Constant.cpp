#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Constant.cpp.inc"

mlir::OpFoldResult ingot::onnx::ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

llvm::StringRef ingot::onnx::SizesOp::family() { return "Sizes"; }

void ingot::onnx::registerConstant(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Constant.cpp.inc"
      >();
}
