// Writes weights as integers.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::quantizer {

struct WeightOptions {
  bool perTensor = false; ///< one scale for a weight in place of one for each output channel
  /// Whether scales are so large that sums of products of neighbouring input channels fit into 16 bits, whatever bytes
  /// they are multiplied with: machines that multiply pairs of bytes and have no dot product of four can take them.
  /// Recurrent layers do without.
  bool shortSums = false;
};

struct Int8Weights {
  std::vector<int8_t> values;
  std::vector<float> scales; ///< one for each output channel, or one for all
};

/// Returns why integers cannot stand for the values of a weight or a bias, "has 2 values that are infinite or no
/// numbers"; empty: they can.
std::string problemOf(llvm::ArrayRef<float> values);
/// Returns why a weight is 0 in integers, though it is not 0; empty: it is not. A small bias may be.
std::string problemOfSmall(llvm::ArrayRef<float> values);

/// Quantizes weights symmetrically, so that zero is zero. No scale is smaller than its `least`, so that a bias in steps
/// of it fits into 32 bits.
Int8Weights quantizeWeights(llvm::ArrayRef<float> values, const Layer &layer, WeightOptions options,
                            llvm::ArrayRef<float> least = {});

/// The place of each value along an axis, which is (i / inner) % count for value i.
struct AxisPlaces {
  int64_t inner = 1, count = 1;
  AxisPlaces(llvm::ArrayRef<int64_t> dims, int axis);
  size_t place(size_t i) const { return i / size_t(inner) % size_t(count); }
};

/// The channels that each weight of a layer joins. A group of a convolution reads channels of its own.
class WeightChannels {
public:
  explicit WeightChannels(const Layer &layer)
      : outputs(layer.dims, layer.axis), inputs(layer.dims, layer.isRecurrent() ? 2 : 1 - layer.axis),
        groups(size_t(layer.groups)) {}
  size_t inputCount() const { return size_t(inputs.count) * groups; }
  size_t outputCount() const { return size_t(outputs.count); }
  size_t output(size_t i) const { return outputs.place(i); }
  size_t input(size_t i) const { return output(i) * groups / outputCount() * size_t(inputs.count) + inputs.place(i); }

private:
  AxisPlaces outputs, inputs;
  size_t groups;
};

} // namespace ingot::quantizer
