// What operations on vectors do to memory, and which of them lanes may do one after the other.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ingot::emit::cpp {

/// Null where the value is no vector.
mlir::VectorType vectorOf(mlir::Value value);
bool hasVectors(mlir::Operation *op);

/// Elements that an operation reads or writes, those of lane L at L behind the first unless they are `scattered`.
struct Access {
  mlir::Value memory, first;
  bool writes = false, scattered = false;
};

/// Nothing where the operation is none on memory.
std::optional<Access> accessOf(mlir::Operation *op);

/// Whether lanes may do both in turn where it was the first one in all lanes, then the second.
bool mayTakeTurns(const Access &a, const Access &b, int64_t lanes);

} // namespace ingot::emit::cpp
