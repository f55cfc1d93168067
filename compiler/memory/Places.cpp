// A buffer belongs to the base of a place (ingot::plan::placeOf): a launch's result, a join or a bundle. It is live
// from the first launch that writes into it to the last that reads from it, directly or through views. A launch that
// works in place puts its result where an operand of the same type ends its life.
//
// Where sizes depend on the model's symbols, the arena is planned for one value of each symbol, and only the order of
// this plan is kept: of two buffers that are live at one time, one lies below the other. For any other sizes a buffer
// then begins where the highest of those below it ends. So no two buffers that are live at one time can overlap, and
// for sizes like the planned ones the arena is as tight as a static one. Where bounds of the symbols bound all buffers,
// the arena is static: each buffer is as large as it can become.
//
// Data-dependent sizes, which the run has yet to find (compiler/onnx/sizes/DataDependentSizes.h), count as their
// bounds.
//
// Control flow is laid out in a row. Steps, which number launches and copies in their order, count through both
// branches of an If, one behind the other, and once through the body of a Loop. A
// buffer from before a Loop that its body uses lives until the Loop ends. Both branches write an If's results where
// these lie. A scan output's slices are written straight into its rows: their offset has a symbol that stands for the
// iteration's number. A carried value has one buffer for all iterations and the result. The next value is computed
// there if all reads of the present one come before, or if it is the present one with more behind it; else it has a
// buffer of its own, which is copied when the iteration ends.
//
// Arenas.cpp plans the arenas, and divides that of the host where it is in several memories.
#include "compiler/memory/Places.h"
#include "compiler/memory/InPlace.h"
#include "compiler/memory/Traffic.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/plan/SymbolBounds.h"
#include "llvm/ADT/BitVector.h"
#include <limits>
#include <set>
#include <utility>

using namespace mlir;

namespace ingot::memory {

LogicalResult Places::find() {
  function.walk([&](Operation *op) { adopt(op); });
  for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
    bool keep = isToBeKept(v);
    Operation *writer = keep ? writerBehindDevices(v) : nullptr;
    if (writer) {
      behindDevices.insert(writer);
    }
    if (keep && !writer) {
      held.push_back(k);
    } else {
      outputs[homeOf(v).base] = k;
    }
    if (isUnbounded(v)) {
      refuseAllocation(bytesOf(v), "output " + Twine(k));
    }
  }
  visit(block);
  for (unsigned k : held) { // they are read by the copies at the end
    touch(heldIn(k));
  }
  if (unbounded) {
    return failure();
  }
  if (!plan.memories.empty() && isOpen()) {
    return emitError(function.getLoc(), "--memories cannot divide what depends on sizes of which no largest is known; "
                                        "fix or bound them with --dim or --shape");
  }
  shareInPlace();
  numberHostAllocations();
  for (Value v : block.getTerminator()->getOperands()) {
    plan.inPlaceOf.push_back(inputReplacedBy(v));
  }
  if (!planArenas()) {
    return emitError(function.getLoc(), "the model's intermediate tensors do not fit any memory");
  }
  for (size_t buffer : fetched) { // the most live where one of them begins
    int64_t begins = plan.buffers[buffer].firstUse, bytes = 0;
    for (size_t other : fetched) {
      const BufferLifetime &life = plan.buffers[other];
      bytes += life.firstUse <= begins && begins <= life.lastUse ? life.bytes : 0;
    }
    plan.streamBytes = std::max(plan.streamBytes, bytes);
  }
  orderSlots();
  describeHostAllocations();
  return success();
}

/// Returns the most bytes that any run needs; nothing where there is no bound.
std::optional<int64_t> Places::largest(const support::Size &bytes) const {
  return support::rangeOf(bytes, [&](StringRef name) { return ingot::plan::boundsOf(symbols, name); }).most;
}

/// Returns whether some buffer of the arena has no largest size.
bool Places::isOpen() const {
  return llvm::any_of(sizes, [&](const support::Size &s) { return !largest(s); });
}

/// Returns the most bytes that a tensor has in any run that has a bound.
int64_t Places::mostBytes(Value tensor) const { return largest(bytesOf(tensor).bounded(bounds)).value_or(0); }

