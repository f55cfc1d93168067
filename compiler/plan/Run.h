// The run dialect.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/plan/RunDialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/plan/RunOps.h.inc"

namespace ingot::run {

/// The fields with which ingot_exec begins, all of them pointers.
inline constexpr llvm::StringLiteral execFields[] = {"context", "threads", "parallel_for", "weights", "profile"};

} // namespace ingot::run
