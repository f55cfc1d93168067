// Writes the pages of `ingot report` and `ingot quantize`: everything in one HTML file, which needs no server and no
// network.
#pragma once
#include "compiler/pipeline/Pipeline.h"

namespace ingot::report {

/// The time that a launch takes in one run, on average.
struct LaunchTime {
  int64_t launch = 0; ///< number in Result::launches
  double seconds = 0, calls = 0;
};

/// What the page says besides the result of the compilation.
struct PageFacts {
  std::string model, target;
  std::string variant;             ///< the variant that was measured, "seq = 64"; empty: the general one
  double medianSeconds = 0;        ///< 0: not measured
  std::vector<LaunchTime> kernels; ///< empty: not measured
};

/// Returns the text of the page.
std::string pageText(const pipeline::Result &result, const PageFacts &facts);

/// Returns the text of the page of a quantization, from its report as JSON.
std::string quantizedPageText(llvm::StringRef json);

} // namespace ingot::report