/// Adds a buffer that is live in `step` and returns its number. A buffer that nothing bounds is marked as memory to ask
/// for, and takes no room in the arena.
size_t Places::addBuffer(const support::Size &exact, int64_t step, std::string name, int64_t device) {
  BufferLifetime b;
  b.alignment = alignment;
  support::Size bytes = exact.bounded(bounds);
  bool ask = bytes.isUnknown();
  if (ask) {
    refuseAllocation(exact, name);
  }
  needsAllocation.push_back(ask);
  bytes = ask ? support::Size(0) : bytes;
  sizes.push_back(bytes);
  auto some = [&](StringRef name) {
    return std::optional(ingot::plan::boundsOf(symbols, name).most.value_or(someSize));
  };
  // Without a bound the bytes only decide which of two buffers is the larger one.
  constexpr int64_t muchMemory = int64_t(1) << 32;
  int64_t guess = std::min(bytes.evaluate(some).value_or(muchMemory), muchMemory);
  b.bytes = std::max<int64_t>(0, largest(bytes).value_or(guess));
  b.firstUse = b.lastUse = step;
  plan.buffers.push_back(b);
  plan.names.push_back(std::move(name));
  plan.devices.push_back(device);
  plan.traffic.push_back(0);
  return plan.buffers.size() - 1;
}

/// Reports memory that has no bound if the run may not ask for any.
void Places::refuseAllocation(const support::Size &bytes, const Twine &what) {
  if (!mayAllocate) {
    emitError(function.getLoc(), "nothing bounds the " + bytes.text() + " bytes of ")
        << what << ", and --no-allocate forbids to ask for them";
    unbounded = true;
  }
}

/// Returns the loop whose carried value `v` is, as an argument of the body, or null.
static Operation *loopOfCarried(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  auto loop = argument ? dyn_cast<onnx::LoopOp>(argument.getOwner()->getParentOp()) : onnx::LoopOp();
  return loop && argument.getArgNumber() >= 2 ? loop.getOperation() : nullptr;
}

Places::Place Places::homeOf(Value v) {
  Place p = places.placeOf(v);
  while (true) {
    if (auto loop = loopOfCarried(p.base)) {
      p.base = loop->getResult(cast<BlockArgument>(p.base).getArgNumber() - 2);
    }
    auto outer = adopted.find(p.base);
    if (outer == adopted.end()) {
      return p;
    }
    p = {outer->second.base, p.offset + outer->second.offset};
  }
}

/// Notes which values of branches and iterations are written straight into the result of their If or Loop.
void Places::adopt(Operation *op) {
  if (isa<onnx::IfOp>(op)) {
    for (Region &region : op->getRegions()) {
      for (auto [v, result] : llvm::zip_equal(region.front().getTerminator()->getOperands(), op->getResults())) {
        if (!isa_and_nonnull<onnx::FailOp>(v.getDefiningOp())) {
          adopted[places.placeOf(v).base] = {result, 0};
        }
      }
    }
  }
  if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
    support::Symbol number = support::Symbol::iteration(static_cast<int64_t>(iterations.size()));
    iterations.try_emplace(op, number);
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Value base = places.placeOf(loop.yielded(i).get()).base;
      bool roomBefore = i < loop.carried() && (!isUnbounded(loop.getResult(i)) || mayAskBefore(loop, i));
      if (changes(loop.getResult(i)) && !roomBefore) {
        continue; // the value is copied when the iteration ends, when its size is known and there is room
      }
      if (i >= loop.carried()) {
        adopted[base] = {loop.getResult(i), support::Size(number) * bytesOf(base)};
      } else if (mayReplace(loop, i, base)) {
        adopted[base] = {loop.getResult(i), 0};
      }
    }
  }
}

/// Returns whether nothing bounds the bytes of `v` or the size of one of its axes. Where another axis is 0 the bytes
/// are bounded, but the run must still report the size of each axis to the caller.
bool Places::isUnbounded(Value v) const {
  return bytesOf(v).bounded(bounds).isUnknown() ||
         llvm::any_of(onnx::sizesOf(cast<RankedTensorType>(v.getType())),
                      [&](const support::Size &size) { return size.bounded(bounds).isUnknown(); });
}

/// Returns the input in whose memory the caller may have a result of the function written, or -1. The launch that makes
/// the result works in place on this input, and every other read of the input comes before.
int64_t Places::inputReplacedBy(Value result) {
  Place home = homeOf(result);
  auto launch = home.base.getDefiningOp<ingot::plan::LaunchOp>();
  if (!launch || launch->getBlock() != &block || home.base != launch.getResult(0) || !home.offset.is(0)) {
    return -1;
  }
  for (Value in : replaceable(launch)) {
    Place from = places.placeOf(in);
    auto input = dyn_cast<BlockArgument>(from.base);
    if (input && input.getOwner() == &block && from.offset.is(0) && bytesOf(input) == bytesOf(home.base) &&
        bytesOf(result) == bytesOf(home.base) && readsComeBefore(input, launch)) {
      return input.getArgNumber();
    }
  }
  return -1;
}

