// Kernels come out of their builders already unrolled, vectorised and hoisted, so a handful of clean-up passes gives
// the code of -O3 in a fraction of its time. Loops are rotated: with the test at the top, the register allocator keeps
// the accumulators of nested loops in memory between iterations. A call whose status is the caller's becomes a jump, as
// from the entry to one of several variants. Kernels marked for it are inlined first; what nobody calls any more goes
// last.
#include "compiler/emit/Analyses.h"
#include "compiler/emit/CodeGen.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

static constexpr const char *pipeline =
    "always-inline,"
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,tailcallelim,"
    "loop-mssa(loop-rotate,licm)),"
    "globaldce";

void ingot::emit::optimize(Module &ir, TargetMachine &target) {
  PassBuilder builder(&target);
  Analyses analyses(builder);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(ir, analyses.modules);
}
