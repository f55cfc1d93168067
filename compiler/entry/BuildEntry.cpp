// Writes NAME_run: the calls of all launches in their order, with what they depend on.
//
// A call that may be split over threads carries `ingot.items`, or `ingot.weighed_items` where only the run can tell
// whether that is worth it; the room `emit` makes it a parallel loop. A checked call's status ends the run;
// INGOT_ERROR_INDEX gets the number of the node.
//
// Where sizes depend on the model's symbols, NAME_run first asks NAME_admits whether they can be (facts that the
// compiler built upon, requirements of nodes, overflow). Then it computes where each buffer begins (plan.slot), and
// hands each kernel the symbols that it reads.
//
// An If becomes a branch, a Loop a loop of basic blocks around the calls. Conditions and trip counts are read from the
// tensors that hold them.
//
// A data-dependent size (compiler/onnx/sizes/Found.h) is loaded behind the call that finds it, or is an argument of the
// block behind the If or Loop. From there on it is a symbol like the others, and checks that mention it stand there.
// What has to be known before is computed from its bound.
//
// Memory that nothing bounds (plan.asked) is asked for where its size has been found. What a run holds stands in a list
// on its stack, with four words for each memory: address, bytes, where the caller wants an output's address, and number
// of the output.
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
#include "compiler/plan/CallAttributes.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Work.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

