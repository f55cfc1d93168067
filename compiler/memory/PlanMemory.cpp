// A buffer belongs to the base of its place (ingot::plan::placeOf): a launch's result or a join. It lives from the
// first launch that writes into it to the last that reads from it, through views. A launch that works in place puts its
// result where an operand of the same type ends.
//
// Where sizes depend on the model's symbols the arena is planned for one size of each symbol, and what is kept of this
// plan is its order: of two buffers that live at one time, one lies below the other. For any other sizes a buffer then
// begins where the highest of those below it ends. No two that live at one time can overlap, and for sizes like those
// planned for the arena is as tight as a static one. Where bounds of the symbols bound all buffers, the arena is
// static: each buffer is as large as it can become.
//
// Sizes that the run has yet to find (compiler/onnx/Found.h) count as their bounds.
//
// Control flow is laid out in a row: steps count through the branches of an If and once through the body of a Loop. A
// buffer from before a Loop that is used in it lives until the Loop ends. Both branches write an If's results where
// these lie; a scan output's slices are written straight into its rows (their offset has a symbol that stands for the
// iteration's number). A carried value has one buffer for all iterations and the result: the next value is computed
// there if all reads of the present one come before, or if it is the present one with more behind; else in a buffer of
// its own that is copied when the iteration ends.
//
// What nothing bounds (sizes that only data tells) has no place in the arena: it is memory that the run asks for when
// the launch that writes it comes, and gives back behind the last that reads it. Such a memory is a number in
// plan.asked; ops say in plan.asks what must be there before they run, and in plan.releases what nobody needs behind
// them. A scan output of a loop of which nobody knows how often it turns grows slice by slice.
#include "compiler/memory/PlanMemory.h"
#include "compiler/memory/InPlace.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Found.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/plan/Layout.h"
#include "compiler/support/SizeRange.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace ingot::memory {
namespace {

class Planner {
public:
  Planner(func::FuncOp function, ArrayRef<ingot::plan::SymbolInfo> symbols, bool mayAsk)
      : function(function), symbols(symbols), block(function.getBody().front()), found(onnx::boundsOf(function)),
        mayAsk(mayAsk) {}

  FailureOr<MemoryPlan> run() {
    function.walk([&](Operation *op) { adopt(op); });
    for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
      outputs[homeOf(v).base] = k;
      if (isUnbounded(v)) {
        refuseToAsk(bytesOf(v), "output " + Twine(k));
      }
    }
    visit(block);
    if (unbounded) {
      return failure();
    }
    shareInPlace();
    numberAsked();
    for (Value v : block.getTerminator()->getOperands()) {
      plan.inPlaceOf.push_back(inputReplacedBy(v));
    }
    plan.open = llvm::any_of(sizes, [&](const support::Size &s) { return !largest(s); });
    auto arena = planArena(plan.buffers);
    if (!arena) {
      return emitError(block.getParentOp()->getLoc(), "the model's intermediate tensors do not fit any memory");
    }
    plan.arena = *arena;
    if (plan.open) {
      orderBuffers();
    }
    function.walk([&](Operation *op) { annotate(op); });
    annotateAsked();
    return std::move(plan);
  }

private:
  using Place = ingot::plan::Place;
  func::FuncOp function;
  ArrayRef<ingot::plan::SymbolInfo> symbols;
  Block &block;
  support::Bounds found; ///< sizes that the run finds
  bool mayAsk, unbounded = false;
  int64_t step = 0, loops = 0;
  llvm::DenseMap<Value, Place> adopted; ///< bases that lie in a control op's result, and where there
  /// Loops around the current op: where they begin, and the buffers from before that they use.
  SmallVector<std::pair<int64_t, llvm::SmallSetVector<size_t, 8>>> around;
  MemoryPlan plan;
  std::vector<support::Size> sizes;       ///< bytes of each buffer
  std::vector<int64_t> numberOf;          ///< of a buffer in plan.buffers, where sizes are open; -1: it has no bytes
  llvm::DenseMap<Value, int64_t> outputs; ///< base -> function result
  llvm::DenseMap<Value, size_t> bufferOf; ///< base -> buffer
  llvm::DenseMap<Operation *, size_t> scratchOf;
  llvm::DenseMap<Operation *, int64_t> stepOf;
  llvm::DenseMap<Operation *, int64_t> endOf;   ///< the last step of an op of the function's own block
  std::vector<bool> asked;                      ///< by buffer: nothing bounds it
  llvm::DenseMap<size_t, int64_t> askedBuffer;  ///< buffer -> its number in plan.asked
  llvm::DenseMap<int64_t, int64_t> askedOutput; ///< the same of a function result

