// The ingot_model of runtime_support/include/ingot.h as LLVM constants, and the two functions around it. The structures
// are written field by field in the header's order; LLVM lays them out by the target's C rules.
#include "compiler/emit/CodeGen.h"
#include "runtime_support/include/ingot.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using ingot::plan::ModelInfo;
using ingot::plan::TensorInfo;

namespace {

class DescriptorBuilder {
public:
  DescriptorBuilder(Module &ir, const ModelInfo &model) : ir(ir), context(ir.getContext()), model(model) {}

  /// The descriptor's global; `run` is the generic entry.
  GlobalVariable *build(Function *run) {
    Constant *fields[] = {int32(INGOT_ABI),
                          int32(0),
                          string(model.name),
                          string(model.target),
                          int32(model.inputs.size()),
                          int32(model.outputs.size()),
                          int32(model.nodes.size()),
                          int32(0),
                          tensors(model.inputs, "inputs"),
                          tensors(model.outputs, "outputs"),
                          int64(model.workspaceBytes),
                          int64(model.workspaceAlign),
                          int64(model.weightBytes),
                          names(model.nodes),
                          run};
    return constant(ConstantStruct::getAnon(fields), "descriptor");
  }

private:
  Constant *int32(int64_t value) { return ConstantInt::get(Type::getInt32Ty(context), value); }
  Constant *int64(int64_t value) { return ConstantInt::get(Type::getInt64Ty(context), value); }
  Constant *null() { return ConstantPointerNull::get(PointerType::get(context, 0)); }

  GlobalVariable *constant(Constant *value, const Twine &name) {
    return new GlobalVariable(ir, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, value,
                              model.name + "_" + name);
  }

  Constant *string(StringRef text) {
    GlobalVariable *global = constant(ConstantDataArray::getString(context, text), "text");
    global->setLinkage(GlobalValue::PrivateLinkage);
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    global->setAlignment(Align(1));
    return global;
  }

  Constant *array(ArrayRef<Constant *> elements, const Twine &name) {
    if (elements.empty()) {
      return null();
    }
    return constant(ConstantArray::get(ArrayType::get(elements[0]->getType(), elements.size()), elements), name);
  }

  Constant *names(ArrayRef<std::string> texts) {
    SmallVector<Constant *> pointers;
    for (const std::string &text : texts) {
      pointers.push_back(string(text));
    }
    return array(pointers, "nodes");
  }

  Constant *tensors(ArrayRef<TensorInfo> infos, const Twine &name) {
    SmallVector<Constant *> all;
    for (const TensorInfo &info : infos) {
      SmallVector<Constant *> dims;
      for (const ingot::support::Size &dim : info.dims) {
        dims.push_back(int64(dim.number()));
      }
      int64_t elements = ingot::support::product(info.dims).number();
      all.push_back(ConstantStruct::getAnon({string(info.name), int32(info.type), int32(info.dims.size()),
                                             array(dims, "dims"), int64(elements), int64(info.bytes.number())}));
    }
    return array(all, name);
  }

  Module &ir;
  LLVMContext &context;
  const ModelInfo &model;
};

/// int run(const void *const *inputs, void *const *outputs, void *workspace, const ingot_exec *exec): the typed entry
/// with pointers from arrays.
Function *buildGenericRun(Module &ir, const ModelInfo &model, Function *typed) {
  LLVMContext &context = ir.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getInt32Ty(context), {pointer, pointer, pointer, pointer}, false);
  Function *run = Function::Create(type, GlobalValue::InternalLinkage, model.name + "_run_generic", ir);
  IRBuilder<> builder(BasicBlock::Create(context, "", run));
  SmallVector<Value *> arguments;
  auto loadAll = [&](Value *array, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      arguments.push_back(builder.CreateLoad(pointer, builder.CreateConstGEP1_64(pointer, array, i)));
    }
  };
  loadAll(run->getArg(0), model.inputs.size());
  loadAll(run->getArg(1), model.outputs.size());
  arguments.push_back(run->getArg(2));
  arguments.push_back(run->getArg(3));
  CallInst *call = builder.CreateCall(typed, arguments);
  call->setTailCallKind(CallInst::TCK_Tail);
  builder.CreateRet(call);
  return run;
}

void copyManners(const Function &from, Function &to) {
  for (const char *name : {"target-cpu", "target-features"}) {
    if (from.hasFnAttribute(name)) {
      to.addFnAttr(from.getFnAttribute(name));
    }
  }
  to.setDoesNotThrow();
}

/// Whether `run` is what the header will declare: a pointer for each tensor, the workspace and exec.
bool hasTypedSignature(const Function &run, const ModelInfo &model) {
  return run.getReturnType()->isIntegerTy(32) && run.arg_size() == model.inputs.size() + model.outputs.size() + 2 &&
         llvm::all_of(run.args(), [](const Argument &argument) { return argument.getType()->isPointerTy(); });
}

} // namespace

mlir::LogicalResult ingot::emit::addDescriptor(mlir::ModuleOp module, Module &ir, const ModelInfo &model) {
  Function *typed = ir.getFunction(model.name + "_run");
  if (!typed || typed->isDeclaration() || !hasTypedSignature(*typed, model)) {
    return module.emitError("loop IR has no function @" + model.name + "_run of " +
                            std::to_string(model.inputs.size() + model.outputs.size() + 2) +
                            " pointers that returns i32");
  }
  Function *run = buildGenericRun(ir, model, typed);
  GlobalVariable *descriptor = DescriptorBuilder(ir, model).build(run);
  auto *type = FunctionType::get(descriptor->getType(), false);
  Function *get = Function::Create(type, GlobalValue::ExternalLinkage, model.name + "_model", ir);
  IRBuilder<>(BasicBlock::Create(ir.getContext(), "", get)).CreateRet(descriptor);
  copyManners(*typed, *run);
  copyManners(*typed, *get);
  return mlir::success();
}
