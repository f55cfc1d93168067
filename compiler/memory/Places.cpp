// A buffer belongs to the base of its place (ingot::plan::placeOf): a launch's result, a join or a bundle. It lives
// from the first launch that writes into it to the last that reads from it, through views. A launch that works in place
// puts its result where an operand of the same type ends.
//
// Where sizes depend on the model's symbols the arena is planned for one size of each symbol, and what is kept of this
// plan is its order: of two buffers that live at one time, one lies below the other. For any other sizes a buffer then
// begins where the highest of those below it ends. No two that live at one time can overlap, and for sizes like those
// planned for the arena is as tight as a static one. Where bounds of the symbols bound all buffers, the arena is
// static: each buffer is as large as it can become.
//
// Sizes that the run has yet to find (compiler/onnx/sizes/Found.h) count as their bounds.
//
// Control flow is laid out in a row: steps count through the branches of an If and once through the body of a Loop. A
// buffer from before a Loop that is used in it lives until the Loop ends. Both branches write an If's results where
// these lie; a scan output's slices are written straight into its rows (their offset has a symbol that stands for the
// iteration's number). A carried value has one buffer for all iterations and the result: the next value is computed
// there if all reads of the present one come before, or if it is the present one with more behind; else in a buffer of
// its own that is copied when the iteration ends.
#include "compiler/memory/Places.h"
#include "compiler/memory/InPlace.h"
#include "llvm/ADT/BitVector.h"

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
      refuseToAsk(bytesOf(v), "output " + Twine(k));
    }
  }
  visit(block);
  for (unsigned k : held) { // copied when all is done
    touch(heldIn(k));
  }
  if (unbounded) {
    return failure();
  }
  shareInPlace();
  numberAsked();
  for (Value v : block.getTerminator()->getOperands()) {
    plan.inPlaceOf.push_back(inputReplacedBy(v));
  }
  if (!planArenas()) {
    return emitError(function.getLoc(), "the model's intermediate tensors do not fit any memory");
  }
  orderSlots();
  describeAsked();
  return success();
}

/// An arena for each memory.
bool Places::planArenas() {
  plan.arena.offsets.assign(plan.buffers.size(), 0);
  int64_t devices = static_cast<int64_t>(ingot::plan::devicesOf(function).size());
  for (int64_t device = 0; device <= devices; ++device) {
    std::vector<Buffer> own;
    std::vector<size_t> numbers;
    for (auto [i, buffer] : llvm::enumerate(plan.buffers)) {
      if (plan.devices[i] == device) {
        own.push_back(buffer), numbers.push_back(i);
      }
    }
    std::optional<ArenaPlan> arena = planArena(own);
    if (!arena) {
      return false;
    }
    for (auto [number, offset] : llvm::zip_equal(numbers, arena->offsets)) {
      plan.arena.offsets[number] = offset;
    }
    if (device == 0) {
      plan.arena.peakBytes = arena->peakBytes, plan.arena.lowerBound = arena->lowerBound;
    }
  }
  return true;
}

support::Range Places::boundsOf(StringRef name) const {
  for (const ingot::plan::SymbolInfo &symbol : symbols) {
    if (symbol.name == name) {
      return {symbol.least, symbol.most < 0 ? std::nullopt : std::optional(symbol.most)};
    }
  }
  return {0, std::nullopt};
}

/// The most bytes that a run can need; nothing: there is no bound.
std::optional<int64_t> Places::largest(const support::Size &bytes) const {
  return support::rangeOf(bytes, [&](StringRef name) { return boundsOf(name); }).most;
}

size_t Places::addBuffer(const support::Size &exact, int64_t step, std::string name, int64_t device) {
  Buffer b;
  b.alignment = alignment;
  support::Size bytes = exact.bounded(found);
  bool ask = bytes.isUnknown();
  if (ask) {
    refuseToAsk(exact, name);
  }
  mustAsk.push_back(ask);
  bytes = ask ? support::Size(0) : bytes;
  sizes.push_back(bytes);
  auto some = [&](StringRef name) { return std::optional(boundsOf(name).most.value_or(someSize)); };
  // Without a bound the bytes only tell which of two buffers is the larger one.
  constexpr int64_t muchMemory = int64_t(1) << 32;
  int64_t guess = std::min(bytes.evaluate(some).value_or(muchMemory), muchMemory);
  b.bytes = std::max<int64_t>(0, largest(bytes).value_or(guess));
  b.firstUse = b.lastUse = step;
  plan.buffers.push_back(b);
  plan.names.push_back(std::move(name));
  plan.devices.push_back(device);
  return plan.buffers.size() - 1;
}

