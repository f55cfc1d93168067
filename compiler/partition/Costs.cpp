#include "compiler/partition/Costs.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/partition/Bundles.h"
#include "compiler/partition/Roles.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::partition {

/// The estimate for a loop whose number of iterations is not a constant.
static constexpr double usualIterations = 8;

/// Returns how many iterations an onnx.Loop has, by estimate.
static double iterationsOf(Operation *loop) {
  std::optional<int64_t> trips = onnx::constantTrips(cast<onnx::LoopOp>(loop));
  return trips ? static_cast<double>(std::max<int64_t>(*trips, 0)) : usualIterations;
}

/// Returns how often an op runs in a run of the model: the product of the iterations of the loops around it.
static double iterationsAround(Operation *op) {
  double iterations = 1;
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp()) {
    iterations *= isa<onnx::LoopOp>(around) ? iterationsOf(around) : 1;
  }
  return iterations;
}

/// Calls `f` with the function, and in pre-order with its ops and those in branches and loops. Regions of other ops,
/// such as the scores of an Attend, are a part of the kernel of that op.
static void walkOps(func::FuncOp function, llvm::function_ref<void(Operation *)> f) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    f(op);
    return isa<func::FuncOp, onnx::IfOp, onnx::LoopOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

Costs::Costs(func::FuncOp function, ArrayRef<Device> devices, ArrayRef<PlacedNode> nodes, const Policy &policy)
    : devices(devices), policy(policy), bounds(onnx::boundsOf(function)), deviceOfMemory{0} {
  for (auto [i, device] : llvm::enumerate(devices)) {
    memories.push_back(device.machine.hasOwnMemory ? memoryCount() : 0);
    if (device.machine.hasOwnMemory) {
      deviceOfMemory.push_back(static_cast<int>(i));
    }
  }
  for (auto [i, node] : llvm::enumerate(nodes)) {
    numberOf[node.op] = static_cast<int>(i);
  }
  orderOps(function);
  for (const PlacedNode &node : nodes) {
    costs.push_back(costOf(node));
  }
  addValues(function);
  for (int memory = 1; memory < memoryCount(); ++memory) {
    shareCopies(memory, Tensor::Input, machineOf(memory).upload);
    shareCopies(memory, Tensor::Result, machineOf(memory).download);
  }
}

/// Numbers all ops (placeOf), and finds where each branch and loop ends (endOf).
void Costs::orderOps(func::FuncOp function) {
  walkOps(function, [&](Operation *op) {
    size_t place = placeOf[op] = places++;
    for (Operation *around = op->getParentOp(); around != function && around; around = around->getParentOp()) {
      endOf[around] = place;
    }
  });
}

/// Returns an estimate of a size: with what the policy assumes for its symbols, as if all optional inputs were given. A
/// data-dependent size counts as its bound. Where nothing is known the estimate is Policy::usualSize.
double Costs::number(const support::Size &size) const {
  support::Size known = size.isDataDependent() ? size.bounded(bounds) : size;
  auto symbol = [&](support::Symbol s) -> std::optional<int64_t> {
    return s.kind() == support::SymbolKind::Presence ? 1 : policy.sizeOf(s);
  };
  std::optional<int64_t> value = known.isUnknown() ? std::nullopt : known.evaluate(symbol);
  return static_cast<double>(std::max<int64_t>(value.value_or(Policy::usualSize), 0));
}

double Costs::bytesOf(Value v) const {
  RankedTensorType type = onnx::ranked(v);
  double elements = type ? number(support::product(onnx::sizesOf(type))) : 0;
  return type ? elements * static_cast<double>(onnx::elementBytes(type.getElementType())) : 0;
}

/// Returns the node that makes the first operand whose kernel an elementwise `op` could join, or `host`. This is a
/// guess: FormKernels.cpp knows more reasons against it, such as a kernel that is full.
int Costs::leaderOf(Operation *op) const {
  if (!isa<onnx::Elementwise>(op)) {
    return host;
  }
  for (Value v : op->getOperands()) {
    auto known = numberOf.find(v.getDefiningOp());
    RankedTensorType type = onnx::ranked(v), own = onnx::ranked(op->getResult(0));
    if (known == numberOf.end() || !type || !own || onnx::sizesOf(type) != onnx::sizesOf(own)) {
      continue;
    }
    const lower::KernelFamily *family = lower::familyFor(v.getDefiningOp(), devices.front().machine);
    if (v.getDefiningOp()->getBlock() == op->getBlock() && (!family || family->fusesEpilogue(v.getDefiningOp()))) {
      return known->second;
    }
  }
  return host;
}

