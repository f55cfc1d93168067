// Says what it costs the layers that read a value when the value and their weights are rounded: the mean square of the
// error that their results get, by the power that each channel of the results has. Errors count as independent of each
// other, so no layer has to be computed.
#pragma once
#include "compiler/quantizer/Adjust.h"
#include "compiler/quantizer/Range.h"
#include <map>

namespace ingot::quantizer {

/// Returns what an error in a channel of the value costs, for each channel: the squares of the weights that read it.
/// `powers` has the results' channels; those of a layer that has none there count as 1.
std::vector<double> costOfChannels(const Index &index, const Readers &readers,
                                   const std::map<std::string, Channels> &powers, size_t count);

/// Returns what it costs that weights are rounded, where each channel of the value has a power, and the weights are
/// multiplied by factors before.
double costOfWeights(const Index &index, const Readers &readers, const std::map<std::string, Channels> &powers,
                     llvm::ArrayRef<double> power, llvm::ArrayRef<float> by, WeightOptions options);

/// The errors of the channels of a value that is divided by factors, and rounded as an encoding says.
class ChannelErrors {
public:
  /// No factors: the value is not divided.
  explicit ChannelErrors(Encoding encoding, std::vector<float> by = {}) : to(encoding), by(std::move(by)) {}
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis);
  /// Returns the sum of the mean squares of the channels, each times its cost.
  double cost(llvm::ArrayRef<double> costs) const;
  const Encoding &encoding() const { return to; }

private:
  Encoding to;
  std::vector<float> by;
  std::vector<double> sums;
  int64_t count = 0; ///< the number of values of a channel
};

} // namespace ingot::quantizer
