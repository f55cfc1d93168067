// The plan dialect.
#pragma once
#include "compiler/onnx/Shapes.h"
#include "compiler/support/Size.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/plan/Dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/plan/Attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/plan/Types.h.inc"
#define GET_OP_CLASSES
#include "compiler/plan/Ops.h.inc"

namespace ingot::plan {

/// The attribute of a run's argument that is an output's buffer.
inline constexpr llvm::StringRef outputName = "plan.output";
/// The attribute of a launch of a model for profiling: its number.
inline constexpr llvm::StringRef numberName = "plan.launch";

} // namespace ingot::plan
