// Chooses devices in two passes. The first one goes block by block and collects, for each op that a kernel computes,
// the devices that accept it:
//  - A line of --placement that names the op's node, or a demand of --require, leaves one device.
//  - Otherwise the devices are asked in the order of --target, up to the first one that accepts. If there are several
//    memories all are asked, because the second pass may move the op.
//  - Arithmetic of sizes stays on the host, whatever the user says (SizeArithmetic).
// The second pass runs if there are several memories. It moves ops to later devices by cost and by room in memory
// (PlaceByCost.h).
#include "compiler/partition/PlaceNodes.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Image.h"
#include "compiler/onnx/ops/Text.h"
#include "compiler/onnx/rewriting/Rewrite.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/partition/FormKernels.h"
#include "compiler/partition/Pieces.h"
#include "compiler/partition/PlaceByCost.h"
#include "compiler/partition/Roles.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/Plan.h"
#include "compiler/target/OpTime.h"
#include "compiler/target/Target.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace ingot::partition {
namespace {

/// The largest number of elements of a tensor of integers that the host computes, because a transfer takes longer.
constexpr int64_t fewElements = 64;

constexpr const char *sizesOfHost = "sizes are computed by the host";

/// Returns why no kernel family can build the op for a machine; empty when one can.
std::string buildable(Operation &op, const target::MachineModel &machine) {
  for (Value v : op.getResults()) {
    Type element = getElementTypeOrSelf(v.getType());
    if (isa<TensorType>(v.getType()) && !element.isIntOrFloat()) {
      return "values of this element type cannot be computed yet";
    }
  }
  if (isa<onnx::Elementwise>(op)) {
    return lower::hasElementwiseFamily(machine) ? "" : "its target has no kernels of elementwise operators";
  }
  const lower::KernelFamily *family = lower::familyFor(&op, machine);
  return family                 ? family->unsupported(&op, machine)
         : machine.hasOwnMemory ? "its target has no kernel for this operator"
                                : "no kernel computes this operator yet";
}

/// Whether an op makes at most fewElements integers (or booleans) and reads no floats but in small tensors, as
/// arithmetic of shapes does. An ArgMax of many floats is no such op: it belongs where the floats are.
bool makesFewIntegers(Operation &op) {
  auto isFew = [](Value v) {
    RankedTensorType type = onnx::ranked(v);
    return type && type.hasStaticShape() && type.getNumElements() <= fewElements;
  };
  auto isInteger = [](Value v) { return !isa<FloatType>(getElementTypeOrSelf(v.getType())); };
  return op.getNumResults() && llvm::all_of(op.getResults(), isFew) && llvm::all_of(op.getResults(), isInteger) &&
         llvm::none_of(op.getOperands(), [&](Value v) { return !isFew(v) && !isInteger(v); });
}

/// Whether a machine gets even the smallest ops. A model of a machine with many threads whose launches and copies cost
/// no time exists only to test kernels, so all that have one should run there.
bool takesLittle(const target::MachineModel &machine) {
  return machine.itemsAreThreads && machine.upload.latency == 0 && target::ratesOf(machine).launch == 0;
}

/// Recognizes arithmetic of sizes, which the host does before a device gets anything to do. It consists of each
/// onnx.Sizes, which makes a tensor of sizes, and of ops on few numbers that lead from the model's inputs and constants
/// to an op that reads a size:
///
///   input n -> Mul 2 -> ReadSize          Mul and ReadSize are the host's
///   NonZero  -> Mul 2 -> ReadSize         they are not by this rule: a device may compute what NonZero reads
///
/// A device that reads such a number, too, gets a copy.
class SizeArithmetic {
public:
  bool contains(Operation *op) {
    return isa<onnx::SizesOp>(op) || (isFewNumbers(*op) && isReadAsSize(op) && isOfInputs(op));
  }

private:
  llvm::DenseMap<Operation *, bool> readAsSize, ofInputs;

  static bool readsSize(Operation *op) { return isa<onnx::ReadSizeOp, onnx::RangeSizeOp>(op); }

  /// Whether a tensor has a fixed number of elements, at most fewElements.
  static bool areFew(Value v) {
    RankedTensorType type = onnx::ranked(v);
    return type && type.getElementType().isIntOrFloat() && type.hasStaticShape() &&
           type.getNumElements() <= fewElements;
  }
  static bool isFewNumbers(Operation &op) {
    return op.getNumResults() && op.getNumRegions() == 0 && llvm::all_of(op.getResults(), areFew);
  }

