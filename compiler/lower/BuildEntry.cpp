// A call that may be split over threads carries `ingot.items`; the emit room makes it a parallel_for. A checked call's
// status ends the run; INGOT_ERROR_INDEX gets the number of the node.
//
// Where sizes depend on the model's symbols, NAME_run first asks NAME_admits whether they can be (facts that the
// compiler built upon, requirements of nodes, overflow), then computes where each buffer begins (see memory/PlanMemory)
// and hands each kernel the symbols that it reads.
//
// An If becomes a branch, a Loop a loop of basic blocks around the calls; conditions and trip counts are read from the
// tensors that hold them.
//
// A found size (compiler/onnx/Found.h) is loaded behind the call that finds it, or is an argument of the block behind
// the If or Loop, and from there on a symbol like the others. Requirements that speak of it are checked there. Whatever
// has to be known before is known of its bound.
//
// Memory that nothing bounds (memory/PlanMemory) is asked for where its size has been found. What a run holds stands in
// a list on its stack, {address, bytes, where the caller wants an output's address, number of the output} each:
//
//   NAME_run(...) {
//     list = {...}; if (bad = ingot_memory_begin(exec, list, count)) return bad;
//     return ingot_memory_end(exec, list, count, NAME_inner_run(inputs..., outputs..., sizes..., workspace, list,
//     exec));
//   }
//
// so that whatever way NAME_inner_run ends, what it holds is released, or handed to the caller.
#include "compiler/lower/BuildEntry.h"
#include "compiler/lower/LlvmAttributes.h"
#include "compiler/lower/SizeChecks.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Found.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/Shapes.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/plan/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::lower {
namespace {

constexpr int64_t alignment = 64; ///< of every buffer in the workspace

class Entry {
public:
  Entry(func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes, plan::ModelInfo &info,
        StringRef suffix)
      : function(function), w(OpBuilder(function.getContext()), function.getLoc(), scalarMachine()), info(info),
        suffix(suffix), workspaceBytes(workspaceBytes), slackBytes(slackBytes), weightBytes(weightBytes),
        open(onnx::symbolsOf(function, function.getArgumentTypes())), symbols(suffix.empty() ? open : namesOf(info)),
        bounds(onnx::boundsOf(function)), end(function.getBody().front().getTerminator()) {
    if (auto numbers = function->getAttrOfType<DenseI64ArrayAttr>("plan.asked")) {
      asked = numbers.asArrayRef();
    }
    if (auto buffers = function->getAttrOfType<ArrayAttr>("plan.buffers")) {
      for (auto buffer : buffers.getAsRange<ArrayAttr>()) {
        bufferBytes.push_back(*Size::parse(cast<StringAttr>(buffer[0]).getValue()));
        buffersBelow.push_back(cast<DenseI64ArrayAttr>(buffer[1]).asArrayRef());
      }
    }
  }

  void build() {
    w.b.setInsertionPoint(function);
    if (!open.empty()) {
      buildAdmits();
    }
    if (!symbols.empty() || !info.found.empty()) {
      buildPlan();
    }
    buildRun();
    if (!asked.empty()) {
      buildHolder();
    }
    function.erase();
  }

private:
  func::FuncOp function, entry;
  Writer w;
  plan::ModelInfo &info;
  std::string suffix;
  int64_t workspaceBytes, slackBytes, weightBytes;
  std::vector<std::string> open, symbols; ///< those that are no number here; those that are arguments
  support::Bounds bounds;                 ///< of found sizes
  Operation *end;
  std::vector<Size> bufferBytes;
  std::vector<ArrayRef<int64_t>> buffersBelow;
  ArrayRef<int64_t> asked; ///< outputs, or -1: memory that the run asks for
  Value held;              ///< the list of it
  func::FuncOp admits;     ///< (open: index...) -> i32; null where there are none
  Value workspace, weights;
  SmallVector<Value> outputs, bufferOffsets;
  llvm::DenseMap<Value, Value> inputs;
  std::vector<onnx::SizeCheck> waiting; ///< for sizes that are not found yet