Costs::NodeCost Costs::costOf(const PlacedNode &node) const {
  NodeCost cost;
  cost.leader = leaderOf(node.op);
  cost.joined.assign(devices.size(), 0);
  cost.extraAlone.assign(devices.size(), 0);
  target::Work alone = onnx::workOf(node.op, [&](const support::Size &size) { return number(size); }), joined = alone;
  // In its leader's kernel the op reads that operand from a register, and the kernel writes the op's result instead of
  // the operand: one read and one write of a tensor of this size are saved.
  if (cost.leader != host) {
    joined.bytes -= 2 * bytesOf(node.op->getResult(0));
    joined.bytes = std::max(joined.bytes, 0.0);
  }
  double iterations = iterationsAround(node.op);
  for (int taker : node.takers) {
    const auto &[target, machine] = devices[taker];
    double launch = target::ratesOf(machine).launch, whole = target->seconds(node.op, alone, machine) + launch;
    double part = cost.leader == host ? whole : target->seconds(node.op, joined, machine);
    cost.joined[taker] = iterations * part;
    cost.extraAlone[taker] = iterations * std::max(whole - part, 0.0);
  }
  return cost;
}

/// Returns the maker of a value that no node makes, as Tensor::maker has it: the caller for an input that --bind puts
/// on a device, else `host`.
static int homeOf(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return Costs::outside(function ? plan::deviceOf(function.getArgAttrDict(argument.getArgNumber())) : 0);
}

/// Returns the reader that a use by an op without a kernel stands for, as Tensor::readers has it: the caller for a
/// result that --bind puts on a device, else `host`.
static int readerOf(OpOperand &use) {
  auto end = dyn_cast<func::ReturnOp>(use.getOwner());
  auto function = end ? end->getParentOfType<func::FuncOp>() : func::FuncOp();
  return Costs::outside(end ? plan::deviceOf(function.getResultAttrDict(use.getOperandNumber())) : 0);
}

/// Collects the values that something reads as a tensor, with their makers, readers and lives. A read through views is
/// a read of the value that they view.
void Costs::addValues(func::FuncOp function) {
  llvm::MapVector<Value, Tensor> all;
  walkOps(function, [&](Operation *op) {
    auto known = numberOf.find(op);
    for (OpOperand &use : op->getOpOperands()) {
      if (!isa<RankedTensorType>(use.get().getType()) || isParameterUse(use) || isView(*op)) {
        continue;
      }
      Value v = viewed(use.get());
      Operation *maker = v.getDefiningOp();
      auto [entry, isNew] = all.insert({v, {}});
      Tensor &value = entry->second;
      if (isNew) {
        auto made = numberOf.find(maker);
        value.maker = made == numberOf.end() ? homeOf(v) : made->second;
        value.iterations = iterationsAround(maker ? maker : &v.getParentBlock()->front());
        value.edge = edgeOf(v);
        value.isBundled.assign(memoryCount(), false);
        value.begin = maker ? placeOf.lookup(maker) : placeOf.lookup(&v.getParentBlock()->front());
      }
      value.bytes = std::max(value.bytes, bytesOf(use.get())); // of a value behind a slice only the slice is copied
      value.readers.push_back(known == numberOf.end() ? readerOf(use) : known->second);
      value.end = std::max(value.end, placeOf.lookup(op));
      // A loop around the reader, but not around the value, reads it in every iteration: it lives until the loop ends.
      for (Operation *around = op->getParentOp(); around != v.getParentBlock()->getParentOp();
           around = around->getParentOp()) {
        value.end = std::max(value.end, endOf.lookup(around));
      }
    }
  });
  for (auto &[v, value] : all) {
    bool isWeight = onnx::constantOf(v) || (v.getDefiningOp() && onnx::makesKeptWeights(v.getDefiningOp()));
    (isWeight ? weights : values).push_back(std::move(value));
  }
}

Costs::Tensor::Edge Costs::edgeOf(Value v) {
  bool isSized = onnx::ranked(v) && !support::product(onnx::sizesOf(onnx::ranked(v))).isDataDependent();
  auto argument = dyn_cast<BlockArgument>(v);
  if (argument && isSized && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    return homeOf(v) == host && !onnx::optionalInput(v) ? Tensor::Input : Tensor::Inside;
  }
  bool isResult = isSized && v.hasOneUse() && isa<func::ReturnOp>(*v.user_begin()) && readerOf(*v.use_begin()) == host;
  return isResult ? Tensor::Result : Tensor::Inside;
}

