// The page that `ingot report` writes: everything in one HTML file, which needs no server and no network.
#pragma once
#include "compiler/pipeline/Pipeline.h"

namespace ingot::report {

/// Of one run, on average.
struct KernelTime {
  int64_t launch = 0; ///< number in Result::launches
  double seconds = 0, calls = 0;
};

struct Facts {
  std::string model, target;
  std::string body;                ///< which one was measured, "seq = 64"; empty: the general one
  double medianSeconds = 0;        ///< 0: not measured
  std::vector<KernelTime> kernels; ///< empty: not measured
};

std::string pageText(const pipeline::Result &result, const Facts &facts);

} // namespace ingot::report
