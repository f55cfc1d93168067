// Targets that make images (compiler/target/Image.h) can build them from this: an object file for any machine that LLVM
// knows.
#pragma once
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace ingot::emit {

/// An object with, for each of the kernels, the function
///
///   void KERNEL(const void *args, int64_t begin, int64_t end);
///
/// which runs work items [begin, end) with arguments as ingot_launch has them. Nothing else can be seen of it, and it
/// refers to nothing but the functions of compiler/lower/core/Threads.h, if a kernel has a grid. `machine` has the
/// triple, CPU and features, which need not be those that the kernels were built for as long as it has their vectors.
/// Consumes the module.
llvm::Expected<llvm::SmallVector<char, 0>> deviceObject(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels,
                                                        const target::MachineModel &machine);

// The steps of that, for a target whose entries and files are others, as those of a GPU.

/// Loop IR becomes functions in the LLVM dialect, of the kernels' names and with pointers and integers as parameters.
mlir::LogicalResult lowerDeviceModule(mlir::ModuleOp module, const target::MachineModel &machine);
/// ... and those LLVM IR for the machine behind `target`; null with a diagnostic.
std::unique_ptr<llvm::Module> translateDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                    llvm::TargetMachine &target);

} // namespace ingot::emit
