// The order of the lowering, and the passes through which ingot-opt reaches it.
#include "compiler/emit/Lowering.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/target/Target.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

LogicalResult emit::lowerToLLVM(ModuleOp module, const target::MachineModel &machine) {
  plan::setIndexBits(module, target::platformOf(machine).indexBits);
  if (failed(expandMath(module, machine)) || failed(simplifyVectors(module))) {
    return failure();
  }
  prepareFunctions(module, machine);
  PassManager structure(module.getContext());
  structure.addPass(createCSEPass());
  structure.addPass(createSCFToControlFlowPass());
  if (failed(structure.run(module)) || failed(convertToLLVM(module, machine))) {
    return failure();
  }
  profileCalls(module);
  splitCalls(module);
  return success();
}

namespace {

/// A pass that needs a machine; option target=SPEC.
template <typename Self> struct MachinePass : PassWrapper<Self, OperationPass<ModuleOp>> {
  MachinePass() = default;
  MachinePass(const MachinePass &other) : PassWrapper<Self, OperationPass<ModuleOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<LLVM::LLVMDialect, cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    llvm::Expected<target::MachineModel> machine = target::resolveMachine(spec.getValue());
    if (!machine) {
      this->getOperation().emitError(llvm::toString(machine.takeError()));
      return this->signalPassFailure();
    }
    if (failed(static_cast<Self *>(this)->apply(this->getOperation(), *machine))) {
      this->signalPassFailure();
    }
  }

  Pass::Option<std::string> spec{*this, "target", llvm::cl::desc("machine to lower for")};
};

struct ExpandMathPass : MachinePass<ExpandMathPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const override { return "emit-expand-math"; }
  StringRef getDescription() const override { return "write math functions as arithmetic"; }
  LogicalResult apply(ModuleOp module, const target::MachineModel &machine) {
    return emit::expandMath(module, machine);
  }
};

struct LowerToLLVMPass : MachinePass<LowerToLLVMPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLLVMPass)
  StringRef getArgument() const override { return "emit-lower-to-llvm"; }
  StringRef getDescription() const override { return "lower loops and vectors to the LLVM dialect"; }
  LogicalResult apply(ModuleOp module, const target::MachineModel &machine) {
    return emit::lowerToLLVM(module, machine);
  }
};

} // namespace

void emit::registerPasses() {
  PassRegistration<ExpandMathPass>();
  PassRegistration<LowerToLLVMPass>();
}