  /// Whether an op reads a size, or a path of ops on few numbers leads from it to one that does.
  bool isReadAsSize(Operation *op) {
    if (readsSize(op)) {
      return true;
    }
    if (auto known = readAsSize.find(op); known != readAsSize.end()) {
      return known->second;
    }
    bool any = llvm::any_of(op->getUsers(), [&](Operation *user) { return isFewNumbers(*user) && isReadAsSize(user); });
    return readAsSize[op] = any;
  }

  /// Whether an op depends on nothing but constants, sizes, and small inputs that the caller has in the host's memory.
  bool isOfInputs(Operation *op) {
    if (auto known = ofInputs.find(op); known != ofInputs.end()) {
      return known->second;
    }
    bool all = llvm::all_of(op->getOperands(), [&](Value v) {
      if (auto argument = dyn_cast<BlockArgument>(v)) {
        auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
        return function && areFew(v) && plan::deviceOf(function.getArgAttrDict(argument.getArgNumber())) == 0;
      }
      Operation *maker = v.getDefiningOp();
      return isa<onnx::ConstantOp, onnx::NoneOp, onnx::SizesOp>(maker) || (isFewNumbers(*maker) && isOfInputs(maker));
    });
    return ofInputs[op] = all;
  }
};

/// Whether the sizes in an op's types and attributes are those that a device's kernel can get: sizes that the caller
/// chooses, and data-dependent ones that the run has found before. The number of an iteration, and whether an optional
/// input is given, only the host knows.
bool hasKnownSizes(Operation &op) {
  bool known = true;
  auto look = [&](const onnx::Size &size) {
    size.eachSymbol([&](support::Symbol symbol) {
      known &= symbol.kind() == support::SymbolKind::Chosen || symbol.isDataDependent();
    });
  };
  onnx::walkSizes(&op, look);
  for (Value v : llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults()))) {
    RankedTensorType type = onnx::ranked(v);
    llvm::for_each(type ? onnx::sizesOf(type) : onnx::Sizes(), look);
  }
  return known;
}

/// Returns why the host has to compute an op, rather than a device with a memory of its own; empty when it need not.
/// The run, which is the host's code, reads data-dependent sizes and conditions. Integers from which shapes are
/// computed are so few that a transfer would take longer.
std::string keptByHost(Operation &op, const Device &device) {
  if (isa<onnx::SizesOp>(op)) {
    return sizesOfHost;
  }
  if (isa<onnx::TextOp, onnx::ImageSizeOp, onnx::DecodeImageOp>(op)) {
    return "the support library computes it";
  }
  for (Value v : llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults()))) {
    RankedTensorType type = onnx::ranked(v);
    if (type && onnx::isString(type.getElementType())) {
      return "strings are in the host's memory";
    }
    if (auto argument = dyn_cast<BlockArgument>(v); argument && onnx::optionalInput(argument)) {
      return "a run may leave its operand out";
    }
  }
  if (onnx::dataDependentSizeOf(&op)) {
    return "finds a size, which the host reads";
  }
  if (!hasKnownSizes(op)) {
    return "speaks of sizes that only the host knows";
  }
  return makesFewIntegers(op) && !takesLittle(device.machine) ? "few integers are computed by the host" : "";
}

/// Whether a line of --placement names a node, by its name or by a glob.
bool matches(const Override &line, StringRef node) {
  if (node == line.pattern) {
    return true;
  }
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(line.pattern);
  if (!glob) { // the pattern is the name of another node, with a bracket in it
    llvm::consumeError(glob.takeError());
    return false;
  }
  return glob->match(node);
}

/// Returns why the indices of a machine are too narrow to address all bytes of an op's operands and results; empty
/// where they are wide enough, or as wide as addresses.
std::string beyondIndices(Operation &op, const target::MachineModel &machine) {
  target::Platform platform = target::platformOf(machine);
  std::string why;
  if (platform.indexBits >= platform.addressBits) {
    return why;
  }
  // In blocks of channels one channel may be padded to a whole block.
  int64_t most = plan::mostIndex(platform.indexBits) / machine.blockLanes();
  for (Value v : llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults()))) {
    RankedTensorType type = onnx::ranked(v);
    onnx::Size bytes = type ? product(onnx::sizesOf(type)) * onnx::elementBytes(type.getElementType()) : onnx::Size(0);
    if (!bytes.isNumber() || bytes.number() > most) {
      why = "its indices of " + std::to_string(platform.indexBits) + " bits are too few for " + bytes.text() + " bytes";
    }
  }
  return why;
}

