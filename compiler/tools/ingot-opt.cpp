// Runs phases of the compiler by themselves on IR in text form: ingot-opt --graph-simplify
// --partition-form-kernels=target=x86-64-v3 x.mlir
#include "compiler/emit/Lowering.h"
#include "compiler/entry/BuildEntry.h"
#include "compiler/fusion/Fuse.h"
#include "compiler/graph/Simplify.h"
#include "compiler/integer/Quantize.h"
#include "compiler/integer/Short.h"
#include "compiler/integer/Wide.h"
#include "compiler/layout/AssignLayouts.h"
#include "compiler/layout/FormChains.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/memory/PlanMemory.h"
#include "compiler/partition/FormKernels.h"
#include "compiler/partition/MergeTransfers.h"
#include "compiler/partition/Pieces.h"
#include "compiler/partition/Transfers.h"
#include "compiler/pipeline/Dialects.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

namespace {

/// What a phase gets from the command line: in the pipeline, earlier phases know it.
struct Settings {
  ArrayRef<partition::Device> devices;
  int64_t workspaceBytes, weightBytes;
};

/// A phase as a pass: a name, a sentence, and what it does to the module's public function.
struct PhasePass : PassWrapper<PhasePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)
  using Body = LogicalResult (*)(ModuleOp, func::FuncOp, const Settings &);

  PhasePass(StringRef name, StringRef sentence, Body body) : name(name), sentence(sentence), body(body) {}
  PhasePass(const PhasePass &other)
      : PassWrapper(other), name(other.name), sentence(other.sentence), body(other.body) {}
  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override { return sentence; }
  void getDependentDialects(DialectRegistry &registry) const override { pipeline::registerDialects(registry); }

  void runOnOperation() override {
    std::vector<partition::Device> devices;
    for (const std::string &spec : targets) {
      const target::Target *t = target::findTarget(spec);
      llvm::Expected<target::MachineModel> machine =
          t ? target::resolveMachine(spec) : llvm::createStringError("no such target");
      if (!machine) {
        getOperation().emitError() << "target '" << spec << "': " << llvm::toString(machine.takeError());
        return signalPassFailure();
      }
      devices.push_back({t, *machine});
    }
    for (auto f : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!f.isExternal() && !f.isPrivate() && failed(body(getOperation(), f, {devices, workspace, weights}))) {
        return signalPassFailure();
      }
    }
  }

  StringRef name, sentence;
  Body body;
  ListOption<std::string> targets{*this, "target", llvm::cl::desc("targets, in order of preference")};
  Option<int64_t> workspace{*this, "workspace", llvm::cl::desc("bytes of the arena"), llvm::cl::init(0)};
  Option<int64_t> weights{*this, "weights", llvm::cl::desc("bytes of the weights section"), llvm::cl::init(0)};
};

const target::MachineModel &machineOf(ArrayRef<partition::Device> devices, StringRef spec) {
  for (const partition::Device &d : devices) {
    if (d.machine.spec == spec) {
      return d.machine;
    }
  }
  static const target::MachineModel scalar;
  return devices.empty() ? scalar : devices.front().machine;
}

