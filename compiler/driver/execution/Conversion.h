// Converts recorded tensors to the element type that a model's input has.
#pragma once
#include "compiler/importer/TensorFile.h"

namespace ingot::driver {

/// Returns a tensor with its elements as another type. Floats are rounded to the nearest; integers and booleans have to
/// hold each value as it is. The error says what they cannot hold, and the caller puts the file's name in front.
llvm::Expected<importer::HostTensor> convertedTo(int32_t type, const importer::HostTensor &tensor);

} // namespace ingot::driver
