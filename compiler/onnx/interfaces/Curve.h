// What is known of the numbers that elementwise ops make, and of how long they take.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// An element takes a dozen instructions or more.
template <typename Op> class LongFormula : public mlir::OpTrait::TraitBase<Op, LongFormula> {};

/// What no number of an integer type of at most 32 bits exceeds, nor the difference of two; infinity for other types.
double largestOf(mlir::Type element);

} // namespace ingot::onnx

#include "compiler/onnx/interfaces/Curve.h.inc"
