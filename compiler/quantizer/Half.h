// Floats of 16 bits in place of those of 32.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// A value of the graph that has a narrow form, and the name of that.
struct NarrowForm {
  std::string value, narrow;
};

struct HalfFacts {
  int64_t converted = 0, kept = 0; ///< nodes that compute with floats
  std::vector<NarrowForm> forms;   ///< of the graph's nodes and inputs, not of bodies
};

/// `type`: importer::kFloat16 or kBFloat16. `keep`: names of nodes that go on computing in float32; `keepIo`: inputs
/// and outputs of the model stay float32.
HalfFacts writeHalf(Model &model, int32_t type, llvm::ArrayRef<std::string> keep, bool keepIo);

} // namespace ingot::quantizer
