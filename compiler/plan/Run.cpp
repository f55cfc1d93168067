#include "compiler/plan/Run.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include "compiler/plan/RunDialect.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/plan/RunOps.cpp.inc"

using namespace mlir;

namespace ingot::run {

void RunDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/plan/RunOps.cpp.inc"
      >();
}

LogicalResult FieldOp::verify() {
  return llvm::is_contained(execFields, getField()) ? success()
                                                    : emitOpError("'") << getField() << "' is no field of ingot_exec";
}

} // namespace ingot::run
