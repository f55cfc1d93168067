// Writes the memory form of a run: every tensor becomes the buffer in which it lies (Places.h), and requests for
// memory, copies and checks become operations. The order of operations is that of the tensor form.
//
// A check of sizes stands where the last of them becomes known: at the start, behind the launch that finds it, or
// behind a branch or a loop. A size that is found in a branch is not known behind the branch.
#include "compiler/memory/PlanMemory.h"
#include "compiler/memory/InPlace.h"
#include "compiler/memory/Places.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/plan/WorkAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::memory {
namespace {

/// Writes the memory form of one function, whose tensor form it erases at the end.
class RunWriter {
public:
  RunWriter(Places &places, func::FuncOp tensors)
      : places(places), tensors(tensors), block(tensors.getBody().front()), b(tensors) {}

  void write() {
    begin();
    for (const onnx::SizeCheck &check : onnx::checksOf(tensors)) {
      if (check.isPresence() || check.isDataDependent()) {
        take(check);
      } else { // such a check is made before the run begins
        onnx::addCheck(run, check);
      }
    }
    checkDataDependent();
    writeOps(block);
    finishDevices();
    handOver();
    plan::ReturnOp::create(b, tensors.getLoc());
    tensors.erase();
  }

private:
  Places &places;
  func::FuncOp tensors, run;
  Block &block;
  OpBuilder b;
  llvm::DenseMap<Value, Value> buffers; ///< tensor -> its buffer
  SmallVector<Value> outputs, hostAllocations, slots;
  llvm::SmallDenseMap<uint64_t, Value> weights;       ///< device -> its weights
  llvm::SmallSetVector<plan::TransferOp, 4> underWay; ///< downloads that the host has not waited for
  llvm::SmallSetVector<int64_t, 4> busy;              ///< devices that may have something to do
  /// The sizes that are known at the present place.
  onnx::SymbolSet known;
  std::vector<onnx::SizeCheck> waiting; ///< checks of sizes that are not all known yet

  onnx::SizeAttr size(const support::Size &s) { return b.getAttr<onnx::SizeAttr>(s); }
  static plan::BufferType bufferType(Type tensor, int64_t device = 0) {
    return plan::BufferType::get(tensor.getContext(), cast<RankedTensorType>(tensor), device);
  }

  /// Makes the function, its arguments, and the memories in which everything else lies.
  void begin() {
    Location loc = tensors.getLoc();
    SmallVector<Type> types;
    for (auto [i, t] : llvm::enumerate(tensors.getArgumentTypes())) {
      types.push_back(bufferType(t, plan::deviceOf(tensors.getArgAttrDict(i))));
    }
    for (auto [i, t] : llvm::enumerate(tensors.getResultTypes())) {
      types.push_back(bufferType(t, plan::deviceOf(tensors.getResultAttrDict(i))));
    }
    run = func::FuncOp::create(b, loc, tensors.getName(), b.getFunctionType(types, {}));
    run->setDiscardableAttrs(tensors->getDiscardableAttrDictionary());
    run->removeAttr(onnx::checksName);
    run.setVisibility(tensors.getVisibility());
    Block *entry = run.addEntryBlock();
    SmallVector<DictionaryAttr> attributes;
    for (unsigned i = 0; i < tensors.getNumArguments(); ++i) {
      attributes.push_back(tensors.getArgAttrDict(i));
      buffers[tensors.getArgument(i)] = entry->getArgument(i);
      if (std::optional<unsigned> number = onnx::optionalInput(tensors.getArgument(i))) {
        known.insert(support::Symbol::presence(*number));
      }
    }
    for (unsigned i = 0; i < tensors.getNumResults(); ++i) {
      NamedAttrList given(tensors.getResultAttrDict(i));
      given.set(plan::outputName, b.getUnitAttr());
      attributes.push_back(given.getDictionary(b.getContext()));
      outputs.push_back(entry->getArgument(tensors.getNumArguments() + i));
    }
    run.setAllArgAttrs(attributes);
    for (const std::string &name : onnx::symbolsOf(tensors, tensors.getArgumentTypes())) {
      known.insert(support::Symbol::chosen(name));
    }
    b.setInsertionPointToStart(entry);
    tensors.walk([&](plan::WeightOp weight) {
      Value &part = weights[weight.getDevice()];
      part = part ? part : plan::WeightsOp::create(b, loc, weight.getDevice());
    });
    for (const Places::Slot &slot : places.slots()) {
      auto above = llvm::map_to_vector(slot.above, [&](size_t i) { return slots[i]; });
      IntegerAttr at = slot.at ? b.getI64IntegerAttr(*slot.at) : IntegerAttr();
      slots.push_back(plan::SlotOp::create(b, loc, slot.name, size(slot.bytes), at, above, slot.device));
    }
    for (auto [number, output] : llvm::enumerate(places.hostAllocations)) {
      IntegerAttr of = output >= 0 ? b.getI64IntegerAttr(output) : IntegerAttr();
      hostAllocations.push_back(plan::HostAllocationOp::create(
          b, loc, static_cast<int64_t>(number), of, static_cast<uint64_t>(std::max<int64_t>(0, -1 - output))));
    }
  }