  support::Range boundsOf(StringRef name) const {
    for (const ingot::plan::SymbolInfo &symbol : symbols) {
      if (symbol.name == name) {
        return {symbol.least, symbol.most < 0 ? std::nullopt : std::optional(symbol.most)};
      }
    }
    return {0, std::nullopt};
  }
  /// The most bytes that a run can need; nothing: there is no bound.
  std::optional<int64_t> largest(const support::Size &bytes) const {
    return support::rangeOf(bytes, [&](StringRef name) { return boundsOf(name); }).most;
  }

  size_t addBuffer(const support::Size &exact, int64_t step, std::string name) {
    Buffer b;
    support::Size bytes = exact.bounded(found);
    bool ask = bytes.isUnknown();
    if (ask) {
      refuseToAsk(exact, name);
    }
    asked.push_back(ask);
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
    return plan.buffers.size() - 1;
  }

  void refuseToAsk(const support::Size &bytes, const Twine &what) {
    if (!mayAsk) {
      emitError(function.getLoc(), "nothing bounds the " + bytes.text() + " bytes of ")
          << what << ", and --no-allocate forbids to ask for them";
      unbounded = true;
    }
  }

  // Where values of control flow lie.

  /// The value that has the buffer in which `v` lies: no part of a join, nothing that a control op gives a place.
  Place homeOf(Value v) {
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
  /// The loop whose carried value `v` is in the body, or null.
  static Operation *loopOfCarried(Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    auto loop = argument ? dyn_cast<onnx::LoopOp>(argument.getOwner()->getParentOp()) : onnx::LoopOp();
    return loop && argument.getArgNumber() >= 2 ? loop.getOperation() : nullptr;
  }

  void adopt(Operation *op) {
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
      support::Symbol number = support::Symbol::iteration(loops++);
      op->setAttr("plan.number", onnx::SymbolAttr::get(op->getContext(), number));
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
  bool isUnbounded(Value v) const {
    return bytesOf(v).bounded(found).isUnknown() ||
           llvm::any_of(onnx::sizesOf(cast<RankedTensorType>(v.getType())),
                        [&](const support::Size &size) { return size.bounded(found).isUnknown(); });
  }

  /// The input in whose memory the caller may have a result of the function written: the launch that makes it works in
  /// place on the input, and every other read of that comes before.
  int64_t inputReplacedBy(Value result) {
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

  // Steps.

  /// The buffer of a value that lies in the arena; none for what the caller passes and for weights.
  std::optional<size_t> touch(Value v, StringRef name = "") {
    Value base = homeOf(v).base;
    bool number = isa<BlockArgument>(base) && isa<onnx::LoopOp>(base.getParentBlock()->getParentOp());
    if (outputs.count(base) ||
        (!number && !isa_and_nonnull<ingot::plan::LaunchOp, ingot::plan::JoinOp, onnx::IfOp, onnx::LoopOp>(
                        base.getDefiningOp()))) {
      return std::nullopt;
    }
    auto [it, isNew] = bufferOf.try_emplace(base, 0);
    if (isNew) {
      it->second = addBuffer(bytesOf(base), step, name.str());
    }
    touch(it->second);
    return it->second;
  }
  void touch(size_t buffer) {
    plan.buffers[buffer].lastUse = step;
    for (auto &[begin, used] : around) {
      if (plan.buffers[buffer].firstUse <= begin) {
        used.insert(buffer);
      }
    }
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (&block == &this->block && step > 0 && op.getPrevNode()) {
        endOf[op.getPrevNode()] = step - 1;
      }
      if (auto launch = dyn_cast<ingot::plan::LaunchOp>(op)) {
        visit(launch);
      } else if (isa<onnx::IfOp>(op)) {
        visitIf(op);
      } else if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
        visitLoop(loop);
      }
    }
  }

  void visit(ingot::plan::LaunchOp launch) {
    stepOf[launch] = step;
    for (Value v : launch.getIns()) {
      touch(v);
    }
    for (Value v : launch.getOuts()) {
      touch(v, launch.getCallee());
    }
    if (support::Size bytes = launch.getScratchBytes().getValue(); !bytes.is(0)) {
      scratchOf[launch] = addBuffer(bytes, step, (launch.getCallee() + " scratch").str());
    }
    ++step;
  }

  void visitIf(Operation &op) {
    touch(op.getOperand(0));
    for (Value v : op.getResults()) {
      touch(v, "if");
    }
    ++step;
    for (Region &region : op.getRegions()) {
      visit(region.front());
    }
  }

  void visitLoop(onnx::LoopOp loop) {
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
  void shareInPlace() {
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

  /// Numbers the buffers by their offsets and says which lie below which. Those that lie below one that is named
  /// already need no naming.
  void orderBuffers() {
    std::vector<size_t> order;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!sizes[i].is(0)) {
        order.push_back(i);
      }
    }
    auto key = [&](size_t i) { return std::make_pair(plan.arena.offsets[i], i); };
    llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    numberOf.assign(sizes.size(), -1);
    std::vector<llvm::BitVector> under; ///< directly or not
    Builder b(block.getParentOp()->getContext());
    SmallVector<Attribute> list;
    for (size_t i : order) {
      size_t n = list.size();
      numberOf[i] = n;
      llvm::BitVector covered(order.size());
      SmallVector<int64_t> below;
      for (size_t k = n; k-- > 0;) {
        if (!covered[k] && meet(plan.buffers[order[k]], plan.buffers[i])) {
          below.push_back(k);
          covered.set(k);
          covered |= under[k];
        }
      }
      under.push_back(covered);
      list.push_back(b.getArrayAttr({b.getAttr<onnx::SizeAttr>(sizes[i]), b.getDenseI64ArrayAttr(below)}));
    }
    block.getParentOp()->setAttr("plan.buffers", b.getArrayAttr(list));
  }
  static bool meet(const Buffer &a, const Buffer &b) { return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse; }

  // Memory that the run asks for.

  /// The number of the asked memory in which something lies; -1: it lies elsewhere.
  int64_t askedAt(int64_t output, size_t buffer) const {
    if (output >= 0) {
      auto it = askedOutput.find(output);
      return it == askedOutput.end() ? -1 : it->second;
    }
    auto it = askedBuffer.find(buffer);
    return it == askedBuffer.end() ? -1 : it->second;
  }
  int64_t askedAt(Value v) {
    Place p = homeOf(v);
    auto output = outputs.find(p.base);
    if (output != outputs.end()) {
      return askedAt(output->second, 0);
    }
    auto buffer = bufferOf.find(p.base);
    return buffer == bufferOf.end() ? -1 : askedAt(-1, buffer->second);
  }

  void numberAsked() {
    for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (isUnbounded(v)) {
        askedOutput[k] = plan.asked.size();
        plan.asked.push_back(k);
      }
    }
    std::vector<size_t> used;
    for (auto &[base, buffer] : bufferOf) {
      used.push_back(buffer);
    }
    for (auto &[op, buffer] : scratchOf) {
      used.push_back(buffer);
    }
    llvm::sort(used);
    for (size_t buffer : used) {
      if (asked[buffer] && askedBuffer.try_emplace(buffer, plan.asked.size()).second) {
        plan.asked.push_back(-1);
      }
    }
  }

