// The second way out of loop IR: C++17 source, for any processor that has a compiler. Vectors are the types that g++
// and clang have (Vectors.cpp), or loops over lanes (LaneLoops.cpp).
//
//   NAME.cpp        the same functions as in the object, written as a person would: a function for each kernel with the
//                   ONNX nodes, shapes and layouts in front of it, loops as for, values used once inside of expressions
//   NAME.weights.S  in front of NAME.weights, where these are too many for an initializer
//
// What a run does is read from the loop IR that the object comes from, too (compiler/emit/Emit.h); math functions are
// the same arithmetic. Integers are held in unsigned types, so that they wrap as the IR's do.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/Model.h"
#include "compiler/target/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::emit::cpp {

/// Weights of more bytes are not written as an initializer: compilers take seconds for each megabyte.
constexpr int64_t mostInitialized = 256 << 10;
inline bool areInitialized(const plan::ModelInfo &model) { return model.weightBytes <= mostInitialized; }

/// Brings loop IR to what the writer knows: math functions are expanded, no vector has more than one dimension, there
/// are no affine ops, constants are folded, and equal expressions are computed once.
mlir::LogicalResult prepare(mlir::ModuleOp module, const target::MachineModel &machine);

/// Makes the vectors of a function arrays, and operations on them loops over lanes.
mlir::LogicalResult lanesToLoops(mlir::func::FuncOp function);
/// Marks such an array, and holds, on such a loop, the name of the macro that stands in front of it. lanesToLoops()
/// sets it, and the writer reads it.
inline constexpr llvm::StringLiteral lanesName = "ingot.lanes";

/// Returns the text of NAME.cpp, from a prepared module. `weights` has the bytes where they are initialized, else none.
/// Fails with a diagnostic at an operation that has no form in C++.
mlir::FailureOr<std::string> sourceText(mlir::ModuleOp module, const target::MachineModel &machine,
                                        const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices,
                                        llvm::ArrayRef<char> weights);

/// Returns the text of NAME.weights.S, which takes NAME.weights in as it is.
std::string assemblyText(const plan::ModelInfo &model);

} // namespace ingot::emit::cpp
