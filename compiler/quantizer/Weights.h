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
  /// Recurrent layers and several matrices do without.
  bool shortSums = false;
};

struct ByteWeights {
  std::vector<int8_t> values; ///< integers, or codes of float8e4m3fn
  std::vector<float> scales;  ///< one for each output channel, or one for all
};

/// Returns why integers cannot stand for the values of a weight or a bias, "has 2 values that are infinite or no
/// numbers"; empty: they can.
std::string problemOf(llvm::ArrayRef<float> values);
/// Returns why a weight is 0 in integers, though it is not 0; empty: it is not. A small bias may be.
std::string problemOfSmall(llvm::ArrayRef<float> values);

/// Returns the nearest integer of a number below 2^22, halves to the even one. Vectors of old machines have no
/// instruction for it, but a sum with 1.5 * 2^23 has no fraction.
inline float roundedToInteger(float value) {
  constexpr float kRounder = 12582912;
  return value + kRounder - kRounder;
}

/// Quantizes weights symmetrically, so that zero is zero. No scale is smaller than its `least`, so that a bias in steps
/// of it fits into 32 bits.
ByteWeights quantizeWeights(llvm::ArrayRef<float> values, const Layer &layer, WeightOptions options,
                            llvm::ArrayRef<float> least = {});

/// Makes weights numbers of float8e4m3fn, with a scale for each output channel.
ByteWeights float8Weights(llvm::ArrayRef<float> values, const Layer &layer);

/// Returns the bytes of the weights of a layer, a byte each, with their scales.
int64_t bytesOf(const Layer &layer, WeightOptions options);

/// Returns the floats that they stand for.
std::vector<float> valuesOf(const ByteWeights &weights, const Layer &layer);

/// The place of each value along an axis, which is (i / inner) % count for value i.
struct AxisPlaces {
  int64_t inner = 1, count = 1;
  AxisPlaces(llvm::ArrayRef<int64_t> dims, int axis);
  size_t place(size_t i) const { return i / size_t(inner) % size_t(count); }
};

/// Goes through values in their order, and knows the place of each along an axis without a division.
class PlaceWalk {
public:
  explicit PlaceWalk(const AxisPlaces &places) : inner(places.inner), count(places.count) {}
  size_t place() const { return size_t(at); }
  void next() {
    if (++within == inner) {
      within = 0;
      at = at + 1 == count ? 0 : at + 1;
    }
  }

private:
  int64_t inner, count, within = 0, at = 0;
};

/// The channels that each weight of a layer joins. A group of a convolution reads channels of its own.
class WeightChannels {
public:
  explicit WeightChannels(const Layer &layer)
      : outputs(layer.dims, layer.axis), inputs(layer.dims, layer.inputAxis()), groups(size_t(layer.groups)) {}
  size_t inputCount() const { return size_t(inputs.count) * groups; }
  size_t outputCount() const { return size_t(outputs.count); }
  size_t output(size_t i) const { return outputs.place(i); }
  size_t input(size_t i) const { return firstInput(output(i)) + inputs.place(i); }
  /// Calls a function with the number, the input and the output of each of so many weights, in their order.
  template <typename Take> void forEach(size_t weights, Take take) const {
    std::vector<size_t> first(outputCount());
    for (size_t c = 0; c < first.size(); ++c) {
      first[c] = firstInput(c);
    }
    PlaceWalk output(outputs), input(inputs);
    for (size_t i = 0; i < weights; ++i, output.next(), input.next()) {
      take(i, first[output.place()] + input.place(), output.place());
    }
  }

private:
  /// The first channel that an output reads.
  size_t firstInput(size_t output) const { return output * groups / outputCount() * size_t(inputs.count); }
  AxisPlaces outputs, inputs;
  size_t groups;
};

} // namespace ingot::quantizer
