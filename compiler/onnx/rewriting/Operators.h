// Finds operators by the names that models have for them, and has what the importer notes for graph::resolve.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// Returns the op of an operator; nothing: there is none.
std::optional<mlir::RegisteredOperationName> lookupOperator(mlir::MLIRContext *context, llvm::StringRef domain,
                                                            llvm::StringRef op);

/// Whether a domain's version is one with which nobody has compared the definitions.
bool isNewer(llvm::StringRef domain, int64_t opset);

/// Returns why no node of an operator is taken, as that version of its domain defines it; empty: it is known. In a
/// version newer than all known ones, operators are taken as the newest known one defines them.
std::string whyRefused(mlir::MLIRContext *context, llvm::StringRef domain, llvm::StringRef op, int64_t opset);

/// Returns how many results ops of this name have; nothing: as many as the node names.
std::optional<unsigned> resultCount(mlir::RegisteredOperationName info);

/// The function's attribute with a dictionary for each of the model's outputs, until they are resolved: `name`, what is
/// declared (`element`: ONNX's number, `rank`, `dims`, `sequence`, `optional`) and the `keys` of maps.
inline constexpr llvm::StringLiteral outputsName = "onnx.outputs";

} // namespace ingot::onnx