  static std::vector<std::string> namesOf(const plan::ModelInfo &info) {
    auto names = llvm::map_range(info.symbols, [](const plan::SymbolInfo &symbol) { return symbol.name; });
    return {names.begin(), names.end()};
  }
  static const target::MachineModel &scalarMachine() {
    static const target::MachineModel machine;
    return machine;
  }
  MemRefType bytesType(const Size &n) { return MemRefType::get({memoryExtent(n)}, w.b.getI8Type()); }
  static Size bytesOf(Type t) { return plan::physicalBytes(cast<RankedTensorType>(t)); }
  Value status(int64_t kind, int64_t node) {
    return arith::ConstantIntOp::create(w.b, w.loc, kind | (node + 1) << 8, 32);
  }
  void ret(Value value) { func::ReturnOp::create(w.b, w.loc, value); }

  /// A function whose body is written next; the builder stands in it.
  func::FuncOp begin(StringRef what, ArrayRef<Type> types) {
    w.b.setInsertionPoint(function);
    std::string name = info.name + suffix + what.str();
    auto f = func::FuncOp::create(w.b, w.loc, name, w.b.getFunctionType(types, {w.b.getI32Type()}));
    if (!suffix.empty()) {
      f.setPrivate();
    }
    w.b.setInsertionPointToStart(f.addEntryBlock());
    return f;
  }
  void setSymbols(ArrayRef<std::string> names, ValueRange values) {
    for (auto [name, value] : llvm::zip_equal(names, values)) {
      w.symbols[name] = value;
    }
  }

  // What depends on the symbols.

