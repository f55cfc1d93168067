// Targets that make images (compiler/target/Image.h) can build them from this: an object file for any machine that LLVM
// knows, or in steps what else they want. An error that LLVM finds on the way is a diagnostic of the kernel.
#pragma once
#include "compiler/emit/CodeGen.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Error.h"

namespace ingot::emit {

/// An object with, for each of the kernels, the function
///
///   void KERNEL(const void *args, int64_t begin, int64_t end);
///
/// which runs work items [begin, end) with arguments as ingot_launch has them. Nothing else can be seen of it, and it
/// refers to nothing but the functions of compiler/lower/core/Threads.h, if a kernel has a grid, and to those of the
/// support library for 64-bit arithmetic (core/wide.c) that the machine has no instructions for. `machine` has the
/// triple, CPU and features, which need not be those that the kernels were built for as long as it has their vectors.
/// Consumes the module.
llvm::Expected<llvm::SmallVector<char, 0>> deviceObject(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels,
                                                        const target::MachineModel &machine);

// The steps of that in their order, for a target whose entries and files are others, as those of a GPU are
// (test/emit/DeviceObjectTest.cpp makes PTX by them). createTargetMachine (CodeGen.h) gives LLVM's machine.

/// Loop IR becomes functions in the LLVM dialect, of the kernels' names and with pointers and integers as parameters.
mlir::LogicalResult lowerDeviceModule(mlir::ModuleOp module, const target::MachineModel &machine);

/// Writes an i64: the item of the thread that runs, by its number among all threads; or, of a kernel of blocks, that of
/// its block.
using ItemNumber = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, bool ofBlocks)>;
/// Defines an entry for each of the kernels, whose parameters are the words of ingot_launch (ingot.h), and which runs
/// one item, or none where there are not so many.
void addItemEntries(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels, ItemNumber number);

/// Writes what a function returns, null for nothing.
using FunctionWriter = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange parameters)>;
/// Defines a function that kernels call, one of compiler/lower/core/Threads.h, in the LLVM dialect. Does nothing where
/// none of them calls it.
void defineForKernels(mlir::ModuleOp module, llvm::StringRef name, FunctionWriter write);

/// The LLVM dialect becomes LLVM IR for the machine behind `target`; null with a diagnostic. The module has to live as
/// long as the IR, of which it gets the diagnostics.
std::unique_ptr<llvm::Module> translateDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                    llvm::TargetMachine &target);

/// Entries get the kernels' names and are all that is visible.
void nameEntries(llvm::Module &ir, llvm::ArrayRef<std::string> kernels);

/// Optimizes the IR and makes code of it, which may refer to the support library (deviceObject).
llvm::Expected<llvm::SmallVector<char, 0>> generateDeviceCode(llvm::Module &ir, llvm::TargetMachine &target,
                                                              const target::MachineModel &machine, CodeForm form);
/// Makes code of IR that has been optimized.
llvm::Expected<llvm::SmallVector<char, 0>> writeDeviceCode(llvm::Module &ir, llvm::TargetMachine &target,
                                                           const target::MachineModel &machine, CodeForm form);

} // namespace ingot::emit
