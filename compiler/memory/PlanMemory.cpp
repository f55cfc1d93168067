// A buffer belongs to the base of its place (ingot::plan::placeOf): a launch's result or a join. It lives from the
// first launch that writes into it to the last that reads from it, through views. A launch that works in place puts its
// result where an operand of the same type ends.
//
// Where sizes depend on the model's symbols the arena is planned for one size of each symbol, and what is kept of this
// plan is its order: of two buffers that live at one time, one lies below the other. For any other sizes a buffer then
// begins where the highest of those below it ends. No two that live at one time can overlap, and for sizes like those
// planned for the arena is as tight as a static one.
#include "compiler/memory/PlanMemory.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace ingot::memory {
namespace {

class Planner {
public:
  explicit Planner(func::FuncOp function) : block(function.getBody().front()) {}

  FailureOr<MemoryPlan> run() {
    for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
      outputs[ingot::plan::placeOf(v).base] = k;
    }
    int64_t step = 0;
    for (Operation &op : block) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        visit(launch, step++);
      }
    }
    shareInPlace();
    plan.open = llvm::any_of(sizes, [](const support::Size &s) { return !s.isNumber(); });
    auto arena = planArena(plan.buffers);
    if (!arena) {
      return emitError(block.getParentOp()->getLoc(), "the model's intermediate tensors do not fit any memory");
    }
    plan.arena = *arena;
    if (plan.open) {
      orderBuffers();
    }
    for (plan::LaunchOp launch : block.getOps<plan::LaunchOp>()) {
      annotate(launch);
    }
    return std::move(plan);
  }

private:
  Block &block;
  MemoryPlan plan;
  std::vector<support::Size> sizes;       ///< bytes of each buffer
  std::vector<int64_t> numberOf;          ///< of a buffer in plan.buffers, where sizes are open; -1: it has no bytes
  llvm::DenseMap<Value, int64_t> outputs; ///< base -> function result
  llvm::DenseMap<Value, size_t> bufferOf; ///< base -> buffer
  llvm::DenseMap<Operation *, size_t> scratchOf;
  llvm::DenseMap<Operation *, int64_t> stepOf;

  size_t addBuffer(const support::Size &bytes, int64_t step, std::string name) {
    Buffer b;
    sizes.push_back(bytes);
    b.bytes = std::max<int64_t>(0, bytes.evaluate([](StringRef) { return std::optional(someSize); }).value_or(0));
    b.firstUse = b.lastUse = step;
    plan.buffers.push_back(b);
    plan.names.push_back(std::move(name));
    return plan.buffers.size() - 1;
  }

  static support::Size bytesOf(Value v) { return ingot::plan::physicalBytes(cast<RankedTensorType>(v.getType())); }

  /// The buffer of a value that lies in the arena; none for what the caller passes and for weights.
  std::optional<size_t> touch(Value v, int64_t step, StringRef name) {
    Value base = ingot::plan::placeOf(v).base;
    if (outputs.count(base) || !isa_and_nonnull<ingot::plan::LaunchOp, ingot::plan::JoinOp>(base.getDefiningOp())) {
      return std::nullopt;
    }
    auto [it, isNew] = bufferOf.try_emplace(base, 0);
    if (isNew) {
      it->second = addBuffer(bytesOf(base), step, name.str());
    }
    plan.buffers[it->second].lastUse = step;
    return it->second;
  }

  void visit(ingot::plan::LaunchOp launch, int64_t step) {
    stepOf[launch] = step;
    for (Value v : launch.getIns()) {
      touch(v, step, "");
    }
    for (Value v : launch.getOuts()) {
      touch(v, step, launch.getCallee());
    }
    if (support::Size bytes = launch.scratchSize(); !bytes.is(0)) {
      scratchOf[launch] = addBuffer(bytes, step, (launch.getCallee() + " scratch").str());
    }
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
    for (auto launch : block.getOps<ingot::plan::LaunchOp>()) {
      if (!launch->hasAttr("plan.in_place")) {
        continue;
      }
      Value out = launch.getResult(0);
      auto mine = bufferOf.find(out); // a base of its own: not part of a join, not an output
      if (mine == bufferOf.end()) {
        continue;
      }
      for (Value in : launch.getIns()) {
        auto theirs = bufferOf.find(in);
        if (theirs == bufferOf.end() || in.getType() != out.getType() || find(theirs->second) == find(mine->second) ||
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
      list.push_back(b.getArrayAttr({b.getStringAttr(sizes[i].text()), b.getDenseI64ArrayAttr(below)}));
    }
    block.getParentOp()->setAttr("plan.buffers", b.getArrayAttr(list));
  }
  static bool meet(const Buffer &a, const Buffer &b) { return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse; }

  Attribute placeAttr(int64_t output, size_t buffer, const support::Size &offset) {
    bool inArena = output < 0;
    int64_t number = inArena && plan.open ? numberOf[buffer] : -1;
    support::Size from = inArena && !plan.open ? plan.arena.offsets[buffer] : 0;
    return ingot::plan::PlaceAttr::get(block.getParentOp()->getContext(), output, number, (from + offset).text());
  }

  void annotate(ingot::plan::LaunchOp launch) {
    SmallVector<Attribute> places;
    for (Value v : launch.getOuts()) {
      ingot::plan::Place p = ingot::plan::placeOf(v);
      auto output = outputs.find(p.base);
      bool inArena = output == outputs.end();
      places.push_back(placeAttr(inArena ? -1 : output->second, inArena ? bufferOf.lookup(p.base) : 0, p.offset));
    }
    if (auto it = scratchOf.find(launch); it != scratchOf.end()) {
      places.push_back(placeAttr(-1, it->second, 0));
    }
    launch->setAttr("plan.places", ArrayAttr::get(launch.getContext(), places));
  }
};

} // namespace

FailureOr<MemoryPlan> planMemory(func::FuncOp function) { return Planner(function).run(); }

} // namespace ingot::memory