  /// Whether a loop, and not the op that makes it, asks for the memory of a value.
  bool loopAsks(Value v) {
    for (auto outer = adopted.find(v); outer != adopted.end(); outer = adopted.find(v)) {
      v = outer->second.base;
      if (isa<onnx::LoopOp>(v.getDefiningOp())) {
        return true;
      }
    }
    return false;
  }

  /// The size with the one that the op itself finds at its bound.
  support::Size knownBefore(Operation *op, const support::Size &size) {
    auto launch = dyn_cast<ingot::plan::LaunchOp>(op);
    auto bound = launch && launch.getFound() ? found.find(launch.getFound()->getValue()) : found.end();
    return bound == found.end() ? size : size.replaced(bound->first, bound->second);
  }

  using Add =
      llvm::function_ref<void(int64_t number, StringRef when, const support::Size &used, const support::Size &needed)>;

  static support::Size iterationOf(Operation *loop) {
    return loop->getAttrOfType<onnx::SymbolAttr>("plan.number").getValue();
  }

  /// Of a loop's result whose size iterations change: what is there before the first, and before each if it is extended
  /// in place, else at the end of each.
  void askOfChanging(onnx::LoopOp loop, OpResult v, Add add) {
    unsigned i = v.getResultNumber();
    support::Size bytes = bytesOf(v);
    if (i < loop.carried()) {
      SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
      support::Size first = bytes.replaced([&](support::Symbol name) {
        auto growth = llvm::find_if(growths, [&](const onnx::Growth &g) { return g.behind == name; });
        auto most = found.find(name); // room for all of it
        return growth == growths.end() ? support::Size(name) : most == found.end() ? growth->start : most->second;
      });
      add(askedAt(v), "before", 0, first);
      support::Size next = bytesOf(loop.yielded(i).get());
      bool inPlace = homeOf(loop.yielded(i).get()).base == homeOf(v).base;
      inPlace ? add(askedAt(v), "turn", bytesOf(loop.argument(i)), next) : add(askedAt(v), "end", 0, next);
    } else {
      auto stacked = cast<RankedTensorType>(v.getType());
      support::Size slice = onnx::elementBytes(stacked.getElementType());
      onnx::Sizes sizes = onnx::sizesOf(stacked);
      slice = slice * support::product(ArrayRef(sizes).drop_front());
      support::Size at = iterationOf(loop);
      add(askedAt(v), "end", at * slice, (at + 1) * slice);
    }
  }

