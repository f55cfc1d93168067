// Kernels over several threads. A call that may be split carries `ingot.items = N` and ends with the range [0, N) of
// work items. It becomes
//
//   if exec is NULL, that is on one thread, and N > 0: the call as it is, of all items
//   otherwise
//     args = {every operand but the range}            on the stack, one place for all calls
//     status = ingot_parallel_for(exec, @KERNEL_range, args, N)
//
// where KERNEL_range(args, begin, end) calls the kernel. A status other than 0 ends the run, unless the kernel has one
// of its own: then the caller looks at it.
#include "compiler/emit/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace {

constexpr StringRef itemsName = "ingot.items";

class Splitter {
public:
  explicit Splitter(ModuleOp module)
      : module(module), builder(module.getContext()), pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  void split(LLVM::LLVMFuncOp run, ArrayRef<LLVM::CallOp> calls) {
    int64_t words = 0;
    for (LLVM::CallOp call : calls) {
      words = std::max<int64_t>(words, call.getNumOperands() - 2);
    }
    builder.setInsertionPointToStart(&run.front());
    Value count = LLVM::ConstantOp::create(builder, run.getLoc(), i64, builder.getI64IntegerAttr(words));
    Value arguments = LLVM::AllocaOp::create(builder, run.getLoc(), pointer, i64, count, /*alignment=*/8);
    for (LLVM::CallOp call : calls) {
      replace(run, call, arguments);
    }
  }

private:
  Type argumentsType(ValueRange operands) {
    return LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(operands.getTypes()));
  }

  void replace(LLVM::LLVMFuncOp run, LLVM::CallOp call, Value arguments) {
    Location loc = call.getLoc();
    Value exec = run.getArgument(run.getNumArguments() - 1);
    Block *before = call->getBlock(), *rest = before->splitBlock(call->getNextNode());
    Block *whole = builder.createBlock(rest), *parts = builder.createBlock(rest);
    builder.setInsertionPointToEnd(before);
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value zero = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(0));
    Value alone = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, exec, null);
    Value some = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sgt, call.getOperands().back(), zero);
    alone = LLVM::AndOp::create(builder, loc, alone, some);
    LLVM::CondBrOp::create(builder, loc, alone, whole, ValueRange(), parts, ValueRange());
    builder.setInsertionPointToStart(parts);
    Value status = callInParts(call, exec, arguments);
    call->moveBefore(whole, whole->end());
    builder.setInsertionPointToEnd(whole);
    if (call.getNumResults() == 1) { // the caller looks at it
      Value joined = rest->addArgument(i32, loc);
      call.getResult().replaceAllUsesWith(joined);
      LLVM::BrOp::create(builder, loc, call.getResults(), rest);
      builder.setInsertionPointToEnd(parts);
      LLVM::BrOp::create(builder, loc, ValueRange{status}, rest);
    } else {
      LLVM::BrOp::create(builder, loc, ValueRange(), rest);
      returnUnlessZero(status, parts, rest);
    }
  }

  Value callInParts(LLVM::CallOp call, Value exec, Value arguments) {
    Location loc = call.getLoc();
    ValueRange operands = call.getOperands().drop_back(2);
    Type type = argumentsType(operands);
    for (auto [index, operand] : llvm::enumerate(operands)) {
      Value place =
          LLVM::GEPOp::create(builder, loc, pointer, type, arguments, ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      LLVM::StoreOp::create(builder, loc, operand, place);
    }
    Value function = LLVM::AddressOfOp::create(builder, loc, rangeFunction(call, type));
    auto split = LLVM::CallOp::create(builder, loc, parallelFor(),
                                      ValueRange{exec, function, arguments, call.getOperands().back()});
    return split.getResult();
  }

  /// KERNEL_range, made once.
  LLVM::LLVMFuncOp rangeFunction(LLVM::CallOp call, Type type) {
    std::string name = (*call.getCallee() + "_range").str();
    if (auto present = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
      return present;
    }
    OpBuilder::InsertionGuard guard(builder);
    auto kernel = module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee());
    Location loc = kernel.getLoc();
    builder.setInsertionPointAfter(kernel);
    auto range = LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64}),
                                          LLVM::Linkage::Internal);
    range.setPassthroughAttr(kernel.getPassthroughAttr());
    Block *block = range.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    SmallVector<Value> operands;
    for (auto [index, element] : llvm::enumerate(cast<LLVM::LLVMStructType>(type).getBody())) {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, type, block->getArgument(0),
                                        ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      operands.push_back(LLVM::LoadOp::create(builder, loc, element, place));
    }
    operands.append({block->getArgument(1), block->getArgument(2)});
    auto inner = LLVM::CallOp::create(builder, loc, kernel, operands);
    Value status = inner.getNumResults() == 1
                       ? inner.getResult()
                       : LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0)).getResult();
    LLVM::ReturnOp::create(builder, loc, status);
    return range;
  }

  LLVM::LLVMFuncOp parallelFor() {
    StringRef name = "ingot_parallel_for";
    if (auto present = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
      return present;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, i64});
    return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
  }

  /// At the end of `block`; what follows is the block `rest`.
  void returnUnlessZero(Value status, Block *block, Block *rest) {
    Location loc = status.getLoc();
    Block *fail = builder.createBlock(rest);
    LLVM::ReturnOp::create(builder, loc, status);
    builder.setInsertionPointToEnd(block);
    Value zero = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
    Value bad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, zero);
    LLVM::CondBrOp::create(builder, loc, bad, fail, ValueRange(), rest, ValueRange());
  }

  ModuleOp module;
  OpBuilder builder;
  Type pointer, i32, i64;
};

} // namespace

void ingot::emit::splitCalls(ModuleOp module) {
  for (auto run : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    SmallVector<LLVM::CallOp> calls;
    run.walk([&](LLVM::CallOp call) {
      if (call->removeAttr(itemsName)) {
        calls.push_back(call);
      }
    });
    if (!calls.empty()) {
      Splitter(module).split(run, calls);
    }
  }
}
