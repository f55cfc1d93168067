// Writes what the operators of ai.onnx.ml do with scores: the transformations that they name, and labels.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// Applies NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT to scores [rows, n]; null, with a message, for other names.
mlir::Value transformedScores(const Node &node, mlir::Value scores, llvm::StringRef how);

/// Joins two columns side by side.
mlir::Value twoColumns(Formula &f, mlir::Value first, mlir::Value second);

/// Returns a node's matrix as rows of floats; one row may be given without its first axis. Null, with a message, where
/// the rank is not known or is another.
mlir::Value rowsOf(const Node &node, mlir::Value x);
inline mlir::Value rowsOf(const Node &node) { return rowsOf(node, node.operand(0)); }

/// Returns the labels of classes [rows], which are numbers. Null without a message where the node has no labels.
mlir::Value labelsOf(const Node &node, mlir::Value classes, llvm::StringRef integers, llvm::StringRef strings);

/// Returns the place of each element in a list of keys, the first of equal ones; an element that is no key gets the
/// number of keys. With `orNaN`, NaN is a key like others.
mlir::Value placeAmong(Formula &f, mlir::Value x, mlir::Value keys, bool orNaN = false);

/// Returns the number of labels, which are integers or strings.
int64_t labelCount(const Node &node, llvm::StringRef integers, llvm::StringRef strings);

/// Returns numbers as a constant of the element type of `like`.
mlir::Value constantLike(Formula &f, llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, mlir::Value like);
inline mlir::Value toFloat(Formula &f, mlir::Value v) { return f.cast(v, f.b.getF32Type(), 1); }

/// Returns an attribute of floats, which is a list or a tensor (NAME_as_tensor).
llvm::SmallVector<double> floatsIn(const Node &node, llvm::StringRef name);
llvm::SmallVector<int64_t> integersIn(const Node &node, llvm::StringRef name);

} // namespace ingot::onnx
