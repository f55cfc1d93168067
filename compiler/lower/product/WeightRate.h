// Estimates how many bytes of weights a kernel can read in a cycle, which depends on the cache that holds them, and
// cuts panels that come from memory.
//
// A kernel prefetches the next panel of weights while its tiles of rows multiply the present one. When panels are long,
// the beginning of the next one has been evicted from the second cache before it is read. So a panel is cut along K
// into chunks: all tiles multiply a chunk before any of them goes on to the next chunk. Between two chunks the
// accumulators of a tile are spilled to the stack (docs/decisions/long-panels.md).
#pragma once
#include "compiler/plan/Layout.h"
#include "compiler/target/MachineModel.h"

namespace ingot::lower {

/// Returns the cycles of arithmetic that overlaps with reading and writing memory: those of the longer one, and a
/// quarter of those of the shorter one, which is not hidden.
double overlappedCycles(double arithmetic, double memory);

/// Returns how many bytes a cycle can read of `bytes` bytes that are read again and again: the rate of the smallest
/// cache that holds them, or of memory.
double rateOf(double bytes, const target::MachineModel &machine);

/// Returns how many bytes of its weights a kernel can read in a cycle for the first time in a run. They come from the
/// cache that holds the weights of the whole model from one run to the next, or from memory.
double weightRateOf(plan::KernelOp kernel, const target::MachineModel &machine);

/// Notes the bytes of a module's constants in an attribute of it. To count them again for each kernel would take time
/// in proportion to the square of the model. Phases that choose algorithms call noteWeights() first, and
/// forgetWeights() when all algorithms are chosen.
void noteWeights(mlir::ModuleOp module);
void forgetWeights(mlir::ModuleOp module);

/// Returns the cycles of arithmetic or of reading `bytes` bytes of weights, whichever are more.
double whileWeightsCome(double arithmetic, double bytes, plan::KernelOp kernel, const target::MachineModel &machine);

/// Returns the bytes of a chunk of a panel.
int64_t chunkBytesOfPanel(const target::MachineModel &machine);
/// Returns the bytes of accumulators that may be spilled to the stack.
int64_t mostSpilledBytes(const target::MachineModel &machine);

} // namespace ingot::lower
