// States facts about elementwise ops: bounds of the numbers that they compute, and whether they take many instructions.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// The trait of ops of which an element takes a dozen instructions or more.
template <typename Op> class LongFormula : public mlir::OpTrait::TraitBase<Op, LongFormula> {};

/// Returns a bound of the magnitudes of all numbers of an integer type of at most 32 bits, and of the differences of
/// two such numbers. Infinity for other types.
double largestOf(mlir::Type element);

} // namespace ingot::onnx

#include "compiler/onnx/interfaces/Curve.h.inc"
