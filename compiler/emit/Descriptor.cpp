// The ingot_model of runtime_support/include/ingot.h: what it says, and its LLVM constants with the functions around
// them. The structures are written field by field in the header's order; LLVM lays them out by the target's C rules.
#include "compiler/emit/Descriptor.h"
#include "compiler/emit/CodeGen.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "runtime_support/include/ingot.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using ingot::emit::Descriptor;
using ingot::plan::ModelInfo;
using ingot::plan::TensorInfo;
using ingot::support::Size;
using ingot::support::symbolName;

namespace {

int64_t numberOr(const Size &size, int64_t other) { return size.isNumber() ? size.number() : other; }

/// As ingot_tensor_info.dims has it.
int64_t dimCode(const ModelInfo &model, const Size &dim) {
  if (dim.isNumber()) {
    return dim.number();
  }
  auto isIt = [&](const auto &symbol) { return dim == Size::symbol(symbol.name); };
  int64_t symbols = model.symbols.size(), symbol = llvm::find_if(model.symbols, isIt) - model.symbols.begin();
  if (symbol < symbols) {
    return -1 - symbol;
  }
  auto found = llvm::find_if(model.found, isIt);
  return found == model.found.end() ? INGOT_DIM_COMPUTED : -1 - symbols - (found - model.found.begin());
}

Descriptor::Tensor describeTensor(const ModelInfo &model, const TensorInfo &info) {
  Descriptor::Tensor tensor = {};
  tensor.name = info.name;
  tensor.type = info.type;
  for (const Size &dim : info.dims) {
    tensor.dims.push_back(dimCode(model, dim));
  }
  tensor.elements =
      numberOr(ceilDiv(ingot::support::product(info.capacity()), ingot::support::elementType(info.type).pack()), -1);
  tensor.bytes = numberOr(info.bytes, -1);
  tensor.flags = (info.isOptional ? INGOT_TENSOR_OPTIONAL : 0) | (info.isAllocated ? INGOT_TENSOR_ALLOCATED : 0);
  tensor.inPlaceOf = int32_t(info.inPlaceOf + 1);
  tensor.device = int32_t(info.device);
  return tensor;
}

class DescriptorBuilder {
public:
  DescriptorBuilder(Module &ir, const Descriptor &model) : ir(ir), context(ir.getContext()), model(model) {}

