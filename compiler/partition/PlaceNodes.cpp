// Nodes are placed block by block. For each, first the policy decides, and then the devices are asked in their order
// whether they take it. If there are several memories all devices are asked, because a node may move later.
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

/// Integers that no transfer is worth, and what they may be computed of.
constexpr int64_t fewElements = 64;

constexpr const char *sizesOfHost = "sizes are computed by the host";

/// Empty when some kernel family can build the op for a machine.
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

/// Whether an op makes a few integers of a few values.
bool makesFewIntegers(Operation &op) {
  auto isFew = [](Value v) {
    RankedTensorType type = onnx::ranked(v);
    return type && type.hasStaticShape() && type.getNumElements() <= fewElements;
  };
  auto isInteger = [](Value v) { return !isa<FloatType>(getElementTypeOrSelf(v.getType())); };
  return op.getNumResults() && llvm::all_of(op.getResults(), isFew) && llvm::all_of(op.getResults(), isInteger) &&
         llvm::none_of(op.getOperands(), [&](Value v) { return !isFew(v) && !isInteger(v); });
}

/// Whether nothing is too little for a machine: one of many threads whose launches and copies take no time is there to
/// test kernels.
bool takesLittle(const target::MachineModel &machine) {
  return machine.itemsAreThreads && machine.upload.latency == 0 && target::ratesOf(machine).launch == 0;
}

/// Whether an op makes numbers of sizes, reads a size, or is arithmetic on a few numbers behind which a size is read (a
/// device that wants the numbers as well gets a copy). It is the host's where the numbers are the model's inputs, which
/// the caller has in the host's memory: such sizes are known before a device gets anything to do.
class SizeArithmetic {
public:
  bool contains(Operation *op) {
    return isa<onnx::SizesOp>(op) || (isFewNumbers(*op) && isReadAsSize(op) && isOfInputs(op));
  }

private:
  llvm::DenseMap<Operation *, bool> readAsSize, ofInputs;

  static bool readsSize(Operation *op) { return isa<onnx::ReadSizeOp, onnx::RangeSizeOp>(op); }

  static bool areFew(Value v) {
    RankedTensorType type = onnx::ranked(v);
    return type && type.getElementType().isIntOrFloat() && type.hasStaticShape() &&
           type.getNumElements() <= fewElements;
  }
  static bool isFewNumbers(Operation &op) {
    return op.getNumResults() && op.getNumRegions() == 0 && llvm::all_of(op.getResults(), areFew);
  }

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

/// Whether an op speaks of sizes that are known when a kernel is launched: that the caller chooses, and that the run
/// has found before. Which iteration it is, and which inputs there are, only the host knows.
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

/// Why an op stays in the host's memory; empty when it need not. The run itself reads sizes that are found and
/// conditions; what shapes are computed of is less than a transfer.
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

bool matches(const Override &line, StringRef node) {
  if (node == line.pattern) {
    return true;
  }
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(line.pattern);
  if (!glob) { // a name with a bracket
    llvm::consumeError(glob.takeError());
    return false;
  }
  return glob->match(node);
}

/// Why indices that are narrower than addresses do not reach all that the op reads and writes; empty where they do.
std::string beyondIndices(Operation &op, const target::MachineModel &machine) {
  target::Platform platform = target::platformOf(machine);
  std::string why;
  if (platform.indexBits >= platform.addressBits) {
    return why;
  }
  int64_t most = plan::mostIndex(platform.indexBits) / machine.blockLanes(); // in blocks of channels there is padding
  for (Value v : llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults()))) {
    RankedTensorType type = onnx::ranked(v);
    onnx::Size bytes = type ? product(onnx::sizesOf(type)) * onnx::elementBytes(type.getElementType()) : onnx::Size(0);
    if (!bytes.isNumber() || bytes.number() > most) {
      why = "its indices of " + std::to_string(platform.indexBits) + " bits are too few for " + bytes.text() + " bytes";
    }
  }
  return why;
}

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

/// A demand applies to an op by its name or by that of the node that it comes from. Of what such a node became, what
/// the host keeps anyway is not meant.
bool appliesTo(const Demand &demand, Operation &op, ArrayRef<Device> devices) {
  if (llvm::is_contained(demand.ops, op.getName().stripDialect())) {
    return true;
  }
  bool applies = false;
  onnx::eachNode(op.getLoc(), [&](StringRef, StringRef type) { applies |= llvm::is_contained(demand.ops, type); });
  return applies && keptByHost(op, devices[demand.device]).empty();
}

/// Whether a line applies to one of the nodes that an op comes from.
bool appliesTo(const Override &line, Operation &op) {
  bool applies = false;
  onnx::eachNode(op.getLoc(), [&](StringRef node, StringRef) { applies |= matches(line, node); });
  return applies;
}

/// The device that the policy names for an op; null where it names none.
const Device *wantedDevice(Operation &op, ArrayRef<Device> devices, const Policy &policy) {
  for (const Override &line : llvm::reverse(policy.overrides)) {
    if (appliesTo(line, op)) {
      return &devices[line.device];
    }
  }
  auto demand = llvm::find_if(policy.demands, [&](const Demand &d) { return appliesTo(d, op, devices); });
  return demand == policy.demands.end() ? nullptr : &devices[demand->device];
}

/// Which devices may compute each node of the function, by the policy and by what the devices refuse.
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
  ArrayRef<Device> devices;
  ArrayRef<Device> others; ///< those that take only what the host has to do anyway: without fallback, all but the first
  const Policy &policy;
  Pieces &pieces;
  SizeArithmetic arithmetic;
  llvm::BitVector matched; ///< overrides
  bool askAll, ok = true;

  InFlightDiagnostic error(Location loc) {
    ok = false;
    return emitError(loc);
  }

  Location locOf(const Override &line) { return FileLineColLoc::get(function.getContext(), line.file, line.line, 0); }

  /// Whether an op is the host's arithmetic of sizes, and not for a device.
  bool isArithmeticFor(Operation &op, const Device &device) {
    return device.machine.hasOwnMemory && arithmetic.contains(&op);
  }

  std::string refusal(Operation &op, int device) {
    const Device &candidate = devices[device];
    if (isArithmeticFor(op, candidate)) {
      return sizesOfHost;
    }
    return candidate.target->pieces() ? pieces.refusal(&op, candidate) : refusedByKernels(op, candidate);
  }

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

  void collectTakers(Operation &op, PlacedNode &node) {
    for (int device = 0; device < static_cast<int>(devices.size()) && (askAll || node.takers.empty()); ++device) {
      std::string why = refusal(op, device);
      if (why.empty()) {
        node.takers.push_back(device);
        if (devices[device].target->pieces()) {
          break; // its piece is one with it
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

  /// The last line that applies to the op; marks all that do.
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

  /// Loops and branches run where the run does, and views nowhere.
  void checkOverride(Operation &op) {
    const Override *line = overrideOf(op);
    if (line && isa<onnx::IfOp, onnx::LoopOp>(op) && devices[line->device].machine.hasOwnMemory) {
      error(locOf(*line)) << devices[line->device].machine.spec << " refuses node '" << onnx::nodeOf(op.getLoc())
                          << "' (" << op.getName().stripDialect()
                          << "): the host runs loops and branches; name the nodes inside of it";
    }
  }

  /// Reports the lines that apply to no op: what they name was simplified away (a warning), or never was (an error).
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

/// The devices that may compute an op, the most wanted one first.
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