/// Returns why no kernel of the compiler computes an op on a device; empty when one does. The target has the last word.
std::string refusedByKernels(Operation &op, const Device &device) {
  std::string why = buildable(op, device.machine);
  why = why.empty() && device.machine.hasOwnMemory ? keptByHost(op, device) : why;
  why = why.empty() ? beyondIndices(op, device.machine) : why;
  int64_t most = device.machine.limits.argumentBytes;
  if (int64_t bytes = why.empty() && device.machine.hasOwnMemory ? argumentBytes(&op) : 0; bytes > most) {
    why = "its kernel has " + std::to_string(bytes) + " bytes of arguments, and a launch takes " + std::to_string(most);
  }
  return why.empty() ? device.target->refuses(&op, device.machine) : why;
}

/// Whether a demand is about an op: it names the op's operator or that of a node from which the op comes. Of the ops
/// that such a node became, the demand is not about those that the host has to compute anyway.
bool appliesTo(const Demand &demand, Operation &op, ArrayRef<Device> devices) {
  if (llvm::is_contained(demand.ops, op.getName().stripDialect())) {
    return true;
  }
  bool applies = false;
  onnx::eachNode(op.getLoc(), [&](StringRef, StringRef type) { applies |= llvm::is_contained(demand.ops, type); });
  return applies && keptByHost(op, devices[demand.device]).empty();
}

/// Whether a line of --placement names one of the nodes from which an op comes.
bool appliesTo(const Override &line, Operation &op) {
  bool applies = false;
  onnx::eachNode(op.getLoc(), [&](StringRef node, StringRef) { applies |= matches(line, node); });
  return applies;
}

/// Returns the device that the policy names for an op, and null where it names none. Lines of --placement go before
/// demands, and of two lines the later one counts.
const Device *wantedDevice(Operation &op, ArrayRef<Device> devices, const Policy &policy) {
  for (const Override &line : llvm::reverse(policy.overrides)) {
    if (appliesTo(line, op)) {
      return &devices[line.device];
    }
  }
  auto demand = llvm::find_if(policy.demands, [&](const Demand &d) { return appliesTo(d, op, devices); });
  return demand == policy.demands.end() ? nullptr : &devices[demand->device];
}

/// Collects for each op that a kernel computes the devices that may compute it, by the policy and by what the devices
/// refuse, and places it on the first of them. Errors are reported for all ops before collect() fails.
class Candidates {
public:
  Candidates(func::FuncOp function, ArrayRef<Device> devices, const Policy &policy, Pieces &pieces)
      : function(function), devices(devices.take_front(policy.fallback ? devices.size() : 1)),
        others(devices.drop_front(this->devices.size())), policy(policy), pieces(pieces),
        matched(policy.overrides.size()) {
    askAll = llvm::any_of(this->devices, [](const Device &d) { return d.machine.hasOwnMemory; });
  }

  LogicalResult collect() {
    for (const Demand &demand : policy.demands) {
      checkNames(demand);
    }
    auto wanted = [&](Operation &op) { return wantedDevice(op, devices, policy); };
    std::vector<Block *> blocks = blocksOf(function);
    if (failed(pieces.take(blocks, {refusedByKernels, wanted}))) {
      return failure();
    }
    for (Block *block : blocks) {
      for (Operation &op : *block) {
        if (auto fail = dyn_cast<onnx::FailOp>(op)) {
          op.emitWarning("a run that takes this branch ends with an error: ") << fail.getWhy();
        } else if (isComputed(op)) {
          place(op);
        } else {
          checkOverride(op);
        }
      }
    }
    checkMatched();
    return success(ok);
  }

  std::vector<PlacedNode> nodes;

private:
  func::FuncOp function;
  ArrayRef<Device> devices; ///< those that any op may run on: without fallback, the first one
  ArrayRef<Device> others;  ///< the remaining ones, which get only arithmetic of sizes
  const Policy &policy;
  Pieces &pieces;
  SizeArithmetic arithmetic;
  llvm::BitVector matched; ///< for each line of --placement, whether it names a node of the function
  bool askAll;             ///< whether the devices behind the first one that accepts an op are asked, too
  bool ok = true;

  InFlightDiagnostic error(Location loc) {
    ok = false;
    return emitError(loc);
  }

  Location locOf(const Override &line) { return FileLineColLoc::get(function.getContext(), line.file, line.line, 0); }

  /// Whether an op is the host's arithmetic of sizes, and not for a device.
  bool isArithmeticFor(Operation &op, const Device &device) {
    return device.machine.hasOwnMemory && arithmetic.contains(&op);
  }