  /// The descriptor's global; `run` is the generic entry, `plan` null for a model whose sizes are all numbers.
  GlobalVariable *build(Function *run, Function *plan) {
    Constant *fields[] = {int32(model.abi),
                          int32(model.flags),
                          string(model.name),
                          string(model.target),
                          int32(model.inputs.size()),
                          int32(model.outputs.size()),
                          int32(model.nodes.size()),
                          int32(model.symbolCount),
                          tensors(model.inputs, "inputs"),
                          tensors(model.outputs, "outputs"),
                          int64(model.workspaceBytes),
                          int64(model.workspaceAlign),
                          int64(model.weightBytes),
                          names(model.nodes),
                          symbols(),
                          plan ? plan : null(),
                          run,
                          int64(int64_t(model.weightHash)),
                          int32(model.foundCount),
                          int32(model.levels.size()),
                          levels(),
                          int32(model.devices.size()),
                          devices()};
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

  Constant *levels() {
    SmallVector<Constant *> all;
    for (int32_t level : model.levels) {
      all.push_back(int32(level));
    }
    return array(all, "levels");
  }

  Constant *devices() {
    SmallVector<Constant *> all;
    for (const Descriptor::Device &device : model.devices) {
      Constant *weights = null();
      if (device.isEmbedded) {
        GlobalVariable *section = ir.getGlobalVariable(ingot::emit::weightsSymbol(model.name), /*AllowInternal=*/true);
        weights = ConstantExpr::getGetElementPtr(Type::getInt8Ty(context), section, int64(device.weightsAt));
      }
      const ingot::emit::DeviceCode &code = *device.code;
      all.push_back(ConstantStruct::getAnon({string(device.target), int64(device.workspaceBytes),
                                             int64(device.weightBytes), weights, int64(device.weightsAt),
                                             int32(device.flags), int32(int64_t(code.kernels.size())),
                                             int32(int64_t(code.imageCount())), kernels(code), images(code)}));
    }
    return array(all, "devices");
  }

  Constant *kernels(const ingot::emit::DeviceCode &code) {
    SmallVector<Constant *> all;
    for (const auto &[kernel, grid] : llvm::zip_equal(code.kernels, code.grids)) {
      auto *type = ArrayType::get(Type::getInt32Ty(context), 3);
      Constant *threads = ConstantArray::get(type, {int32(grid[0]), int32(grid[1]), int32(grid[2])});
      all.push_back(ConstantStruct::getAnon({string(kernel), threads, int32(grid[3])}));
    }
    return array(all, "kernels");
  }

  /// Writes the images of a device's kernels. Kernels that stay functions of this object are described as one image.
  Constant *images(const ingot::emit::DeviceCode &code) {
    SmallVector<Constant *> all;
    for (const ingot::target::Image &image : code.images) {
      GlobalVariable *bytes = constant(ConstantDataArray::getString(context, image.bytes, /*AddNull=*/false), "image");
      bytes->setAlignment(Align(64));
      all.push_back(ConstantStruct::getAnon({string(image.target), bytes, int64(int64_t(image.bytes.size())), null()}));
    }
    if (all.empty() && !code.kernels.empty()) {
      SmallVector<Constant *> bodies;
      for (const std::string &kernel : code.kernels) {
        bodies.push_back(ir.getFunction(ingot::emit::deviceBodyName(kernel)));
      }
      all.push_back(ConstantStruct::getAnon({string(""), null(), int64(0), array(bodies, "bodies")}));
    }
    return array(all, "images");
  }

  Constant *symbols() {
    SmallVector<Constant *> all;
    for (const Descriptor::Symbol &symbol : model.symbols) {
      all.push_back(ConstantStruct::getAnon({string(symbol.name), int64(symbol.least), int64(symbol.most)}));
    }
    return array(all, "symbols");
  }

  Constant *tensors(ArrayRef<Descriptor::Tensor> infos, const Twine &name) {
    SmallVector<Constant *> all;
    for (const Descriptor::Tensor &info : infos) {
      SmallVector<Constant *> dims;
      for (int64_t dim : info.dims) {
        dims.push_back(int64(dim));
      }
      all.push_back(ConstantStruct::getAnon({string(info.name), int32(info.type), int32(info.dims.size()),
                                             array(dims, "dims"), int64(info.elements), int64(info.bytes),
                                             int32(info.flags), int32(info.inPlaceOf), int32(info.device)}));
    }
    return array(all, name);
  }

  Module &ir;
  LLVMContext &context;
  const Descriptor &model;
};

/// int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec):
/// the typed entry with arguments from arrays.
Function *buildGenericRun(Module &ir, const ModelInfo &model, Function *typed) {
  LLVMContext &context = ir.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getInt32Ty(context), {pointer, pointer, pointer, pointer, pointer}, false);
  Function *run = Function::Create(type, GlobalValue::InternalLinkage, model.name + "_run_generic", ir);
  IRBuilder<> builder(BasicBlock::Create(context, "", run));
  SmallVector<Value *> arguments;
  auto loadAll = [&](Value *array, Type *type, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      arguments.push_back(builder.CreateLoad(type, builder.CreateConstGEP1_64(type, array, i)));
    }
  };
  loadAll(run->getArg(0), pointer, model.inputs.size());
  loadAll(run->getArg(1), pointer, model.outputs.size());
  loadAll(run->getArg(2), builder.getInt64Ty(), model.symbols.size());
  for (size_t i = 0; i < model.found.size(); ++i) {
    arguments.push_back(builder.CreateConstGEP1_64(builder.getInt64Ty(), run->getArg(2), model.symbols.size() + i));
  }
  arguments.push_back(run->getArg(3));
  arguments.push_back(run->getArg(4));
  CallInst *call = builder.CreateCall(typed, arguments);
  call->setTailCallKind(CallInst::TCK_Tail);
  builder.CreateRet(call);
  return run;
}

/// int64_t NAME_workspace_bytes(int64_t SYMBOL...): what the plan computes for these symbols, or minus its status.
Function *buildWorkspaceBytes(Module &ir, const ModelInfo &model, Function *plan) {
  LLVMContext &context = ir.getContext();
  Type *i64 = Type::getInt64Ty(context);
  auto *type = FunctionType::get(i64, SmallVector<Type *>(model.symbols.size(), i64), false);
  Function *get = Function::Create(type, GlobalValue::ExternalLinkage, model.name + "_workspace_bytes", ir);
  IRBuilder<> builder(BasicBlock::Create(context, "", get));
  size_t axes = 0;
  for (const TensorInfo &output : model.outputs) {
    axes += output.dims.size();
  }
  auto place = [&](size_t count) { return builder.CreateAlloca(ArrayType::get(i64, std::max<size_t>(count, 1))); };
  Value *sizes = place(model.symbols.size()), *dims = place(axes), *bytes = place(1 + model.devices.size());
  for (Argument &argument : get->args()) {
    builder.CreateStore(&argument, builder.CreateConstGEP1_64(i64, sizes, argument.getArgNo()));
  }
  Value *status = builder.CreateSExt(builder.CreateCall(plan, {sizes, dims, bytes}), i64);
  Value *failed = builder.CreateICmpNE(status, ConstantInt::get(i64, 0));
  builder.CreateRet(builder.CreateSelect(failed, builder.CreateNeg(status), builder.CreateLoad(i64, bytes)));
  return get;
}

void copyManners(const Function &from, Function &to) {
  for (const char *name : {"target-cpu", "target-features"}) {
    if (from.hasFnAttribute(name)) {
      to.addFnAttr(from.getFnAttribute(name));
    }
  }
  to.setDoesNotThrow();
}

