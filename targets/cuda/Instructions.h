// Writes NVIDIA's instructions that kernels on tensor cores consist of: copies into shared memory that go on while the
// thread does something else (cp.async), matrices from shared memory (ldmatrix), and their products (mma). Those of
// float16 and of bytes are for all architectures (Turing.h), those of bfloat16 and tf32 from sm_80 on.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::targets::cuda {

/// Returns the pointer to shared memory of an address (i64), whose number is what instructions take.
mlir::Value sharedPointer(lower::Writer &w, mlir::Value address);

/// Returns (i1) whether the code is for one of these architectures (by Architecture::number). What is chosen by it is
/// all that is left in an image.
mlir::Value isForAny(lower::Writer &w, llvm::ArrayRef<int32_t> architectures);

/// Begins to copy 16 bytes from memory to shared memory, both by their addresses (i64); where `isThere` (i1) is false
/// they become zeros, and nothing is read.
void copyVector(lower::Writer &w, mlir::Value to, mlir::Value from, mlir::Value isThere);
/// Ends the group of copies that were begun.
void endCopies(lower::Writer &w);
/// Waits for all groups but the last `left`.
void waitForCopies(lower::Writer &w, int32_t left);

/// Returns the four registers (i32) with which a warp's threads have matrices of 8 rows of 16 bytes. Each thread gives
/// the address (i64) of one row: threads 0 to 7 those of the first matrix. Transposed matrices are of 16 bits.
llvm::SmallVector<mlir::Value> loadMatrices(lower::Writer &w, mlir::Value row, bool isTransposed);

/// Adds the products of 32 bytes of steps to the four sums that a thread has of a tile of 16 by 8. `element` is the
/// type of the left factor's numbers, and registers are i32.
llvm::SmallVector<mlir::Value> multiplyMatrices(lower::Writer &w, mlir::Type element, llvm::ArrayRef<mlir::Value> a,
                                                llvm::ArrayRef<mlir::Value> b, mlir::ValueRange sums);

/// Waits for all threads of the block as a barrier does; returns (i32) for how many of them the condition is true.
mlir::Value countThreads(lower::Writer &w, mlir::Value condition);

} // namespace ingot::targets::cuda
