// Memory whose size nothing bounds, because only data determines it, has no place in the workspace. The run asks its
// host for it when the launch that writes it comes, and gives it back behind the last launch that reads it. A scan
// output of a loop whose number of iterations is not known grows slice by slice. Memory of a device is asked for in the
// same way, and given back when the run ends: until then launches may be under way that read it.
#include "compiler/memory/InPlace.h"
#include "compiler/memory/Places.h"
#include "compiler/onnx/Control.h"

using namespace mlir;

namespace ingot::memory {

/// Numbers the memories that the run asks for: outputs first, then buffers in their order.
void Places::numberHostAllocations() {
  for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
    if (isUnbounded(v)) {
      allocationOfOutput[k] = hostAllocations.size();
      hostAllocations.push_back(k);
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
    if (needsAllocation[buffer] && allocationOfBuffer.try_emplace(buffer, hostAllocations.size()).second) {
      hostAllocations.push_back(-1 - plan.devices[buffer]);
    }
  }
}

std::optional<int64_t> Places::hostAllocationOf(Value base) const {
  if (auto output = outputOf(base)) {
    return numberIn(allocationOfOutput, *output);
  }
  auto buffer = bufferOf.find(base);
  return buffer == bufferOf.end() ? std::nullopt : numberIn(allocationOfBuffer, buffer->second);
}

std::optional<int64_t> Places::hostAllocationForScratch(Operation *launch) const {
  auto buffer = scratchOf.find(launch);
  return buffer == scratchOf.end() ? std::nullopt : numberIn(allocationOfBuffer, buffer->second);
}

/// Returns whether a loop, and not the op that makes it, asks for the memory of a value.
bool Places::isAllocatedByLoop(Value v) {
  for (auto outer = adopted.find(v); outer != adopted.end(); outer = adopted.find(v)) {
    v = outer->second.base;
    if (isa<onnx::LoopOp>(v.getDefiningOp())) {
      return true;
    }
  }
  return false;
}

/// Returns `size` as it is known before `op` runs: the size that the op itself finds is replaced by its bound.
support::Size Places::knownBefore(Operation *op, const support::Size &size) {
  auto launch = dyn_cast<ingot::plan::LaunchOp>(op);
  auto bound =
      launch && launch.getDataDependentSize() ? bounds.find(launch.getDataDependentSize()->getValue()) : bounds.end();
  return bound == bounds.end() ? size : size.replaced(bound->first, bound->second);
}

/// Adds what a loop's result needs whose size the iterations change. A carried value needs room for its initial value
/// before the first iteration, and for the next value before each iteration if it is extended in place, else at the end
/// of each. A scan output needs room for one slice more at the end of each.
void Places::needOfChanging(onnx::LoopOp loop, OpResult v, std::vector<Need> &needs) {
  unsigned i = v.getResultNumber();
  support::Size bytes = bytesOf(v);
  int64_t number = *hostAllocationOf(homeOf(v).base);
  if (i < loop.carried()) {
    SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
    support::Size first = bytes.replaced([&](support::Symbol name) {
      auto growth = llvm::find_if(growths, [&](const onnx::Growth &g) { return g.after == name; });
      auto most = bounds.find(name); // a size with a bound gets room for all of it at once
      return growth == growths.end() ? support::Size(name) : most == bounds.end() ? growth->start : most->second;
    });
    needs.push_back({number, Need::Before, 0, first});
    support::Size next = bytesOf(loop.yielded(i).get());
    bool inPlace = homeOf(loop.yielded(i).get()).base == homeOf(v).base;
    needs.push_back(inPlace ? Need{number, Need::Iteration, bytesOf(loop.argument(i)), next}
                            : Need{number, Need::End, 0, next});
  } else {
    auto stacked = cast<RankedTensorType>(v.getType());
    support::Size slice = onnx::elementBytes(stacked.getElementType());
    onnx::Sizes sizes = onnx::sizesOf(stacked);
    slice = slice * support::product(ArrayRef(sizes).drop_front());
    support::Size at = iterationOf(loop);
    needs.push_back({number, Need::End, at * slice, (at + 1) * slice});
  }
}

std::vector<Need> Places::needsOf(Operation *op) {
  std::vector<Need> needs;
  auto loop = dyn_cast<onnx::LoopOp>(op);
  if (!loop && !isa<ingot::plan::LaunchOp, ingot::plan::TransferOp, ingot::plan::StageOp>(op)) {
    return needs; // the branches of an If state their needs themselves
  }
  for (OpResult v : op->getResults()) {
    Value base = places.placeOf(v).base;
    std::optional<int64_t> number = hostAllocationOf(homeOf(v).base);
    if (!number || isAllocatedByLoop(base)) {
      continue;
    }
    std::optional<support::Symbol> iterations = loop ? onnx::dataDependentSizeOf(op) : std::nullopt;
    if (loop && changes(v)) {
      needOfChanging(loop, v, needs);
    } else if (iterations && bytesOf(v).mentions(*iterations)) {
      support::Size at = iterationOf(op);
      support::Size slice = bytesOf(loop.yielded(v.getResultNumber()).get());
      needs.push_back({*number, Need::Iteration, at * slice, (at + 1) * slice});
    } else {
      needs.push_back({*number, Need::Before, 0, knownBefore(op, bytesOf(base))});
    }
  }
  if (auto number = hostAllocationForScratch(op)) {
    needs.push_back({*number, Need::Before, 0, cast<ingot::plan::LaunchOp>(op).getScratchBytes().getValue()});
  }
  return needs;
}

std::vector<int64_t> Places::releasedBehind(Operation *op) const {
  std::vector<int64_t> numbers;
  auto end = endOf.find(op);
  if (end == endOf.end()) {
    return numbers;
  }
  // The memory is released behind the first op whose last step is not before the last use.
  Operation *before = op->getPrevNode();
  while (before && !endOf.count(before)) {
    before = before->getPrevNode();
  }
  int64_t earlier = before ? endOf.at(before) : -1;
  for (auto [buffer, number] : allocationOfBuffer) {
    int64_t last = plan.buffers[buffer].lastUse;
    if (last > earlier && last <= end->second && plan.devices[buffer] == 0) {
      numbers.push_back(number);
    }
  }
  llvm::sort(numbers);
  return numbers;
}

/// Describes each request for memory in the plan, for reports: which node needs it, how much, and which nodes find the
/// sizes in that expression.
void Places::describeHostAllocations() {
  if (hostAllocations.empty()) {
    return;
  }
  std::map<support::Symbol, std::string> finders;
  function.walk([&](Operation *op) {
    std::string node = onnx::nodeOf(op->getLoc());
    if (auto launch = dyn_cast<ingot::plan::LaunchOp>(op); launch && launch.getDataDependentSize()) {
      finders[launch.getDataDependentSize()->getValue()] = node;
    }
    for (support::Symbol symbol : onnx::symbolsDefinedBy(op)) {
      finders[symbol] = node;
    }
    for (const onnx::Growth &g : onnx::growthsOf(op)) {
      if (g.inside) {
        finders[*g.inside] = node;
      }
    }
  });
  auto describe = [&](Operation *op, const Need &need) {
    std::string why;
    onnx::SymbolSet explained;
    need.bytes.eachSymbol([&](support::Symbol symbol) {
      auto finder = finders.find(symbol);
      if (finder != finders.end() && explained.insert(symbol).second) {
        why += (why.empty() ? "" : ", ") + symbol.str() + " is found by node '" + finder->second + "'";
      }
    });
    int64_t output = std::max<int64_t>(-1, hostAllocations[static_cast<size_t>(need.number)]);
    plan.allocations.push_back({onnx::nodeOf(op->getLoc()), need.bytes.text(), why, output, need.when != Need::Before});
  };
  function.walk([&](Operation *op) {
    for (const Need &need : needsOf(op)) {
      describe(op, need);
    }
  });
}

} // namespace ingot::memory
