// Changes a model so that it computes the same in float and loses less when it is quantized.
#pragma once
#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace ingot::quantizer {

/// Layers of convolutions or products that read one value, whose channels lie along one axis for all of them.
using Readers = llvm::SmallVector<const Layer *>;

/// Returns those layers of the model's own graph whose value may be smoothed, by the value. Recurrent layers read none
/// such.
std::map<std::string, Readers> readersOf(llvm::ArrayRef<Layer> layers);
/// Returns the axis of the channels of what a layer reads and makes; a negative one counts from the end.
int channelAxis(const Layer &layer);

/// The largest weight that reads each channel of a value, and the largest one as a part of the largest of its output
/// channel, which has a scale of its own.
struct LargestWeights {
  LargestWeights(Model &model, const Readers &readers, size_t channels);
  std::vector<float> absolute, relative;
};

/// Returns a factor for each channel of a value, by which it is divided and the weights of its readers are multiplied:
/// (largest activation)^strength / (largest weight)^(1 - strength), as SmoothQuant has it.
std::vector<float> smoothingOf(const LargestWeights &weights, const Channels &channels, double strength,
                               bool isRelative);
/// Whether the division of a value can be put into constants of the nodes that make it; of products only the layers
/// change.
bool isFree(Model &model, llvm::ArrayRef<Layer> layers, const std::string &value, const Readers &readers);

/// What a value of a smoothed model is in terms of the model before: one of its values, divided by a factor for each
/// channel.
struct Divided {
  std::string from;
  int fromEnd = 1; ///< the place of the channels' axis, counted from the end: 1 is the last one
  std::vector<float> by;
};

/// Divides values by factors, and multiplies the weights of the layers that read them. The division is put into
/// constants in front where that is possible, else it is a Mul. Layers have to be found anew. Returns the values that
/// are others now, or new.
std::map<std::string, Divided> smooth(Model &model, llvm::ArrayRef<Layer> layers,
                                      const std::map<std::string, std::vector<float>> &factors);

} // namespace ingot::quantizer
