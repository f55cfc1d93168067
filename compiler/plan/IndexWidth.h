// The width of an index is what the module's data layout says. Where it says nothing, an index has 64 bits, which is
// MLIR's own answer.
#pragma once
#include "mlir/IR/Builders.h"

namespace mlir {
class ModuleOp;
}

namespace ingot::plan {

/// Gives the module a data layout in which an index has so many bits.
void setIndexBits(mlir::ModuleOp module, unsigned bits);

/// Returns the width of an index in the module around `op`, or around the place where the builder stands.
unsigned indexBits(mlir::Operation *op);
unsigned indexBits(const mlir::OpBuilder &b);

/// Returns the largest number that an index of so many bits can be.
int64_t mostIndex(unsigned bits);

} // namespace ingot::plan
