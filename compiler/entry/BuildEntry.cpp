// Writes NAME_run: the calls of all launches in their order, with what they depend on.
//
// A kernel whose work may be split over threads is a run.over_items, which the room `emit` makes a parallel loop.
// A status other than 0 ends the run; INGOT_ERROR_INDEX gets the number of the node.
//
// Where sizes depend on the model's symbols, NAME_run first asks NAME_admits whether they can be (facts that the
// compiler built upon, requirements of nodes, overflow). Then it computes where each buffer begins (plan.slot), and
// hands each kernel the symbols that it reads.
//
// An If becomes a branch, a Loop a loop of basic blocks around the calls. Conditions and trip counts are read from the
// tensors that hold them.
//
// A data-dependent size (compiler/onnx/sizes/DataDependentSizes.h) is loaded behind the call that finds it, or is an
// argument of the block behind the If or Loop. From there on it is a symbol like the others, and checks that mention it
// stand there. What has to be known before is computed from its bound.
//
// A read of streamed weights (plan.fetch) is a call of the support library, which calls the reader of the caller. A run
// that ends while one is under way waits for it, since the memory is the caller's again afterwards.
//
// Memory that nothing bounds (plan.host_allocation) is allocated where its size has become known. What a run holds
// stands in a list on its stack, with four words for each memory: address, bytes, where the caller wants an output's
// address, and number of the output.
//
//   NAME_run(...) {
//     list = {...}; if (bad = ingot_memory_begin(exec, list, count)) return bad;
//     return ingot_memory_end(exec, list, count, NAME_inner_run(inputs..., outputs..., sizes..., workspace, list,
//     exec));
//   }
//
// So whatever way NAME_inner_run ends, what it holds is released, or handed to the caller. Devices with a memory of
// their own (Devices.cpp) are held in the same way.
#include "compiler/entry/Entry.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/onnx/Optional.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/WorkAttributes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

/// Returns the names of the model's symbols, which all its variants have as arguments.
static std::vector<std::string> namesOf(const plan::ModelInfo &info) {
  auto names = llvm::map_range(info.symbols, [](const plan::SymbolInfo &symbol) { return symbol.name; });
  return {names.begin(), names.end()};
}

/// Returns a machine without vectors: the entry computes with scalars alone.
static const target::MachineModel &scalarMachine() {
  static const target::MachineModel machine;
  return machine;
}

Entry::Entry(func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
             int64_t firstLaunch, plan::ModelInfo &info, StringRef suffix)
    : function(function), kernels(function->getParentOp()),
      w(OpBuilder(function.getContext()), function.getLoc(), scalarMachine()), info(info), suffix(suffix),
      workspaceBytes(workspaceBytes), slackBytes(slackBytes), weightBytes(weightBytes), firstLaunch(firstLaunch),
      bounds(onnx::boundsOf(function)) {
  for (BlockArgument argument : function.getArguments()) {
    bool isOutput = function.getArgAttr(argument.getArgNumber(), plan::outputName) != nullptr;
    (isOutput ? outputTypes : inputTypes).push_back(cast<plan::BufferType>(argument.getType()).getTensor());
  }
  for (const std::string &node : info.nodes) {
    nodeNumbers[node] = static_cast<int64_t>(nodeNumbers.size());
  }
  deviceCount = static_cast<int64_t>(plan::devicesOf(function).size());
  open = onnx::symbolsOf(function, inputTypes);
  symbols = suffix.empty() ? open : namesOf(info);
  for (Operation &op : function.getBody().front()) {
    if (auto memory = dyn_cast<plan::HostAllocationOp>(op)) {
      auto device = static_cast<int64_t>(memory.getDevice());
      hostAllocations.push_back(memory.getOutput() ? static_cast<int64_t>(*memory.getOutput()) : -1 - device);
    } else if (auto slot = dyn_cast<plan::SlotOp>(op); slot && !slot.getAt()) {
      openSlots.push_back(slot);
    }
  }
}

void Entry::build() {
  w.b.setInsertionPoint(function);
  if (!open.empty()) {
    buildAdmits();
  }
  if (!symbols.empty() || !info.dataDependentSizes.empty()) {
    buildPlan();
  }
  buildRun();
  if (isHeld()) {
    buildHolder();
  }
  Operation *module = function->getParentOp();
  function.erase();
  for (func::FuncOp kernel : inParts) {
    if (SymbolTable::symbolKnownUseEmpty(kernel, module)) { // no other variant launches it
      kernel.erase();
    }
  }
}

