// Reads arrays in numpy's own format (.npy).
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

/// Returns the array that `bytes` hold, in row-major order and little-endian whatever the file has. `path` is for the
/// message.
llvm::Expected<importer::HostTensor> readNumpyArray(const std::string &path, llvm::StringRef bytes);

} // namespace ingot::driver