  /// Bytes of the tensors that depend on the symbols, or the most that they can be.
  std::vector<Size> boundedBytes() {
    std::set<std::string> known;
    std::vector<Size> all;
    auto add = [&](const Size &bytes) {
      if (!bytes.isUnknown() && !bytes.isNumber() && known.insert(bytes.text()).second) {
        all.push_back(bytes);
      }
    };
    llvm::for_each(bufferBytes, add);
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), end->getOperandTypes())) {
      add(bytesOf(type).bounded(bounds));
    }
    return all;
  }
  /// Those of sizes that the caller tells.
  std::vector<onnx::SizeCheck> callersChecks() {
    std::vector<onnx::SizeCheck> checks = onnx::checksOf(function);
    llvm::erase_if(checks, [](const auto &check) { return onnx::isPresenceCheck(check.text) || isFound(check); });
    return checks;
  }

  void buildAdmits() {
    admits = begin("_admits", SmallVector<Type>(open.size(), w.b.getIndexType()));
    admits.setPrivate();
    setSymbols(open, admits.getArguments());
    Value result = status(0, -1);
    auto refuse = [&](Value bad, int64_t node) {
      result = arith::SelectOp::create(w.b, w.loc, bad, status(sizeErrorKind, node), result);
    };
    // The last one that fails is told: first those that tell least.
    for (const Size &bytes : boundedBytes()) {
      refuse(impossible(w, bytes), -1);
    }
    std::vector<onnx::SizeCheck> checks = callersChecks();
    for (const onnx::SizeCheck &check : llvm::reverse(checks)) {
      refuse(violated(w, check.text), check.node.empty() ? -1 : nodeNumber(check.node));
    }
    for (const std::string &name : open) {
      refuse(violated(w, name), -1);
    }
    ret(result);
  }

  void buildPlan() {
    Type i64 = w.b.getI64Type();
    int64_t dims = 0;
    for (Type type : end->getOperandTypes()) {
      dims += cast<RankedTensorType>(type).getRank();
    }
    Type types[] = {MemRefType::get({static_cast<int64_t>(symbols.size())}, i64), MemRefType::get({dims}, i64),
                    MemRefType::get({1}, i64)};
    func::FuncOp f = begin("_plan", types);
    SmallVector<Value> values;
    for (size_t i = 0; i < symbols.size(); ++i) {
      values.push_back(w.value(w.ix(w.load({f.getArgument(0), i64}, static_cast<int64_t>(i)))));
    }
    setSymbols(symbols, values);
    if (admits) {
      returnIfRefused(f);
    }
    int64_t at = 0;
    for (Type type : end->getOperandTypes()) {
      for (const Size &size : onnx::sizesOf(cast<RankedTensorType>(type))) {
        Size most = size.bounded(bounds);
        w.store(w.integer(most.isUnknown() ? Size(-1) : most, i64), {f.getArgument(1), i64}, at++);
      }
    }
    Value bytes = bufferBytes.empty() ? w.value(workspaceBytes) : w.value(w.ix(arena()) + Ix(slackBytes));
    w.store(w.integer(w.ix(bytes), i64), {f.getArgument(2), i64}, 0);
    ret(status(0, -1));
  }

  void returnIfRefused(func::FuncOp f) {
    SmallVector<Value> values;
    for (const std::string &name : open) {
      values.push_back(w.symbols.at(name));
    }
    Value refused = func::CallOp::create(w.b, w.loc, admits, values).getResult(0);
    Value zero = arith::ConstantIntOp::create(w.b, w.loc, 0, 32);
    returnIf(f, w.compare(arith::CmpIPredicate::ne, refused, zero), [&] { return refused; });
  }
  /// Nearly all runs need few of the checks (SizeChecks.h: UsualRun); the others ask for all.
  void returnIfRefusedOrUnusual() {
    std::vector<std::string> checks;
    for (const onnx::SizeCheck &check : callersChecks()) {
      checks.push_back(check.text);
    }
    std::optional<UsualRun> usual = usualRun(open, boundedBytes(), checks);
    if (!usual) {
      return returnIfRefused(entry);
    }
    Block *unusual = entry.addBlock(), *next = entry.addBlock();
    cf::CondBranchOp::create(w.b, w.loc, isUsual(w, *usual), next, ValueRange{}, unusual, ValueRange{});
    w.b.setInsertionPointToStart(unusual);
    returnIfRefused(entry);
    cf::BranchOp::create(w.b, w.loc, next);
    w.b.setInsertionPointToStart(next);
  }
  void returnIf(func::FuncOp f, Value condition, llvm::function_ref<Value()> result) {
    Block *next = f.addBlock(), *fail = f.addBlock();
    cf::CondBranchOp::create(w.b, w.loc, condition, fail, ValueRange{}, next, ValueRange{});
    w.b.setInsertionPointToStart(fail);
    ret(result());
    w.b.setInsertionPointToStart(next);
  }

  /// Where each buffer begins; the end of the highest is returned.
  Value arena() {
    SmallVector<Ix> ends;
    Ix peak = 0;
    for (auto [bytes, below] : llvm::zip_equal(bufferBytes, buffersBelow)) {
      Ix start = 0;
      for (int64_t b : below) {
        start = start.is(0) ? ends[b] : max(start, ends[b]);
      }
      bufferOffsets.push_back(w.value(start));
      Ix rounded = bytes.isNumber() ? Ix(static_cast<int64_t>(llvm::alignTo(bytes.number(), alignment)))
                                    : w.ix(aligned(w.value(Ix(bytes) + Ix(alignment - 1))));
      ends.push_back(w.ix(w.value(start + rounded)));
      peak = peak.is(0) ? ends.back() : max(peak, ends.back());
    }
    return w.value(peak);
  }
  Value aligned(Value bytes) { return arith::AndIOp::create(w.b, w.loc, bytes, w.value(-alignment)); }

  // The run.

  void buildRun() {
    declare();
    presence();
    setSymbols(symbols, symbolArguments());
    if (admits) {
      returnIfRefusedOrUnusual();
      arenaOfRun();
    }
    for (const onnx::SizeCheck &check : onnx::checksOf(function)) {
      if (onnx::isPresenceCheck(check.text)) {
        returnIfViolated(check);
      }
    }
    await(onnx::checksOf(function));
    all(function.getBody().front());
    for (auto [found, to] : llvm::zip_equal(info.found, sizeArguments().take_back(info.found.size()))) {
      Type i64 = w.b.getI64Type();
      w.store(w.integer(found.size, i64), {to, i64}, 0);
    }
    ret(status(0, -1));
  }
  /// Which optional inputs the caller gave.
  void presence() {
    for (BlockArgument argument : function.getArguments()) {
      if (std::optional<unsigned> number = onnx::optionalInput(argument)) {
        Value there = w.compare(arith::CmpIPredicate::ne, w.address({inputs[argument], {}}), w.value(0));
        w.symbols[onnx::presenceSymbol(*number)] = arith::IndexCastUIOp::create(w.b, w.loc, w.b.getIndexType(), there);
      }
    }
  }
  void returnIfViolated(const onnx::SizeCheck &check) {
    int64_t kind = onnx::isPresenceCheck(check.text) ? absentErrorKind : sizeErrorKind;
    returnIf(entry, violated(w, check.text), [&] { return status(kind, nodeNumber(check.node)); });
  }
  /// Symbols, and where found sizes go.
  ValueRange sizeArguments() {
    return ValueRange(entry.getArguments())
        .drop_back(asked.empty() ? 2 : 3)
        .take_back(symbols.size() + info.found.size());
  }
  ValueRange symbolArguments() { return sizeArguments().take_front(symbols.size()); }
  void arenaOfRun() {
    bufferOffsets.clear();
    arena();
  }

  void declare() {
    w.b.setInsertionPoint(function);
    std::string weightsName = info.name + "_weights";
    if (weightBytes) {
      memref::GlobalOp::create(w.b, w.loc, weightsName, w.b.getStringAttr("private"), bytesType(weightBytes),
                               Attribute(), /*constant=*/true, w.b.getI64IntegerAttr(alignment));
    }
    SmallVector<Type> types;
    for (Type t : llvm::concat<const Type>(function.getArgumentTypes(), end->getOperandTypes())) {
      types.push_back(bytesType(bytesOf(t)));
    }
    for (int64_t output : asked) {
      if (output >= 0) { // where its address goes
        types[function.getNumArguments() + output] = MemRefType::get({1}, w.b.getIndexType());
      }
    }
    types.append(symbols.size(), w.b.getIndexType());
    types.append(info.found.size(), MemRefType::get({1}, w.b.getI64Type()));
    types.push_back(bytesType(bufferBytes.empty() ? Size(workspaceBytes) : Size::unknown()));
    if (!asked.empty()) {
      types.push_back(heldType());
    }
    types.push_back(pointerType(w.b.getContext()));
    entry = begin(asked.empty() ? "_run" : "_inner_run", types);
    unsigned n = function.getNumArguments();
    for (unsigned i = 0; i < n; ++i) {
      inputs[function.getArgument(i)] = entry.getArgument(i);
    }
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      outputs.push_back(entry.getArgument(n + i));
    }
    workspace = entry.getArguments().take_back(asked.empty() ? 2 : 3).front();
    if (!asked.empty()) {
      entry.setPrivate();
      held = entry.getArguments().take_back(2).front();
    }
    if (weightBytes) {
      weights = memref::GetGlobalOp::create(w.b, w.loc, bytesType(weightBytes), weightsName);
    }
  }

  // Memory that the run asks for.

  static constexpr int64_t heldWords = 4;
  MemRefType heldType() { return MemRefType::get({static_cast<int64_t>(asked.size()) * heldWords}, w.b.getI64Type()); }
  Value exec() { return entry.getArguments().back(); }

  /// A call of the support library.
  Value library(StringRef name, ValueRange arguments, TypeRange results) {
    auto module = function->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder::InsertionGuard guard(w.b);
      w.b.setInsertionPoint(function);
      callee = func::FuncOp::create(w.b, w.loc, name, w.b.getFunctionType(arguments.getTypes(), results));
      callee.setPrivate();
    }
    auto call = func::CallOp::create(w.b, w.loc, callee, arguments);
    return results.empty() ? Value() : call.getResult(0);
  }
  Value number(int64_t n, unsigned bits) { return arith::ConstantIntOp::create(w.b, w.loc, n, bits); }

  /// NAME_run around NAME_inner_run.
  void buildHolder() {
    func::FuncOp inner = entry;
    SmallVector<Type> types(inner.getArgumentTypes());
    types.erase(types.end() - 2);
    func::FuncOp outer = begin("_run", types);
    Type i64 = w.b.getI64Type();
    Value list = memref::AllocaOp::create(w.b, w.loc, heldType());
    unsigned first = function.getNumArguments();
    for (auto [i, output] : llvm::enumerate(asked)) {
      Value place = number(0, 64);
      if (output >= 0) {
        Value address = memref::ExtractAlignedPointerAsIndexOp::create(w.b, w.loc, outer.getArgument(first + output));
        place = w.integer(w.ix(address), i64);
      }
      w.store(place, {list, i64}, static_cast<int64_t>(i) * heldWords + 2);
      w.store(number(output, 64), {list, i64}, static_cast<int64_t>(i) * heldWords + 3);
    }
    Value exec = outer.getArguments().back(), count = number(static_cast<int64_t>(asked.size()), 32);
    Type i32 = w.b.getI32Type();
    Value bad = library("ingot_memory_begin", {exec, list, count}, i32);
    returnIf(outer, w.compare(arith::CmpIPredicate::ne, bad, number(0, 32)), [&] {
      // inputs, outputs, workspace, weights, then this
      return status(nullErrorKind, static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 2);
    });
    SmallVector<Value> arguments(outer.getArguments().drop_back());
    arguments.append({list, exec});
    Value result = func::CallOp::create(w.b, w.loc, inner, arguments).getResult(0);
    ret(library("ingot_memory_end", {exec, list, count, result}, i32));
  }

  /// The memory that an op needs there and then: see #plan.ask.
  void ask(Operation *op, StringRef when = "before") {
    auto asks = op->getAttrOfType<ArrayAttr>("plan.asks");
    for (Attribute each : asks ? asks.getValue() : ArrayRef<Attribute>()) {
      auto one = cast<plan::AskAttr>(each);
      if (one.getWhen() != when) {
        continue;
      }
      Size needed = *Size::parse(one.getNeeded()), used = *Size::parse(one.getUsed());
      int64_t node = nodeNumber(onnx::nodeOf(op->getLoc()));
      returnIf(entry, impossible(w, needed), [&] { return status(sizeErrorKind, node); });
      Type i64 = w.b.getI64Type();
      Value arguments[] = {exec(), held, number(one.getNumber(), 32), w.integer(used, i64), w.integer(needed, i64)};
      Value bad = library("ingot_memory_need", arguments, w.b.getI32Type());
      returnIf(entry, w.compare(arith::CmpIPredicate::ne, bad, number(0, 32)),
               [&] { return status(memoryErrorKind, node); });
    }
  }
  /// What nobody needs behind an op.
  void release(Operation &op) {
    auto numbers = op.getAttrOfType<DenseI64ArrayAttr>("plan.releases");
    for (int64_t n : numbers ? numbers.asArrayRef() : ArrayRef<int64_t>()) {
      library("ingot_memory_release", {exec(), held, number(n, 32)}, {});
    }
  }

  Value at(Value bytes, Ix offset, Type type) {
    return memref::ViewOp::create(w.b, w.loc, cast<MemRefType>(type), bytes, w.value(offset), ValueRange{});
  }

  static plan::PlaceAttr placeAttr(Operation *op, unsigned i) {
    return cast<plan::PlaceAttr>(op->getAttrOfType<ArrayAttr>("plan.places")[i]);
  }

  /// Where result `i` of an op lies (i == number of results: a launch's scratch, a loop's number).
  Value place(Operation *op, unsigned i, const Size &extra, Type type) {
    plan::PlaceAttr place = placeAttr(op, i);
    Ix offset = *Size::parse(place.getOffset()) + extra;
    if (place.getBuffer() >= 0) {
      offset = w.ix(bufferOffsets[place.getBuffer()]) + offset;
    }
    if (place.getAsked() >= 0) {
      Value memory = library("ingot_memory_at", {held, number(place.getAsked(), 32)}, bytesType(Size::unknown()));
      return at(memory, offset, type);
    }
    return at(place.getOutput() < 0 ? workspace : outputs[place.getOutput()], offset, type);
  }

  /// The address of any tensor value, as the kernel's parameter type.
  Value address(Value v, Type type) {
    Size offset = 0;
    while (auto view = v.getDefiningOp<plan::ViewOp>()) {
      v = view.getX(), offset = offset + *Size::parse(view.getOffset());
    }
    if (auto weight = v.getDefiningOp<plan::WeightOp>()) {
      // No weights: tensors without elements.
      return at(weights ? weights : workspace, Size(static_cast<int64_t>(weight.getOffset())) + offset, type);
    }
    while (auto join = v.getDefiningOp<plan::JoinOp>()) {
      v = join.getXs().front(); // lies where its first piece does
    }
    if (Value input = inputs.lookup(v)) {
      return at(input, offset, type);
    }
    auto [op, i] = placed(v);
    return place(op, i, offset, type);
  }

  /// The op and the number among its places that say where a launch's or a control op's value lies.
  static std::pair<Operation *, unsigned> placed(Value v) {
    if (auto result = dyn_cast<OpResult>(v)) {
      return {result.getOwner(), result.getResultNumber()};
    }
    auto loop = cast<onnx::LoopOp>(v.getParentBlock()->getParentOp());
    unsigned n = cast<BlockArgument>(v).getArgNumber();
    return {loop, n == 0 ? loop.getNumResults() : n - 2};
  }

  void all(Block &block) {
    for (Operation &op : block) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        call(launch);
      } else if (auto branch = dyn_cast<onnx::IfOp>(op)) {
        branches(branch);
      } else if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
        turns(loop);
      }
      release(op);
    }
  }

  // Found sizes.

  static bool isFound(const onnx::SizeCheck &check) { return StringRef(check.text).contains('$'); }

  /// Makes those of the checks that speak of found sizes where all of these are there: at once, or later.
  void await(std::vector<onnx::SizeCheck> checks) {
    llvm::erase_if(checks, [](const onnx::SizeCheck &check) { return !isFound(check); });
    llvm::append_range(waiting, checks);
    checkFound();
  }

  void checkFound() {
    auto known = [&](StringRef text) {
      bool all = true;
      Size::parse(text)->eachSymbol([&](StringRef name) { all &= w.symbols.count(name.str()) > 0; });
      return all;
    };
    llvm::erase_if(waiting, [&](const onnx::SizeCheck &check) {
      auto [a, b] = StringRef(check.text).split('=');
      if (!known(a) || (!b.empty() && !known(b))) {
        return false;
      }
      returnIfViolated(check);
      return true;
    });
  }

  void find(StringRef symbol, Value value) {
    w.symbols[symbol.str()] = w.value(w.ix(value));
    checkFound();
  }

  // Control flow.

  /// The one element of a tensor of integers or booleans.
  Value element(Value v) {
    Type type = valueType(getElementTypeOrSelf(v.getType()));
    if (auto constant = onnx::integersOf(v)) {
      return arith::ConstantIntOp::create(w.b, w.loc,
                                          constant->front() != 0 && type.isInteger(1) ? 1 : constant->front(),
                                          type.getIntOrFloatBitWidth());
    }
    Value memory = address(v, MemRefType::get({1}, memoryType(getElementTypeOrSelf(v.getType()))));
    return w.load({memory, type}, 0);
  }

  void branches(onnx::IfOp op) {
    w.loc = op.getLoc();
    Value condition = element(op.getCondition());
    Block *starts[] = {entry.addBlock(), entry.addBlock()}, *next = entry.addBlock();
    cf::CondBranchOp::create(w.b, w.loc, condition, starts[0], ValueRange{}, starts[1], ValueRange{});
    SmallVector<onnx::Choice> choices = onnx::choicesOf(op);
    for (auto [i, region] : llvm::enumerate(op->getRegions())) {
      w.b.setInsertionPointToStart(starts[i]);
      if (!region.front().empty() && isa<onnx::FailOp>(region.front().front())) {
        ret(status(sizeErrorKind, nodeNumber(onnx::nodeOf(op->getLoc()))));
        continue;
      }
      // What is found in a branch is not known behind it.
      auto outerSymbols = w.symbols;
      auto outerWaiting = waiting;
      for (const onnx::SizeCheck &check : onnx::checksOf(region.front().getTerminator())) {
        if (!isFound(check)) {
          returnIfViolated(check);
        }
      }
      await(onnx::checksOf(region.front().getTerminator()));
      all(region.front());
      w.loc = op.getLoc();
      SmallVector<Value> chosen;
      for (const onnx::Choice &choice : choices) {
        chosen.push_back(w.value(choice.sizes[i]));
      }
      cf::BranchOp::create(w.b, w.loc, next, chosen);
      w.symbols = std::move(outerSymbols), waiting = std::move(outerWaiting);
    }
    w.b.setInsertionPointToStart(next);
    for (const onnx::Choice &choice : choices) {
      w.symbols[choice.symbol] = next->addArgument(w.b.getIndexType(), w.loc);
    }
    checkFound();
    w.loc = function.getLoc();
  }

  /// Copies a whole tensor, unless it lies where it is wanted.
  void copy(Value from, Operation *op, unsigned i, const Size &offset = 0) {
    Size bytes = bytesOf(from.getType());
    if (bytes.is(0) || samePlace(from, op, i)) {
      return;
    }
    MemRefType type = MemRefType::get({memoryExtent(bytes)}, w.b.getI8Type());
    Buffer source = {address(from, type), w.b.getI8Type()}, target = {place(op, i, offset, type), w.b.getI8Type()};
    constexpr int64_t piece = 16; // bytes of a register that every host has
    Ix whole = bytes.isNumber() ? Ix(bytes.number() / piece * piece) : Ix(floorDiv(bytes, piece)) * piece;
    w.loop(0, whole, piece, [&](Ix at) { w.store(w.load(source, at, piece), target, at); });
    w.loop(whole, bytes, 1, [&](Ix at) { w.store(w.load(source, at), target, at); });
  }
  static bool samePlace(Value v, Operation *op, unsigned i) {
    if (v.getDefiningOp<plan::ViewOp>() || v.getDefiningOp<plan::WeightOp>()) {
      return false;
    }
    while (auto join = v.getDefiningOp<plan::JoinOp>()) {
      v = join.getXs().front();
    }
    if (isa<BlockArgument>(v) && !isa<onnx::LoopOp>(v.getParentBlock()->getParentOp())) {
      return false;
    }
    auto [owner, number] = placed(v);
    return placeAttr(owner, number) == placeAttr(op, i);
  }

  /// A loop without a condition of its own ends with its trip count: one that no run can reach is an error.
  static constexpr int64_t mostTurns = mostUnbounded;

  void turns(onnx::LoopOp loop) {
    w.loc = loop.getLoc();
    Value go = onnx::present(loop.getCondition()) ? element(loop.getCondition()) : Value();
    Value trips = onnx::present(loop.getTrips())
                      ? arith::IndexCastOp::create(w.b, w.loc, w.b.getIndexType(), element(loop.getTrips()))
                      : Value();
    bool conditional = onnx::splatOf(loop.continues().get()) != 1;
    if (trips && !conditional) {
      Value most = w.value(mostTurns);
      returnIf(entry, w.compare(arith::CmpIPredicate::sgt, trips, most),
               [&] { return status(sizeErrorKind, nodeNumber(onnx::nodeOf(loop->getLoc()))); });
    }
    ask(loop);
    for (unsigned i = 0; i < loop.carried(); ++i) {
      copy(loop.getInitial()[i], loop, i);
    }
    SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
    SmallVector<Value> sizes; // of what changes in the loop: of carried values those of the next iteration
    for (const onnx::Growth &g : growths) {
      sizes.push_back(w.value(g.start));
    }
    Block *head = entry.addBlock(), *body = entry.addBlock(), *next = entry.addBlock();
    Value number = head->addArgument(w.b.getIndexType(), w.loc);
    Value zero = w.value(0);
    StringAttr found = onnx::foundBy(loop); // how often it turned
    auto following = [&](Value times) {
      SmallVector<Value> all = {times};
      llvm::append_range(all, sizes);
      return all;
    };
    auto turned = [&](Value times) {
      SmallVector<Value> all = following(times);
      return found ? all : SmallVector<Value>(sizes);
    };
    if (go) {
      cf::CondBranchOp::create(w.b, w.loc, go, head, following(zero), next, turned(zero));
    } else {
      cf::BranchOp::create(w.b, w.loc, head, following(zero));
    }
    w.b.setInsertionPointToStart(head);
    for (Value &size : sizes) {
      size = head->addArgument(w.b.getIndexType(), w.loc);
    }
    if (trips) {
      Value more = w.compare(arith::CmpIPredicate::slt, number, trips);
      cf::CondBranchOp::create(w.b, w.loc, more, body, ValueRange{}, next, turned(number));
    } else {
      cf::BranchOp::create(w.b, w.loc, body);
    }
    w.b.setInsertionPointToStart(body);
    auto outerSymbols = w.symbols;
    turn(loop, number, growths, sizes);
    Value times = arith::AddIOp::create(w.b, w.loc, number, w.value(1));
    if (conditional) {
      cf::CondBranchOp::create(w.b, w.loc, element(loop.continues().get()), head, following(times), next,
                               turned(times));
    } else {
      cf::BranchOp::create(w.b, w.loc, head, following(times));
    }
    w.b.setInsertionPointToStart(next);
    w.symbols = std::move(outerSymbols);
    if (found) {
      find(found.getValue(), next->addArgument(w.b.getIndexType(), w.loc));
    }
    for (const onnx::Growth &g : growths) {
      find(g.behind, next->addArgument(w.b.getIndexType(), w.loc));
    }
    w.loc = function.getLoc();
  }

  /// One iteration. `sizes` become those of the next.
  void turn(onnx::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths, SmallVectorImpl<Value> &sizes) {
    w.symbols[loop->getAttrOfType<StringAttr>("plan.number").str()] = number;
    for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
      if (!g.inside.empty()) {
        find(g.inside, size);
      }
    }
    ask(loop, "turn");
    if (!loop.number().use_empty()) {
      Type i64 = w.b.getI64Type();
      w.store(w.integer(w.ix(number), i64), {place(loop, loop.getNumResults(), 0, MemRefType::get({1}, i64)), i64}, 0);
    }
    all(loop.block());
    w.loc = loop.getLoc();
    change(loop, number, growths, sizes);
    ask(loop, "end");
    for (unsigned i = 0; i < loop.carried(); ++i) {
      copy(loop.yielded(i).get(), loop, i);
    }
    Size at = Size::symbol(loop->getAttrOfType<StringAttr>("plan.number").getValue());
    for (unsigned i = loop.carried(); i < loop.getNumResults(); ++i) {
      Size all = bytesOf(loop.getResult(i).getType());
      if (llvm::any_of(growths, [&](const onnx::Growth &g) { return all.mentions(g.behind); })) {
        copy(loop.yielded(i).get(), loop, i, at * bytesOf(loop.yielded(i).get().getType()));
      }
    }
  }

  /// The sizes of the next iteration; the slices of a scan output have the size of the first one.
  void change(onnx::LoopOp loop, Value number, ArrayRef<onnx::Growth> growths, SmallVectorImpl<Value> &sizes) {
    for (auto [g, size] : llvm::zip_equal(growths, sizes)) {
      int64_t node = nodeNumber(onnx::nodeOf(loop->getLoc()));
      returnIf(entry, impossible(w, g.next), [&] { return status(sizeErrorKind, node); });
      Value next = w.value(g.next);
      if (g.inside.empty()) {
        Value first = w.compare(arith::CmpIPredicate::eq, number, w.value(0));
        size = arith::SelectOp::create(w.b, w.loc, first, next, size);
        Value differs = w.compare(arith::CmpIPredicate::ne, next, size);
        returnIf(entry, differs, [&] { return status(sizeErrorKind, node); });
        w.symbols[g.behind] = size;
      } else {
        size = next;
      }
    }
  }

  void call(plan::LaunchOp launch) {
    w.loc = launch.getLoc();
    ask(launch);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getCalleeAttr());
    SmallVector<Value> args;
    for (Value v : launch.getIns()) {
      args.push_back(address(v, callee.getArgumentTypes()[args.size()]));
    }
    unsigned places = launch.getNumResults() + !launch.scratchSize().is(0);
    for (unsigned i = 0; i < places; ++i) {
      args.push_back(place(launch, i, 0, callee.getArgumentTypes()[args.size()]));
    }
    for (StringRef name : launch.getSymbols().getAsValueRange<StringAttr>()) {
      args.push_back(w.symbols.at(name.str()));
    }
    Size items = launch.itemsSize();
    args.push_back(w.value(0));
    args.push_back(w.value(items));
    auto c = func::CallOp::create(w.b, w.loc, callee, args);
    if (!items.is(0) && !items.is(1)) {
      c->setAttr("ingot.items", w.b.getUnitAttr());
    }
    if (Attribute number = launch->getAttr("plan.launch")) { // of a model for profiling
      c->setAttr("ingot.launch", number);
    }
    if (launch.getChecked()) {
      checkStatus(launch, c.getResult(0));
    }
    if (std::optional<StringRef> symbol = launch.getFound()) {
      Type i64 = w.b.getI64Type();
      Value number = place(launch, launch.getNumResults() - 1, 0, MemRefType::get({1}, i64));
      find(*symbol, w.load({number, i64}, 0));
    }
    w.loc = function.getLoc();
  }

  void checkStatus(plan::LaunchOp launch, Value result) {
    Value zero = arith::ConstantIntOp::create(w.b, w.loc, 0, 32);
    Value bad = w.compare(arith::CmpIPredicate::ne, result, zero);
    returnIf(entry, bad, [&] {
      // Any other status comes from parallel_for.
      int64_t kind = launch.getFound() ? sizeErrorKind : indexErrorKind;
      Value ours = arith::ConstantIntOp::create(w.b, w.loc, kind, 32);
      Value isOurs = w.compare(arith::CmpIPredicate::eq, result, ours);
      Value located = status(kind, nodeNumber(onnx::nodeOf(launch.getLoc())));
      return arith::SelectOp::create(w.b, w.loc, isOurs, located, result).getResult();
    });
  }

  int64_t nodeNumber(const std::string &name) {
    auto it = llvm::find(info.nodes, name);
    int64_t n = it - info.nodes.begin();
    if (it == info.nodes.end()) {
      info.nodes.push_back(name);
    }
    return n;
  }
};

} // namespace

void buildEntry(func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
                plan::ModelInfo &info, StringRef suffix) {
  Entry(function, workspaceBytes, slackBytes, weightBytes, info, suffix).build();
}

} // namespace ingot::lower