void Places::refuseToAsk(const support::Size &bytes, const Twine &what) {
  if (!mayAsk) {
    emitError(function.getLoc(), "nothing bounds the " + bytes.text() + " bytes of ")
        << what << ", and --no-allocate forbids to ask for them";
    unbounded = true;
  }
}

/// The loop whose carried value `v` is in the body, or null.
static Operation *loopOfCarried(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  auto loop = argument ? dyn_cast<onnx::LoopOp>(argument.getOwner()->getParentOp()) : onnx::LoopOp();
  return loop && argument.getArgNumber() >= 2 ? loop.getOperation() : nullptr;
}

Places::Place Places::homeOf(Value v) {
  Place p = ingot::plan::placeOf(v);
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

void Places::adopt(Operation *op) {
  if (isa<onnx::IfOp>(op)) {
    for (Region &region : op->getRegions()) {
      for (auto [v, result] : llvm::zip_equal(region.front().getTerminator()->getOperands(), op->getResults())) {
        if (!isa_and_nonnull<onnx::FailOp>(v.getDefiningOp())) {
          adopted[ingot::plan::placeOf(v).base] = {result, 0};
        }
      }
    }
  }
  if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
    support::Symbol number = support::Symbol::iteration(static_cast<int64_t>(iterations.size()));
    iterations.try_emplace(op, number);
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Value base = ingot::plan::placeOf(loop.yielded(i).get()).base;
      bool roomBefore = i < loop.carried() && (!isUnbounded(loop.getResult(i)) || mayAskBefore(loop, i));
      if (changes(loop.getResult(i)) && !roomBefore) {
        continue; // copied when the iteration ends: then its size is known, and there is room
      }
      if (i >= loop.carried()) {
        adopted[base] = {loop.getResult(i), support::Size(number) * bytesOf(base)};
      } else if (mayReplace(loop, i, base)) {
        adopted[base] = {loop.getResult(i), 0};
      }
    }
  }
}

/// Some axis is, even if another one is 0: the run tells the caller its size.
bool Places::isUnbounded(Value v) const {
  return bytesOf(v).bounded(found).isUnknown() ||
         llvm::any_of(onnx::sizesOf(cast<RankedTensorType>(v.getType())),
                      [&](const support::Size &size) { return size.bounded(found).isUnknown(); });
}

/// The input in whose memory the caller may have a result of the function written: the launch that makes it works in
/// place on the input, and every other read of that comes before.
int64_t Places::inputReplacedBy(Value result) {
  Place home = homeOf(result);
  auto launch = home.base.getDefiningOp<ingot::plan::LaunchOp>();
  if (!launch || launch->getBlock() != &block || home.base != launch.getResult(0) || !home.offset.is(0)) {
    return -1;
  }
  for (Value in : replaceable(launch)) {
    Place from = ingot::plan::placeOf(in);
    auto input = dyn_cast<BlockArgument>(from.base);
    if (input && input.getOwner() == &block && from.offset.is(0) && bytesOf(input) == bytesOf(home.base) &&
        bytesOf(result) == bytesOf(home.base) && readsComeBefore(input, launch)) {
      return input.getArgNumber();
    }
  }
  return -1;
}