/// Returns the names of the model's symbols, which all its bodies have as arguments.
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
    if (auto memory = dyn_cast<plan::AskedOp>(op)) {
      asked.push_back(static_cast<int64_t>(memory.getOutput().value_or(-1)));
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
  if (!symbols.empty() || !info.found.empty()) {
    buildPlan();
  }
  buildRun();
  if (isHeld()) {
    buildHolder();
  }
  Operation *module = function->getParentOp();
  function.erase();
  for (func::FuncOp kernel : inParts) {
    if (SymbolTable::symbolKnownUseEmpty(kernel, module)) { // no other body launches it
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
  all(function.getBody().front().without_terminator());
  for (auto [found, to] : llvm::zip_equal(info.found, sizeArguments().take_back(info.found.size()))) {
    Type i64 = w.b.getI64Type();
    w.store(w.integer(found.size, i64), {to, i64}, 0);
  }
  ret(status(0, -1));
  cutParts();
  if (weights && weights.use_empty()) { // only devices read weights
    weights.getDefiningOp()->erase();
  }
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

ValueRange Entry::sizeArguments() {
  return ValueRange(entry.getArguments())
      .drop_back(asked.empty() ? 2 : 3)
      .take_back(symbols.size() + info.found.size());
}

void Entry::declare() {
  w.b.setInsertionPoint(function);
  std::string weightsName = info.name + "_weights";
  if (weightBytes) {
    memref::GlobalOp::create(w.b, w.loc, weightsName, w.b.getStringAttr("private"), bytesType(weightBytes), Attribute(),
                             /*constant=*/true, w.b.getI64IntegerAttr(info.workspaceAlign));
  }
  SmallVector<Type> types;
  for (Type t : llvm::concat<const Type>(inputTypes, outputTypes)) {
    types.push_back(bytesType(bytesOf(t)));
  }
  for (int64_t output : asked) {
    if (output >= 0) { // such an output's argument is the place to which its address goes
      types[inputTypes.size() + output] = MemRefType::get({1}, w.b.getIndexType());
    }
  }
  types.append(symbols.size(), sizeType());
  types.append(info.found.size(), MemRefType::get({1}, w.b.getI64Type()));
  types.push_back(bytesType(openSlots.empty() ? Size(workspaceBytes) : Size::unknown()));
  if (!asked.empty()) {
    types.push_back(heldType());
  }
  types.push_back(pointerType(w.b.getContext()));
  entry = begin(isHeld() ? "_inner_run" : "_run", types);
  workspace = entry.getArguments().take_back(asked.empty() ? 2 : 3).front();
  if (isHeld()) {
    entry.setPrivate();
  }
  if (!asked.empty()) {
    held = entry.getArguments().take_back(2).front();
  }
  if (weightBytes) {
    weights = memref::GetGlobalOp::create(w.b, w.loc, bytesType(weightBytes), weightsName);
  }
}

void Entry::together(llvm::iterator_range<Block::iterator> ops) {
  for (Operation &op : ops) {
    w.loc = function.getLoc();
    llvm::TypeSwitch<Operation *>(&op)
        .Case<plan::LaunchOp, plan::CopyOp, plan::WaitOp, plan::NeedOp, plan::ReleaseOp, plan::ReadOp, plan::WriteOp,
              plan::CheckOp, plan::IfOp, plan::LoopOp>([&](auto each) { build(each); })
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
  auto work = launch->getAttrOfType<onnx::SizeAttr>(plan::workName);
  args.push_back(work ? isWorthSplitting(launch, work.getValue()) : w.value(0));
  args.push_back(w.value(launch.getItems().getValue()));
  return args;
}

void Entry::build(plan::LaunchOp launch) {
  w.loc = launch.getLoc();
  auto callee = kernels.lookup<func::FuncOp>(launch.getCallee());
  if (callee->hasAttr(plan::partsName) && !launch.getFound()) {
    return callParts(launch, callee);
  }
  SmallVector<Value> args;
  for (Value buffer : launch.getOperands()) {
    args.push_back(address(buffer, callee.getArgumentTypes()[args.size()]));
  }
  llvm::append_range(args, argumentsBehindBuffers(launch));
  auto c = func::CallOp::create(w.b, w.loc, callee, args);
  if (launch.getDevice()) {
    return enqueue(launch, c);
  }
  describe(launch, c);
  if (launch.getChecked()) {
    checkStatus(launch, c.getResult(0));
  }
  if (std::optional<onnx::SymbolAttr> symbol = launch.getFound()) {
    Type i64 = w.b.getI64Type();
    Value number = address(launch.getInto().back(), MemRefType::get({1}, i64));
    find(symbol->getValue(), w.load({number, i64}, 0));
  }
}

void Entry::describe(plan::LaunchOp launch, func::CallOp call) {
  Size items = launch.getItems().getValue();
  if (!items.is(0) && !items.is(1)) {
    bool isWeighed = launch->hasAttr(plan::workName);
    call->setAttr(isWeighed ? plan::weighedItemsName : plan::itemsName, w.b.getUnitAttr());
  }
  if (auto number = launch->getAttrOfType<IntegerAttr>(plan::numberName)) {
    call->setAttr(plan::launchName, w.b.getI64IntegerAttr(firstLaunch + number.getInt()));
  }
}

/// The result is 0 where the launch takes too few instructions for other threads to help.
Value Entry::isWorthSplitting(plan::LaunchOp launch, const Size &work) {
  int64_t least = launch->getAttrOfType<IntegerAttr>(plan::leastWorkName).getInt();
  Value enough = w.compare(arith::CmpIPredicate::sge, work, least);
  return arith::IndexCastUIOp::create(w.b, w.loc, w.b.getIndexType(), enough);
}

void Entry::checkStatus(plan::LaunchOp launch, Value result) {
  returnIfBad(entry, result, [&] {
    if (launch->hasAttr(plan::textName)) { // the status is the support library's, which knows no nodes
      int64_t node = nodeNumber(onnx::nodeOf(launch.getLoc()));
      return arith::OrIOp::create(w.b, w.loc, result, status(0, node)).getResult();
    }
    // Any other status comes from parallel_for, and is returned as it is.
    auto own = launch->getAttrOfType<IntegerAttr>(plan::errorName);
    int64_t kind = own ? own.getInt() : launch.getFound() ? INGOT_ERROR_SIZE : INGOT_ERROR_INDEX;
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
