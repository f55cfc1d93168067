#include "compiler/lower/core/Threads.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ingot::lower {

Ix threadNumber(Writer &w, int32_t axis) {
  Value number = w.constant(axis, w.b.getI32Type());
  return w.ix(w.callLibrary("ingot_thread", number, w.b.getI64Type()));
}

void barrier(Writer &w) {
  w.callLibrary("ingot_barrier", {}, {});
  // All threads of a block call it at one place: no call may be moved to where only some of them are.
  auto module = w.b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  module.lookupSymbol("ingot_barrier")->setAttr(plan::passthroughName, w.b.getStrArrayAttr({"convergent"}));
}

Buffer sharedMemory(Writer &w, int64_t bytes) {
  Type i8 = w.b.getI8Type();
  return {w.callLibrary("ingot_shared", {}, MemRefType::get({bytes}, i8)), i8};
}

} // namespace ingot::lower