  /// Returns why a device does not take an op; empty when it does.
  std::string refusal(Operation &op, int device) {
    const Device &candidate = devices[device];
    if (isArithmeticFor(op, candidate)) {
      return sizesOfHost;
    }
    return candidate.target->pieces() ? pieces.refusal(&op, candidate) : refusedByKernels(op, candidate);
  }

  /// Finds the devices that may compute an op, and enters it into `nodes`.
  void place(Operation &op) {
    PlacedNode node{&op, {}};
    if (const Override *line = overrideOf(op); line && !isArithmeticFor(op, devices[line->device])) {
      if (std::string why = refusal(op, line->device); !why.empty()) {
        error(locOf(*line)) << devices[line->device].machine.spec << " refuses node '" << onnx::nodeOf(op.getLoc())
                            << "' (" << op.getName().stripDialect() << "): " << why;
      }
      node.takers = {line->device};
    } else {
      collectTakers(op, node);
    }
    for (const Demand &demand : policy.demands) {
      keepTo(demand, op, node);
    }
    if (node.takers.empty()) {
      op.emitError("unsupported by all targets: ") << node.whyNot;
      ok = false;
    } else {
      node.device = node.takers.front();
    }
    nodes.push_back(std::move(node));
  }

  /// Enters the devices that accept an op, and why those before the first one refuse it.
  void collectTakers(Operation &op, PlacedNode &node) {
    for (int device = 0; device < static_cast<int>(devices.size()) && (askAll || node.takers.empty()); ++device) {
      std::string why = refusal(op, device);
      if (why.empty()) {
        node.takers.push_back(device);
        if (devices[device].target->pieces()) {
          break; // the op is a part of a piece, which later devices cannot take over
        }
      } else if (node.takers.empty()) {
        node.whyNot += (node.whyNot.empty() ? "" : "; ") + devices[device].machine.spec + ": " + why;
      }
    }
    if (node.takers.empty() && isArithmeticFor(op, devices.front())) {
      const auto *host = llvm::find_if(others, [&](const Device &other) {
        return !other.machine.hasOwnMemory && refusedByKernels(op, other).empty();
      });
      if (host != others.end()) {
        node.takers = {static_cast<int>(devices.size() + (host - others.begin()))};
      }
    }
  }

  /// Returns the last line of --placement that names a node of the op, or null, and marks all that do in `matched`.
  const Override *overrideOf(Operation &op) {
    const Override *last = nullptr;
    for (auto [i, line] : llvm::enumerate(policy.overrides)) {
      if (appliesTo(line, op)) {
        matched.set(i);
        last = &line;
      }
    }
    return last;
  }

  /// Reports a line of --placement that puts a loop or a branch on a device, because the run's own code executes these.
  /// Lines for views and constants, which run nowhere, are accepted.
  void checkOverride(Operation &op) {
    const Override *line = overrideOf(op);
    if (line && isa<onnx::IfOp, onnx::LoopOp>(op) && devices[line->device].machine.hasOwnMemory) {
      error(locOf(*line)) << devices[line->device].machine.spec << " refuses node '" << onnx::nodeOf(op.getLoc())
                          << "' (" << op.getName().stripDialect()
                          << "): the host runs loops and branches; name the nodes inside of it";
    }
  }

  /// Reports the lines of --placement that name no node of the function: a warning if the model had such a node before
  /// simplification, else an error.
  void checkMatched() {
    for (auto [i, line] : llvm::enumerate(policy.overrides)) {
      if (matched[i]) {
        continue;
      }
      if (llvm::any_of(policy.imported, [&, &line = line](const std::string &name) { return matches(line, name); })) {
        emitWarning(locOf(line)) << "nothing is left to compute of node '" << line.pattern << "'";
      } else {
        error(locOf(line)) << "no node is called '" << line.pattern << "'";
      }
    }
  }

  /// Reports operators of a demand that do not exist.
  void checkNames(const Demand &demand) {
    for (const std::string &op : demand.ops) {
      auto isIn = [&](StringRef dialect) {
        return RegisteredOperationName::lookup((dialect + "." + op).str(), function.getContext()).has_value();
      };
      if (!isIn("onnx") && !isIn("formats")) {
        error(function.getLoc()) << demand.text << ": no operator is called '" << op << "'";
      }
    }
  }

