// Computes the factor of an inverse that GPTQ takes from the second moments of activations (E. Frantar et al., "GPTQ:
// Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace ingot::quantizer {

/// Returns U, upper triangular, where U' U is the inverse of a symmetric matrix of n by n. Only the upper triangle of
/// the matrix is read, and what is below U's diagonal is not defined. A hundredth of the diagonal's mean is added to
/// the diagonal, and ten times as much again while the matrix is not positive; so values that are always zero count as
/// independent of all others. All values do where an element is infinite.
std::vector<double> inverseFactor(llvm::ArrayRef<float> matrix, int64_t n);

} // namespace ingot::quantizer
