// Finds, from how a mask of attention is computed, behind which key a query looks at none: its scores there are minus
// infinity, and weigh nothing. A causal mask, the length of a sentence, and the rows of a cache that are not written
// yet are of this kind.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// A query looks at no key behind `place` + `more`. `place` is of integers and broadcasts to [..., queries, 1]. The sum
/// may wrap around only to the largest number, which allows all keys.
struct LastKey {
  mlir::Value place;
  int64_t more = 0; ///< at most 0
};

/// Reads a condition [..., queries, keys], with so many keys, under which a query looks at a key; where `holds` is
/// false, under which it does not. Nothing: no comparison of the keys' numbers with another number is found, which is
/// not an error.
std::optional<LastKey> lastKeyWhere(mlir::Value condition, const Size &keys, bool holds = true);

/// Reads a mask [..., queries, keys] that is added to the scores.
std::optional<LastKey> lastKeyOf(mlir::Value mask, const Size &keys);

/// Returns whether all elements of `v` are minus infinity.
bool isMinusInfinity(mlir::Value v);

} // namespace ingot::onnx
