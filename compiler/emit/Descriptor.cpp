// Describes a model as the ingot_model of runtime_support/include/ingot.h, and makes LLVM constants of that with the
// functions around them:
//
//   NAME_model()              returns the address of the constants; a program reads everything from there
//   NAME_run_generic          the member `run`: calls NAME_run with arguments from arrays
//   NAME_plan                 the member `plan`, from the loop IR: computes sizes, and checks them
//   NAME_workspace_bytes(..)  calls the plan, for programs that know the model while they are compiled
//
// describe() says what is in the structures, and two writers how that looks: ConstantWriter here, and StructureText in
// cpp/Program.cpp for C++ source. Both visit the members by visitMembers (Descriptor.h), field by field in the header's
// order; LLVM lays them out by the target's C rules.
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
using ingot::emit::DeviceCode;
using ingot::plan::ModelInfo;
using ingot::plan::TensorInfo;
using ingot::support::Size;
using ingot::support::symbolName;

namespace {

int64_t numberOr(const Size &size, int64_t other) { return size.isNumber() ? size.number() : other; }

/// Returns an extent as ingot_tensor_info.dims has it: a number; -1 - i for the i-th symbol, where sizes that a run
/// finds are counted behind the others; or INGOT_DIM_COMPUTED for an expression.
int64_t dimCode(const ModelInfo &model, const Size &dim) {
  if (dim.isNumber()) {
    return dim.number();
  }
  auto isIt = [&](const auto &symbol) { return dim == Size::symbol(symbol.name); };
  int64_t symbols = model.symbols.size(), symbol = llvm::find_if(model.symbols, isIt) - model.symbols.begin();
  if (symbol < symbols) {
    return -1 - symbol;
  }
  auto found = llvm::find_if(model.dataDependentSizes, isIt);
  return found == model.dataDependentSizes.end() ? INGOT_DIM_COMPUTED
                                                 : -1 - symbols - (found - model.dataDependentSizes.begin());
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

std::vector<Descriptor::Kernel> kernelsOf(const DeviceCode &code) {
  std::vector<Descriptor::Kernel> kernels;
  for (const auto &[name, grid] : llvm::zip_equal(code.kernels, code.grids)) {
    kernels.push_back({name, ArrayRef(grid).take_front(3), grid[3]});
  }
  return kernels;
}

/// Returns the images of a device. Kernels that stay functions of the model's own code are described as one image.
std::vector<Descriptor::Image> imagesOf(const DeviceCode &code) {
  std::vector<Descriptor::Image> images;
  images.reserve(code.images.size() + 1);
  for (const ingot::target::Image &image : code.images) {
    images.push_back({image.target, image.bytes, {}});
  }
  if (images.empty() && !code.kernels.empty()) {
    images.push_back({"", "", code.kernels});
  }
  return images;
}

/// The module that constants of the descriptor are put into, and what they refer to.
struct Surroundings {
  Module &ir;
  const std::string &model;
  Function *run, *plan; ///< the generic entry; the plan, null for a model whose sizes are all numbers
};

/// Writes the members of a structure as LLVM constants.
class ConstantWriter {
public:
  explicit ConstantWriter(const Surroundings &around) : around(around), context(around.ir.getContext()) {}

  template <typename Record> Constant *structure(const Record &record) {
    visitMembers(*this, record);
    return ConstantStruct::getAnon(context, members);
  }
  GlobalVariable *constant(Constant *value, const Twine &name) {
    return new GlobalVariable(around.ir, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, value,
                              around.model + "_" + name);
  }

  void int32(const char *, int64_t value) { add(number(32, value)); }
  void int64(const char *, int64_t value) { add(number(64, value)); }
  void hash(const char *, uint64_t value) { add(number(64, int64_t(value))); }
  void text(const char *, StringRef text) { add(string(text)); }
  void int32s(const char *name, ArrayRef<int32_t> numbers) {
    add(array(name, numbers, [&](int32_t value) { return number(32, value); }));
  }
  void int64s(const char *name, ArrayRef<int64_t> numbers) {
    add(array(name, numbers, [&](int64_t value) { return number(64, value); }));
  }
  void texts(const char *name, ArrayRef<std::string> texts) {
    add(array(name, texts, [&](StringRef text) { return string(text); }));
  }
  template <typename Record> void records(const char *name, const char *, const std::vector<Record> &records) {
    add(array(name, ArrayRef(records), [&](const Record &record) { return ConstantWriter(around).structure(record); }));
  }
  void threads(const char *, ArrayRef<int64_t> threads) {
    add(ConstantArray::get(ArrayType::get(Type::getInt32Ty(context), threads.size()),
                           map_to_vector(threads, [&](int64_t count) { return number(32, count); })));
  }
  void function(const char *name) {
    Function *function = StringRef(name) == "run" ? around.run : around.plan;
    add(function ? function : null());
  }
  void weights(const char *, const Descriptor::Device &device) {
    if (!device.isEmbedded) {
      return add(null());
    }
    GlobalVariable *section = around.ir.getGlobalVariable(ingot::emit::weightsSymbol(around.model), true);
    add(ConstantExpr::getGetElementPtr(Type::getInt8Ty(context), section, number(64, device.weightsAt)));
  }
  void bytes(const char *, StringRef bytes) {
    if (bytes.empty()) {
      return add(null());
    }
    GlobalVariable *image = constant(ConstantDataArray::getString(context, bytes, /*AddNull=*/false), "image");
    image->setAlignment(Align(64));
    add(image);
  }
  void bodies(const char *name, ArrayRef<std::string> kernels) {
    add(array(name, kernels, [&](StringRef kernel) -> Constant * {
      return around.ir.getFunction(ingot::emit::deviceBodyName(kernel));
    }));
  }

private:
  void add(Constant *member) { members.push_back(member); }
  Constant *number(unsigned bits, int64_t value) {
    return ConstantInt::getSigned(Type::getIntNTy(context, bits), value);
  }
  Constant *null() { return ConstantPointerNull::get(PointerType::get(context, 0)); }

  Constant *string(StringRef text) {
    GlobalVariable *global = constant(ConstantDataArray::getString(context, text), "text");
    global->setLinkage(GlobalValue::PrivateLinkage);
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    global->setAlignment(Align(1));
    return global;
  }

  template <typename Element, typename Make> Constant *array(const char *name, ArrayRef<Element> elements, Make make) {
    SmallVector<Constant *> all;
    for (const Element &element : elements) {
      all.push_back(make(element));
    }
    return all.empty() ? null()
                       : constant(ConstantArray::get(ArrayType::get(all[0]->getType(), all.size()), all), name);
  }

  const Surroundings &around;
  LLVMContext &context;
  SmallVector<Constant *> members;
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
  // The scheduler compares each load from an array with all others (ClusterNeighboringLoads), which costs the square of
  // their number; volatile loads stay in their order.
  constexpr size_t few = 256;
  auto loadAll = [&](Value *array, Type *type, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Value *place = builder.CreateConstGEP1_64(type, array, i);
      arguments.push_back(builder.CreateLoad(type, place, /*isVolatile=*/count > few));
    }
  };
  loadAll(run->getArg(0), pointer, model.inputs.size());
  loadAll(run->getArg(1), pointer, model.outputs.size());
  loadAll(run->getArg(2), builder.getInt64Ty(), model.symbols.size());
  for (size_t i = 0; i < model.dataDependentSizes.size(); ++i) {
    arguments.push_back(builder.CreateConstGEP1_64(builder.getInt64Ty(), run->getArg(2), model.symbols.size() + i));
  }
  for (int64_t part : model.workspaceParts()) {
    Value *workspace = run->getArg(3);
    arguments.push_back(part ? builder.CreateConstGEP1_64(builder.getInt8Ty(), workspace, part) : workspace);
  }
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

/// Makes a function code for the same CPU as another one, so that LLVM may inline that.
void copyManners(const Function &from, Function &to) {
  for (const char *name : {"target-cpu", "target-features"}) {
    if (from.hasFnAttribute(name)) {
      to.addFnAttr(from.getFnAttribute(name));
    }
  }
  to.setDoesNotThrow();
}

/// Whether `run` is what the header will declare: a pointer for each tensor, an i64 for each symbol, a pointer for each
/// data-dependent size, and pointers to the parts of the workspace and exec.
bool hasTypedSignature(const Function &run, const ModelInfo &model) {
  size_t tensors = model.inputs.size() + model.outputs.size(), symbols = model.symbols.size();
  size_t found = model.dataDependentSizes.size(), parts = model.workspaceParts().size();
  return run.getReturnType()->isIntegerTy(32) && run.arg_size() == tensors + symbols + found + parts + 1 &&
         llvm::all_of(run.args(), [&](const Argument &argument) {
           bool isSymbol = argument.getArgNo() >= tensors && argument.getArgNo() < tensors + symbols;
           return isSymbol ? argument.getType()->isIntegerTy(64) : argument.getType()->isPointerTy();
         });
}

/// The loop IR's @NAME_plan when the model has symbols; an error when it is not there.
mlir::FailureOr<Function *> findPlan(mlir::ModuleOp module, Module &ir, const ModelInfo &model) {
  if (model.symbols.empty() && model.dataDependentSizes.empty()) {
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
  all.flags =
      (model.takesWeights() ? INGOT_MODEL_WEIGHTS_APART : 0) | (model.allocations.empty() ? 0 : INGOT_MODEL_ALLOCATES) |
      (model.streamsWeights() ? INGOT_MODEL_WEIGHTS_STREAMED : 0) |
      (model.makesStrings ? INGOT_MODEL_MAKES_STRINGS : 0) | (model.hostFallback ? INGOT_MODEL_HOST_FALLBACK : 0);
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
  for (const ingot::plan::DataDependentSizeInfo &found : model.dataDependentSizes) {
    all.symbols.push_back({symbolName(found.name), 0, numberOr(found.most, -1)});
  }
  all.symbolCount = int32_t(model.symbols.size()), all.dataDependentCount = int32_t(model.dataDependentSizes.size());
  all.workspaceBytes = model.workspaceBytes, all.workspaceAlign = model.workspaceAlign;
  all.weightBytes = model.streamsWeights() ? model.streamedBytes : model.weightBytes;
  all.weightHash = model.takesWeights() || model.streamsWeights() ? model.weightHash : 0;
  for (const ingot::plan::LevelInfo &level : model.levels) {
    all.levels.push_back(level.number);
  }
  for (const auto &[device, code] : llvm::zip(model.devices, devices)) {
    bool isEmbedded = !model.takesWeights() && device.weightBytes > 0;
    all.devices.push_back({device.spec, device.workspaceBytes, device.weightBytes, isEmbedded, device.weightsAt,
                           code.checks ? INGOT_DEVICE_CHECKS : 0, kernelsOf(code), imagesOf(code)});
  }
  return all;
}

mlir::LogicalResult ingot::emit::addDescriptor(mlir::ModuleOp module, Module &ir, const ModelInfo &model,
                                               ArrayRef<DeviceCode> devices) {
  Function *typed = ir.getFunction(model.name + "_run");
  if (!typed || typed->isDeclaration() || !hasTypedSignature(*typed, model)) {
    return module.emitError("loop IR has no function @" + model.name + "_run of " +
                            std::to_string(model.inputs.size() + model.outputs.size() +
                                           model.dataDependentSizes.size() + model.workspaceParts().size() + 1) +
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
  Surroundings around{ir, model.name, run, *plan};
  ConstantWriter writer(around);
  GlobalVariable *descriptor = writer.constant(writer.structure(described), "descriptor");
  auto *type = FunctionType::get(descriptor->getType(), false);
  Function *get = Function::Create(type, GlobalValue::ExternalLinkage, model.name + "_model", ir);
  IRBuilder<>(BasicBlock::Create(ir.getContext(), "", get)).CreateRet(descriptor);
  copyManners(*typed, *run);
  copyManners(*typed, *get);
  return mlir::success();
}
