// The factor of an inverse that GPTQ takes from the second moments of activations (E. Frantar et al., "GPTQ: Accurate
// Post-Training Quantization for Generative Pre-trained Transformers", 2022).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace ingot::quantizer {

/// U, upper triangular, where U' U is the inverse of a symmetric matrix of n by n, of which the upper triangle is read;
/// what is below U's diagonal is not defined. A hundredth of the diagonal's mean is added to the diagonal, and more
/// where the matrix is not positive then: values that are always zero count as independent of all others, and so do all
/// where an element is infinite.
std::vector<double> inverseFactor(llvm::ArrayRef<float> matrix, int64_t n);

} // namespace ingot::quantizer