/// Returns whether an op, or one in its regions, copies to or from a device or runs on one.
static bool usesDevice(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto launch = dyn_cast<ingot::plan::LaunchOp>(inner);
        return isa<ingot::plan::TransferOp>(inner) || (launch && launch.getDevice()) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether an output has to keep what the caller had in it when a device fails. Memory that the run asks for is
/// handed over at the end in any case. An output that may be written in the place of an input is not kept: a copy of a
/// cache would cost more than the step that changes a row of it.
bool Places::isToBeKept(Value result) {
  return !ingot::plan::devicesOf(function).empty() && !ingot::plan::deviceOf(homeOf(result).base) &&
         !isUnbounded(result) && inputReplacedBy(result) < 0 && usesDevice(function);
}

/// Returns the launch that writes an output behind all work of devices, or null.
Operation *Places::writerBehindDevices(Value result) {
  auto launch = homeOf(result).base.getDefiningOp<ingot::plan::LaunchOp>();
  bool isLast = launch && launch->getBlock() == &block &&
                llvm::none_of(llvm::make_range(std::next(launch->getIterator()), block.end()),
                              [](Operation &op) { return usesDevice(&op); });
  return isLast ? launch.getOperation() : nullptr;
}

bool Places::isLeftToHandOver(ingot::plan::StageOp stage) const {
  OpOperand *use = stage->hasOneUse() ? &*stage->use_begin() : nullptr;
  return use && use->getOwner() == block.getTerminator() && llvm::is_contained(held, use->getOperandNumber());
}

Places::Value Places::heldIn(unsigned output) const {
  Value made = block.getTerminator()->getOperand(output);
  auto stage = made.getDefiningOp<ingot::plan::StageOp>();
  return stage && isLeftToHandOver(stage) ? stage.getX() : made;
}

// The walk over the function, which counts steps and notes the lifetimes of buffers.

/// Notes a use of `v` in the present step and returns its buffer; nothing for what the caller passes and for weights.
std::optional<size_t> Places::touch(Value v, StringRef name) {
  Value base = homeOf(v).base;
  bool number = isa<BlockArgument>(base) && isa<onnx::LoopOp>(base.getParentBlock()->getParentOp());
  if (outputs.count(base) ||
      (!number &&
       !isa_and_nonnull<ingot::plan::LaunchOp, ingot::plan::TransferOp, ingot::plan::StageOp, ingot::plan::JoinOp,
                        ingot::plan::BundleOp, ingot::plan::FetchOp, onnx::IfOp, onnx::LoopOp>(base.getDefiningOp()))) {
    return std::nullopt;
  }
  auto [it, isNew] = bufferOf.try_emplace(base, 0);
  if (isNew) {
    StringRef own = base.getDefiningOp<ingot::plan::BundleOp>() ? "bundle" : name;
    it->second = addBuffer(bytesOf(base), step, own.str(), ingot::plan::deviceOf(base));
  }
  touch(it->second);
  return it->second;
}

/// Notes a use of a buffer in the present step, and in all loops around it that began after the buffer.
void Places::touch(size_t buffer) {
  plan.buffers[buffer].lastUse = step;
  for (auto &[begin, used] : around) {
    if (plan.buffers[buffer].firstUse <= begin) {
      used.insert(buffer);
    }
  }
}

/// Counts bytes that the present op reads or writes of a buffer, if `buffer` is one.
void Places::count(std::optional<size_t> buffer, int64_t bytes) {
  constexpr int64_t much = int64_t(1) << 40; // so that no sum of traffic overflows
  if (buffer) {
    int64_t all = bytes > much / repeats ? much : bytes * repeats;
    plan.traffic[*buffer] = std::min(much, plan.traffic[*buffer] + all);
  }
}

/// Counts the bytes of a tensor that the present op reads or writes as a whole, if `buffer` is its buffer.
void Places::countTensor(std::optional<size_t> buffer, Value tensor) {
  if (buffer && !plan.memories.empty()) {
    count(buffer, mostBytes(tensor));
  }
}

/// Returns the bytes that a launch reads and writes of its operands, of its results, and of its scratch memory; 0 where
/// nobody asks.
std::vector<int64_t> Places::trafficOf(ingot::plan::LaunchOp launch) const {
  size_t operands = launch.getIns().size() + launch.getOuts().size(); // in the kernel's order
  std::vector<int64_t> all(operands + 1, 0);
  if (plan.memories.empty()) {
    return all;
  }
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getCalleeAttr());
  SmallVector<int64_t> counted;
  if (kernel && !kernel.isDeclaration()) {
    counted = memory::trafficOf(kernel, largest(launch.getItems().getValue()).value_or(1));
  }
  // A target may have loads and stores of its own, which are not counted. An operand without any is taken to be read or
  // written once.
  auto orOnce = [&](size_t i, int64_t bytes) { return i < counted.size() && counted[i] > 0 ? counted[i] : bytes; };
  SmallVector<Value> tensors(launch.getIns());
  llvm::append_range(tensors, launch.getOuts());
  for (auto [i, v] : llvm::enumerate(tensors)) {
    all[i] = orOnce(i, mostBytes(v));
  }
  support::Size scratch = launch.getScratchBytes().getValue();
  all[operands] = scratch.is(0) ? 0 : orOnce(operands, 2 * largest(scratch.bounded(bounds)).value_or(0));
  return all;
}

