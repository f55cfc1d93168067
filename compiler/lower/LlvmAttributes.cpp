#include "compiler/lower/LlvmAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::lower {

Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

Attribute noUnrolling(MLIRContext *context) {
  auto off = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, off, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

Value opaque(OpBuilder &b, Location loc, Value index) {
  Value v = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  // A hint for branches only, which nothing looks through.
  v = LLVM::ExpectOp::create(b, loc, v, arith::ConstantIntOp::create(b, loc, 0, 64));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
}

} // namespace ingot::lower
