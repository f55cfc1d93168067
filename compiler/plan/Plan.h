// Declares the plan dialect (Plan.td, MemoryForm.td), and the discardable attributes by which phases tell later ones
// what its ops do not say.
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

/// Marks the argument of a run that is an output's buffer.
inline constexpr llvm::StringRef outputName = "plan.output";
/// Says, on a launch, how many multiplications with accumulation its kernel does.
inline constexpr llvm::StringRef macsName = "plan.macs";
/// Names, on a function, the devices with memories of their own, as an array of specs. The first one is device 1.
inline constexpr llvm::StringRef devicesName = "plan.devices";
/// Says, on an argument or a result of the function, in which device's memory the caller has it.
inline constexpr llvm::StringRef deviceName = "plan.device";
/// Returns the device that the attributes of an argument or a result name; 0, the host, where they name none.
int64_t deviceOf(mlir::DictionaryAttr attributes);

/// Holds, on the declaration of a piece's function, the object file that defines it, as a tensor of bytes.
inline constexpr llvm::StringRef objectName = "plan.object";

/// Returns the specs of a function's devices with memories of their own; the first one is device 1.
llvm::SmallVector<llvm::StringRef> devicesOf(mlir::Operation *function);
/// Returns the device on which a kernel runs; 0 is the host, or a device that works in the host's memory.
int64_t deviceOf(KernelOp kernel);
/// Returns the device in whose memory a tensor lies.
int64_t deviceOf(mlir::Value tensor);

/// Says, on a launch, what a failure of its kernel means, as an ingot_error_kind. Without it the kernel's own status
/// says whether an index or a size is bad.
inline constexpr llvm::StringRef errorName = "plan.error";
/// Marks a launch whose kernel is a call of the support library that takes the run's ingot_exec. Its status is reported
/// with the node, whatever it is. The value says whether it makes strings.
inline constexpr llvm::StringRef textName = "plan.text";
/// Holds the number of a launch in the model, for profiling.
inline constexpr llvm::StringRef numberName = "plan.launch";

} // namespace ingot::plan
