// Kernels over several threads, and on devices with a memory of their own. A call that may be split carries
// `ingot.items = N` and ends with the range [0, N) of work items. It becomes
//
//   if exec is NULL, that is on one thread, and N > 0: the call as it is, of all items
//   otherwise
//     args = {every operand but the range}            on the stack, one place for all calls
//     status = ingot_parallel_for(exec, @KERNEL_range, args, N)
//
// where KERNEL_range(args, begin, end) calls the kernel. Where the call carries `ingot.weighed_items` in place of that,
// the beginning of its range is 0 when the call is as it is on several threads, too, because it takes them longer to
// begin; and 0 is what it becomes in any case. A status other than 0 ends the run, unless the kernel has one
// of its own: then the caller looks at it.
//
// A call that a device runs carries its number as `ingot.device`, and becomes
//
//   args = {a word for every operand but the range, N}
//   status = ingot_device_launch(exec, device, kernel, args, bytes of args, N, 1, 1)
//
// where `kernel` is the attribute `ingot.kernel`, the kernel's number among those of the device. A call whose kernel
// checks what it reads carries `ingot.node`. The host does not see when such a kernel fails, so the kernel gets two
// more words in front of N: the address of the device's status, and the bits that name the node in a status. After a
// call with `ingot.awaited` the run waits for the device.
#include "compiler/emit/DeviceCode.h"
#include "compiler/emit/Lowering.h"
#include "compiler/plan/CallAttributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace {

using ingot::emit::kernelNumberName, ingot::plan::awaitedName, ingot::plan::callDeviceName, ingot::plan::callNodeName,
    ingot::plan::itemsName, ingot::plan::weighedItemsName;

class Splitter {
public:
  explicit Splitter(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(builder.getI32Type()), i64(builder.getI64Type()) {
  }

  void split(LLVM::LLVMFuncOp run, ArrayRef<LLVM::CallOp> calls) {
    int64_t words = 0;
    for (LLVM::CallOp call : calls) {
      int64_t more = call->hasAttr(callNodeName) ? 3 : call->hasAttr(callDeviceName) ? 1 : 0;
      words = std::max<int64_t>(words, call.getNumOperands() - 2 + more);
    }
    builder.setInsertionPointToStart(&run.front());
    Value count = LLVM::ConstantOp::create(builder, run.getLoc(), i64, builder.getI64IntegerAttr(words));
    Value arguments = LLVM::AllocaOp::create(builder, run.getLoc(), pointer, i64, count, /*alignment=*/8);
    for (LLVM::CallOp call : calls) {
      bool isWeighed = static_cast<bool>(call->removeAttr(weighedItemsName));
      isWeighed || call->removeAttr(itemsName) ? replace(run, call, arguments, isWeighed)
                                               : enqueue(run, call, arguments);
    }
  }

private:
  Type argumentsType(ValueRange operands) {
    return LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(operands.getTypes()));
  }

