// Writes a model that computes with floats of 16 bits in place of those of 32.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// A value of the graph that has a narrow form, and the name of that form.
struct NarrowForm {
  std::string value, narrow;
};

struct HalfFacts {
  int64_t converted = 0, kept = 0; ///< how many nodes compute with narrow floats now, and how many with float32
  std::vector<NarrowForm> forms;   ///< those of the graph's nodes and inputs, not of bodies
};

/// Converts a model to `type` (importer::kFloat16 or kBFloat16). The nodes with names in `keep` go on computing in
/// float32; with `keepIo` inputs and outputs of the model stay float32.
HalfFacts writeHalf(Model &model, int32_t type, llvm::ArrayRef<std::string> keep, bool keepIo);

} // namespace ingot::quantizer