void Places::visit(Block &block) {
  for (Operation &op : block) {
    if (&block == &this->block && step > 0 && op.getPrevNode()) {
      endOf[op.getPrevNode()] = step - 1;
    }
    if (auto launch = dyn_cast<ingot::plan::LaunchOp>(op)) {
      visit(launch);
    } else if (isa<ingot::plan::TransferOp, ingot::plan::StageOp>(op)) {
      visitCopy(op);
    } else if (auto fetch = dyn_cast<ingot::plan::FetchOp>(op)) {
      visit(fetch);
    } else if (isa<onnx::IfOp>(op)) {
      visitIf(op);
    } else if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
      visitLoop(loop);
    }
  }
}

void Places::visit(ingot::plan::LaunchOp launch) {
  stepOf[launch] = step;
  std::vector<int64_t> traffic = trafficOf(launch);
  auto next = traffic.begin();
  for (Value v : launch.getIns()) {
    count(touch(v), *next++);
  }
  for (Value v : launch.getOuts()) {
    count(touch(v, launch.getCallee()), *next++);
  }
  if (support::Size bytes = launch.getScratchBytes().getValue(); !bytes.is(0)) {
    size_t scratch =
        addBuffer(bytes, step, (launch.getCallee() + " scratch").str(), static_cast<int64_t>(launch.getDevice()));
    count(scratch, *next);
    scratchOf[launch] = scratch;
  }
  ++step;
}

void Places::visitCopy(Operation &op) {
  if (auto stage = dyn_cast<ingot::plan::StageOp>(op); stage && isLeftToHandOver(stage)) {
    return;
  }
  countTensor(touch(op.getOperand(0)), op.getOperand(0));
  countTensor(touch(op.getResult(0), op.getName().stripDialect()), op.getResult(0));
  ++step;
}

void Places::visit(ingot::plan::FetchOp fetch) {
  std::optional<size_t> buffer = touch(fetch.getY(), (fetch.getName() + " weights").str());
  countTensor(buffer, fetch.getY());
  fetched.push_back(*buffer);
  ++step;
}

void Places::visitIf(Operation &op) {
  touch(op.getOperand(0));
  for (Value v : op.getResults()) {
    touch(v, "if");
  }
  ++step;
  for (Region &region : op.getRegions()) {
    visit(region.front());
  }
}

/// Returns how often a loop runs; 16 times, where that is not known.
static int64_t tripsOf(onnx::LoopOp loop) {
  constexpr int64_t some = 16, most = int64_t(1) << 20;
  std::optional<int64_t> trips = onnx::constantTrips(loop);
  return trips ? std::clamp<int64_t>(*trips, 1, most) : some;
}

void Places::visitLoop(onnx::LoopOp loop) {
  for (Value v : loop->getOperands()) {
    countTensor(touch(v), v);
  }
  for (Value v : loop->getResults()) {
    touch(v, "loop");
  }
  for (Value carried : loop->getResults().take_front(loop.carried())) {
    countTensor(touch(carried), carried); // the initial value is copied there
  }
  if (!loop.number().use_empty()) {
    touch(loop.number(), "iteration");
  }
  around.push_back({step++, {}});
  int64_t outside = std::exchange(repeats, std::min(repeats * tripsOf(loop), int64_t(1) << 40));
  visit(loop.block());
  repeats = outside;
  for (Value v : loop.block().getTerminator()->getOperands()) {
    touch(v);
  }
  auto used = around.pop_back_val().second;
  for (Value v : loop->getResults()) {
    touch(v);
  }
  for (size_t buffer : used) {
    touch(buffer);
  }
  ++step;
}

