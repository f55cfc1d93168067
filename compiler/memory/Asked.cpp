// What nothing bounds (sizes that only data tells) has no place in the workspace: it is memory that the run asks for
// when the launch that writes it comes, and gives back behind the last that reads it. A scan output of a loop of which
// nobody knows how often it turns grows slice by slice.
#include "compiler/memory/InPlace.h"
#include "compiler/memory/Places.h"
#include "compiler/onnx/Control.h"

using namespace mlir;

namespace ingot::memory {

void Places::numberAsked() {
  for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
    if (isUnbounded(v)) {
      askedOutput[k] = asked.size();
      asked.push_back(k);
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
    if (mustAsk[buffer] && askedBuffer.try_emplace(buffer, asked.size()).second) {
      asked.push_back(-1);
    }
  }
}

std::optional<int64_t> Places::askedOf(Value base) const {
  if (auto output = outputOf(base)) {
    return numberIn(askedOutput, *output);
  }
  auto buffer = bufferOf.find(base);
  return buffer == bufferOf.end() ? std::nullopt : numberIn(askedBuffer, buffer->second);
}

std::optional<int64_t> Places::askedForScratch(Operation *launch) const {
  auto buffer = scratchOf.find(launch);
  return buffer == scratchOf.end() ? std::nullopt : numberIn(askedBuffer, buffer->second);
}

/// Whether a loop, and not the op that makes it, asks for the memory of a value.
bool Places::loopAsks(Value v) {
  for (auto outer = adopted.find(v); outer != adopted.end(); outer = adopted.find(v)) {
    v = outer->second.base;
    if (isa<onnx::LoopOp>(v.getDefiningOp())) {
      return true;
    }
  }
  return false;
}

/// The size with the one that the op itself finds at its bound.
support::Size Places::knownBefore(Operation *op, const support::Size &size) {
  auto launch = dyn_cast<ingot::plan::LaunchOp>(op);
  auto bound = launch && launch.getFound() ? found.find(launch.getFound()->getValue()) : found.end();
  return bound == found.end() ? size : size.replaced(bound->first, bound->second);
}

/// Of a loop's result whose size iterations change: what is there before the first, and before each if it is extended
/// in place, else at the end of each.
void Places::needOfChanging(onnx::LoopOp loop, OpResult v, std::vector<Need> &needs) {
  unsigned i = v.getResultNumber();
  support::Size bytes = bytesOf(v);
  int64_t number = *askedOf(homeOf(v).base);
  if (i < loop.carried()) {
    SmallVector<onnx::Growth> growths = onnx::growthsOf(loop);
    support::Size first = bytes.replaced([&](support::Symbol name) {
      auto growth = llvm::find_if(growths, [&](const onnx::Growth &g) { return g.behind == name; });
      auto most = found.find(name); // room for all of it
      return growth == growths.end() ? support::Size(name) : most == found.end() ? growth->start : most->second;
    });
    needs.push_back({number, Need::Before, 0, first});
    support::Size next = bytesOf(loop.yielded(i).get());
    bool inPlace = homeOf(loop.yielded(i).get()).base == homeOf(v).base;
    needs.push_back(inPlace ? Need{number, Need::Turn, bytesOf(loop.argument(i)), next}
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
    return needs; // of an If, its branches need it
  }
  for (OpResult v : op->getResults()) {
    Value base = ingot::plan::placeOf(v).base;
    std::optional<int64_t> number = askedOf(homeOf(v).base);
    if (!number || loopAsks(base)) {
      continue;
    }
    std::optional<support::Symbol> turns = loop ? onnx::foundBy(op) : std::nullopt;
    if (loop && changes(v)) {
      needOfChanging(loop, v, needs);
    } else if (turns && bytesOf(v).mentions(*turns)) {
      support::Size at = iterationOf(op);
      support::Size slice = bytesOf(loop.yielded(v.getResultNumber()).get());
      needs.push_back({*number, Need::Turn, at * slice, (at + 1) * slice});
    } else {
      needs.push_back({*number, Need::Before, 0, knownBefore(op, bytesOf(base))});
    }
  }
  if (auto number = askedForScratch(op)) {
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
  // Behind the first op that ends so late.
  Operation *before = op->getPrevNode();
  while (before && !endOf.count(before)) {
    before = before->getPrevNode();
  }
  int64_t earlier = before ? endOf.at(before) : -1;
  for (auto [buffer, number] : askedBuffer) {
    int64_t last = plan.buffers[buffer].lastUse;
    if (last > earlier && last <= end->second) {
      numbers.push_back(number);
    }
  }
  llvm::sort(numbers);
  return numbers;
}

/// Tells people which node needs memory, how much, and who finds the sizes of which that speaks.
void Places::describeAsked() {
  if (asked.empty()) {
    return;
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
  auto describe = [&](Operation *op, const Need &need) {
    std::string why;
    onnx::SymbolSet told;
    need.bytes.eachSymbol([&](support::Symbol symbol) {
      auto finder = finders.find(symbol);
      if (finder != finders.end() && told.insert(symbol).second) {
        why += (why.empty() ? "" : ", ") + symbol.str() + " is found by node '" + finder->second + "'";
      }
    });
    plan.allocations.push_back({onnx::nodeOf(op->getLoc()), need.bytes.text(), why,
                                asked[static_cast<size_t>(need.number)], need.when != Need::Before});
  };
  function.walk([&](Operation *op) {
    for (const Need &need : needsOf(op)) {
      describe(op, need);
    }
  });
}

} // namespace ingot::memory