func::FuncOp Entry::begin(StringRef what, ArrayRef<Type> types) {
  w.b.setInsertionPoint(function);
  std::string name = info.name + suffix + what.str();
  auto f = func::FuncOp::create(w.b, w.loc, name, w.b.getFunctionType(types, {w.b.getI32Type()}));
  if (!suffix.empty()) {
    f.setPrivate();
  }
  w.b.setInsertionPointToStart(f.addEntryBlock());
  return f;
}

void Entry::returnIf(func::FuncOp f, Value condition, llvm::function_ref<Value()> result) {
  Block *next = f.addBlock(), *fail = f.addBlock();
  cf::CondBranchOp::create(w.b, w.loc, condition, fail, ValueRange{}, next, ValueRange{});
  w.b.setInsertionPointToStart(fail);
  if (isReading && f == entry) { // the reader may write to the workspace until it is told to finish
    w.callLibrary("ingot_weights_finish", {exec()}, w.b.getI32Type());
  }
  ret(result());
  w.b.setInsertionPointToStart(next);
}

void Entry::returnIfBad(func::FuncOp f, Value status, llvm::function_ref<Value()> result) {
  returnIf(f, w.compare(arith::CmpIPredicate::ne, status, number(0, 32)), [&] { return result ? result() : status; });
}

void Entry::buildRun() {
  declare();
  askForTiles();
  presence();
  SmallVector<Value> sizes;
  for (Value size : symbolArguments()) {
    sizes.push_back(w.value(w.ix(size)));
  }
  setSymbols(symbols, sizes);
  if (admits) {
    returnIfRefusedOrUnusual();
    (void)arenas();
  }
  buildAll(function.getBody().front().without_terminator());
  for (auto [found, to] :
       llvm::zip_equal(info.dataDependentSizes, sizeArguments().take_back(info.dataDependentSizes.size()))) {
    Type i64 = w.b.getI64Type();
    w.store(w.integer(found.size, i64), {to, i64}, 0);
  }
  ret(status(0, -1));
  if (weights) {
    if (info.takesWeights() && !weights.use_empty()) {
      checkWeights();
    }
    if (weights.use_empty()) { // all that read some are on devices
      weights.getDefiningOp()->erase();
    }
  }
  if (reads) {
    checkWeights();
  }
  cutParts();
}

