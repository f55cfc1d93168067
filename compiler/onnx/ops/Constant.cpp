#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Constant.cpp.inc"

mlir::OpFoldResult ingot::onnx::ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

llvm::LogicalResult ingot::onnx::SizesOp::verify() {
  auto type = ranked(getY());
  llvm::ArrayRef<Size> values = getValues().getValues();
  if (!type || !type.hasStaticShape() || type.getNumElements() != static_cast<int64_t>(values.size())) {
    return emitOpError("has ") << values.size() << " sizes for a result of type " << getY().getType();
  }
  return llvm::none_of(values, [](const Size &size) { return size.isUnknown(); })
             ? llvm::success()
             : emitOpError("has a size that is not known");
}

void ingot::onnx::registerConstant(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Constant.cpp.inc"
      >();
}
