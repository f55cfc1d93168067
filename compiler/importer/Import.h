// The importer: an .onnx file becomes a module with one func.func of nodes as they are written (onnx.Node), which
// graph::resolve brings to the newest definition of their ops.
//
//   func.func @NAME(%x: tensor<1x3xf32> {onnx.name = "x", onnx.dims = ["batch", ""]}) -> (tensor<1x3xf32> {onnx.name =
//   "y"})
//
// Weights are resources over the mapped file; nodes' names are locations. Nothing is optimised here.
#pragma once
#include "compiler/importer/ModelFile.h"
#include "compiler/support/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ingot::importer {

struct ImportOptions {
  std::string name = "model";                              ///< the name of the function
  std::map<std::string, int64_t> dims = {};                ///< --dim: symbolic dimensions, by name
  std::map<std::string, std::vector<int64_t>> shapes = {}; ///< --shape: whole shapes, by input name
  std::map<std::string, int64_t> sequences =
      {}; ///< --sequence: tensors of each, by input name, or support::absentLength
  /// The least and the most (nothing: any) of symbols that stay open.
  std::map<std::string, std::pair<int64_t, std::optional<int64_t>>> bounds = {};
  /// The names of axes that may have different sizes beside those that tools are known to use so; "*": all names.
  std::set<std::string> independentDims = {};
};

/// An open axis of an input.
struct OpenAxis {
  std::string symbol; ///< its symbol: the model's, or one that is made for it
  std::string name;   ///< the name that the model gives it; "": none
};

/// Returns the open axes of an imported model's inputs.
std::vector<OpenAxis> openAxes(mlir::func::FuncOp function);

/// Returns the symbols of the axes that a flag names: by the symbol's name, as the model does, or, where that is clear,
/// by support::asWord() of these.
std::vector<std::string> symbolsNamed(llvm::ArrayRef<OpenAxis> axes, llvm::StringRef name);

/// Returns, for each input of an operator that is an op of its own, the element types that its definition takes, by
/// their numbers in ONNX. Several inputs alike have one entry. Empty for operators that are only a way to write others.
std::vector<std::vector<int32_t>> operandTypes(mlir::MLIRContext &context, llvm::StringRef domain, llvm::StringRef op);

/// Return the names of a map's halves among the function's arguments: "x[keys]".
std::string nameOfKeys(llvm::StringRef map);
std::string nameOfValues(llvm::StringRef map);

struct ImportedModel {
  /// The file, which must live as long as the module is used: its constants point into it.
  std::unique_ptr<ModelFile> file;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string warnings = ""; ///< warnings, one a line: "FILE: warning: text"
};

/// Imports a model. Nothing is returned when the file makes no sense. With problems, there may be a model in which more
/// can be found.
std::optional<ImportedModel> importModel(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options,
                                         Problems &problems);

} // namespace ingot::importer
