// What the operators of ai.onnx.ml do with scores: the transformations that they name, and labels.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT of scores [rows, n]; null, with a message, for other names.
mlir::Value transformedScores(const Node &node, mlir::Value scores, llvm::StringRef how);

/// Two columns side by side.
mlir::Value twoColumns(Formula &f, mlir::Value first, mlir::Value second);

/// A node's matrix as rows of floats, also where it is one row. Null, with a message, where its rank is not known or is
/// another.
mlir::Value rowsOf(const Node &node, mlir::Value x);
inline mlir::Value rowsOf(const Node &node) { return rowsOf(node, node.operand(0)); }

/// The labels of classes by their numbers [rows]. Null without a message where there are none.
mlir::Value labelsOf(const Node &node, mlir::Value classes, llvm::StringRef integers, llvm::StringRef strings);

/// The place of each element in a list of keys, the first of equal ones; of what is none of them, their number. With
/// `orNaN`, NaN is a key like others.
mlir::Value placeAmong(Formula &f, mlir::Value x, mlir::Value keys, bool orNaN = false);

/// The number of labels, of integers or strings.
int64_t labelCount(const Node &node, llvm::StringRef integers, llvm::StringRef strings);

/// Numbers as a constant of the element type of `like`.
mlir::Value constantLike(Formula &f, llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, mlir::Value like);
inline mlir::Value toFloat(Formula &f, mlir::Value v) { return f.cast(v, f.b.getF32Type(), 1); }

/// An attribute of floats, as such or as a tensor (NAME_as_tensor).
llvm::SmallVector<double> floatsIn(const Node &node, llvm::StringRef name);
llvm::SmallVector<int64_t> integersIn(const Node &node, llvm::StringRef name);

} // namespace ingot::onnx
