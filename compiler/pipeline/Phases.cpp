// The table of phases, and each phase in a few lines.
#include "compiler/emit/Emit.h"
#include "compiler/fusion/Fuse.h"
#include "compiler/graph/ShareCaches.h"
#include "compiler/graph/Simplify.h"
#include "compiler/importer/Types.h"
#include "compiler/layout/AssignLayouts.h"
#include "compiler/lower/BuildEntry.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/memory/PlanMemory.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Found.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/Plan.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace ingot::pipeline {

static LogicalResult import(State &s) {
  importer::Problems problems(s.options.modelPath);
  importer::ImportOptions options{s.name, s.options.dims, s.options.shapes};
  for (const auto &[name, bounds] : s.options.bounds) {
    options.bounds[name] = {bounds.least, bounds.most};
  }
  auto model = importer::importModel(s.context, s.options.modelPath, options, problems);
  if (!model) {
    s.importProblems = problems.text();
    return failure();
  }
  s.file = std::move(model->file);
  s.module = std::move(model->module);
  if (s.options.account) {
    s.result.imported = describeNodes(s.function());
  }
  return makeBodies(s);
}

static LogicalResult shareCaches(State &s) {
  return success(s.options.caches.empty() ||
                 (succeeded(graph::shareCaches(s.function(), s.options.caches, s.options.cacheRoom)) &&
                  succeeded(graph::simplify(s.function()))));
}

static LogicalResult simplify(State &s) {
  if (failed(graph::simplify(s.function())) || failed(shareCaches(s)) ||
      failed(graph::findSizes(s.function(), s.options.allocate))) {
    return failure();
  }
  graph::eliminateCommon(s.function());
  return graph::requireSizes(s.function());
}

static LogicalResult simplifyEach(State &s) { return simplifyBodies(s, simplify); }

static LogicalResult fuse(State &s) {
  if (failed(fusion::fuse(s.function(), s.options.accuracy == "strict")) || failed(graph::simplify(s.function()))) {
    return failure();
  }
  graph::eliminateCommon(s.function());
  describe(s.function(), s.info);
  if (failed(tellBodies(s))) {
    return failure();
  }
  for (const plan::SymbolInfo &symbol : s.info.symbols) {
    s.result.openSizes.push_back({symbol.name, symbol.least, symbol.most, symbol.from, symbol.boundedBy, symbol.sizes});
  }
  for (const plan::RequirementInfo &requirement : s.info.requirements) {
    s.result.requirements.push_back({requirement.text, requirement.node});
  }
  for (const plan::TensorInfo &input : s.info.inputs) {
    s.result.inputs.push_back(input.name);
  }
  s.info.macs = countMacs(s.function());
  s.result.macs = s.info.macs.isNumber() ? s.info.macs.number() : -1;
  s.result.macsText = s.info.macs.text();
  return success();
}

/// The ops of a block behind all that they need: operands, and the ops that find the sizes of which they speak. False
/// when two need each other.
static bool sortWithFound(Block &block) {
  std::set<std::string> found; // in this block, and no op that is placed has found it
  llvm::DenseMap<Operation *, std::set<std::string>> finds;
  for (Operation &op : block) {
    finds[&op] = onnx::foundInside(&op);
    finds[&op].merge(onnx::foundAt(&op));
    found.insert(finds[&op].begin(), finds[&op].end());
  }
  SmallVector<Operation *> waiting;
  for (Operation &op : block.without_terminator()) {
    waiting.push_back(&op);
  }
  llvm::SmallPtrSet<Operation *, 32> placed;
  auto ready = [&](Operation *op) {
    bool all = true;
    onnx::eachOutsideOperand(op, [&](OpOperand &use) {
      Operation *producer = use.get().getDefiningOp();
      all &= !producer || producer->getBlock() != &block || placed.contains(producer);
    });
    std::set<std::string> missing = found;
    for (const std::string &own : finds[op]) {
      missing.erase(own);
    }
    return all && !onnx::speaksOf(op, missing);
  };
  while (!waiting.empty()) {
    size_t before = waiting.size();
    llvm::erase_if(waiting, [&](Operation *op) {
      if (!ready(op)) {
        return false;
      }
      op->moveBefore(&block, block.back().getIterator());
      placed.insert(op);
      for (const std::string &symbol : finds[op]) {
        found.erase(symbol);
      }
      return true;
    });
    if (waiting.size() == before) {
      return false;
    }
  }
  return true;
}

