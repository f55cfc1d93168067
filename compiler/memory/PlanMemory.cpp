// A buffer belongs to the base of its place (ingot::plan::placeOf): a launch's result or a join. It lives from the
// first launch that writes into it to the last that reads from it, through views. A launch that works in place puts its
// result where an operand of the same type ends.
#include "compiler/memory/PlanMemory.h"
#include "compiler/plan/Layout.h"

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
    auto arena = planArena(plan.buffers);
    if (!arena) {
      return emitError(block.getParentOp()->getLoc(), "the model's intermediate tensors do not fit any memory");
    }
    plan.arena = *arena;
    for (plan::LaunchOp launch : block.getOps<plan::LaunchOp>()) {
      annotate(launch);
    }
    return std::move(plan);
  }

private:
  Block &block;
  MemoryPlan plan;
  llvm::DenseMap<Value, int64_t> outputs; ///< base -> function result
  llvm::DenseMap<Value, size_t> bufferOf; ///< base -> buffer
  llvm::DenseMap<Operation *, size_t> scratchOf;
  llvm::DenseMap<Operation *, int64_t> stepOf;

  size_t addBuffer(int64_t bytes, int64_t step, std::string name) {
    Buffer b;
    b.bytes = bytes, b.firstUse = b.lastUse = step;
    plan.buffers.push_back(b);
    plan.names.push_back(std::move(name));
    return plan.buffers.size() - 1;
  }

  static int64_t bytesOf(Value v) { return ingot::plan::physicalBytes(cast<RankedTensorType>(v.getType())); }

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
    if (launch.getScratchBytes()) {
      scratchOf[launch] = addBuffer(launch.getScratchBytes(), step, (launch.getCallee() + " scratch").str());
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
        follows[mine->second] = root;
        break;
      }
    }
    for (auto &[base, buffer] : bufferOf) {
      buffer = find(buffer);
    }
  }

  void annotate(ingot::plan::LaunchOp launch) {
    SmallVector<int64_t> places;
    for (Value v : launch.getOuts()) {
      ingot::plan::Place p = ingot::plan::placeOf(v);
      auto output = outputs.find(p.base);
      bool inArena = output == outputs.end();
      places.push_back(inArena ? -1 : output->second);
      places.push_back(p.offset + (inArena ? plan.arena.offsets[bufferOf.lookup(p.base)] : 0));
    }
    if (auto it = scratchOf.find(launch); it != scratchOf.end()) {
      places.append({-1, plan.arena.offsets[it->second]});
    }
    launch->setAttr("plan.places", DenseI64ArrayAttr::get(launch.getContext(), places));
  }
};

} // namespace

FailureOr<MemoryPlan> planMemory(func::FuncOp function) { return Planner(function).run(); }

} // namespace ingot::memory
