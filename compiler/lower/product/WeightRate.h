// How fast weights come, by the cache in which they stay, and how kernels go over those that come from memory.
//
// While all tiles go over a panel of them, the next one is fetched. Of a long panel much of that has left the second
// cache again when it is needed. So all tiles go over a part of it before any goes on, and their sums wait on the stack
// (docs/decisions/long-panels.md).
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

/// Returns the bytes of a panel that all tiles of a block of rows read before any of them reads on.
int64_t panelPartBytes(const target::MachineModel &machine);
/// Returns the bytes of all sums that may wait on the stack.
int64_t waitingBytes(const target::MachineModel &machine);

} // namespace ingot::lower
