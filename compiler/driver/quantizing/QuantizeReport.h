// Writes what `ingot quantize` tells of what it did.
#pragma once
#include "compiler/driver/execution/Similarity.h"
#include "compiler/quantizer/NarrowFloats.h"
#include "compiler/quantizer/Options.h"
#include "compiler/quantizer/Overflow.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::driver {

/// How often values occur between two ends, in parts as wide as each other.
struct Distribution {
  double low = 0, high = 0;
  std::vector<int64_t> counts;
};

struct LayerFacts {
  std::string name, op;
  std::string form;                        ///< the scheme of its weights; empty: it stays in float
  std::string kept;                        ///< why it stays in float; empty: it is quantized
  bool hasRange = false;                   ///< whether the range of the activations that it reads is known
  double low = 0, high = 0;                ///< the least and the largest number that are represented
  std::optional<quantizer::Method> method; ///< how the range was found
  double smoothing = -1;                   ///< the exponent by which what it reads was smoothed; negative: it was not
  /// How similar its result is to that in the model as it was; nothing: it was not measured.
  std::optional<Similarity> similarity = {};
  double alone = -1; ///< 1 - cosine of the model's outputs, least over them, when nothing else is quantized
  int64_t bytesBefore = 0, bytesAfter = 0;      ///< bytes of its weights
  double secondsBefore = -1, secondsAfter = -1; ///< seconds of the kernel that has it
  double share = -1;                            ///< the part that this kernel has of a run, afterwards
  /// The values that it reads and its weights, for the page: of the layers with the largest errors.
  std::optional<Distribution> reads = {}, weights = {};
};

struct OutputFacts {
  std::string name;
  bool isFloat = false;
  Similarity similarity = {};          ///< the similarity of floats
  int64_t differing = 0, elements = 0; ///< elements of other types
};

struct QuantizeFacts {
  std::string path;
  std::vector<LayerFacts> layers;
  std::vector<OutputFacts> outputs;        ///< empty: nothing was measured
  quantizer::NarrowFacts nodes;            ///< for fp16 and bf16
  std::vector<quantizer::KeptNode> beyond; ///< fp16: nodes that stay in float32 since values would be lost
  int64_t samples = 0, bytesBefore = 0, bytesAfter = 0;
  int64_t texts = 0;                            ///< texts by which weights were rounded, written by the model
  int64_t heldOut = 0;                          ///< samples by which something was chosen; 0: nothing was
  double secondsChosen = 0;                     ///< how long that took
  double secondsBefore = -1, secondsAfter = -1; ///< seconds of a run; negative: they were not measured

  std::vector<std::string> warnings;

  /// Returns the least cosine of the outputs that are floats and have something to compare; nothing: there are none.
  std::optional<double> leastCosine() const;
};

/// Whether a report is a page, by the name of its file.
inline bool isPage(llvm::StringRef path) { return path.ends_with(".html"); }

std::string quantizeText(const quantizer::Options &options, const QuantizeFacts &facts);
/// Returns one JSON object.
std::string quantizeJson(const quantizer::Options &options, const QuantizeFacts &facts);

} // namespace ingot::driver
