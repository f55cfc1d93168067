#include "compiler/lower/core/LlvmAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::lower {

Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

Value pointerTo(OpBuilder &b, Location loc, Value address) {
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, loc, pointerType(b.getContext()), number);
}

Attribute noUnrolling(MLIRContext *context) {
  auto off = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, off, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

Value optimizationBarrier(OpBuilder &b, Location loc, Value index, Value iteration) {
  Type i64 = b.getI64Type();
  Value v = arith::IndexCastOp::create(b, loc, i64, index);
  Value expected = iteration ? arith::IndexCastOp::create(b, loc, i64, iteration).getResult()
                             : arith::ConstantIntOp::create(b, loc, 0, 64).getResult();
  // This op is only a hint for branches, and no optimization looks through it.
  v = LLVM::ExpectOp::create(b, loc, v, expected);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
}

} // namespace ingot::lower
