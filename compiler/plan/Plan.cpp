#include "compiler/plan/Plan.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/plan/Dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/plan/Attributes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/plan/Ops.cpp.inc"

void ingot::plan::PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/plan/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/plan/Ops.cpp.inc"
      >();
}