  // Buffers of tensors, and copies between them.

  /// Returns the memory in which a value with a buffer lies.
  Value memoryOf(Value base) {
    if (std::optional<int64_t> number = places.hostAllocationOf(base)) {
      return hostAllocations[*number];
    }
    if (std::optional<int64_t> output = places.outputOf(base)) {
      return outputs[*output];
    }
    if (auto weight = base.getDefiningOp<plan::WeightOp>()) {
      return weights.at(weight.getDevice());
    }
    auto argument = dyn_cast<BlockArgument>(base);
    return argument && argument.getOwner() == &block ? buffers.at(base) : slots[places.slotOf(base)];
  }

  Value bufferIn(Value memory, const support::Size &offset, plan::BufferType type, Location loc) {
    return memory.getType() == type && offset.is(0) ? memory
                                                    : plan::BufferOp::create(b, loc, type, memory, size(offset));
  }

  /// Returns the buffer of a tensor. It is made when it is first asked for, which is where the tensor is defined, so
  /// that it dominates all uses.
  Value bufferOf(Value tensor) {
    Value &buffer = buffers[tensor];
    if (!buffer) {
      plan::Place home = places.homeOf(tensor);
      auto weight = home.base.getDefiningOp<plan::WeightOp>();
      support::Size offset = home.offset + support::Size(weight ? static_cast<int64_t>(weight.getOffset()) : 0);
      buffer = bufferIn(memoryOf(home.base), offset, bufferType(tensor.getType(), plan::deviceOf(home.base)),
                        tensor.getLoc());
    }
    return buffer;
  }
  void defineAll(ValueRange tensors) {
    for (Value v : tensors) {
      bufferOf(v);
    }
  }

  /// Copies a tensor to where another one lies, unless that is the same place.
  void copy(Value from, Value to, Location loc) {
    support::Size bytes = bytesOf(from);
    plan::Place a = places.homeOf(from), z = places.homeOf(to);
    if (!bytes.is(0) && !(memoryOf(a.base) == memoryOf(z.base) && a.offset == z.offset)) {
      plan::CopyOp::create(b, loc, bufferOf(from), bufferOf(to));
    }
  }

  /// Writes what `op` needs at one of its points.
  void need(Operation *op, Need::When when) {
    for (const Need &n : places.needsOf(op)) {
      if (n.when == when) {
        plan::NeedOp::create(b, op->getLoc(), hostAllocations[n.number], size(n.kept), size(n.bytes));
      }
    }
  }

  // Checks of sizes

