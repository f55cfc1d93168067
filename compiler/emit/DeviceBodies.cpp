// KERNEL_on_device(args, begin, end), as a device calls a kernel:
//
//   status = KERNEL(the words of args as what its parameters are, begin, end)
//
// and, where the kernel checks what it reads, behind its own arguments the address of a word and the bits of a status
// that say which node it is (the words of args are those of ingot_launch):
//
//   if (status != 0 && *word == 0) *word = status | bits
#include "compiler/emit/DeviceCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace {

class BodyWriter {
public:
  BodyWriter(ModuleOp module, LLVM::LLVMFuncOp kernel)
      : kernel(kernel), loc(kernel.getLoc()), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(builder.getI32Type()), i64(builder.getI64Type()) {
  }

  void write() {
    builder.setInsertionPointAfter(kernel);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64});
    auto body = LLVM::LLVMFuncOp::create(builder, loc, ingot::emit::deviceBodyName(kernel.getName()), type,
                                         LLVM::Linkage::Internal);
    body.setPassthroughAttr(kernel.getPassthroughAttr());
    Block *block = body.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    args = block->getArgument(0);
    SmallVector<Value> operands;
    for (Type parameter : kernel.getArgumentTypes().drop_back(2)) {
      operands.push_back(word(parameter));
    }
    ArrayRef<BlockArgument> range = block->getArguments().drop_front();
    for (auto [bound, given] : llvm::zip_equal(kernel.getArgumentTypes().take_back(2), range)) {
      operands.push_back(bound == i64 ? Value(given) : LLVM::TruncOp::create(builder, loc, bound, given).getResult());
    }
    auto call = LLVM::CallOp::create(builder, loc, kernel, operands);
    if (call.getNumResults() == 1) {
      noteStatus(call.getResult(), body);
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

private:
  LLVM::LLVMFuncOp kernel;
  Location loc;
  OpBuilder builder;
  Type pointer, i32, i64;
  Value args;
  int32_t next = 0;

  /// The next word of the arguments, of which a shorter type is the beginning.
  Value word(Type type) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, args, ArrayRef<LLVM::GEPArg>{next++});
    return LLVM::LoadOp::create(builder, loc, type, place);
  }

  void noteStatus(Value status, LLVM::LLVMFuncOp body) {
    Value place = word(pointer), bits = word(i32);
    Value zero = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
    Value isBad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, zero);
    Block *found = body.addBlock(), *end = body.addBlock();
    LLVM::CondBrOp::create(builder, loc, isBad, found, ValueRange(), end, ValueRange());
    builder.setInsertionPointToStart(found);
    Value old = LLVM::LoadOp::create(builder, loc, i32, place);
    Value isFirst = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, old, zero);
    Value located = LLVM::OrOp::create(builder, loc, status, bits);
    Value noted = LLVM::SelectOp::create(builder, loc, isFirst, located, old);
    LLVM::StoreOp::create(builder, loc, noted, place);
    LLVM::BrOp::create(builder, loc, ValueRange(), end);
    builder.setInsertionPointToStart(end);
  }
};

} // namespace

void ingot::emit::addDeviceBodies(ModuleOp module, llvm::ArrayRef<std::string> kernels) {
  for (const std::string &kernel : kernels) {
    BodyWriter(module, module.lookupSymbol<LLVM::LLVMFuncOp>(kernel)).write();
  }
}
