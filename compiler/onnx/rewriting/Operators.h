// Finds the ops of the dialect by the names that operators have in model files, and names the attribute by which the
// importer passes the declared outputs to graph::resolve.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// Returns the op of the dialect that stands for an operator of ONNX or another domain; nothing: there is none.
std::optional<mlir::RegisteredOperationName> lookupOperator(mlir::MLIRContext *context, llvm::StringRef domain,
                                                            llvm::StringRef op);

/// Whether a version of a domain is newer than the newest one with which the definitions have been compared.
bool isNewer(llvm::StringRef domain, int64_t opset);

/// Returns why nodes of an operator are refused in that version of its domain; empty: they are not. Operators of a
/// version newer than all known ones have the meaning that the newest known one defines.
std::string whyRefused(mlir::MLIRContext *context, llvm::StringRef domain, llvm::StringRef op, int64_t opset);

/// Returns how many results ops of this name have; nothing: as many as the node names.
std::optional<unsigned> resultCount(mlir::RegisteredOperationName info);

/// The function's attribute with a dictionary for each of the model's outputs, until they are resolved: `name`, what is
/// declared (`element`: ONNX's number, `rank`, `dims`, `sequence`, `optional`) and the `keys` of maps.
inline constexpr llvm::StringLiteral outputsName = "onnx.outputs";

} // namespace ingot::onnx
