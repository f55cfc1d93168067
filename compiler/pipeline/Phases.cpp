// Defines the table of phases, and each phase in a few lines.
#include "compiler/emit/Emit.h"
#include "compiler/entry/BuildEntry.h"
#include "compiler/fusion/Fuse.h"
#include "compiler/graph/Declared.h"
#include "compiler/graph/Expand.h"
#include "compiler/graph/LastRow.h"
#include "compiler/graph/PackInterface.h"
#include "compiler/graph/Resolve.h"
#include "compiler/graph/ShareCaches.h"
#include "compiler/graph/Simplify.h"
#include "compiler/integer/Quantize.h"
#include "compiler/layout/AssignLayouts.h"
#include "compiler/layout/FormChains.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/memory/PlanMemory.h"
#include "compiler/onnx/Control.h"
#include "compiler/partition/Bindings.h"
#include "compiler/partition/FormKernels.h"
#include "compiler/partition/Pieces.h"
#include "compiler/partition/Transfers.h"
#include "compiler/pipeline/PatchSearch.h"
#include "compiler/pipeline/QuickCode.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Plan.h"
#include "compiler/support/SymbolNames.h"
#include "compiler/target/Reproducible.h"

using namespace mlir;

namespace ingot::pipeline {

static void noteNames(func::FuncOp function, std::vector<std::string> &names) {
  function.walk([&](Operation *op) {
    onnx::eachNode(op->getLoc(), [&](StringRef node, StringRef) { names.push_back(node.str()); });
  });
}

/// Fails with a message when --remarks names a node that the model does not have.
static LogicalResult checkRemarks(const Options &options, func::FuncOp function) {
  std::vector<std::string> names = {"*"};
  if (!options.remarks.empty()) {
    noteNames(function, names);
  }
  for (const std::string &node : options.remarks) {
    if (!llvm::is_contained(names, node)) {
      return emitError(function.getLoc()) << "--remarks=" << node << ": no node is called '" << node << "'";
    }
  }
  return success();
}

/// Runs the steps of a phase one after the other.
template <const auto &steps> static LogicalResult runSteps(State &s, Variant &variant, Result &report) {
  return success(llvm::all_of(steps, [&](const Step &step) { return succeeded(step.run(s, variant, report)); }));
}

static LogicalResult import(State &s) {
  s.problems = support::Problems(s.options.modelPath);
  importer::ImportOptions options{s.name, s.options.dims, s.options.shapes, s.options.sequences};
  for (const auto &[name, bounds] : s.options.bounds) {
    options.bounds[name] = {bounds.least, bounds.most};
  }
  options.independentDims.insert(s.options.independentDims.begin(), s.options.independentDims.end());
  auto model = importer::importModel(s.context, s.options.modelPath, options, s.problems);
  bool isLast = s.options.stopAfter == "import"; // else the next phase looks for more problems, and tells of all
  if (!model || (isLast && !s.problems.empty())) {
    return failure();
  }
  s.warnings = std::move(model->warnings);
  s.file = std::move(model->file);
  s.model().module = std::move(model->module);
  markReproducible(s.options, *s.model().module);
  s.model().devices = s.devices;
  return success();
}

static LogicalResult resolve(State &s, Variant &variant, Result &) {
  return graph::resolve(variant.function(), s.problems);
}

static constexpr Step kResolveSteps[] = {
    {"graph-resolve", "nodes as their file has them become ops in their newest definition, with types", resolve}};

static LogicalResult resolveModel(State &s) {
  if (failed(runSteps<kResolveSteps>(s, s.model(), s.result))) {
    return failure();
  }
  if (s.options.reads) {
    s.options.reads(s.file->externalFiles());
  }
  if (s.options.account) {
    s.result.imported = describeNodes(s.model().function());
  }
  if (!s.policy.overrides.empty()) {
    noteNames(s.model().function(), s.policy.imported);
  }
  return checkRemarks(s.options, s.model().function());
}

static LogicalResult expand(State &, Variant &variant, Result &) { return graph::expand(variant.function()); }

static constexpr Step kExpandSteps[] = {
    {"graph-expand", "searches for tokens, derivatives and the like become the ops that they are written as", expand}};

/// Expands the model before it is copied for each combination of sizes.
static LogicalResult expandModel(State &s) {
  if (failed(runSteps<kExpandSteps>(s, s.model(), s.result))) {
    return failure();
  }
  if (!s.options.importsOnly) {
    joinEqualAxes(s);
  }
  return makeVariants(s);
}

static LogicalResult simplify(State &, Variant &variant, Result &) { return graph::simplify(variant.function()); }

static LogicalResult shareCaches(State &s, Variant &variant, Result &) {
  return success(s.options.caches.empty() ||
                 (succeeded(graph::shareCaches(variant.function(), s.options.caches, s.options.cacheRoom)) &&
                  succeeded(graph::simplify(variant.function()))));
}

static LogicalResult keepLastRows(State &s, Variant &variant, Result &) {
  return success(s.options.lastRows.empty() ||
                 (succeeded(graph::keepLastRows(variant.function(), s.options.lastRows)) &&
                  succeeded(graph::simplify(variant.function()))));
}

static LogicalResult findSizes(State &s, Variant &variant, Result &) {
  return graph::findSizes(variant.function(), s.options.allocate);
}

static LogicalResult eliminateCommon(State &, Variant &variant, Result &) {
  graph::eliminateCommon(variant.function());
  return success();
}

static LogicalResult requireSizes(State &s, Variant &variant, Result &) {
  // The general variant tells of all.
  &variant == &s.model() ? graph::compareDeclared(variant.function()) : graph::forgetDeclared(variant.function());
  return graph::requireSizes(variant.function());
}

static constexpr Step kSimplifySteps[] = {
    {"graph-simplify", "shapes, constants and plain forms", simplify},
    {"graph-share-caches", "outputs continue inputs in the same memory (--cache)", shareCaches},
    {"graph-keep-last-rows", "outputs become their last rows (--last-row)", keepLastRows},
    {"graph-run-in-patches", "the first layers compute one patch of rows after the other (--patches)", runInPatches},
    {"graph-find-sizes",
     "sizes that are left become data-dependent ones, without allocate only those that something bounds", findSizes},
    {"graph-eliminate-common", "common subexpressions, then unused ops", eliminateCommon},
    {"graph-require-sizes", "report values some axis of which depends on data", requireSizes}};

static LogicalResult simplifyEach(State &s) { return simplifyVariants(s, runSteps<kSimplifySteps>); }

/// Bounds that leave no size are a mistake of who gave them.
static LogicalResult refuseEmptyBounds(func::FuncOp function, const plan::ModelInfo &info) {
  for (const plan::SymbolInfo &symbol : info.symbols) {
    if (symbol.isImpossible()) {
      return emitError(function.getLoc())
             << "no run can choose a size for '" << support::symbolName(symbol.name) << "': it is at least "
             << symbol.least << " and at most " << symbol.most << ", bounded by " << symbol.boundedBy;
    }
  }
  return success();
}

static LogicalResult useIntegers(State &s, Variant &variant, Result &) {
  return integer::useIntegers(variant.function(), s.options.isStrict());
}

static constexpr Step kIntegerSteps[] = {
    {"integer-use-integers", "products and convolutions of quantized tensors become sums of integers", useIntegers},
    {"graph-simplify", "shapes, constants and plain forms", simplify},
    {"graph-eliminate-common", "common subexpressions, then unused ops", eliminateCommon}};

static LogicalResult computeInIntegers(State &s, Variant &variant, Result &report) {
  return integer::isQuantized(variant.function()) ? runSteps<kIntegerSteps>(s, variant, report) : success();
}
static LogicalResult computeEachInIntegers(State &s) {
  return onEachVariant(s, computeInIntegers, /*description=*/false);
}

static LogicalResult packInterface(State &, Variant &variant, Result &) {
  return graph::packInterface(variant.function());
}

static LogicalResult fuse(State &s, Variant &variant, Result &) {
  return fusion::fuse(variant.function(), s.options.isStrict());
}

static LogicalResult finishGraph(State &s, Variant &variant, Result &report) {
  func::FuncOp function = variant.function();
  if (failed(graph::simplify(function))) {
    return failure();
  }
  graph::eliminateCommon(function);
  plan::ModelInfo &info = variant.info;
  describe(function, info);
  if (failed(refuseEmptyBounds(function, info)) || failed(describeVariants(s, variant))) {
    return failure();
  }
  report.openSizes = info.symbols;
  report.requirements = info.requirements;
  auto nameOf = [](const plan::TensorInfo &tensor) { return tensor.name; };
  llvm::transform(info.inputs, std::back_inserter(report.inputs), nameOf);
  llvm::transform(info.outputs, std::back_inserter(report.outputs), nameOf);
  info.macs = countMacs(function);
  report.macs = info.macs.isNumber() ? info.macs.number() : -1;
  report.macsText = info.macs.text();
  return success();
}

static constexpr Step kFuseSteps[] = {
    {"graph-pack-interface", "inputs and outputs of packed elements are bytes", packInterface},
    {"fusion-fuse", "canonical forms of what exporters write as many ops", fuse},
    {"fusion-finish", "what fusions wrote is simplified; the model's sizes and checks are described", finishGraph}};

/// What the partition takes for open sizes: the most that the user has room for, or some size that the model allows.
static std::function<int64_t(support::Symbol)> likelySizes(const State &s, const Variant &variant) {
  std::map<std::string, int64_t> sizes;
  for (const plan::SymbolInfo &symbol : variant.info.symbols) {
    int64_t most = symbol.most < 0 ? partition::Policy::usualSize : symbol.most;
    sizes[symbol.name] = std::max(symbol.least, std::min(partition::Policy::usualSize, most));
  }
  for (const auto &[symbol, bounds] : s.bounds) {
    if (bounds.most) {
      sizes[symbol] = *bounds.most;
    }
  }
  return [sizes = std::move(sizes)](support::Symbol symbol) {
    auto known = sizes.find(symbol.str());
    return known == sizes.end() ? partition::Policy::usualSize : known->second;
  };
}

static LogicalResult place(State &s, Variant &variant, Result &report) {
  std::vector<partition::Placement> placements;
  partition::Policy policy = policyOf(s, variant);
  policy.sizeOf = likelySizes(s, variant);
  partition::nameDevices(variant.function(), variant.devices);
  if (failed(partition::bindToDevices(variant.function(), s.options.bindings))) {
    return failure();
  }
  partition::Pieces pieces(variant.function(), {variant.suffix, s.options.isStrict()}, variant.devices);
  LogicalResult ok = partition::placeNodes(variant.function(), variant.devices, policy, pieces, placements);
  for (partition::Placement &p : placements) {
    report.placement.push_back({p.node, p.op, "", p.device, p.whyNot, p.seconds, p.piece});
  }
  if (succeeded(ok)) {
    pieces.makeKernels();
  }
  return ok;
}

static LogicalResult formKernels(State &s, Variant &variant, Result &) {
  FailureOr<partition::DeviceMap> devicesOfOps =
      partition::takeDevices(variant.function(), variant.devices, policyOf(s, variant));
  if (failed(devicesOfOps)) {
    return failure();
  }
  partition::formKernels(variant.function(), *devicesOfOps);
  sortBlocks(variant.function());
  return success();
}

static auto machinesOf(const Variant &variant) {
  return [&variant](StringRef spec) -> const target::MachineModel & { return variant.machineOf(spec); };
}

static constexpr Step kPartitionSteps[] = {
    {"partition-place", "targets take nodes", place},
    {"integer-choose-forms", "products, convolutions and recurrences get the forms that pay on their device",
     chooseForms},
    {"partition-form-kernels", "nodes form kernels", formKernels}};

static LogicalResult assignLayouts(State &s, Variant &variant, Result &) {
  setPolicies(s.options, *variant.module);
  lower::noteWeights(*variant.module);
  layout::assignLayouts(variant.function(), machinesOf(variant), partition::hostOf(variant.devices).spec);
  return success();
}

static LogicalResult formChains(State &s, Variant &variant, Result &) {
  layout::formChains(variant.function(), machinesOf(variant), s.options.chains);
  sortBlocks(variant.function());
  return success();
}

static constexpr Step kLayoutSteps[] = {
    {"layout-assign", "packed layouts, halos, concatenations in place", assignLayouts},
    {"layout-form-chains", "kernels of which each reads what the one before it makes become one", formChains}};

static LogicalResult transfer(State &s, Variant &variant, Result &report) {
  func::FuncOp function = variant.function();
  partition::insertTransfers(function);
  partition::Memories memories = {&partition::hostOf(variant.devices), {}, likelySizes(s, variant)};
  for (StringRef spec : plan::devicesOf(function)) {
    memories.devices.push_back(&variant.machineOf(spec));
  }
  report.transfers = describeTransfers(function, partition::mergeTransfers(function, memories));
  return success();
}

static constexpr Step kTransferSteps[] = {
    {"partition-insert-transfers", "values cross to the memories of the devices that read them", transfer}};

static LogicalResult lower(State &s, Variant &variant, Result &) {
  lower::ScheduleRequest schedules{s.schedules ? &*s.schedules : nullptr, s.options.verbose, s.options.listsSchedules,
                                   s.options.remarks};
  LogicalResult ok = lower::lowerKernels(*variant.module, machinesOf(variant), s.weights, schedules);
  s.result.choices.merge(schedules.choices);
  lower::forgetWeights(*variant.module);
  return ok;
}

static constexpr Step kLowerSteps[] = {{"lower-kernels", "kernels become functions of loops and vectors", lower}};

/// The symbols with the bounds that the user gave: those that follow from the model (a table of positions has 512 rows)
/// are no wish to have room for them in every run.
static std::vector<plan::SymbolInfo> boundedSymbols(const State &s) {
  std::vector<plan::SymbolInfo> symbols;
  for (const auto &[name, bounds] : s.bounds) {
    plan::SymbolInfo symbol;
    symbol.name = name;
    symbol.most = bounds.most.value_or(symbol.most), symbol.least = bounds.least;
    symbols.push_back(symbol);
  }
  return symbols;
}

static LogicalResult memory(State &s, Variant &variant, Result &report) {
  report.launches = describeLaunches(variant.function(), s.options.profile);
  FailureOr<memory::MemoryPlan> plan = memory::planMemory(variant.function(), boundedSymbols(s), s.options.allocate,
                                                          variant.info.workspaceAlign, s.options.memories);
  if (failed(plan)) {
    s.userFault = true; // what does not fit, or has no bound, is the model
    return failure();
  }
  describeMemory(*plan, variant, report);
  return success();
}

static constexpr Step kMemorySteps[] = {{"memory-plan", "tensors become buffers, each with its place", memory}};

static void buildEntry(State &s, Variant &variant, Result &report) {
  plan::ModelInfo &info = variant.info;
  func::FuncOp function = variant.function();
  auto slots = function.getOps<plan::SlotOp>();
  bool open = llvm::any_of(slots, [](plan::SlotOp slot) { return !slot.getAt(); });
  if (open) { // what the memory phase found is for some size of each symbol
    report.arenaBytes = report.arenaLowerBound = info.arenaBytes = -1;
  }
  info.workspaceBytes = open ? -1 : workspaceFor(info);
  info.weightsPlace = s.options.weights;
  info.weightBytes = report.weightBytes = s.weights.bytes();
  describeReads(s, variant, report);
  for (auto [i, device] : llvm::enumerate(info.devices)) {
    std::tie(device.weightsAt, device.weightBytes) = s.weights.part(i + 1);
    device.workspaceBytes = open && device.workspaceBytes ? -1 : device.workspaceBytes;
  }
  report.firstLaunch = info.launches.size();
  for (const GraphNode &launch : report.launches) {
    info.launches.push_back(launch.launch);
    s.result.launchKeys.push_back(launch.key);
  }
  info.kernels = report.kernels = report.launches.size();
  entry::buildEntry(function, info.workspaceBytes, slackOf(info), info.weightBytes, report.firstLaunch, info,
                    variant.suffix);
}

static constexpr Step kEntrySteps[] = {
    {"entry-build", "the memory form becomes calls with addresses", [](State &s, Variant &variant, Result &report) {
       buildEntry(s, variant, report);
       return success();
     }}};

static void noteBindings(const Options &options, plan::ModelInfo &info) {
  for (const auto &[name, spec] : options.bindings) {
    auto isDevice = [&, &spec = spec](const plan::DeviceInfo &device) { return device.spec == spec; };
    int64_t number = llvm::find_if(info.devices, isDevice) - info.devices.begin() + 1;
    for (std::vector<plan::TensorInfo> *tensors : {&info.inputs, &info.outputs}) {
      for (plan::TensorInfo &tensor : *tensors) {
        tensor.device = tensor.name == name ? number : tensor.device;
      }
    }
  }
}

/// Whether all that a run needs has addresses on the machine.
static LogicalResult checkAddresses(State &s) {
  const plan::ModelInfo &info = s.model().info;
  const target::MachineModel &host = partition::hostOf(s.devices);
  int64_t most = plan::mostIndex(target::platformOf(host).addressBits);
  auto check = [&](const Twine &what, int64_t bytes) -> LogicalResult {
    if (bytes <= most) {
      return success();
    }
    s.userFault = true;
    return s.model().module->emitError(what)
           << " has " << bytes << " bytes, more than addresses of '" << host.spec << "' reach";
  };
  LogicalResult all = success(succeeded(check("the workspace", info.workspaceBytes)) &&
                              succeeded(check("the weights section", info.weightBytes)));
  for (const auto *tensors : {&info.inputs, &info.outputs}) {
    for (const plan::TensorInfo &tensor : *tensors) {
      int64_t bytes = tensor.bytes.isNumber() ? tensor.bytes.number() : 0;
      all = succeeded(all) ? check("tensor '" + tensor.name + "'", bytes) : all;
    }
  }
  return all;
}

static LogicalResult entry(State &s) {
  joinVariants(s, buildEntry);
  plan::ModelInfo &info = s.model().info;
  info.weightsPlace = s.options.weights;
  info.weightBytes = s.weights.bytes();
  info.streamedBytes = s.weights.streamedBytes();
  if (failed(checkAddresses(s))) {
    return failure();
  }
  s.result.devices = info.devices;
  noteBindings(s.options, info);
  for (auto [number, level] : llvm::enumerate(info.levels)) {
    level.weightBytes = s.weights.bytesOf(number, /*only=*/false);
    level.ownWeightBytes = s.weights.bytesOf(number, /*only=*/true);
  }
  s.result.levels = info.levels;
  return success();
}

template <const auto &steps, bool description = false> static LogicalResult each(State &s) {
  return onEachVariant(s, runSteps<steps>, description);
}

static LogicalResult planEach(State &s) {
  bool streams = s.options.weights == plan::WeightsPlace::Stream;
  return success((!streams || succeeded(streamWeights(s))) && succeeded(each<kMemorySteps>(s)));
}

/// A model that has everything in the host's memory knows of no other one. Returns whether it has not.
static bool forgetUnusedDevices(State &s) {
  bool used = !s.options.bindings.empty();
  for (Variant &variant : s.variants) {
    variant.function().walk([&](plan::KernelOp kernel) { used |= plan::deviceOf(kernel) != 0; });
  }
  for (Variant &variant : s.variants) {
    if (!used) {
      variant.function()->removeAttr(plan::devicesName);
    }
  }
  return used;
}

/// What is left to do for one of several levels, when all have the same forms.
static LogicalResult partitionLevel(State &s, Variant &variant, Result &report) {
  return success(succeeded(place(s, variant, report)) && succeeded(formKernels(s, variant, report)));
}

static LogicalResult partitionEach(State &s) {
  bool areLevels = !s.options.levels.empty();
  if (areLevels && failed(onEachVariant(s, chooseForms, /*description=*/false))) {
    return failure();
  }
  makeLevels(s);
  std::vector<Variant> onHost = s.options.hostFallback ? hostVariants(s) : std::vector<Variant>();
  LogicalResult ok = onEachVariant(s, areLevels ? partitionLevel : runSteps<kPartitionSteps>, /*description=*/false);
  if (forgetUnusedDevices(s)) {
    for (Variant &variant : onHost) {
      s.variants.push_back(std::move(variant));
      ok = success(succeeded(ok) &&
                   succeeded(runSteps<kPartitionSteps>(s, s.variants.back(), s.variants.back().result)));
    }
  }
  return ok;
}

static LogicalResult emit(State &s) {
  LogicalResult isKnown = success(succeeded(checkWaitStates(s)) && succeeded(checkSymbols(s)));
  if (failed(isKnown) || (s.options.outDir.empty() && !(s.options.measures && countsCycles(s)))) {
    return isKnown;
  }
  emit::Options options;
  options.dir = s.options.outDir;
  options.kinds = s.options.emit;
  options.depfile = s.options.depfile;
  options.arithmeticVersion = s.options.isReproducible() ? target::arithmeticVersion : 0;
  options.flashWaitStates = s.options.flashWaitStates;
  options.patches = s.patches.areMade ? s.patches.number : 0;
  options.optimize = s.options.optimize;
  options.symbols = s.options.symbols;
  options.jobs = static_cast<unsigned>(s.options.jobs);
  options.dependencies = s.file->externalPaths();
  options.dependencies.insert(options.dependencies.begin(), s.options.modelPath);
  llvm::append_range(options.dependencies, s.options.plugIns);
  llvm::copy_if(std::vector{s.options.placementFile, s.options.tuningFile}, std::back_inserter(options.dependencies),
                [](const std::string &file) { return !file.empty(); });
  plan::ModelInfo &info = s.model().info;
  for (const plan::DeviceInfo &device : info.devices) {
    options.devices.push_back(&s.model().machineOf(device.spec));
  }
  for (const Variant &variant : s.variants) {
    for (const partition::Device &device : variant.devices) {
      options.machines.push_back(&device.machine);
    }
  }
  if (s.options.refuses) {
    options.refuses = [&](const plan::ModelInfo &model, const emit::BuildSizes &sizes) {
      return s.options.refuses(s.result, model, sizes);
    };
  }
  markQuickCode(s);
  emit::Result result;
  auto forgetting = [&](const emit::WeightsSink &sink) {
    constexpr size_t mostHeld = size_t(64) << 20;
    return [&s, &sink, held = size_t(0)](ArrayRef<char> bytes) mutable {
      sink(bytes);
      if ((held += bytes.size()) > mostHeld) {
        s.file->forget();
        held = 0;
      }
    };
  };
  auto weights = [&](const emit::WeightsSink &sink) { s.weights.write(forgetting(sink)); };
  options.streamed = [&](const emit::WeightsSink &sink) { s.weights.writeStreamed(forgetting(sink)); };
  target::MachineModel machine = partition::hostOf(s.devices);
  if (!info.levels.empty()) { // kernels say what they are for; what is around them runs before the machine is known
    target::MachineModel any;
    any.spec = info.target, any.triple = machine.triple, any.cpu = machine.anyCpu;
    any.gatherLoads = machine.gatherLoads;
    machine = any;
  }
  if (failed(emit::emitModel(*s.model().module, machine, info, weights, options, result))) {
    s.userFault = result.writing;
    return failure();
  }
  s.result.codeBytes = result.sizes.code;
  s.result.flashBytes = result.sizes.flash, s.result.ramBytes = result.sizes.ram;
  s.result.stackBytes = result.sizes.stack.bytes, s.result.cycles = result.sizes.cycles.cycles;
  s.result.functionCycles = std::move(result.sizes.cycles.functions);
  s.result.artifacts = std::move(result.artifacts);
  return success();
}

llvm::ArrayRef<Phase> phaseTable() {
  static const Phase table[] = {
      {"import", "the file becomes nodes as it has them", import, true, {}},
      {"resolve", "nodes become onnx ops, each in its newest definition; sequences become tensors", resolveModel, true,
       kResolveSteps},
      {"expand", "searches for tokens, derivatives and the like become the ops that they are written as", expandModel,
       true, kExpandSteps},
      {"simplify", "shapes, constants and plain forms: what can be computed now is", simplifyEach, true,
       kSimplifySteps},
      {"integer", "products and convolutions of quantized tensors become sums of integers", computeEachInIntegers, true,
       kIntegerSteps},
      {"fuse", "canonical forms of what exporters write as many ops", each<kFuseSteps, true>, true, kFuseSteps},
      {"partition", "targets take nodes, which get the forms that pay there and form kernels", partitionEach, true,
       kPartitionSteps},
      {"layout", "packed layouts, halos, concatenations in place, chains", each<kLayoutSteps>, false, kLayoutSteps},
      {"transfer", "values cross to the memories of the devices that read them", each<kTransferSteps>, false,
       kTransferSteps},
      {"lower", "kernels become functions of loops and vectors; weights are packed", each<kLowerSteps>, false,
       kLowerSteps},
      {"memory", "tensors become buffers, each with its place: the memory form", planEach, false, kMemorySteps},
      {"entry", "the memory form becomes calls with addresses", entry, false, kEntrySteps},
      {"emit", "loops become object code or C++ source, a library, a header, a manifest", emit, false, {}},
  };
  return table;
}

} // namespace ingot::pipeline
