// Tells what operations on vectors do to memory, and which of them lanes may do one after the other.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ingot::emit::cpp {

/// Returns the type of a vector; null where the value is none.
mlir::VectorType vectorOf(mlir::Value value);
bool hasVectors(mlir::Operation *op);

/// The elements that an operation reads or writes: those of lane L lie L behind the first, unless they are `scattered`.
struct LaneAccess {
  mlir::Value memory, first;
  bool writes = false, scattered = false;
};

/// Returns what an operation accesses; nothing where it is none on memory.
std::optional<LaneAccess> accessOf(mlir::Operation *op);

/// Whether each lane may do one operation and then the other, where all lanes did the first one and then the second.
bool mayInterleave(const LaneAccess &a, const LaneAccess &b, int64_t lanes);

} // namespace ingot::emit::cpp