  /// What must be there before an op runs and, for a scan output that grows, before or at the end of each iteration.
  void ask(Operation *op) {
    Builder b(op->getContext());
    SmallVector<Attribute> asks;
    auto loop = dyn_cast<onnx::LoopOp>(op);
    if (isa<onnx::IfOp>(op)) { // its branches do
      return;
    }
    auto add = [&](int64_t number, StringRef when, const support::Size &used, const support::Size &needed) {
      asks.push_back(ingot::plan::AskAttr::get(op->getContext(), number, when, b.getAttr<onnx::SizeAttr>(used),
                                               b.getAttr<onnx::SizeAttr>(needed)));
    };
    for (OpResult v : op->getResults()) {
      Value base = ingot::plan::placeOf(v).base;
      int64_t number = askedAt(v);
      if (number < 0 || loopAsks(base)) {
        continue;
      }
      std::optional<support::Symbol> turns = loop ? onnx::foundBy(op) : std::nullopt;
      if (loop && changes(v)) {
        askOfChanging(loop, v, add);
      } else if (turns && bytesOf(v).mentions(*turns)) {
        support::Size at = iterationOf(op);
        support::Size slice = bytesOf(loop.yielded(v.getResultNumber()).get());
        add(number, "turn", at * slice, (at + 1) * slice);
      } else {
        add(number, "before", 0, knownBefore(op, bytesOf(base)));
      }
    }
    if (auto it = scratchOf.find(op); it != scratchOf.end() && asked[it->second]) {
      add(askedAt(-1, it->second), "before", 0, cast<ingot::plan::LaunchOp>(op).getScratchBytes().getValue());
    }
    if (!asks.empty()) {
      op->setAttr("plan.asks", b.getArrayAttr(asks));
    }
  }

