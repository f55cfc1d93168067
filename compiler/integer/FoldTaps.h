// Makes taps channels, where an image has one channel.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Makes an image of one channel, of which a convolution multiplies a byte at a time, one of four, each moved by a
/// column: four neighbouring taps of a row are channels then, and four or two of them are multiplied together, where
/// the machine has instructions for these. Returns whether there was one.
bool foldTaps(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
