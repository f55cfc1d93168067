// Reads a node as its file has it, which is an onnx.Node, in the words of the standard.
#pragma once
#include "compiler/onnx/expanded/Node.h"
#include "compiler/support/Problems.h"

namespace ingot::graph {

using support::Problems;
using support::quoted;
using support::Where;

/// A graph that is an attribute of a node.
struct Subgraph {
  llvm::StringRef attribute; ///< "body"
  mlir::Block *block;
  llvm::SmallVector<llvm::StringRef> inputNames, outputNames;
  llvm::SmallVector<mlir::Type> inputTypes, outputTypes; ///< the types that the file declares; null: it declares none
  llvm::SmallVector<mlir::Value> inputs, outputs;

  /// The rank of the number of an iteration, 0 or 1, which its first input declares.
  int numberRank() const;
};

struct Node {
  explicit Node(onnx::NodeOp op);

  onnx::NodeOp written;
  mlir::Location loc;
  llvm::StringRef kind, domain; ///< "Conv", ""
  int64_t opset;
  llvm::SmallVector<mlir::Value> inputs; ///< null: the input is left out
  mlir::ResultRange outputs;
  llvm::SmallVector<Subgraph, 0> subgraphs;
  mlir::DictionaryAttr attributes;
  mlir::ArrayAttr inputNames, outputNames;

  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i]; }
  /// Whether the node gives its output a name; outputs without one are not wanted.
  bool isNamed(size_t output) const { return !nameOf(outputNames, output).empty(); }
  int64_t integer(llvm::StringRef attribute, int64_t otherwise) const;
  Where where() const;
  static llvm::StringRef nameOf(mlir::ArrayAttr names, size_t i) {
    return i < names.size() ? mlir::cast<mlir::StringAttr>(names[i]).getValue() : "";
  }
};

} // namespace ingot::graph
