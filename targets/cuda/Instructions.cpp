#include "targets/cuda/Instructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ingot::targets::cuda {

/// The memories of PTX, by the numbers that LLVM gives them.
enum Memory : unsigned char { Global = 1, SharedByBlock = 3 };

static Value pointer(lower::Writer &w, Value address, unsigned memory) {
  MLIRContext *context = w.b.getContext();
  Value generic = LLVM::IntToPtrOp::create(w.b, w.loc, LLVM::LLVMPointerType::get(context), address);
  return LLVM::AddrSpaceCastOp::create(w.b, w.loc, LLVM::LLVMPointerType::get(context, memory), generic);
}

Value sharedPointer(lower::Writer &w, Value address) { return pointer(w, address, SharedByBlock); }

Value isForAny(lower::Writer &w, ArrayRef<int32_t> architectures) {
  Type i32 = w.b.getI32Type();
  Value own = w.callLibrary("ingot_architecture", {}, i32), isAny;
  for (int32_t each : architectures) {
    Value isIt = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, own, w.constant(each, i32));
    isAny = isAny ? arith::OrIOp::create(w.b, w.loc, isAny, isIt).getResult() : isIt;
  }
  return isAny;
}

void copyVector(lower::Writer &w, Value to, Value from, Value isThere) {
  constexpr int64_t bytes = 16;
  Type i32 = w.b.getI32Type();
  Value read = arith::SelectOp::create(w.b, w.loc, isThere, w.integer(bytes, i32), w.integer(0, i32));
  Value operands[] = {sharedPointer(w, to), pointer(w, from, Global), read};
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.cg.shared.global.16.s"), operands);
}

void endCopies(lower::Writer &w) {
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.commit.group"), ValueRange());
}

void waitForCopies(lower::Writer &w, int32_t left) {
  Value number = LLVM::ConstantOp::create(w.b, w.loc, w.b.getI32Type(), w.b.getI32IntegerAttr(left));
  LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getStringAttr("llvm.nvvm.cp.async.wait.group"), number);
}

/// Calls an intrinsic whose result is four values of a type.
static SmallVector<Value> callForFour(lower::Writer &w, StringRef intrinsic, Type each, ValueRange operands) {
  auto type = LLVM::LLVMStructType::getLiteral(w.b.getContext(), SmallVector<Type>(4, each));
  Value all = LLVM::CallIntrinsicOp::create(w.b, w.loc, type, w.b.getStringAttr(intrinsic), operands)->getResult(0);
  SmallVector<Value> values;
  for (int64_t i = 0; i < 4; ++i) {
    values.push_back(LLVM::ExtractValueOp::create(w.b, w.loc, all, i));
  }
  return values;
}

SmallVector<Value> loadMatrices(lower::Writer &w, Value row, bool isTransposed) {
  return callForFour(w,
                     isTransposed ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                                  : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
                     w.b.getI32Type(), sharedPointer(w, row));
}

SmallVector<Value> multiplyMatrices(lower::Writer &w, Type element, ArrayRef<Value> a, ArrayRef<Value> b,
                                    ValueRange sums) {
  StringRef name = element.isF16()               ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                   : element.isBF16()            ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                   : element.isF32()             ? "llvm.nvvm.mma.m16n8k8.row.col.tf32"
                   : element.isUnsignedInteger() ? "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"
                                                 : "llvm.nvvm.mma.m16n8k32.row.col.s8.u8";
  auto numbersOf = [&](Value word) -> Value { // of float16 the intrinsic takes pairs, and else words
    return !element.isF16() ? word
                            : LLVM::BitcastOp::create(w.b, w.loc, VectorType::get({2}, element), word).getResult();
  };
  SmallVector<Value> operands;
  for (ArrayRef<Value> words : {a, b}) {
    llvm::append_range(operands, llvm::map_range(words, numbersOf));
  }
  operands.append(sums.begin(), sums.end());
  return callForFour(w, name, sums.front().getType(), operands);
}

Value countThreads(lower::Writer &w, Value condition) {
  Value operands[] = {w.constant(0, w.b.getI32Type()), condition};
  auto name = w.b.getStringAttr("llvm.nvvm.barrier.cta.red.popc.aligned.all");
  return LLVM::CallIntrinsicOp::create(w.b, w.loc, w.b.getI32Type(), name, operands)->getResult(0);
}

} // namespace ingot::targets::cuda
