// Reads indices while the model runs: they are checked, brought into range and become offsets. The families Gather
// and Scatter share this.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/elements/Lookup.h"

namespace ingot::lower {

/// Returns how a buffer is walked by the strides of a lookup.
Access walked(Buffer buffer, llvm::ArrayRef<support::Size> strides);

/// Returns what a lookup adds to the offset in the data at a point where `indices` is read. Bad indices are reported,
/// and clamped so that the kernel can go on.
Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, llvm::ArrayRef<Ix> at);

/// Runs `body`, which looks up `count` places or fewer. An axis of size zero has no valid index at all, so the run
/// fails instead if there is anything to look up.
void wherePlaces(Build &build, const onnx::Lookup &lookup, Ix count, llvm::function_ref<void()> body);

} // namespace ingot::lower
