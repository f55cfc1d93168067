// Indices that are read while the model runs: checked, brought into range, turned into offsets. Shared by the families
// Gather and Scatter.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/elements/Lookup.h"

namespace ingot::lower {

/// A buffer walked by strides of a lookup.
Access walked(Buffer buffer, llvm::ArrayRef<support::Size> strides);

/// What a lookup adds to the offset in the data at a point where `indices` is read: bad indices are reported, and
/// clamped.
Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, llvm::ArrayRef<Ix> at);

/// Runs `body`, which looks up `count` places or fewer. An axis of size zero has no valid index at all: then the run
/// fails instead, if there is anything to look up.
void wherePlaces(Build &build, const onnx::Lookup &lookup, Ix count, llvm::function_ref<void()> body);

} // namespace ingot::lower