  void make(const onnx::SizeCheck &check) {
    plan::CheckOp::create(b, run.getLoc(), b.getAttr<onnx::SizesAttr>(check.sizes), b.getStringAttr(check.node));
  }
  /// Writes a check, or lets it wait for checkDataDependent() where it mentions a size that the run finds.
  void take(const onnx::SizeCheck &check) { check.isDataDependent() ? waiting.push_back(check) : make(check); }
  /// Writes the waiting checks whose sizes are all known by now.
  void checkDataDependent() {
    auto isKnown = [&](const support::Size &size) {
      bool all = true;
      size.eachSymbol([&](support::Symbol symbol) { all &= known.count(symbol) > 0; });
      return all;
    };
    llvm::erase_if(waiting, [&](const onnx::SizeCheck &check) {
      if (!llvm::all_of(check.sizes, isKnown)) {
        return false;
      }
      make(check);
      return true;
    });
  }
  /// Notes that a size is known from here on.
  void find(support::Symbol symbol) {
    known.insert(symbol);
    checkDataDependent();
  }

  // Operations

  void writeOps(Block &ops) {
    for (Operation &op : ops) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        write(launch);
      } else if (auto transfer = dyn_cast<plan::TransferOp>(op)) {
        write(transfer);
      } else if (auto stage = dyn_cast<plan::StageOp>(op)) {
        write(stage);
      } else if (auto fetch = dyn_cast<plan::FetchOp>(op)) {
        plan::FetchOp::create(b, op.getLoc(), Type(), fetch.getName(), fetch.getAt(), bufferOf(fetch.getY()));
      } else if (isa<plan::FetchedOp>(op)) {
        plan::FetchedOp::create(b, op.getLoc());
      } else if (auto branch = dyn_cast<onnx::IfOp>(op)) {
        write(branch);
      } else if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
        write(loop);
      } else if (isa<plan::ViewOp, plan::JoinOp, plan::WeightOp>(op) && !op.use_empty()) {
        defineAll(op.getResults());
      }
      for (int64_t number : places.releasedBehind(&op)) {
        plan::ReleaseOp::create(b, op.getLoc(), hostAllocations[number]);
      }
    }
  }

  // Devices. What crosses from a device to the host is under way until the host first reads it. Then the host waits for
  // the device and all that it was given to do.

  void waitFor(ValueRange tensors) {
    for (Value v : underWay.empty() ? ValueRange() : tensors) {
      auto transfer = plan::placeOf(v).base.getDefiningOp<plan::TransferOp>();
      if (transfer && underWay.contains(transfer)) {
        waitForOne(transfer);
      }
    }
  }
  void waitForOne(plan::TransferOp download) {
    int64_t device = plan::deviceOf(download.getX());
    plan::WaitOp::create(b, run.getLoc(), device);
    underWay.remove_if([&](plan::TransferOp transfer) { return plan::deviceOf(transfer.getX()) == device; });
    // A wait in a branch tells nothing of a run that takes the other branch.
    if (b.getInsertionBlock() == &run.getBody().front()) {
      busy.remove(device);
    }
  }
  /// Waits for all downloads, before control flow, whose conditions are read without a tensor to look for.
  void waitForAll() {
    while (!underWay.empty()) {
      waitForOne(underWay.front());
    }
  }

  /// Waits for all devices; behind this, none can fail.
  void finishDevices() {
    waitForAll();
    for (int64_t device : busy) {
      plan::WaitOp::create(b, run.getLoc(), device);
    }
    busy.clear();
  }
  /// Copies the outputs that were held back to the caller.
  void handOver() {
    for (unsigned k : places.heldBack()) {
      Value made = places.heldIn(k);
      if (!bytesOf(made).is(0)) {
        plan::CopyOp::create(b, made.getLoc(), bufferOf(made), outputs[k]);
      }
    }
  }

  /// Waits at the end of an iteration for all downloads but slices of a scan output, which may still be on their way to
  /// their rows. The next iteration neither reads nor writes those rows, so it begins while the device works on the
  /// present one.
  void waitForIteration(onnx::LoopOp loop) {
    auto isSlice = [&](plan::TransferOp transfer) {
      auto all = dyn_cast<OpResult>(places.homeOf(transfer.getY()).base);
      return all && all.getOwner() == loop && all.getResultNumber() >= loop.carried() && !places.hostAllocationOf(all);
    };
    for (plan::TransferOp transfer : llvm::to_vector(underWay)) {
      if (underWay.contains(transfer) && !isSlice(transfer)) {
        waitForOne(transfer);
      }
    }
  }

  void write(plan::TransferOp transfer) {
    waitFor(transfer.getX());
    need(transfer, Need::Before);
    defineAll(transfer->getResults());
    copy(transfer.getX(), transfer.getY(), transfer.getLoc());
    busy.insert(transfer.getDevice() ? static_cast<int64_t>(transfer.getDevice()) : plan::deviceOf(transfer.getX()));
    if (transfer.getDevice() == 0) {
      underWay.insert(transfer);
    }
  }

  void write(plan::StageOp stage) {
    if (places.isLeftToHandOver(stage)) {
      return;
    }
    waitFor(stage.getX());
    need(stage, Need::Before);
    defineAll(stage->getResults());
    copy(stage.getX(), stage.getY(), stage.getLoc());
  }

  void write(plan::LaunchOp launch) {
    need(launch, Need::Before);
    if (launch.getDevice() == 0) {
      waitFor(launch.getIns());
    }
    if (places.comesBehindDevices(launch)) {
      finishDevices();
    }
    if (launch.getDevice()) {
      busy.insert(static_cast<int64_t>(launch.getDevice()));
    }
    defineAll(launch.getResults());
    Value scratch;
    if (support::Size bytes = launch.getScratchBytes().getValue(); !bytes.is(0)) {
      std::optional<int64_t> number = places.hostAllocationForScratch(launch);
      Type type = onnx::sizedType({bytes}, b.getI8Type());
      scratch = bufferIn(number ? hostAllocations[*number] : slots[places.slotForScratch(launch)], 0,
                         bufferType(type, static_cast<int64_t>(launch.getDevice())), launch.getLoc());
    }
    auto at = [&](Value v) { return buffers.at(v); };
    auto call = plan::LaunchOp::create(
        b, launch.getLoc(), TypeRange(), launch.getCallee(), llvm::map_to_vector(launch.getIns(), at),
        llvm::map_to_vector(launch.getOuts(), at), scratch, launch.getItemsAttr(), launch.getScratchBytesAttr(),
        launch.getSymbolsAttr(), launch.getChecked(), launch.getDataDependentSizeAttr(), launch.getDevice());
    for (StringRef name : {plan::numberName, plan::errorName, plan::textName, StringRef(plan::workName),
                           StringRef(plan::leastWorkName)}) {
      if (Attribute note = launch->getAttr(name)) {
        call->setAttr(name, note);
      }
    }
    if (std::optional<onnx::SymbolAttr> symbol = launch.getDataDependentSize()) {
      find(symbol->getValue());
    }
  }

  /// Returns the one element of a tensor of integers or booleans.
  Value element(Value v) {
    Type type = getElementTypeOrSelf(v.getType());
    unsigned bits = type.getIntOrFloatBitWidth();
    if (auto constant = onnx::integersOf(v)) {
      int64_t value = bits == 1 ? constant->front() != 0 : constant->front();
      return arith::ConstantIntOp::create(b, v.getLoc(), value, bits);
    }
    return plan::ReadOp::create(b, v.getLoc(), b.getIntegerType(bits), bufferOf(v));
  }
  Value elementIfPresent(Value v) { return onnx::present(v) ? element(v) : Value(); }

  void write(onnx::IfOp op) {
    waitForAll();
    Value condition = element(op.getCondition());
    defineAll(op.getResults());
    auto made = plan::IfOp::create(b, op.getLoc(), condition);
    onnx::setChoices(made, onnx::choicesOf(op));
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions())) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&to.emplaceBlock());
      if (!from.front().empty() && isa<onnx::FailOp>(from.front().front())) {
        plan::FailOp::create(b, op.getLoc(), onnx::nodeOf(op->getLoc()));
        continue;
      }
      auto outerKnown = known;
      auto outerWaiting = waiting;
      for (const onnx::SizeCheck &check : onnx::checksOf(from.front().getTerminator())) {
        take(check);
      }
      checkDataDependent();
      writeOps(from.front());
      waitForAll();
      plan::EndOp::create(b, op.getLoc());
      known = std::move(outerKnown), waiting = std::move(outerWaiting);
    }
    for (const onnx::BranchSizes &choice : onnx::choicesOf(op)) {
      known.insert(choice.symbol);
    }
    checkDataDependent();
  }

  void write(onnx::LoopOp loop) {
    Location loc = loop.getLoc();
    waitForAll();
    Value go = elementIfPresent(loop.getCondition()), trips = elementIfPresent(loop.getTrips());
    need(loop, Need::Before);
    defineAll(loop.getResults());
    for (unsigned i = 0; i < loop.carried(); ++i) {
      copy(loop.getInitial()[i], loop.getResult(i), loc);
    }
    auto number = b.getAttr<onnx::SymbolAttr>(places.iterationOf(loop));
    auto made = plan::LoopOp::create(b, loc, number, trips, go);
    onnx::setGrowths(made, onnx::growthsOf(loop));
    if (Attribute found = loop->getAttr(onnx::dataDependentSizeName)) {
      made->setAttr(onnx::dataDependentSizeName, found);
    }
    auto outerKnown = known;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&made.getBody().emplaceBlock());
      writeIteration(loop);
    }
    waitForAll();
    known = std::move(outerKnown);
    if (std::optional<support::Symbol> found = onnx::dataDependentSizeOf(loop)) {
      find(*found);
    }
    for (const onnx::Growth &g : onnx::growthsOf(loop)) {
      find(g.after);
    }
  }

  /// Writes the body of a loop.
  void writeIteration(onnx::LoopOp loop) {
    Location loc = loop.getLoc();
    SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
    support::Symbol number = places.iterationOf(loop);
    known.insert(number);
    for (const onnx::Growth &g : growths) {
      if (g.inside) {
        find(*g.inside);
      }
    }
    need(loop, Need::Iteration);
    if (!loop.number().use_empty()) {
      plan::WriteOp::create(b, loc, size(number), bufferOf(loop.number()));
    }
    defineAll(loop.block().getArguments().drop_front(2));
    writeOps(loop.block());
    waitForIteration(loop);
    if (!growths.empty()) {
      plan::GrowOp::create(b, loc);
    }
    need(loop, Need::End);
    for (unsigned i = 0; i < loop.carried(); ++i) {
      copy(loop.yielded(i).get(), loop.getResult(i), loc);
    }
    for (unsigned i = loop.carried(); i < loop.getNumResults(); ++i) {
      copySlice(loop, i, growths);
    }
    bool conditional = onnx::splatNumber(loop.continues().get()) != 1;
    plan::NextOp::create(b, loc, conditional ? element(loop.continues().get()) : Value());
  }

  /// Copies a slice of a scan output to its rows, if it could not be written there because the output grows.
  void copySlice(onnx::LoopOp loop, unsigned i, ArrayRef<onnx::Growth> growths) {
    Value slice = loop.yielded(i).get(), all = loop.getResult(i);
    bool late = llvm::any_of(growths, [&](const onnx::Growth &g) { return bytesOf(all).mentions(g.after); });
    if (late && !bytesOf(slice).is(0)) {
      support::Size at = places.iterationOf(loop);
      Value to = bufferIn(bufferOf(all), at * bytesOf(slice), bufferType(slice.getType()), loop.getLoc());
      plan::CopyOp::create(b, loop.getLoc(), bufferOf(slice), to);
    }
  }
};

} // namespace

FailureOr<MemoryPlan> planMemory(func::FuncOp function, ArrayRef<ingot::plan::SymbolInfo> symbols, bool mayAllocate,
                                 int64_t alignment, ArrayRef<ingot::plan::MemoryInfo> memories) {
  Places places(function, symbols, mayAllocate, alignment);
  places.plan.memories.assign(memories.begin(), memories.end());
  if (failed(places.find())) {
    return failure();
  }
  RunWriter(places, function).write();
  return std::move(places.plan);
}

} // namespace ingot::memory
