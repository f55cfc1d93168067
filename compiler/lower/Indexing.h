// Indices that are read while the model runs: checked, brought into range, turned into offsets. Shared by the families
// Gather and Scatter.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/Lookup.h"

namespace ingot::lower {

/// What a lookup adds to the offset in the data at a point where `indices` is read: bad indices are reported, and
/// clamped.
Ix lookedUp(Build &build, const onnx::Lookup &lookup, const Access &indices, llvm::ArrayRef<Ix> at);

/// Whether some part of the lookup has no valid index at all (an axis of size zero).
bool hasNoPlaces(const onnx::Lookup &lookup);

} // namespace ingot::lower
