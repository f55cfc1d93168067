// Computes the digest of a run's outputs, by which two runs are known to have given the same bits.
#pragma once
#include "compiler/importer/TensorFile.h"
#include "llvm/Support/SHA256.h"

namespace ingot::driver {

/// The SHA-256 of tensors: for each of them a line with its type and its axes, `float32[2, 3]`, and its elements as
/// they lie in memory, or strings with a line each for their length in front. All NaN are taken for one, with all bits
/// set: IEEE 754 leaves the others to machines.
class Digest {
public:
  void add(const importer::HostTensor &tensor);
  /// Returns 64 hexadecimal digits.
  std::string text() { return digits(hash.final()); }

private:
  llvm::SHA256 hash;

  static std::string digits(llvm::ArrayRef<uint8_t> bytes);
};

} // namespace ingot::driver
