// Has the facts of a build that a manifest takes beside those of the model.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::emit {

/// The version of manifests. It counts up when a field that readers know is renamed, goes, or changes its meaning; new
/// fields do not count.
inline constexpr int64_t manifestVersion = 1;

/// The facts of a build that a manifest has besides those of the model.
struct BuildInfo {
  int64_t version = manifestVersion;
  int64_t abi = 0, codeBytes = 0;
  std::vector<std::string> files = {}; ///< the other artifacts, without folders
};

} // namespace ingot::emit