/// Gives the result of an in-place launch the buffer of an operand whose life ends with that launch. `follows` is a
/// union-find forest over buffers.
void Places::shareInPlace() {
  std::vector<size_t> follows(plan.buffers.size());
  for (size_t i = 0; i < follows.size(); ++i) {
    follows[i] = i;
  }
  auto find = [&](size_t i) {
    while (follows[i] != i) {
      i = follows[i];
    }
    return i;
  };
  SmallVector<ingot::plan::LaunchOp> launches;
  function.walk<WalkOrder::PreOrder>([&](ingot::plan::LaunchOp launch) { launches.push_back(launch); });
  for (ingot::plan::LaunchOp launch : launches) {
    Value out = launch.getResult(0);
    auto mine = bufferOf.find(out); // only a value that is no part of a join and no output has a buffer of its own
    if (mine == bufferOf.end()) {
      continue;
    }
    for (Value in : replaceable(launch)) {
      auto theirs = bufferOf.find(in);
      if (theirs == bufferOf.end() || find(theirs->second) == find(mine->second) ||
          plan.buffers[find(theirs->second)].lastUse != stepOf[launch]) {
        continue;
      }
      size_t root = find(theirs->second);
      plan.buffers[root].lastUse = plan.buffers[mine->second].lastUse;
      plan.buffers[mine->second].bytes = 0;
      plan.traffic[root] += std::exchange(plan.traffic[mine->second], 0);
      sizes[mine->second] = 0;
      follows[mine->second] = root;
      break;
    }
  }
  for (auto &[base, buffer] : bufferOf) {
    buffer = find(buffer);
  }
}

namespace {
/// The highest slot so far at each step.
class Skyline {
public:
  /// Puts a slot on top of all that are live with it, and returns those of them that were highest somewhere, the
  /// highest first.
  std::vector<size_t> put(const BufferLifetime &buffer, size_t slot) {
    auto begin = boundary(buffer.firstUse), end = boundary(buffer.lastUse + 1);
    std::set<size_t, std::greater<>> below;
    for (auto it = begin; it != end; ++it) {
      if (it->second) {
        below.insert(*it->second);
      }
    }
    begin->second = slot;
    from.erase(std::next(begin), end);
    return {below.begin(), below.end()};
  }

private:
  using Map = std::map<int64_t, std::optional<size_t>>;
  Map from = {{std::numeric_limits<int64_t>::min(), std::nullopt}}; ///< step -> the highest slot from there on

  Map::iterator boundary(int64_t step) {
    return from.try_emplace(step, std::prev(from.upper_bound(step))->second).first;
  }
};
} // namespace

/// Makes the slots of all buffers in the arena, in the order of their planned offsets. Where sizes are open, a slot
/// names the slots below it that are live with it, but not those that already lie below one that it names.
void Places::orderSlots() {
  llvm::SmallSetVector<size_t, 16> used;
  for (auto &[base, buffer] : bufferOf) {
    used.insert(buffer);
  }
  for (auto &[launch, buffer] : scratchOf) {
    used.insert(buffer);
  }
  SmallVector<size_t> order = used.takeVector();
  llvm::erase_if(order, [&](size_t i) { return allocationOfBuffer.count(i) > 0; });
  auto key = [&](size_t i) { return std::make_tuple(plan.devices[i], plan.arena.offsets[i], !sizes[i].is(0), i); };
  llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  bool open = isOpen();
  std::vector<llvm::BitVector> under;  ///< by slot, the slots below it, directly or through others
  std::map<int64_t, Skyline> skylines; ///< by device
  for (size_t i : order) {
    size_t n = ordered.size();
    slotNumbers[i] = n;
    if (!open) {
      ordered.push_back({plan.names[i], plan.buffers[i].bytes, plan.arena.offsets[i], {}, plan.devices[i]});
      continue;
    }
    llvm::BitVector covered(order.size());
    std::vector<size_t> above;
    for (size_t k : sizes[i].is(0) ? std::vector<size_t>() : skylines[plan.devices[i]].put(plan.buffers[i], n)) {
      if (!covered[k]) {
        above.push_back(k);
        covered.set(k);
        covered |= under[k];
      }
    }
    under.push_back(covered);
    ordered.push_back({plan.names[i], sizes[i], std::nullopt, above, plan.devices[i]});
  }
}

} // namespace ingot::memory