  /// Leaves an op only the device of a demand that is about it, or reports why it cannot run there.
  void keepTo(const Demand &demand, Operation &op, PlacedNode &node) {
    if (!appliesTo(demand, op, devices) || isArithmeticFor(op, devices[demand.device])) {
      return;
    }
    std::string why = refusal(op, demand.device);
    if (why.empty() && !llvm::is_contained(node.takers, demand.device)) {
      why = "it has to run on " + devices[node.takers.front()].machine.spec;
    }
    if (!why.empty()) {
      InFlightDiagnostic d = op.emitError(demand.text);
      d << ": it cannot run there: " << why;
      ok = false;
      return;
    }
    node.takers = {demand.device};
  }
};

} // namespace

const Device *deviceOf(Operation *op, ArrayRef<Device> devices) {
  auto number = op ? op->getAttrOfType<IntegerAttr>(onnx::placeName) : IntegerAttr();
  return number ? &devices[number.getInt()] : nullptr;
}

/// Returns the devices to ask for an op, in this order: the one that it was placed on, the one that the policy names,
/// those of its operands and readers, and all that the policy allows. Some are null, and some occur several times.
static SmallVector<const Device *> candidatesFor(Operation &op, ArrayRef<Device> devices, const Policy &policy) {
  SmallVector<const Device *> candidates = {deviceOf(&op, devices), wantedDevice(op, devices, policy)};
  for (Value v : op.getOperands()) {
    candidates.push_back(deviceOf(v.getDefiningOp(), devices));
  }
  for (Operation *reader : op.getUsers()) {
    candidates.push_back(deviceOf(reader, devices));
  }
  for (const Device &device : devices.take_front(policy.fallback ? devices.size() : 1)) {
    candidates.push_back(&device);
  }
  return candidates;
}

FailureOr<DeviceMap> takeDevices(func::FuncOp function, ArrayRef<Device> devices, const Policy &policy) {
  DeviceMap devicesOfOps;
  bool ok = true;
  auto place = [&](Operation &op) {
    std::string whyNot;
    for (const Device *device : candidatesFor(op, devices, policy)) {
      if (device && !device->target->pieces()) {
        whyNot = refusedByKernels(op, *device);
        if (whyNot.empty()) {
          devicesOfOps[&op] = device;
          return;
        }
      }
    }
    op.emitError("unsupported by all targets: ") << whyNot;
    ok = false;
  };
  for (Block *block : blocksOf(function)) {
    for (Operation &op : *block) {
      if (isComputed(op)) {
        place(op);
      }
    }
  }
  function.walk([](Operation *op) { op->removeAttr(onnx::placeName); });
  return ok ? FailureOr<DeviceMap>(std::move(devicesOfOps)) : FailureOr<DeviceMap>(failure());
}

const target::MachineModel &hostOf(ArrayRef<Device> devices) {
  const auto *host = llvm::find_if(devices, [](const Device &d) { return !d.machine.hasOwnMemory; });
  return (host == devices.end() ? devices.front() : *host).machine;
}

LogicalResult placeNodes(func::FuncOp function, ArrayRef<Device> devices, const Policy &policy, Pieces &pieces,
                         std::vector<Placement> &report) {
  Candidates candidates(function, devices, policy, pieces);
  LogicalResult ok = candidates.collect();
  std::vector<PlacedNode> &nodes = candidates.nodes;
  bool weighs = llvm::any_of(devices, [](const Device &device) { return device.machine.hasOwnMemory; });
  std::vector<double> seconds(nodes.size(), -1);
  std::vector<int> numbers(nodes.size(), -1);
  if (succeeded(ok) && weighs) {
    Costs costs(function, devices, nodes, policy);
    ok = placeByCost(function, devices, nodes, costs, policy);
    numbers = numberPieces(nodes, costs);
    auto placed = llvm::to_vector(llvm::map_range(nodes, [](const PlacedNode &node) { return node.device; }));
    for (size_t i = 0; i < nodes.size(); ++i) {
      seconds[i] = costs.ofNode(static_cast<int>(i), placed);
    }
  }
  for (auto [node, time, piece] : llvm::zip_equal(nodes, seconds, numbers)) {
    const Device *device = node.device < 0 ? nullptr : &devices[node.device];
    if (device && !device->target->pieces()) {
      node.op->setAttr(onnx::placeName, Builder(node.op->getContext()).getI64IntegerAttr(node.device));
    }
    report.push_back({onnx::nodeOf(node.op->getLoc()), node.op->getName().stripDialect().str(),
                      device ? device->machine.spec : "", node.whyNot, time, piece});
  }
  return ok;
}

} // namespace ingot::partition
