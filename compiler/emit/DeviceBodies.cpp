// The functions around a kernel that a device calls. Where arguments lie in memory, the words of ingot_launch,
//
//   KERNEL_on_device(args, begin, end):
//     status = KERNEL(the words of args as what its parameters are, begin, end)
//
// and where they are parameters, as of a GPU's kernels, of which each thread or block has an item,
//
//   KERNEL_on_device(words..., items):
//     item = whatever the target writes
//     if (item < items) status = KERNEL(words..., item, item + 1)
//
// Where the kernel checks what it reads, behind its own arguments come the address of a word and the bits of a status
// that say which node it is:
//
//   if (status != 0) exchange *word for status | bits if it is 0
#include "compiler/emit/DeviceObject.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ingot;

namespace {

class EntryWriter {
public:
  EntryWriter(ModuleOp module, StringRef name)
      : kernel(module.lookupSymbol<LLVM::LLVMFuncOp>(name)), loc(kernel.getLoc()), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(builder.getI32Type()), i64(builder.getI64Type()) {
  }

  void writeBody() {
    ArrayRef<BlockArgument> given = start({pointer, i64, i64});
    SmallVector<Value> words;
    for (auto [i, type] : llvm::enumerate(wordTypes())) {
      Value place =
          LLVM::GEPOp::create(builder, loc, pointer, i64, given[0], ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      words.push_back(LLVM::LoadOp::create(builder, loc, type, place)); // of a shorter type it is the beginning
    }
    run(words, given[1], given[2]);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

  void writeItem(emit::ItemNumber number) {
    SmallVector<Type> types = wordTypes();
    types.push_back(i64);
    SmallVector<Value> words(start(types));
    Value items = words.pop_back_val();
    Value item = number(builder, loc, kernel->hasAttr(plan::gridName));
    Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, item, items);
    onlyIf(isThere, [&] {
      Value one = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(1));
      run(words, item, LLVM::AddOp::create(builder, loc, item, one));
    });
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

private:
  LLVM::LLVMFuncOp kernel, entry;
  Location loc;
  OpBuilder builder;
  Type pointer, i32, i64;

  bool checks() { return !isa<LLVM::LLVMVoidType>(kernel.getFunctionType().getReturnType()); }

  /// What the words are; those of the range are not among them.
  SmallVector<Type> wordTypes() {
    SmallVector<Type> types(kernel.getArgumentTypes().drop_back(2));
    if (checks()) {
      types.append({pointer, i32});
    }
    return types;
  }

  ArrayRef<BlockArgument> start(ArrayRef<Type> parameters) {
    builder.setInsertionPointAfter(kernel);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), parameters);
    entry =
        LLVM::LLVMFuncOp::create(builder, loc, emit::deviceBodyName(kernel.getName()), type, LLVM::Linkage::Internal);
    entry.setPassthroughAttr(kernel.getPassthroughAttr());
    Block *block = entry.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    return block->getArguments();
  }

  void onlyIf(Value condition, llvm::function_ref<void()> write) {
    Block *inside = entry.addBlock(), *behind = entry.addBlock();
    LLVM::CondBrOp::create(builder, loc, condition, inside, ValueRange(), behind, ValueRange());
    builder.setInsertionPointToStart(inside);
    write();
    LLVM::BrOp::create(builder, loc, ValueRange(), behind);
    builder.setInsertionPointToStart(behind);
  }

  void run(ArrayRef<Value> words, Value begin, Value end) {
    SmallVector<Value> operands(words.take_front(kernel.getNumArguments() - 2));
    Type index = kernel.getArgumentTypes().back();
    for (Value bound : {begin, end}) {
      operands.push_back(index == i64 ? bound : LLVM::TruncOp::create(builder, loc, index, bound).getResult());
    }
    auto call = LLVM::CallOp::create(builder, loc, kernel, operands);
    if (!checks()) {
      return;
    }
    Value zero = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
    Value isBad = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, call.getResult(), zero);
    onlyIf(isBad, [&] {
      ArrayRef<Value> note = words.take_back(2);
      Value located = LLVM::OrOp::create(builder, loc, call.getResult(), note[1]);
      LLVM::AtomicCmpXchgOp::create(builder, loc, note[0], zero, located, LLVM::AtomicOrdering::monotonic,
                                    LLVM::AtomicOrdering::monotonic);
    });
  }
};

} // namespace

void emit::addDeviceBodies(ModuleOp module, ArrayRef<std::string> kernels) {
  for (const std::string &kernel : kernels) {
    EntryWriter(module, kernel).writeBody();
  }
}

void emit::addItemEntries(ModuleOp module, ArrayRef<std::string> kernels, ItemNumber number) {
  for (const std::string &kernel : kernels) {
    EntryWriter(module, kernel).writeItem(number);
  }
}

void emit::defineForKernels(ModuleOp module, StringRef name, FunctionWriter write) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    return;
  }
  OpBuilder builder(module.getContext());
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value result = write(builder, function.getLoc(), block->getArguments());
  LLVM::ReturnOp::create(builder, function.getLoc(), result ? ValueRange(result) : ValueRange());
  function.setAlwaysInline(true);
}
