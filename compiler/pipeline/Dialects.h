// Loads the dialects that the phases use.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace ingot::pipeline {

void registerDialects(mlir::DialectRegistry &registry);

} // namespace ingot::pipeline
