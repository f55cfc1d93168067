#include "compiler/lower/LlvmAttributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::lower {

Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

Attribute noUnrolling(MLIRContext *context) {
  auto off = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, off, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

} // namespace ingot::lower
