// The dialect of the formats that kernels read, beside the one of the standard.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"

#include "compiler/onnx/FormatsDialect.h.inc"

namespace ingot::formats {

#define FAMILY(Name) void register##Name(FormatsDialect &dialect);
#include "compiler/onnx/formats/All.inc"
#undef FAMILY

/// Writes an op of the dialect into a formula.
mlir::Value make(onnx::Formula &f, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace ingot::formats
