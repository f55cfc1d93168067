// What a search for tokens does with scores [rows, vocabulary], given the tokens [rows, length] before them.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// The most tokens of an n-gram: each of them is compared by an op of its own, so that a larger number is refused.
inline constexpr int64_t kMostTokensInARow = 256;

/// Returns the scores with `blocked` for each token that would complete an n-gram (`n` tokens in a row) that a row has
/// already. Tokens are not negative; a run fails where one lies outside of the vocabulary.
mlir::Value withoutRepeats(Formula &f, mlir::Value scores, mlir::Value tokens, int64_t n, double blocked);

} // namespace ingot::onnx