  /// Gives back what the rest of the run does not need: behind an op of the function's own block.
  void annotateAsked() {
    if (plan.asked.empty()) {
      return;
    }
    Builder b(function.getContext());
    function->setAttr("plan.asked", b.getDenseI64ArrayAttr(plan.asked));
    llvm::DenseMap<Operation *, SmallVector<int64_t>> releases;
    for (auto [buffer, number] : askedBuffer) {
      for (Operation &op : block.without_terminator()) {
        auto end = endOf.find(&op);
        if (end != endOf.end() && end->second >= plan.buffers[buffer].lastUse) {
          releases[&op].push_back(number);
          break;
        }
      }
    }
    for (auto &[op, numbers] : releases) {
      llvm::sort(numbers);
      op->setAttr("plan.releases", b.getDenseI64ArrayAttr(numbers));
    }
    std::map<support::Symbol, std::string> finders;
    function.walk([&](Operation *op) {
      std::string node = onnx::nodeOf(op->getLoc());
      if (auto launch = dyn_cast<ingot::plan::LaunchOp>(op); launch && launch.getFound()) {
        finders[launch.getFound()->getValue()] = node;
      }
      for (support::Symbol symbol : onnx::foundAt(op)) {
        finders[symbol] = node;
      }
      for (const onnx::Growth &g : onnx::growthsOf(op)) {
        if (g.inside) {
          finders[*g.inside] = node;
        }
      }
    });
    function.walk([&](Operation *op) { describeAsked(op, finders); });
  }

  /// Tells people which node needs memory, and how much.
  void describeAsked(Operation *op, const std::map<support::Symbol, std::string> &finders) {
    auto asks = op->getAttrOfType<ArrayAttr>("plan.asks");
    for (Attribute each : asks ? asks.getValue() : ArrayRef<Attribute>()) {
      auto one = cast<ingot::plan::AskAttr>(each);
      support::Size bytes = one.getNeeded().getValue();
      std::string why;
      onnx::SymbolSet told;
      bytes.eachSymbol([&](support::Symbol symbol) {
        auto finder = finders.find(symbol);
        if (finder != finders.end() && told.insert(symbol).second) {
          why += (why.empty() ? "" : ", ") + symbol.str() + " is found by node '" + finder->second + "'";
        }
      });
      plan.allocations.push_back(
          {onnx::nodeOf(op->getLoc()), bytes.text(), why, plan.asked[one.getNumber()], one.getWhen() != "before"});
    }
  }

  Attribute placeAttr(int64_t output, size_t buffer, const support::Size &offset) {
    int64_t number = askedAt(output, buffer);
    bool inArena = output < 0 && number < 0;
    int64_t open = inArena && plan.open ? numberOf[buffer] : -1;
    support::Size from = inArena && !plan.open ? plan.arena.offsets[buffer] : 0;
    auto place = onnx::SizeAttr::get(function.getContext(), from + offset);
    return ingot::plan::PlaceAttr::get(function.getContext(), output, open, place, number);
  }

  Attribute placeOf(Value v) {
    Place p = homeOf(v);
    auto output = outputs.find(p.base);
    bool inArena = output == outputs.end();
    return placeAttr(inArena ? -1 : output->second, inArena ? bufferOf.lookup(p.base) : 0, p.offset);
  }

  void annotate(Operation *op) {
    auto loop = dyn_cast<onnx::LoopOp>(op);
    if (!loop && !isa<ingot::plan::LaunchOp, onnx::IfOp>(op)) {
      return;
    }
    SmallVector<Attribute> places;
    for (Value v : op->getResults()) {
      places.push_back(placeOf(v));
    }
    if (auto it = scratchOf.find(op); it != scratchOf.end()) {
      places.push_back(placeAttr(-1, it->second, 0));
    }
    if (loop && !loop.number().use_empty()) {
      places.push_back(placeOf(loop.number()));
    }
    op->setAttr("plan.places", ArrayAttr::get(op->getContext(), places));
    ask(op);
  }
};

} // namespace

FailureOr<MemoryPlan> planMemory(func::FuncOp function, ArrayRef<ingot::plan::SymbolInfo> symbols, bool mayAsk) {
  return Planner(function, symbols, mayAsk).run();
}

} // namespace ingot::memory
