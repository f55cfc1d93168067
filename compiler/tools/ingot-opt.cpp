// Runs the pipeline's phases (compiler/pipeline/Phases.cpp), and the steps that they consist of, on IR in text form:
// ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 x.mlir
//
// With --triple=TRIPLE machines are those of another system, as one on which an address has 32 bits
// (x86_64-linux-gnux32); loops that the steps write then have to become the LLVM dialect, too, which nobody sees.
#include "compiler/emit/Lowering.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/pipeline/Dialects.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Plan.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace ingot;

namespace {

llvm::cl::opt<std::string> otherTriple("triple", llvm::cl::desc("LLVM triple of all machines"));

/// Resolves a target for the system of --triple. Where there is none, the diagnostic is at `op`.
std::optional<partition::Device> deviceOf(Operation *op, StringRef spec) {
  const target::Target *t = target::findTarget(spec);
  llvm::Expected<target::MachineModel> machine =
      t ? target::resolveMachine(spec) : llvm::createStringError("no such target");
  if (!machine) {
    op->emitError() << "target '" << spec << "': " << llvm::toString(machine.takeError());
    return std::nullopt;
  }
  machine->triple = otherTriple.empty() ? machine->triple : llvm::Triple::normalize(otherTriple);
  return partition::Device{t, std::move(*machine)};
}

/// Lowers a copy of the loops written so far for the system of --triple, with the width that indices have there.
/// Functions are for the machines that they name, or for `own`.
LogicalResult lowersFurther(ModuleOp module, const target::MachineModel &own) {
  if (otherTriple.empty()) {
    return success();
  }
  llvm::SetVector<StringAttr> specs;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (auto spec = function->getAttrOfType<StringAttr>(plan::machineName)) {
      specs.insert(spec);
    }
  }
  std::vector<partition::Device> named;
  for (StringAttr spec : specs) {
    std::optional<partition::Device> device = deviceOf(module, spec);
    if (!device) {
      return failure();
    }
    named.push_back(std::move(*device));
  }
  auto machines = llvm::map_to_vector(named, [](const partition::Device &device) { return &device.machine; });
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto f : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
    auto isLater = [](Operation *op) {
      return isa<plan::PlanDialect, ingot::onnx::OnnxDialect, ingot::formats::FormatsDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (f.walk(isLater).wasInterrupted()) {
      f.erase();
    }
  }
  return emit::lowerToLLVM(*copy, emit::Machines(own, machines));
}

/// Steps of a phase as a pass. What earlier phases know of a model in the pipeline is an option here, or is taken from
/// the text.
struct StepsPass : PassWrapper<StepsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StepsPass)

  StepsPass(std::string name, StringRef sentence, ArrayRef<pipeline::Step> steps)
      : name(std::move(name)), sentence(sentence), steps(steps) {}
  StepsPass(const StepsPass &other)
      : PassWrapper(other), name(other.name), sentence(other.sentence), steps(other.steps) {}
  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override { return sentence; }
  void getDependentDialects(DialectRegistry &registry) const override { pipeline::registerDialects(registry); }

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!function.isExternal() && !function.isPrivate() && failed(runOn(function))) {
        return signalPassFailure();
      }
    }
  }

private:
  LogicalResult runOn(func::FuncOp function) {
    pipeline::Options options;
    options.allocate = allocate;
    pipeline::Result result;
    pipeline::State state{options, result, getContext(), function.getName().str(), {}};
    state.problems = support::Problems("ingot-opt");
    if (failed(resolveTargets(state.devices))) {
      return failure();
    }
    pipeline::Variant &variant = state.variants.emplace_back();
    variant.devices = state.devices;
    variant.info.name = state.name;
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    if (llvm::all_of(function.getArgumentTypes(), isTensor) && llvm::all_of(function.getResultTypes(), isTensor)) {
      pipeline::describe(function, variant.info);
    }
    variant.info.arenaBytes = arena;
    if (weights) {
      auto type = RankedTensorType::get({weights}, IntegerType::get(&getContext(), 8));
      state.weights.add(ingot::onnx::constantFromIntegers(type, {0}), {"", weights, {}});
    }
    variant.module = OwningOpRef<ModuleOp>(getOperation());
    LogicalResult done = success(
        llvm::all_of(steps, [&](const pipeline::Step &step) { return succeeded(step.run(state, variant, result)); }));
    variant.module.release(); // it is the pass manager's
    llvm::errs() << state.problems.text();
    return success(succeeded(done) && succeeded(lowersFurther(getOperation(), state.devices.front().machine)));
  }

  LogicalResult resolveTargets(std::vector<partition::Device> &devices) {
    std::vector<std::string> specs(targets.begin(), targets.end());
    for (const std::string &spec : specs.empty() ? std::vector<std::string>{"native"} : specs) {
      std::optional<partition::Device> device = deviceOf(getOperation(), spec);
      if (!device) {
        return failure();
      }
      devices.push_back(std::move(*device));
    }
    return success();
  }

  std::string name;
  StringRef sentence;
  ArrayRef<pipeline::Step> steps;
  ListOption<std::string> targets{*this, "target", llvm::cl::desc("targets, in order of preference")};
  Option<bool> allocate{*this, "allocate", llvm::cl::desc("whether sizes may be found that nothing bounds"),
                        llvm::cl::init(true)};
  Option<int64_t> arena{*this, "arena", llvm::cl::desc("bytes of the arena"), llvm::cl::init(0)};
  Option<int64_t> weights{*this, "weights", llvm::cl::desc("bytes of the weights section"), llvm::cl::init(0)};
};

void registerSteps(std::string name, StringRef sentence, ArrayRef<pipeline::Step> steps) {
  registerPass([=] { return std::make_unique<StepsPass>(name, sentence, steps); });
}

} // namespace

int main(int argc, char **argv) {
  llvm::StringSet<> known;
  for (const pipeline::Phase &phase : pipeline::phaseTable()) {
    if (!phase.steps.empty()) {
      registerSteps(std::string("phase-") + phase.name, phase.sentence, phase.steps);
    }
    for (size_t i = 0; i < phase.steps.size(); ++i) {
      if (known.insert(phase.steps[i].name).second) { // several phases may have one in common
        registerSteps(phase.steps[i].name, phase.steps[i].sentence, phase.steps.slice(i, 1));
      }
    }
  }
  emit::registerPasses();
  registerTransformsPasses();
  DialectRegistry registry;
  pipeline::registerDialects(registry);
  return asMainReturnCode(MlirOptMain(argc, argv, "ingot-opt: phases of the ingot compiler\n", registry));
}
