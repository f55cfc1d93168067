// All op classes of the dialect.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/AllOps.h.inc"
