#include "targets/cuda/ByteDots.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::targets::cuda {

bool areInt8(Value left, Value right) {
  Type a = onnx::elementOf(left), b = onnx::elementOf(right);
  return (onnx::isUint(a, 8) && onnx::isInt(b, 8)) || (onnx::isInt(a, 8) && onnx::isUint(b, 8));
}

Value joinBytes(lower::Writer &w, int64_t count, llvm::function_ref<Value(int64_t)> byte) {
  Type type = w.b.getIntegerType(8 * count);
  Value all;
  for (int64_t i = 0; i < count; ++i) {
    Value one = arith::ExtUIOp::create(w.b, w.loc, type, byte(i));
    if (i > 0) {
      one = arith::ShLIOp::create(w.b, w.loc, one, w.integer(8 * i, type));
    }
    all = all ? arith::OrIOp::create(w.b, w.loc, all, one).getResult() : one;
  }
  return all;
}

Value dotOfFour(lower::Writer &w, Type left, Value a, Value b, Value sum) {
  auto name = w.b.getStringAttr(left.isUnsignedInteger() ? "llvm.nvvm.idp4a.u.s" : "llvm.nvvm.idp4a.s.u");
  return LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getI32Type(), name, ValueRange{a, b, sum})->getResult(0);
}

Value dotOfOne(lower::Writer &w, Value a, Value b, Value sum) {
  Type type = w.b.getI32Type();
  Value x = arith::ExtUIOp::create(w.b, w.loc, type, a), y = arith::ExtSIOp::create(w.b, w.loc, type, b);
  return arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, x, y));
}

} // namespace ingot::targets::cuda
