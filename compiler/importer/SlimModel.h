// Reads the bytes of a model without its weights, which is the first step. A walk over the mapped file copies
// everything that describes the graph into a small buffer for protobuf to parse, and leaves the tensors' data where
// they are: each `raw_data` becomes a four-byte number, the index of a slice of the mapping. So protobuf never copies a
// weight, and a file of any size can be read.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace ingot::importer {

struct SlimModel {
  std::string bytes;                   ///< the bytes of a ModelProto
  std::vector<llvm::StringRef> slices; ///< slices of the file, in the order of their numbers
};

/// Walks a ModelProto. The error says what is malformed and at which byte.
llvm::Expected<SlimModel> slimModel(llvm::StringRef file);

/// Returns the number that stands in the place of a tensor's raw data.
std::optional<uint32_t> sliceIndex(llvm::StringRef rawData);

} // namespace ingot::importer
