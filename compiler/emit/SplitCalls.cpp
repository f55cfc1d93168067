// Splits the work of kernels over several threads. run.over_items of a kernel and N work items becomes
//
//   if (exec is NULL or it is not worth it) and N > 0: status = KERNEL(arguments, 0, N), or 0 if that has none
//   otherwise
//     args = {the arguments}            on the stack, one place for all
//     status = ingot_parallel_for(exec, @KERNEL_range, args, N)
//
// where KERNEL_range(args, begin, end) calls the kernel.
#include "compiler/emit/Lowering.h"
#include "compiler/plan/Run.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using ingot::run::OverItemsOp;

namespace {

class Splitter {
public:
  explicit Splitter(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(builder.getI32Type()), i64(builder.getI64Type()) {
  }

  void split(LLVM::LLVMFuncOp run, ArrayRef<OverItemsOp> all) {
    size_t words = 0;
    for (OverItemsOp each : all) {
      words = std::max<size_t>(words, each.getArguments().size());
    }
    builder.setInsertionPointToStart(&run.front());
    Value count = number(run.getLoc(), i64, static_cast<int64_t>(words));
    Value place = LLVM::AllocaOp::create(builder, run.getLoc(), pointer, i64, count, /*alignment=*/8);
    for (OverItemsOp each : all) {
      replace(each, place);
    }
  }

private:
  void replace(OverItemsOp op, Value place) {
    Location loc = op.getLoc();
    auto kernel = symbols.lookup<LLVM::LLVMFuncOp>(op.getKernel());
    Block *before = op->getBlock(), *rest = before->splitBlock(op);
    Block *whole = builder.createBlock(rest), *parts = builder.createBlock(rest);
    op.getStatus().replaceAllUsesWith(rest->addArgument(i32, loc));
    builder.setInsertionPointToEnd(before);
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value alone = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, op.getExec(), null);
    Value few = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, op.getIsWorth(),
                                     number(loc, builder.getI1Type(), 0));
    alone = LLVM::OrOp::create(builder, loc, alone, few);
    Value zero = number(loc, op.getItems().getType(), 0);
    Value some = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sgt, op.getItems(), zero);
    alone = LLVM::AndOp::create(builder, loc, alone, some);
    LLVM::CondBrOp::create(builder, loc, alone, whole, ValueRange(), parts, ValueRange());

    builder.setInsertionPointToStart(whole);
    SmallVector<Value> operands(op.getArguments());
    operands.append({zero, op.getItems()});
    LLVM::BrOp::create(builder, loc, statusOf(kernel, operands, loc), rest);
    builder.setInsertionPointToStart(parts);
    LLVM::BrOp::create(builder, loc, callInParts(op, kernel, place), rest);
    op.erase();
  }

  /// Calls a kernel, and returns its status, or 0 where it has none.
  Value statusOf(LLVM::LLVMFuncOp kernel, ValueRange operands, Location loc) {
    auto call = LLVM::CallOp::create(builder, loc, kernel, operands);
    return call.getNumResults() == 1 ? call.getResult() : number(loc, i32, 0);
  }

  Value callInParts(OverItemsOp op, LLVM::LLVMFuncOp kernel, Value place) {
    Location loc = op.getLoc();
    Type type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(op.getArguments().getTypes()));
    for (auto [index, argument] : llvm::enumerate(op.getArguments())) {
      Value at = LLVM::GEPOp::create(builder, loc, pointer, type, place, ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      LLVM::StoreOp::create(builder, loc, argument, at);
    }
    Value function = LLVM::AddressOfOp::create(builder, loc, rangeFunction(kernel, type));
    Value arguments[] = {op.getExec(), function, place, as(i64, op.getItems())};
    return LLVM::CallOp::create(builder, loc, parallelFor(), arguments).getResult();
  }

  Value number(Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value));
  }

  /// A number of items, which C's functions have as an int64_t whatever the width of an index is.
  Value as(Type type, Value items) {
    unsigned from = items.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    return from == to  ? items
           : from < to ? LLVM::SExtOp::create(builder, items.getLoc(), type, items).getResult()
                       : LLVM::TruncOp::create(builder, items.getLoc(), type, items).getResult();
  }

  /// Returns KERNEL_range, which is made once.
  LLVM::LLVMFuncOp rangeFunction(LLVM::LLVMFuncOp kernel, Type type) {
    std::string name = (kernel.getName() + "_range").str();
    if (auto present = symbols.lookup<LLVM::LLVMFuncOp>(name)) {
      return present;
    }
    OpBuilder::InsertionGuard guard(builder);
    Location loc = kernel.getLoc();
    builder.setInsertionPointAfter(kernel);
    auto range = LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64}),
                                          LLVM::Linkage::Internal);
    symbols.insert(range);
    range.setPassthroughAttr(kernel.getPassthroughAttr());
    Block *block = range.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    SmallVector<Value> operands;
    for (auto [index, element] : llvm::enumerate(cast<LLVM::LLVMStructType>(type).getBody())) {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, type, block->getArgument(0),
                                        ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      operands.push_back(LLVM::LoadOp::create(builder, loc, element, place));
    }
    for (Value bound : block->getArguments().drop_front()) {
      operands.push_back(as(kernel.getFunctionType().getParams().back(), bound));
    }
    LLVM::ReturnOp::create(builder, loc, statusOf(kernel, operands, loc));
    return range;
  }

  LLVM::LLVMFuncOp parallelFor() {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>("ingot_parallel_for");
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, i64});
      function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), "ingot_parallel_for", type);
      symbols.insert(function);
    }
    return function;
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  Type pointer, i32, i64;
};

} // namespace

void ingot::emit::splitCalls(ModuleOp module) {
  Splitter splitter(module);
  for (auto run : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    SmallVector<OverItemsOp> all;
    run.walk([&](OverItemsOp each) { all.push_back(each); });
    if (!all.empty()) {
      splitter.split(run, all);
    }
  }
}
