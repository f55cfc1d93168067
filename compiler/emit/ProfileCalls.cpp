// Writes what a model needs to be profiled: a call that carries `ingot.launch = N` gets in front of it and behind it a
// call of ingot_exec.profile,
//
//   NAME_profile(exec, N, 0); call; NAME_profile(exec, N, 1);
//
// where NAME_profile does nothing without an exec or without the function in it. It is a function of its own and is not
// written at each call, since a model has hundreds of them. Models that are not compiled for profiling have no such
// attribute, and none of this.
#include "compiler/emit/Lowering.h"
#include "compiler/plan/CallAttributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace {

class Hooks {
public:
  explicit Hooks(ModuleOp module)
      : builder(module.getContext()), pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()) {}

  void wrap(LLVM::LLVMFuncOp run, LLVM::CallOp call) {
    int32_t number = int32_t(cast<IntegerAttr>(call->removeAttr(ingot::plan::launchName)).getInt());
    if (!hook) {
      makeHook(run);
    }
    Value exec = run.getArgument(run.getNumArguments() - 1);
    builder.setInsertionPoint(call);
    callHook(call.getLoc(), exec, number, 0);
    builder.setInsertionPointAfter(call);
    callHook(call.getLoc(), exec, number, 1);
  }

private:
  Value constant(Location loc, int32_t value) {
    return LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(value));
  }
  void callHook(Location loc, Value exec, int32_t number, int32_t ended) {
    LLVM::CallOp::create(builder, loc, hook, ValueRange{exec, constant(loc, number), constant(loc, ended)});
  }
  /// Loads one of the first five fields of an ingot_exec, all of which are pointers.
  Value load(Location loc, Value exec, int32_t field) {
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(5, pointer));
    Value place = LLVM::GEPOp::create(builder, loc, pointer, type, exec, ArrayRef<LLVM::GEPArg>{0, field});
    return LLVM::LoadOp::create(builder, loc, pointer, place);
  }

  /// Writes NAME_profile: entry asks for an exec, `ask` for its function, and `tell` calls that.
  void makeHook(LLVM::LLVMFuncOp run) {
    Location loc = run.getLoc();
    builder.setInsertionPoint(run);
    auto none = LLVM::LLVMVoidType::get(builder.getContext());
    auto called = LLVM::LLVMFunctionType::get(none, {pointer, i32, i32});
    hook = LLVM::LLVMFuncOp::create(builder, loc, (run.getName().drop_back(4) + "_profile").str(), called,
                                    LLVM::Linkage::Internal);
    hook.setPassthroughAttr(run.getPassthroughAttr());
    Block *entry = hook.addEntryBlock(builder);
    Block *ask = new Block, *tell = new Block, *end = new Block;
    for (Block *block : {ask, tell, end}) {
      hook.getBody().push_back(block);
    }
    Value exec = hook.getArgument(0);
    builder.setInsertionPointToEnd(entry);
    branchUnlessNull(loc, exec, ask, end);
    builder.setInsertionPointToEnd(ask);
    Value function = load(loc, exec, 4); // context, threads, parallel_for, weights, profile
    branchUnlessNull(loc, function, tell, end);
    builder.setInsertionPointToEnd(tell);
    LLVM::CallOp::create(builder, loc, called,
                         ValueRange{function, load(loc, exec, 0), hook.getArgument(1), hook.getArgument(2)});
    LLVM::BrOp::create(builder, loc, end);
    builder.setInsertionPointToEnd(end);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
  void branchUnlessNull(Location loc, Value value, Block *yes, Block *no) {
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value present = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value, null);
    LLVM::CondBrOp::create(builder, loc, present, yes, ValueRange(), no, ValueRange());
  }

  OpBuilder builder;
  Type pointer, i32;
  LLVM::LLVMFuncOp hook;
};

} // namespace

void ingot::emit::profileCalls(ModuleOp module) {
  Hooks hooks(module);
  for (auto run : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    SmallVector<LLVM::CallOp> calls;
    run.walk([&](LLVM::CallOp call) {
      if (call->hasAttr(ingot::plan::launchName)) {
        calls.push_back(call);
      }
    });
    for (LLVM::CallOp call : calls) {
      hooks.wrap(run, call);
    }
  }
}