static bool usesDevice(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto launch = dyn_cast<ingot::plan::LaunchOp>(inner);
        return isa<ingot::plan::TransferOp>(inner) || (launch && launch.getDevice()) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a device that fails leaves what the caller had in an output. What is asked for is handed over at the end in
/// any case; what may be written in the place of an input is not kept (a copy of a cache would cost more than the step
/// that changes a row of it).
bool Places::isToBeKept(Value result) {
  return !ingot::plan::devicesOf(function).empty() && !ingot::plan::deviceOf(homeOf(result).base) &&
         !isUnbounded(result) && inputReplacedBy(result) < 0 && usesDevice(function);
}

/// The launch that writes an output behind all work of devices, or null.
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

// Steps.

/// The buffer of a value that lies in the arena; none for what the caller passes and for weights.
std::optional<size_t> Places::touch(Value v, StringRef name) {
  Value base = homeOf(v).base;
  bool number = isa<BlockArgument>(base) && isa<onnx::LoopOp>(base.getParentBlock()->getParentOp());
  if (outputs.count(base) ||
      (!number &&
       !isa_and_nonnull<ingot::plan::LaunchOp, ingot::plan::TransferOp, ingot::plan::StageOp, ingot::plan::JoinOp,
                        ingot::plan::BundleOp, onnx::IfOp, onnx::LoopOp>(base.getDefiningOp()))) {
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

void Places::touch(size_t buffer) {
  plan.buffers[buffer].lastUse = step;
  for (auto &[begin, used] : around) {
    if (plan.buffers[buffer].firstUse <= begin) {
      used.insert(buffer);
    }
  }
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
    } else if (isa<onnx::IfOp>(op)) {
      visitIf(op);
    } else if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
      visitLoop(loop);
    }
  }
}

void Places::visit(ingot::plan::LaunchOp launch) {
  stepOf[launch] = step;
  for (Value v : launch.getIns()) {
    touch(v);
  }
  for (Value v : launch.getOuts()) {
    touch(v, launch.getCallee());
  }
  if (support::Size bytes = launch.getScratchBytes().getValue(); !bytes.is(0)) {
    scratchOf[launch] =
        addBuffer(bytes, step, (launch.getCallee() + " scratch").str(), static_cast<int64_t>(launch.getDevice()));
  }
  ++step;
}

void Places::visitCopy(Operation &op) {
  if (auto stage = dyn_cast<ingot::plan::StageOp>(op); stage && isLeftToHandOver(stage)) {
    return;
  }
  touch(op.getOperand(0));
  touch(op.getResult(0), op.getName().stripDialect());
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

void Places::visitLoop(onnx::LoopOp loop) {
  for (Value v : loop->getOperands()) {
    touch(v);
  }
  for (Value v : loop->getResults()) {
    touch(v, "loop");
  }
  if (!loop.number().use_empty()) {
    touch(loop.number(), "iteration");
  }
  around.push_back({step++, {}});
  visit(loop.block());
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

/// Joins the buffers of an in-place launch's result and of an operand whose life ends there.
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
    auto mine = bufferOf.find(out); // a base of its own: not part of a join, not an output
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
      sizes[mine->second] = 0;
      follows[mine->second] = root;
      break;
    }
  }
  for (auto &[base, buffer] : bufferOf) {
    buffer = find(buffer);
  }
}

static bool meet(const Buffer &a, const Buffer &b) { return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse; }

/// Those that lie below one that is named already need no naming.
void Places::orderSlots() {
  llvm::SmallSetVector<size_t, 16> used;
  for (auto &[base, buffer] : bufferOf) {
    used.insert(buffer);
  }
  for (auto &[launch, buffer] : scratchOf) {
    used.insert(buffer);
  }
  SmallVector<size_t> order = used.takeVector();
  llvm::erase_if(order, [&](size_t i) { return askedBuffer.count(i) > 0; });
  auto key = [&](size_t i) { return std::make_tuple(plan.devices[i], plan.arena.offsets[i], !sizes[i].is(0), i); };
  llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  bool open = llvm::any_of(sizes, [&](const support::Size &s) { return !largest(s); });
  std::vector<llvm::BitVector> under; ///< directly or not
  for (size_t i : order) {
    size_t n = ordered.size();
    slotNumbers[i] = n;
    if (!open) {
      ordered.push_back({plan.names[i], plan.buffers[i].bytes, plan.arena.offsets[i], {}, plan.devices[i]});
      continue;
    }
    llvm::BitVector covered(order.size());
    std::vector<size_t> above;
    for (size_t k = n; k-- > 0 && !sizes[i].is(0);) {
      if (!covered[k] && !sizes[order[k]].is(0) && plan.devices[order[k]] == plan.devices[i] &&
          meet(plan.buffers[order[k]], plan.buffers[i])) {
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
