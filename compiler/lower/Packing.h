// Says how the constants of kernels become the bytes of the weights section.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Returns the recipe for a constant whose bytes are copied as they are.
plan::WeightTable::Recipe plainRecipe(mlir::Value constant);

/// Returns the recipe for the constant that a kernel of this shape has as its operand `number`.
plan::WeightTable::Recipe recipeOf(plan::KernelOp kernel, const KernelShape &shape, unsigned number);

} // namespace ingot::lower