/// Whether `run` is what the header will declare: a pointer for each tensor, an i64 for each symbol, a pointer for each
/// found size, and pointers to the workspace and exec.
bool hasTypedSignature(const Function &run, const ModelInfo &model) {
  size_t tensors = model.inputs.size() + model.outputs.size(), symbols = model.symbols.size();
  return run.getReturnType()->isIntegerTy(32) && run.arg_size() == tensors + symbols + model.found.size() + 2 &&
         llvm::all_of(run.args(), [&](const Argument &argument) {
           bool isSymbol = argument.getArgNo() >= tensors && argument.getArgNo() < tensors + symbols;
           return isSymbol ? argument.getType()->isIntegerTy(64) : argument.getType()->isPointerTy();
         });
}

/// The loop IR's @NAME_plan when the model has symbols; an error when it is not there.
mlir::FailureOr<Function *> findPlan(mlir::ModuleOp module, Module &ir, const ModelInfo &model) {
  if (model.symbols.empty() && model.found.empty()) {
    return nullptr;
  }
  Function *plan = ir.getFunction(model.name + "_plan");
  if (!plan || plan->isDeclaration() || !plan->getReturnType()->isIntegerTy(32) || plan->arg_size() != 3 ||
      llvm::any_of(plan->args(), [](const Argument &a) { return !a.getType()->isPointerTy(); })) {
    return module.emitError("loop IR has no function @" + model.name + "_plan of 3 pointers that returns i32");
  }
  return plan;
}

} // namespace

Descriptor ingot::emit::describe(const ModelInfo &model, ArrayRef<DeviceCode> devices) {
  Descriptor all = {};
  all.abi = INGOT_ABI;
  all.flags = (model.takesWeights() ? INGOT_MODEL_WEIGHTS_APART : 0) |
              (model.allocations.empty() ? 0 : INGOT_MODEL_ALLOCATES) |
              (model.makesStrings ? INGOT_MODEL_MAKES_STRINGS : 0);
  all.name = model.name, all.target = model.target;
  for (const TensorInfo &input : model.inputs) {
    all.inputs.push_back(describeTensor(model, input));
  }
  for (const TensorInfo &output : model.outputs) {
    all.outputs.push_back(describeTensor(model, output));
  }
  all.nodes = model.nodes;
  for (const ingot::plan::SymbolInfo &symbol : model.symbols) {
    all.symbols.push_back({symbolName(symbol.name), symbol.least, symbol.most});
  }
  for (const ingot::plan::FoundInfo &found : model.found) {
    all.symbols.push_back({symbolName(found.name), 0, numberOr(found.most, -1)});
  }
  all.symbolCount = int32_t(model.symbols.size()), all.foundCount = int32_t(model.found.size());
  all.workspaceBytes = model.workspaceBytes, all.workspaceAlign = model.workspaceAlign;
  all.weightBytes = model.weightBytes, all.weightHash = model.takesWeights() ? model.weightHash : 0;
  for (const ingot::plan::LevelInfo &level : model.levels) {
    all.levels.push_back(level.number);
  }
  for (const auto &[device, code] : llvm::zip(model.devices, devices)) {
    bool isEmbedded = !model.takesWeights() && device.weightBytes > 0;
    all.devices.push_back({device.spec, device.workspaceBytes, device.weightBytes, isEmbedded, device.weightsAt,
                           code.checks ? INGOT_DEVICE_CHECKS : 0, &code});
  }
  return all;
}

mlir::LogicalResult ingot::emit::addDescriptor(mlir::ModuleOp module, Module &ir, const ModelInfo &model,
                                               ArrayRef<DeviceCode> devices) {
  Function *typed = ir.getFunction(model.name + "_run");
  if (!typed || typed->isDeclaration() || !hasTypedSignature(*typed, model)) {
    return module.emitError("loop IR has no function @" + model.name + "_run of " +
                            std::to_string(model.inputs.size() + model.outputs.size() + model.found.size() + 2) +
                            " pointers and " + std::to_string(model.symbols.size()) + " sizes that returns i32");
  }
  mlir::FailureOr<Function *> plan = findPlan(module, ir, model);
  if (failed(plan)) {
    return mlir::failure();
  }
  Function *run = buildGenericRun(ir, model, typed);
  if (!model.symbols.empty()) {
    copyManners(*typed, *buildWorkspaceBytes(ir, model, *plan));
  }
  Descriptor described = describe(model, devices);
  GlobalVariable *descriptor = DescriptorBuilder(ir, described).build(run, *plan);
  auto *type = FunctionType::get(descriptor->getType(), false);
  Function *get = Function::Create(type, GlobalValue::ExternalLinkage, model.name + "_model", ir);
  IRBuilder<>(BasicBlock::Create(ir.getContext(), "", get)).CreateRet(descriptor);
  copyManners(*typed, *run);
  copyManners(*typed, *get);
  return mlir::success();
}