/// Phases put kernels where they are needed, not where all their operands are.
static LogicalResult sortBlocks(func::FuncOp function) {
  bool found = !onnx::foundInside(function).empty(), ok = true;
  function.walk([&](Block *block) {
    if (!isa<plan::KernelOp>(block->getParentOp())) {
      ok &= found ? sortWithFound(*block) : sortTopologically(block);
    }
  });
  return success(ok);
}

static LogicalResult partition(State &s) {
  std::vector<partition::Placement> report;
  LogicalResult ok = partition::formKernels(s.function(), s.devices, s.options.fallback, report);
  for (partition::Placement &p : report) {
    s.result.placement.push_back({p.node, p.op, "", p.device, p.whyNot});
  }
  return failed(ok) ? ok : sortBlocks(s.function());
}

static LogicalResult layout(State &s) {
  layout::assignLayouts(
      s.function(), [&](StringRef spec) { return s.machineOf(spec).blockLanes(); }, s.devices.front().machine.spec);
  return sortBlocks(s.function());
}

static LogicalResult lower(State &s) {
  auto machineOf = [&](StringRef spec) -> const target::MachineModel & { return s.machineOf(spec); };
  return lower::lowerKernels(*s.module, machineOf, s.weights);
}

/// The symbols with the bounds that the user gave: those that follow from the model (a table of positions has 512 rows)
/// are no wish to have room for them in every run.
static std::vector<plan::SymbolInfo> boundedSymbols(const State &s) {
  std::vector<plan::SymbolInfo> symbols;
  for (const auto &[name, bounds] : s.options.bounds) {
    plan::SymbolInfo symbol;
    symbol.name = importer::symbolOf("", 0, name);
    symbol.most = bounds.most, symbol.least = bounds.least;
    symbols.push_back(symbol);
  }
  return symbols;
}

static LogicalResult memory(State &s) {
  FailureOr<memory::MemoryPlan> plan = memory::planMemory(s.function(), boundedSymbols(s), s.options.allocate);
  if (failed(plan)) {
    return failure();
  }
  s.result.arenaBytes = s.info.arenaBytes = plan->arena.peakBytes;
  s.result.arenaLowerBound = plan->arena.lowerBound;
  s.info.allocations = plan->allocations;
  s.result.allocations.clear();
  for (const plan::AllocationInfo &a : s.info.allocations) {
    s.result.allocations.push_back(
        {a.node, a.bytes, a.why, a.output < 0 ? "" : s.info.outputs[static_cast<size_t>(a.output)].name});
  }
  for (auto [output, input] : llvm::zip_equal(s.info.outputs, plan->inPlaceOf)) {
    output.inPlaceOf = input;
  }
  for (auto [buffer, name, offset] : llvm::zip_equal(plan->buffers, plan->names, plan->arena.offsets)) {
    if (buffer.bytes > 0) {
      s.result.buffers.push_back({name, offset, buffer.bytes, int(buffer.firstUse), int(buffer.lastUse)});
    }
  }
  s.result.memoryPlan = memory::renderArenaPlan(plan->buffers, plan->names, plan->arena);
  return success();
}