void Entry::askForTiles() {
  WalkResult found = function.walk([&](plan::LaunchOp launch) {
    Operation *callee = kernels.lookup(launch.getCallee());
    return callee->hasAttr(plan::tilesName) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (found.wasInterrupted()) {
    returnIfBad(entry, w.callLibrary("ingot_run_tiles", {}, w.b.getI32Type()));
  }
}

void Entry::presence() {
  for (BlockArgument argument : function.getArguments()) {
    if (std::optional<unsigned> number = onnx::optionalInput(argument)) {
      Value given = entry.getArgument(argument.getArgNumber());
      Value there = w.compare(arith::CmpIPredicate::ne, w.address({given, {}}), w.value(0));
      w.symbols[support::Symbol::presence(*number)] =
          arith::IndexCastUIOp::create(w.b, w.loc, w.b.getIndexType(), there);
    }
  }
}

ValueRange Entry::workspaceArguments() {
  ValueRange arguments(entry.getArguments());
  return arguments.drop_back(hostAllocations.empty() ? 1 : 2).take_back(info.workspaceParts().size());
}

ValueRange Entry::sizeArguments() {
  size_t tensors = inputTypes.size() + outputTypes.size();
  return ValueRange(entry.getArguments())
      .drop_front(tensors)
      .take_front(symbols.size() + info.dataDependentSizes.size());
}

void Entry::declare() {
  w.b.setInsertionPoint(function);
  std::string weightsName = info.name + "_weights";
  if (weightBytes && !info.takesWeights()) {
    memref::GlobalOp::create(w.b, w.loc, weightsName, w.b.getStringAttr("private"), bytesType(weightBytes), Attribute(),
                             /*constant=*/true, w.b.getI64IntegerAttr(info.workspaceAlign));
  }
  SmallVector<Type> types;
  for (Type t : llvm::concat<const Type>(inputTypes, outputTypes)) {
    types.push_back(bytesType(bytesOf(t)));
  }
  for (int64_t output : hostAllocations) {
    if (output >= 0) { // such an output's argument is the place to which its address goes
      types[inputTypes.size() + output] = MemRefType::get({1}, w.b.getIndexType());
    }
  }
  types.append(symbols.size(), sizeType());
  types.append(info.dataDependentSizes.size(), MemRefType::get({1}, w.b.getI64Type()));
  for (const plan::MemoryInfo &memory : info.memories) {
    types.push_back(bytesType(memory.workspaceBytes));
  }
  if (info.memories.empty()) {
    types.push_back(bytesType(openSlots.empty() ? Size(workspaceBytes) : Size::unknown()));
  }
  if (!hostAllocations.empty()) {
    types.push_back(heldType());
  }
  types.push_back(pointerType(w.b.getContext()));
  entry = begin(isHeld() ? "_inner_run" : "_run", types);
  llvm::append_range(workspaces, workspaceArguments());
  if (isHeld()) {
    entry.setPrivate();
  }
  if (!hostAllocations.empty()) {
    held = entry.getArguments().take_back(2).front();
  }
  if (weightBytes) {
    weights = memref::GetGlobalOp::create(w.b, w.loc, bytesType(weightBytes), weightsName);
  }
}

void Entry::checkWeights() {
  auto argument = static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 1;
  Block *first = &entry.front(), *rest = first->splitBlock(first->begin());
  auto returnUnless = [&](Value good, int64_t kind) {
    Block *before = w.b.getInsertionBlock(), *next = w.b.createBlock(rest), *fail = w.b.createBlock(rest);
    constexpr int32_t likely[] = {(1 << 20) - 1, 1};
    ret(status(kind, argument));
    w.b.setInsertionPointToEnd(before);
    cf::CondBranchOp::create(w.b, w.loc, good, next, ValueRange(), fail, ValueRange(), likely);
    w.b.setInsertionPointToEnd(next);
  };
  w.b.setInsertionPointToEnd(first);
  returnUnless(isGiven(exec()), INGOT_ERROR_NULL);
  Type type = info.takesWeights() ? weights.getType() : bytesType(1); // else it is a reader
  Value memory = run::FieldOp::create(w.b, w.loc, type, exec(), "weights");
  returnUnless(isGiven(memory), INGOT_ERROR_NULL);
  if (!info.takesWeights()) {
    cf::BranchOp::create(w.b, w.loc, rest);
    return;
  }
  Value low = arith::AndIOp::create(w.b, w.loc, w.address({memory, {}}), w.value(INGOT_WEIGHTS_ALIGN - 1));
  returnUnless(w.compare(arith::CmpIPredicate::eq, low, w.value(0)), INGOT_ERROR_ALIGNMENT);
  Value aligned = memref::AssumeAlignmentOp::create(w.b, w.loc, memory, INGOT_WEIGHTS_ALIGN);
  weights.replaceAllUsesWith(aligned);
  cf::BranchOp::create(w.b, w.loc, rest);
}

void Entry::buildRange(llvm::iterator_range<Block::iterator> ops) {
  for (Operation &op : ops) {
    w.loc = function.getLoc();
    llvm::TypeSwitch<Operation *>(&op)
        .Case<plan::LaunchOp, plan::CopyOp, plan::FetchOp, plan::FetchedOp, plan::WaitOp, plan::NeedOp, plan::ReleaseOp,
              plan::ReadOp, plan::WriteOp, plan::CheckOp, plan::IfOp, plan::LoopOp>([&](auto each) { build(each); })
        .Case([&](arith::ConstantOp constant) { values[constant] = w.b.clone(op)->getResult(0); });
  }
  w.loc = function.getLoc();
}

SmallVector<Value> Entry::argumentsBehindBuffers(plan::LaunchOp launch) {
  SmallVector<Value> args;
  if (launch->hasAttr(plan::textName)) {
    args.push_back(exec());
  }
  if (std::optional<onnx::SizesAttr> symbols = launch.getSymbols()) {
    for (const Size &symbol : symbols->getValues()) {
      args.push_back(w.symbols.at(*symbol.asSymbol()));
    }
  }
  return args;
}

void Entry::build(plan::LaunchOp launch) {
  w.loc = launch.getLoc();
  auto callee = kernels.lookup<func::FuncOp>(launch.getCallee());
  if (callee->hasAttr(plan::partsName) && !launch.getDataDependentSize()) {
    return callParts(launch, callee);
  }
  SmallVector<Value> args;
  for (Value buffer : launch.getOperands()) {
    args.push_back(address(buffer, callee.getArgumentTypes()[args.size()]));
  }
  llvm::append_range(args, argumentsBehindBuffers(launch));
  if (launch.getDevice()) {
    return enqueue(launch, args);
  }
  callProfile(launch, /*hasEnded=*/false);
  Value status = call(launch, callee, args);
  callProfile(launch, /*hasEnded=*/true);
  if (launch.getChecked()) {
    checkStatus(launch, status);
  } else if (status) {
    returnIfBad(entry, status);
  }
  if (std::optional<onnx::SymbolAttr> symbol = launch.getDataDependentSize()) {
    Type i64 = w.b.getI64Type();
    Value number = address(launch.getInto().back(), MemRefType::get({1}, i64));
    find(symbol->getValue(), w.load({number, i64}, 0));
  }
}

Value Entry::call(plan::LaunchOp launch, func::FuncOp callee, ArrayRef<Value> arguments) {
  Size items = launch.getItems().getValue();
  if (items.is(0) || items.is(1)) {
    SmallVector<Value> whole(arguments);
    whole.append({w.value(0), w.value(items)});
    auto call = func::CallOp::create(w.b, w.loc, callee, whole);
    return launch.getChecked() ? call.getResult(0) : Value();
  }
  return run::OverItemsOp::create(w.b, w.loc, w.b.getI32Type(), callee.getName(), exec(), isWorthSplitting(launch),
                                  w.value(items), arguments);
}

void Entry::callProfile(plan::LaunchOp launch, bool hasEnded) {
  if (auto given = launch->getAttrOfType<IntegerAttr>(plan::numberName)) {
    Value arguments[] = {exec(), number(firstLaunch + given.getInt(), 32), number(hasEnded, 32)};
    func::CallOp::create(w.b, w.loc, profileFunction(), arguments);
  }
}

/// Returns NAME_profile(exec, launch, ended): if (exec && exec->profile) exec->profile(exec->context, launch, ended);
func::FuncOp Entry::profileFunction() {
  if (profile) {
    return profile;
  }
  OpBuilder::InsertionGuard guard(w.b);
  w.b.setInsertionPoint(entry);
  Type pointer = pointerType(w.b.getContext()), i32 = w.b.getI32Type();
  auto type = w.b.getFunctionType({pointer, i32, i32}, {});
  profile = func::FuncOp::create(w.b, w.loc, info.name + "_profile", type);
  profile.setPrivate();
  w.b.setInsertionPointToStart(profile.addEntryBlock());
  Value exec = profile.getArgument(0);
  w.ifThen(isGiven(exec), [&] {
    Value function = run::FieldOp::create(w.b, w.loc, type, exec, "profile");
    w.ifThen(isGiven(function), [&] {
      Value context = run::FieldOp::create(w.b, w.loc, pointer, exec, "context");
      Value arguments[] = {context, profile.getArgument(1), profile.getArgument(2)};
      func::CallIndirectOp::create(w.b, w.loc, function, arguments);
    });
  });
  func::ReturnOp::create(w.b, w.loc);
  return profile;
}

Value Entry::isWorthSplitting(plan::LaunchOp launch) {
  auto work = launch->getAttrOfType<onnx::SizeAttr>(plan::workName);
  if (!work) {
    return number(1, 1);
  }
  int64_t least = launch->getAttrOfType<IntegerAttr>(plan::leastWorkName).getInt();
  return w.compare(arith::CmpIPredicate::sge, work.getValue(), least);
}

void Entry::checkStatus(plan::LaunchOp launch, Value result) {
  returnIfBad(entry, result, [&] {
    if (launch->hasAttr(plan::textName)) { // the status is the support library's, which knows no nodes
      int64_t node = nodeNumber(onnx::nodeOf(launch.getLoc()));
      return arith::OrIOp::create(w.b, w.loc, result, status(0, node)).getResult();
    }
    // Any other status comes from parallel_for, and is returned as it is.
    auto own = launch->getAttrOfType<IntegerAttr>(plan::errorName);
    int64_t kind = own ? own.getInt() : launch.getDataDependentSize() ? INGOT_ERROR_SIZE : INGOT_ERROR_INDEX;
    Value isOurs = w.compare(arith::CmpIPredicate::eq, result, number(kind, 32));
    Value located = status(kind, nodeNumber(onnx::nodeOf(launch.getLoc())));
    return arith::SelectOp::create(w.b, w.loc, isOurs, located, result).getResult();
  });
}

int64_t Entry::nodeNumber(const std::string &name) {
  auto [known, isNew] = nodeNumbers.try_emplace(name, static_cast<int64_t>(info.nodes.size()));
  if (isNew) {
    info.nodes.push_back(name);
  }
  return known->second;
}

void buildEntry(func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
                int64_t firstLaunch, plan::ModelInfo &info, StringRef suffix) {
  Entry(function, workspaceBytes, slackBytes, weightBytes, firstLaunch, info, suffix).build();
}

} // namespace ingot::entry
