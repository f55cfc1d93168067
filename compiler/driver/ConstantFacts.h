// Lists the constants of a model file, and who reads them.
#pragma once
#include "compiler/driver/ModelFacts.h"
#include "compiler/importer/Protobuf.h"

namespace ingot::driver {

/// Returns the constants of a model, those of the most bytes first, and equal ones as they stand in the file.
std::vector<ConstantFacts> constantsOf(const onnx::ModelProto &model);

} // namespace ingot::driver