/// Bundles the inputs (or the results) of the model that go to a memory (or come from there) over a link. All are ready
/// before the first kernel and wanted by the last one, hence the positions 0 and 1. On the host each is copied into the
/// bundle or out of it, since the caller decides where it lies.
void Costs::shareCopies(int memory, Tensor::Edge edge, const target::MachineModel::Link &link) {
  std::vector<size_t> numbers;
  std::vector<Crossing> crossings;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value.edge == edge) {
      numbers.push_back(i);
      crossings.push_back({value.bytes, stagingSeconds(value.bytes, hostOf(devices)), 0, 1});
    }
  }
  for (const Bundle &bundle : bundlesOf(crossings, link)) {
    sharedCopies.push_back(
        {memory, link.latency, llvm::map_to_vector<4>(bundle.members, [&](size_t i) { return numbers[i]; })});
    for (size_t member : sharedCopies.back().members) {
      values[member].isBundled[memory] = true;
    }
  }
}

/// Returns the seconds of copying a value over a link, in all iterations. For a value that shares a copy they leave the
/// latency out, which shared() counts once, and include the copy within the host's memory.
double Costs::ofCopy(const Tensor &value, int memory, const target::MachineModel::Link &link) const {
  double alone = link.seconds(value.bytes);
  return value.iterations *
         (value.isBundled[memory] ? alone - link.latency + stagingSeconds(value.bytes, hostOf(devices)) : alone);
}

double Costs::ofNode(int node, ArrayRef<int> placed) const {
  const NodeCost &cost = costs[node];
  bool isAlone = cost.leader != host && placed[cost.leader] != placed[node];
  return cost.joined[placed[node]] + (isAlone ? cost.extraAlone[placed[node]] : 0);
}

double Costs::ofKernels(ArrayRef<int> placed) const {
  double seconds = 0;
  for (int node = 0; node < static_cast<int>(costs.size()); ++node) {
    seconds += ofNode(node, placed);
  }
  return seconds;
}

double Costs::ofCopies(ArrayRef<int> placed) const {
  double seconds = 0;
  for (const Tensor &value : values) {
    int own = memoryOf(value.maker, placed);
    auto isRead = [&](int memory) {
      return llvm::any_of(value.readers, [&](int reader) { return memoryOf(reader, placed) == memory; });
    };
    bool leaves = llvm::any_of(value.readers, [&](int reader) { return memoryOf(reader, placed) != own; });
    seconds += own && leaves ? download(value, own) : 0;
    for (int memory = 1; memory < memoryCount(); ++memory) {
      seconds += memory != own && isRead(memory) ? upload(value, memory) : 0;
    }
  }
  for (const Shared &copy : sharedCopies) {
    auto isThere = [&](int node) { return memoryOf(node, placed) == copy.memory; };
    bool any = llvm::any_of(copy.members, [&](size_t member) {
      const Tensor &value = values[member];
      return value.edge == Tensor::Result ? isThere(value.maker) : llvm::any_of(value.readers, isThere);
    });
    seconds += any ? copy.latency : 0;
  }
  return seconds;
}

/// Whether a value exists in registers only: its one reader joins the kernel that makes it.
bool Costs::isInLeader(const Tensor &value, ArrayRef<int> placed) const {
  return isNode(value.maker) && value.readers.size() == 1 && isNode(value.readers.front()) &&
         leader(value.readers.front()) == value.maker && placed[value.readers.front()] == placed[value.maker];
}

std::vector<double> Costs::bytesIn(int memory, ArrayRef<int> placed) const {
  auto aligned = [](double bytes) {
    return static_cast<double>(llvm::alignTo(static_cast<uint64_t>(bytes), plan::bufferAlignment));
  };
  auto isRead = [&](const Tensor &value) {
    return llvm::any_of(value.readers, [&](int reader) { return memoryOf(reader, placed) == memory; });
  };
  double constant = 0;
  for (const Tensor &value : weights) {
    constant += isRead(value) ? aligned(value.bytes) : 0;
  }
  // The loop below enters by how much the sum changes at each place; the last loop adds the changes up.
  std::vector<double> bytes(places + 1, 0);
  for (const Tensor &value : values) {
    bool here = memoryOf(value.maker, placed) == memory;
    if (here && !isNode(value.maker)) {
      continue; // the caller owns this buffer (--bind)
    }
    if ((here || isRead(value)) && !isInLeader(value, placed)) {
      bytes[value.begin] += aligned(value.bytes);
      bytes[value.end + 1] -= aligned(value.bytes);
    }
  }
  double live = 0;
  for (double &here : bytes) {
    live += here;
    here = constant + live;
  }
  return bytes;
}

} // namespace ingot::partition
