// How fast weights come, by the cache in which they stay, and how kernels go over those that come from memory.
//
// While all tiles go over a panel of them, the next one is fetched. Of a long panel much of that has left the second
// cache again when it is needed. So a panel is cut along K into chunks: all tiles go over a chunk before any goes on to
// the next one, and their accumulators are spilled to the stack meanwhile (docs/decisions/long-panels.md).
#pragma once
#include "compiler/plan/Layout.h"
#include "compiler/target/MachineModel.h"

namespace ingot::lower {

/// Returns the cycles of arithmetic and of what memory has to give meanwhile: a part of the shorter one is not hidden
/// behind the longer one.
double together(double arithmetic, double memory);

/// Returns the bytes a cycle of data with `bytes` bytes that is read again and again.
double rateOf(double bytes, const target::MachineModel &machine);

/// Returns the bytes a cycle of the kernel's weights when they are read for the first time in a run: they come from
/// where the weights of the whole model stay from one run to the next.
double weightRateOf(plan::KernelOp kernel, const target::MachineModel &machine);

/// Notes the bytes of a module's constants in an attribute, since looking for them again for each kernel takes as long
/// as the square of the model. The phases that choose algorithms do it first, and forget it when all are chosen.
void noteWeights(mlir::ModuleOp module);
void forgetWeights(mlir::ModuleOp module);

/// Returns the cycles of arithmetic while `bytes` bytes of weights come: the longer ones count.
double whileWeightsCome(double arithmetic, double bytes, plan::KernelOp kernel, const target::MachineModel &machine);

/// Returns the bytes of a K-chunk: so much of a panel is read by all tiles of a block of rows before any reads on.
int64_t chunkBytesOfPanel(const target::MachineModel &machine);
/// Returns the bytes of accumulators that may be spilled to the stack.
int64_t mostSpilledBytes(const target::MachineModel &machine);

} // namespace ingot::lower
