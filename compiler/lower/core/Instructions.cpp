#include "compiler/lower/core/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::lower {

Value instruction(Writer &w, Instruction which, ValueRange operands) {
  using enum target::OperandType;
  StringAttr name = w.b.getStringAttr(w.machine.intrinsic(which));
  target::OperandType type = target::infoOf(which).types.front();
  if (type == None) {
    LLVM::CallIntrinsicOp::create(w.b, w.loc, name, operands);
    return {};
  }
  if (type == Word) {
    return LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getI32Type(), name, operands).getResult(0);
  }
  unsigned bits = type == Int8s ? 8 : type == Int16s ? 16 : 32;
  Type element = type == Floats ? Type(w.b.getF32Type()) : w.b.getIntegerType(bits);
  auto result = VectorType::get({w.machine.lanes * 32 / bits}, element);
  return LLVM::CallIntrinsicOp::create(w.b, w.loc, result, name, operands).getResult(0);
}

} // namespace ingot::lower
