// Orders the lowering of loop IR, and has the passes through which ingot-opt reaches it. Each step leaves to the next
// one only what that takes:
//
//   expandMath         replaces ops of the math dialect for which the machine has no instruction
//   simplifyVectors    leaves vectors of one dimension, and memory accesses by plain indices
//   prepareFunctions   replaces the attributes of plan at functions by those of LLVM
//   CSE                computes once what the steps before have written several times, such as constants
//   SCF to CF          replaces loops and ifs by branches
//   convertToLLVM      leaves the LLVM dialect alone
//   splitCalls         replaces run.over_items by calls that divide the work items among threads
#include "compiler/emit/Lowering.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/target/Target.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <deque>

using namespace mlir;
using namespace ingot;

const target::MachineModel *emit::Machines::find(Operation *function) const {
  auto spec = function ? function->getAttrOfType<StringAttr>(plan::machineName) : StringAttr();
  if (!spec || spec.getValue() == own.spec) {
    return &own;
  }
  const auto *known =
      llvm::find_if(others, [&](const target::MachineModel *machine) { return machine->spec == spec.getValue(); });
  return known == others.end() ? nullptr : *known;
}

const target::MachineModel &emit::Machines::of(Operation *op) const {
  auto function = dyn_cast<FunctionOpInterface>(op);
  const target::MachineModel *machine = find(function ? function : op->getParentOfType<FunctionOpInterface>());
  assert(machine && "a function of a machine that is not there");
  return *machine;
}

// of() may be asked of any function once this has succeeded.
LogicalResult emit::Machines::check(ModuleOp module) const {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!find(function)) {
      return function->emitOpError("is for a machine that is not there: ") << function->getAttr(plan::machineName);
    }
  }
  return success();
}

LogicalResult emit::lowerToLLVM(ModuleOp module, const Machines &machines, Optimize aim) {
  plan::setIndexBits(module, target::platformOf(machines.own).indexBits);
  if (failed(machines.check(module)) || failed(expandMath(module, machines)) || failed(simplifyVectors(module))) {
    return failure();
  }
  prepareFunctions(module, machines, aim);
  PassManager structure(module.getContext());
  structure.addPass(createCSEPass());
  structure.addPass(createSCFToControlFlowPass());
  if (failed(structure.run(module)) || failed(convertToLLVM(module, machines))) {
    return failure();
  }
  splitCalls(module);
  return success();
}

namespace {

/// A pass that needs the module's machine and those that functions name; its option is target=SPEC.
template <typename Self> struct MachinePass : PassWrapper<Self, OperationPass<ModuleOp>> {
  MachinePass() = default;
  MachinePass(const MachinePass &other) : PassWrapper<Self, OperationPass<ModuleOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<LLVM::LLVMDialect, cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = this->getOperation();
    // Machines are referred to by address, and a deque does not move what it has.
    std::deque<target::MachineModel> machines;
    auto resolve = [&](StringRef name) -> LogicalResult {
      llvm::Expected<target::MachineModel> machine = target::resolveMachine(name);
      return machine ? (machines.push_back(*machine), success())
                     : LogicalResult(module.emitError(llvm::toString(machine.takeError())));
    };
    LogicalResult known = resolve(spec.getValue());
    for (auto function : module.getOps<FunctionOpInterface>()) {
      auto name = function->getAttrOfType<StringAttr>(plan::machineName);
      known = failed(known) || !name ? known : resolve(name.getValue());
    }
    auto all = llvm::map_to_vector(machines, [](const target::MachineModel &machine) { return &machine; });
    if (failed(known) || failed(static_cast<Self *>(this)->apply(module, emit::Machines(machines.front(), all)))) {
      this->signalPassFailure();
    }
  }

  Pass::Option<std::string> spec{*this, "target", llvm::cl::desc("machine to lower for")};
};

struct ExpandMathPass : MachinePass<ExpandMathPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const override { return "emit-expand-math"; }
  StringRef getDescription() const override { return "write math functions as arithmetic"; }
  LogicalResult apply(ModuleOp module, const emit::Machines &machines) { return emit::expandMath(module, machines); }
};

struct LowerToLLVMPass : MachinePass<LowerToLLVMPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLLVMPass)
  StringRef getArgument() const override { return "emit-lower-to-llvm"; }
  StringRef getDescription() const override { return "lower loops and vectors to the LLVM dialect"; }
  LogicalResult apply(ModuleOp module, const emit::Machines &machines) { return emit::lowerToLLVM(module, machines); }
};

} // namespace

void emit::registerPasses() {
  PassRegistration<ExpandMathPass>();
  PassRegistration<LowerToLLVMPass>();
}