static void buildEntry(State &s, StringRef suffix) {
  // Vectors may be read past a tensor's end within its last block: the arena ends with one cache line of nobody's.
  int64_t slack = s.info.workspaceAlign;
  bool open = s.function()->hasAttr("plan.buffers");
  if (open) { // what the memory phase found is for some size of each symbol
    s.result.arenaBytes = s.result.arenaLowerBound = s.info.arenaBytes = -1;
  }
  s.info.workspaceBytes = open ? -1 : s.info.arenaBytes ? s.info.arenaBytes + slack : 0;
  s.info.weightBytes = s.result.weightBytes = s.weights.bytes();
  s.result.firstLaunch = s.info.launches.size();
  s.result.launches = describeLaunches(s.function(), s.options.profile, s.result.firstLaunch);
  for (const GraphNode &launch : s.result.launches) {
    s.info.launches.push_back({launch.name, launch.nodes, launch.symbols});
  }
  s.info.kernels = s.result.kernels = s.result.launches.size();
  lower::buildEntry(s.function(), s.info.workspaceBytes, slack, s.info.weightBytes, s.info, suffix);
}

static LogicalResult entry(State &s) {
  if (s.bodies.empty()) {
    buildEntry(s, "");
  } else {
    joinBodies(s, buildEntry);
  }
  s.info.weightBytes = s.weights.bytes();
  for (auto [number, level] : llvm::enumerate(s.info.levels)) {
    level.weightBytes = s.weights.bytesOf(number, /*only=*/false);
    level.ownWeightBytes = s.weights.bytesOf(number, /*only=*/true);
    s.result.levels.push_back({level.spec, level.weightBytes, level.ownWeightBytes});
  }
  return success();
}

template <LogicalResult (*phase)(State &), bool description = false> static LogicalResult each(State &s) {
  return onEachBody(s, phase, description);
}

static LogicalResult partitionEach(State &s) {
  makeLevels(s);
  return onEachBody(s, partition, /*description=*/false);
}

static LogicalResult emit(State &s) {
  if (s.options.outDir.empty()) {
    return success();
  }
  emit::Options options;
  options.dir = s.options.outDir;
  options.kinds = s.options.emit;
  options.depfile = s.options.depfile;
  options.dependencies = s.file->externalPaths();
  options.dependencies.insert(options.dependencies.begin(), s.options.modelPath);
  s.info.weightsPlace = s.options.weights == "file"     ? plan::WeightsPlace::File
                        : s.options.weights == "extern" ? plan::WeightsPlace::Extern
                                                        : plan::WeightsPlace::Embed;
  emit::Result result;
  auto weights = [&](const emit::WeightsSink &sink) {
    constexpr size_t mostHeld = size_t(64) << 20;
    size_t held = 0;
    s.weights.write([&](ArrayRef<char> bytes) {
      sink(bytes);
      if ((held += bytes.size()) > mostHeld) {
        s.file->forget();
        held = 0;
      }
    });
  };
  target::MachineModel machine = s.devices.front().machine;
  if (!s.info.levels.empty()) { // kernels say what they are for; what is around them runs before the machine is known
    target::MachineModel any;
    any.spec = s.info.target, any.triple = machine.triple, any.cpu = machine.anyCpu;
    machine = any;
  }
  if (failed(emit::emitModel(*s.module, machine, s.info, weights, options, result))) {
    s.userFault = result.writing;
    return failure();
  }
  s.result.codeBytes = result.codeBytes;
  for (emit::Artifact &a : result.artifacts) {
    s.result.artifacts.push_back({a.path, a.bytes});
  }
  return success();
}

llvm::ArrayRef<Phase> phaseTable() {
  static constexpr Phase table[] = {
      {"import", "the file becomes onnx ops, each in its newest form", import, true},
      {"simplify", "shapes, constants and plain forms: what can be computed now is", simplifyEach, true},
      {"fuse", "canonical forms of what exporters write as many ops", each<fuse, true>, true},
      {"partition", "targets take nodes, nodes form kernels", partitionEach, true},
      {"layout", "packed layouts, halos and concatenations in place", each<layout>, false},
      {"lower", "kernels become functions of loops and vectors; weights are packed", each<lower>, false},
      {"memory", "every buffer gets its place in the arena", each<memory>, false},
      {"entry", "launches become calls with addresses", entry, false},
      {"emit", "loops become object code, a library, a header, a manifest", emit, false},
  };
  return table;
}

} // namespace ingot::pipeline