  void replace(LLVM::LLVMFuncOp run, LLVM::CallOp call, Value arguments, bool isWeighed) {
    Location loc = call.getLoc();
    Value exec = run.getArgument(run.getNumArguments() - 1);
    Block *before = call->getBlock(), *rest = before->splitBlock(call->getNextNode());
    Block *whole = builder.createBlock(rest), *parts = builder.createBlock(rest);
    builder.setInsertionPointToEnd(before);
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value zero = number(loc, call.getOperands().back().getType(), 0);
    Value alone = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, exec, null);
    if (isWeighed) {
      OpOperand &begin = call->getOpOperand(call.getNumOperands() - 2);
      Value few = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, begin.get(), zero);
      alone = LLVM::OrOp::create(builder, loc, alone, few);
      begin.set(zero);
    }
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

  /// Stores the operands; the type of the structure in which they are then.
  Type store(ValueRange operands, Value arguments, Location loc) {
    Type type = argumentsType(operands);
    for (auto [index, operand] : llvm::enumerate(operands)) {
      Value place =
          LLVM::GEPOp::create(builder, loc, pointer, type, arguments, ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      LLVM::StoreOp::create(builder, loc, operand, place);
    }
    return type;
  }

  Value callInParts(LLVM::CallOp call, Value exec, Value arguments) {
    Location loc = call.getLoc();
    Type type = store(call.getOperands().drop_back(2), arguments, loc);
    Value function = LLVM::AddressOfOp::create(builder, loc, rangeFunction(call, type));
    return library(loc, "ingot_parallel_for", {exec, function, arguments, as(i64, call.getOperands().back())}, i32);
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

  /// Stores words of 8 bytes, which every device reads alike.
  void storeWords(ValueRange words, Value arguments, Location loc) {
    for (auto [index, word] : llvm::enumerate(words)) {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, arguments, ArrayRef<LLVM::GEPArg>{int32_t(index)});
      Value whole = word.getType() == pointer ? LLVM::PtrToIntOp::create(builder, loc, i64, word).getResult()
                    : word.getType() == i64   ? word
                                              : LLVM::SExtOp::create(builder, loc, i64, word).getResult();
      LLVM::StoreOp::create(builder, loc, whole, place);
    }
  }

  int64_t numberAt(LLVM::CallOp call, StringRef name) { return cast<IntegerAttr>(call->getAttr(name)).getInt(); }

  void enqueue(LLVM::LLVMFuncOp run, LLVM::CallOp call, Value arguments) {
    Location loc = call.getLoc();
    Value exec = run.getArgument(run.getNumArguments() - 1);
    Block *before = call->getBlock(), *rest = before->splitBlock(call->getNextNode());
    builder.setInsertionPointToEnd(before);
    Value device = number(loc, i32, numberAt(call, callDeviceName)), items = as(i64, call.getOperands().back());
    SmallVector<Value> words(call.getOperands().drop_back(2));
    if (call->hasAttr(callNodeName)) { // as INGOT_STATUS does it
      words.push_back(library(loc, "ingot_device_status", {exec, device}, pointer));
      words.push_back(number(loc, i64, (numberAt(call, callNodeName) + 1) << 8));
    }
    words.push_back(items);
    storeWords(words, arguments, loc);
    Value one = number(loc, i64, 1), bytes = number(loc, i64, int64_t(8 * words.size()));
    Value kernel = number(loc, i32, numberAt(call, kernelNumberName));
    Value status = library(loc, "ingot_device_launch", {exec, device, kernel, arguments, bytes, items, one, one}, i32);
    if (call->hasAttr(awaitedName)) {
      Block *enqueued = builder.createBlock(rest);
      returnUnlessZero(status, before, enqueued);
      before = enqueued;
      builder.setInsertionPointToEnd(before);
      status = library(loc, "ingot_device_wait", {exec, device}, i32);
    }
    returnUnlessZero(status, before, rest);
    call.erase();
  }

  /// KERNEL_range, made once.
  LLVM::LLVMFuncOp rangeFunction(LLVM::CallOp call, Type type) {
    std::string name = (*call.getCallee() + "_range").str();
    if (auto present = symbols.lookup<LLVM::LLVMFuncOp>(name)) {
      return present;
    }
    OpBuilder::InsertionGuard guard(builder);
    auto kernel = symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee());
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
    auto inner = LLVM::CallOp::create(builder, loc, kernel, operands);
    Value status = inner.getNumResults() == 1 ? inner.getResult() : number(loc, i32, 0);
    LLVM::ReturnOp::create(builder, loc, status);
    return range;
  }

  /// Calls a function of the support library, which is declared if it has not been yet. Returns the call's result.
  Value library(Location loc, StringRef name, ArrayRef<Value> arguments, Type result) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      auto types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
      function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, types));
      symbols.insert(function);
    }
    return LLVM::CallOp::create(builder, loc, function, arguments).getResult();
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
  SymbolTable symbols;
  OpBuilder builder;
  Type pointer, i32, i64;
};

} // namespace

void ingot::emit::splitCalls(ModuleOp module) {
  Splitter splitter(module);
  for (auto run : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    SmallVector<LLVM::CallOp> calls;
    run.walk([&](LLVM::CallOp call) {
      if (call->hasAttr(itemsName) || call->hasAttr(weighedItemsName) || call->hasAttr(callDeviceName)) {
        calls.push_back(call);
      }
    });
    if (!calls.empty()) {
      splitter.split(run, calls);
    }
  }
}
