// How far what a quantized model computes is from what the model computed.
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

/// Over all values that were added, in one sum: those of several runs count as one tensor.
struct Similarity {
  double product = 0, squares = 0, others = 0, errors = 0;
  int64_t count = 0;

  void add(llvm::ArrayRef<float> expected, llvm::ArrayRef<float> got);
  double cosine() const;
  /// 10 log10 of the power of the signal over that of the error, in dB; at most 200.
  double sqnr() const;
};

/// The elements of a tensor as floats, whatever type they have.
std::vector<float> floatsOf(const importer::HostTensor &tensor);
/// A float32 tensor as one of floats of 16 bits.
importer::HostTensor narrowed(const importer::HostTensor &tensor, int32_t type);

} // namespace ingot::driver
