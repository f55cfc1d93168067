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
#define GET_OP_CLASSES
#include "compiler/plan/Ops.h.inc"
