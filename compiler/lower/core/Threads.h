// Kernels whose work items are blocks of threads (Grid in Family.h). All threads of a block run the function with the
// same range of one item; what they do differs by their numbers.
//
// In loop IR these are calls of three functions, which no library has: the target that makes the image defines them, by
// an instruction or a register (compiler/target/Image.h).
//
//   i64 ingot_thread(i32 axis)    void ingot_barrier()    ptr ingot_shared()
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Returns the number of this thread in its block along an axis.
Ix threadNumber(Writer &w, int32_t axis = 0);
/// Waits for all threads of the block: behind it each sees what the others wrote before it, into memory that they
/// share, results of the kernel and scratch. All threads of a block call it, or none.
void barrier(Writer &w);
/// Returns the memory that the threads of a block share, with KernelShape::grid's bytes; Writer::scratch takes pieces
/// of it.
Buffer sharedMemory(Writer &w, int64_t bytes);

} // namespace ingot::lower
