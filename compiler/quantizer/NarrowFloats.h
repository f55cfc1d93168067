// Writes a model that computes with floats of 16 bits in place of those of 32.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// A value of the graph that exists as a narrow float, too, and the name of that.
struct NarrowValue {
  std::string value, narrow;
};

struct NarrowFacts {
  int64_t converted = 0, kept = 0; ///< how many nodes compute with narrow floats now, and how many with float32
  std::vector<NarrowValue> values; ///< those of the graph's nodes and inputs, not of bodies
};

/// Converts a model to `type` (importer::kFloat16 or kBFloat16). The nodes with names in `keep` go on computing in
/// float32; with `keepIo` inputs and outputs of the model stay float32.
NarrowFacts writeNarrowFloats(Model &model, int32_t type, llvm::ArrayRef<std::string> keep, bool keepIo);

} // namespace ingot::quantizer
