// Collects what is known of the single channels of a value: extremes and second moments.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace ingot::quantizer {

class Channels {
public:
  /// Takes values in, whose channels lie along `axis`; a negative one counts from the end. Values that are not finite
  /// are left out.
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis);
  /// Adds the products of any two channels, which must be the last axis, to the upper triangle of a matrix. A row with
  /// a value that is not finite is left out.
  void addMoments(llvm::ArrayRef<float> values, int64_t channels);
  void addMoments(const Channels &other);

  llvm::ArrayRef<float> largest() const { return magnitudes; } ///< the largest magnitude of each channel
  llvm::ArrayRef<float> lows() const { return least; }         ///< the least value of each channel, at most 0
  llvm::ArrayRef<float> highs() const { return greatest; }     ///< the largest value of each channel, at least 0
  std::vector<double> powers() const;                          ///< the mean square of each channel
  llvm::ArrayRef<float> moments() const { return products; }
  /// Whether the moments say something: they are finite, and one of them is not 0.
  bool hasMoments() const;

private:
  std::vector<float> magnitudes, least, greatest, products;
  std::vector<double> squares;
  int64_t count = 0; ///< the number of values of a channel
};

} // namespace ingot::quantizer
