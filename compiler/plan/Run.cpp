#include "compiler/plan/Run.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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

LogicalResult OverItemsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernelAttr());
  ArrayRef<Type> takes = function ? function.getArgumentTypes() : ArrayRef<Type>();
  return takes.size() >= 2 && takes.drop_back(2) == ArrayRef(llvm::to_vector(getArguments().getTypes()))
             ? success()
             : emitOpError("'") << getKernel() << "' is no kernel of these arguments and a range";
}

} // namespace ingot::run
