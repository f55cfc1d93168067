// What `ingot quantize` is asked for.
#pragma once
#include "compiler/quantizer/Weights.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::quantizer {

struct Options {
  std::string output;             ///< the file to write
  std::string scheme = "int8";    ///< int8, int8-dynamic, int4, fp16, bf16
  std::string method = "min-max"; ///< how ranges are chosen: min-max, percentile, entropy, mse
  double percentile = 99.99;      ///< of the values that a range holds, on each side
  bool signedActivations = false; ///< int8, symmetric, in place of uint8
  WeightForm weights;             ///< of int8 and int8-dynamic
  std::vector<std::string> keep;  ///< layers that stay in float
  double maxDrop = -1;            ///< 1 - cosine of the outputs that is allowed; negative: not asked for
  double smooth = -1;             ///< exponent of the activations' part (SmoothQuant); negative: no smoothing
  bool correctBias = false;
  int64_t block = 32;  ///< int4: values that share a scale
  bool gptq = false;   ///< int4: rounding by GPTQ in place of to the nearest
  bool keepIo = false; ///< fp16, bf16: inputs and outputs stay float32
};

} // namespace ingot::quantizer
