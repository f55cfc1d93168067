// The plan dialect.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Size.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
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
/// The attribute of a launch that says how many multiplications with accumulation its kernel has.
inline constexpr llvm::StringRef macsName = "plan.macs";
/// The attribute of a function that names the devices with memories of their own, as an array of specs.
inline constexpr llvm::StringRef devicesName = "plan.devices";
/// Of an argument or a result of the function: the number of the device in whose memory the caller has it.
inline constexpr llvm::StringRef deviceName = "plan.device";
int64_t deviceOf(mlir::DictionaryAttr attributes);

/// The attribute of the declaration of a piece's function: the object file that defines it, as a tensor of bytes.
inline constexpr llvm::StringRef objectName = "plan.object";

/// The specs of a function's devices with memories of their own; the first one is device 1.
llvm::SmallVector<llvm::StringRef> devicesOf(mlir::Operation *function);
/// The device on which a kernel runs; 0: the host, or one that works in the host's memory.
int64_t deviceOf(KernelOp kernel);
/// The device in whose memory a tensor lies.
int64_t deviceOf(mlir::Value tensor);

/// The attribute of a launch whose kernel, when it fails, says neither that an index is bad nor that a size is: what it
/// says, an ingot_error_kind.
inline constexpr llvm::StringRef errorName = "plan.error";
/// The attribute of a launch whose kernel is a call of the support library that takes the run's ingot_exec; its status
/// is told with the node, whatever it is. The value: whether it makes strings.
inline constexpr llvm::StringRef textName = "plan.text";
/// The attribute of a launch of a model for profiling: its number.
inline constexpr llvm::StringRef numberName = "plan.launch";

} // namespace ingot::plan
