// Writes loop IR as C++17 source, for any processor that has a compiler; the other way out of loop IR is an object by
// LLVM (CodeGen.h). Vectors become the vector types of g++ and clang (Vectors.cpp), or loops over lanes
// (LaneLoops.cpp).
//
//   NAME.cpp        the same functions as in the object, written as a person would: a function for each kernel with the
//                   ONNX nodes, shapes and layouts as a comment above it, `for` loops, and values that are used once
//                   written within the expression that uses them
//   NAME.weights.S  assembly that includes the bytes of NAME.weights, where they are too many for an initializer
//
// Source and object come from one loop IR (compiler/emit/Emit.h), and math functions are expanded to the same
// arithmetic, but for two things (Prepare.cpp): a fused multiply-add is a product and a sum, and float16 is converted
// by integer arithmetic. Integers have unsigned types, so that they wrap as the IR's do.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/Model.h"
#include "compiler/target/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::emit::cpp {

/// The most bytes of weights (256 KiB) that are written as an initializer: compilers take seconds for each megabyte.
constexpr int64_t mostInitialized = 256 << 10;
inline bool areInitialized(const plan::ModelInfo &model) {
  bool isFileTaken = model.weightsPlace == plan::WeightsPlace::Stream; // NAME.weights has those that are streamed
  return model.weightBytes <= mostInitialized || isFileTaken;
}

/// Brings loop IR to what the writer knows: math functions are expanded, no vector has more than one dimension, there
/// are no affine ops, constants are folded, and equal expressions are computed once.
mlir::LogicalResult prepare(mlir::ModuleOp module, const target::MachineModel &machine);

/// Makes the vectors of a function arrays, and operations on them loops over lanes.
mlir::LogicalResult lanesToLoops(mlir::func::FuncOp function);
/// The attribute that lanesToLoops() sets and the writer reads. It marks an array that stands for a vector; on a loop
/// over lanes its value is the name of the macro that is written above the loop (INGOT_LANES).
inline constexpr llvm::StringLiteral lanesName = "ingot.lanes";

/// Returns the text of NAME.cpp, from a prepared module. `weights` has the bytes for the initializer; it is empty where
/// there is none (areInitialized).
/// Fails with a diagnostic at an operation that has no form in C++.
mlir::FailureOr<std::string> sourceText(mlir::ModuleOp module, const target::MachineModel &machine,
                                        const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices,
                                        llvm::ArrayRef<char> weights);

/// Returns the text of NAME.weights.S, which includes the file NAME.weights unchanged.
std::string assemblyText(const plan::ModelInfo &model);

} // namespace ingot::emit::cpp