constexpr struct {
  const char *name, *sentence;
  PhasePass::Body body;
} phases[] = {
    {"graph-simplify", "shapes, constants and plain forms",
     [](ModuleOp, func::FuncOp f, const Settings &) { return graph::simplify(f); }},
    {"graph-find-sizes", "sizes that are left become found ones, and may need memory that nothing bounds",
     [](ModuleOp, func::FuncOp f, const Settings &) { return graph::findSizes(f, /*unbounded=*/true); }},
    {"graph-find-bounded-sizes", "sizes that are left become found ones where something bounds them",
     [](ModuleOp, func::FuncOp f, const Settings &) { return graph::findSizes(f, /*unbounded=*/false); }},
    {"graph-require-sizes", "report values some axis of which depends on data",
     [](ModuleOp, func::FuncOp f, const Settings &) { return graph::requireSizes(f); }},
    {"integer-use-integers", "products and convolutions of quantized tensors become sums of integers",
     [](ModuleOp, func::FuncOp f, const Settings &) {
       return integer::useIntegers(f, /*strict=*/false, /*digits=*/{8, true}, /*states=*/{});
     }},
    {"quantize-short-sums", "sums of pairs of bytes that fit int16 are marked, and other factors become int16",
     [](ModuleOp, func::FuncOp f, const Settings &) {
       integer::markShortSums(f);
       integer::widenFactors(f);
       return success();
     }},
    {"fusion-fuse", "canonical forms of what exporters write as many ops",
     [](ModuleOp, func::FuncOp f, const Settings &) { return fusion::fuse(f); }},
    {"partition-form-kernels", "targets take nodes, nodes form kernels",
     [](ModuleOp, func::FuncOp f, const Settings &s) {
       std::vector<partition::Placement> report;
       partition::Places places;
       partition::Pieces pieces(f, {}, s.devices);
       LogicalResult ok = partition::placeNodes(f, s.devices, {}, pieces, places, report);
       if (succeeded(ok)) {
         partition::nameDevices(f, s.devices);
         pieces.makeKernels();
         partition::formKernels(f, places);
       }
       sortTopologically(&f.getBody().front());
       return ok;
     }},
    {"layout-assign", "packed layouts, halos, concatenations in place",
     [](ModuleOp, func::FuncOp f, const Settings &s) {
       layout::assignLayouts(
           f, [&](StringRef spec) -> const target::MachineModel & { return machineOf(s.devices, spec); },
           s.devices.empty() ? "" : s.devices.front().machine.spec);
       sortTopologically(&f.getBody().front());
       return success();
     }},
    {"layout-form-chains", "kernels of which each reads what the one before it makes become one",
     [](ModuleOp, func::FuncOp f, const Settings &s) {
       layout::formChains(
           f, [&](StringRef spec) -> const target::MachineModel & { return machineOf(s.devices, spec); },
           layout::Chains::Faster);
       return success();
     }},
    {"partition-insert-transfers", "values cross to the memories of the devices that read them",
     [](ModuleOp, func::FuncOp f, const Settings &s) {
       partition::insertTransfers(f);
       partition::Memories memories = {&machineOf(s.devices, "")};
       for (StringRef spec : plan::devicesOf(f)) {
         memories.devices.push_back(&machineOf(s.devices, spec));
       }
       partition::mergeTransfers(f, memories);
       return success();
     }},
    {"lower-kernels", "kernels become functions of loops and vectors",
     [](ModuleOp m, func::FuncOp, const Settings &s) {
       plan::WeightTable weights;
       lower::ScheduleRequest schedules;
       return lower::lowerKernels(
           m, [&](StringRef spec) -> const target::MachineModel & { return machineOf(s.devices, spec); }, weights,
           schedules);
     }},
    {"memory-plan", "tensors become buffers, each with its place",
     [](ModuleOp, func::FuncOp f, const Settings &) { return LogicalResult(memory::planMemory(f)); }},
    {"lower-build-entry", "the memory form becomes calls with addresses",
     [](ModuleOp, func::FuncOp f, const Settings &s) {
       plan::ModelInfo info;
       info.name = f.getName().str();
       entry::buildEntry(f, s.workspaceBytes, 0, s.weightBytes, /*firstLaunch=*/0, info);
       return success();
     }},
};

} // namespace

int main(int argc, char **argv) {
  for (const auto &phase : phases) {
    registerPass([&phase] { return std::make_unique<PhasePass>(phase.name, phase.sentence, phase.body); });
  }
  emit::registerPasses();
  registerTransformsPasses();
  DialectRegistry registry;
  pipeline::registerDialects(registry);
  return asMainReturnCode(MlirOptMain(argc, argv, "ingot-opt: phases of the ingot compiler\n", registry));
}
