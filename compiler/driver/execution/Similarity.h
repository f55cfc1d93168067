// Measures how far what a quantized model computes is from what the model computed.
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

/// The similarity over all values that were added, in one sum: those of several runs count as one tensor.
struct Similarity {
  double product = 0, squares = 0, others = 0, errors = 0;
  int64_t compared = 0; ///< elements that are finite in both
  int64_t lost = 0;     ///< elements that are finite in one of the two only, or that only one of them has

  void add(llvm::ArrayRef<float> expected, llvm::ArrayRef<float> got);
  /// Whether there was nothing finite to compare: neither of the numbers below says anything then.
  bool isEmpty() const { return compared + lost == 0; }
  bool isEqual() const { return compared > 0 && lost == 0 && errors == 0; }
  /// Returns the cosine; 0 where elements are lost, or one of the two is zero and the other is not.
  double cosine() const;
  /// Returns 10 log10 of the power of the signal over that of the error, in dB; at most 200, which is what equal ones
  /// have. Minus infinity where elements are lost, or there is no signal.
  double sqnr() const;
  /// Returns "cosine 0.999412, 37.1 dB", or that there is none and why.
  std::string text() const;
};

/// Returns how many elements of two tensors of any type differ.
int64_t differing(const importer::HostTensor &expected, const importer::HostTensor &got);

/// Returns the elements of a tensor as floats, whatever type they have.
std::vector<float> floatsOf(const importer::HostTensor &tensor);
/// The elements of a tensor as floats, as long as the tensor is there: those of float32 are where they are, since
/// copies of all that a large model computes would take as long as to look at it.
class Floats {
public:
  explicit Floats(const importer::HostTensor &tensor);
  Floats(const Floats &) = delete;
  operator llvm::ArrayRef<float>() const { return elements; }

private:
  std::vector<float> converted;
  llvm::ArrayRef<float> elements;
};

/// Returns a float32 tensor as one of floats of 16 bits.
importer::HostTensor narrowed(const importer::HostTensor &tensor, int32_t type);

} // namespace ingot::driver
