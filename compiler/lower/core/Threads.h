// Kernels whose work items are blocks of threads (Grid in Family.h). All threads of a block run the function with the
// same range of one item; what they do differs by their numbers.
//
// In loop IR these are calls of functions, which no library has: the target that makes the image defines them, by an
// instruction or a register (compiler/target/Image.h).
//
//   i64 ingot_thread(i32 axis)    void ingot_barrier()    ptr ingot_shared()    i32 ingot_exchange(i32 value, i32
//   distance)
//
// Only machines with MachineModel::team have the last one.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Returns the number of this thread in its block along an axis.
Ix threadNumber(Writer &w, int32_t axis = 0);
/// Waits for all threads of the block: behind it each sees what the others wrote before it, into memory that they
/// share, results of the kernel and scratch. All threads of a block call it, or none.
void barrier(Writer &w);
/// Returns the value of the thread whose number differs from this one's in the bit `distance`, below 32: a number of at
/// most 64 bits. All threads of a group of 32 call it.
mlir::Value exchange(Writer &w, mlir::Value v, int64_t distance);
/// Returns the memory that the threads of a block share, with KernelShape::grid's bytes; Writer::scratch takes pieces
/// of it.
Buffer sharedMemory(Writer &w);

} // namespace ingot::lower
