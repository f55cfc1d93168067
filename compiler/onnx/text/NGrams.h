// What a search for tokens does with scores [rows, vocabulary], given the tokens [rows, length] before them.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// Of that many tokens at most it is asked whether they have been there: each is an op.
inline constexpr int64_t kMostTokensInARow = 256;

/// The scores with `blocked` for each token that would complete `n` tokens that a row has had already. Tokens are not
/// negative; one outside of the vocabulary ends the run.
mlir::Value withoutRepeats(Formula &f, mlir::Value scores, mlir::Value tokens, int64_t n, double blocked);

} // namespace ingot::onnx
