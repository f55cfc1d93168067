// The width of an index, as the module's data layout has it. Nothing says 64 bits, which is MLIR's own answer.
#pragma once
#include "mlir/IR/Builders.h"

namespace mlir {
class ModuleOp;
}

namespace ingot::plan {

/// Gives the module its data layout.
void setIndexBits(mlir::ModuleOp module, unsigned bits);

/// In the module around `op`, or around where the builder stands.
unsigned indexBits(mlir::Operation *op);
unsigned indexBits(const mlir::OpBuilder &b);

/// The largest number that an index of so many bits can be.
int64_t mostIndex(unsigned bits);

} // namespace ingot::plan
