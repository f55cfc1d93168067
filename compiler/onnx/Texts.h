// Strings in the graph. A tensor of strings is computed by onnx.Text alone, each of which is a call of the support
// library; constants are no onnx.Constant but strings of a pool by their numbers ("spell").
#pragma once
#include "compiler/onnx/Formula.h"
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// Bytes of the tables of runtime_support/core/text.h.
std::vector<char> poolOf(llvm::ArrayRef<llvm::StringRef> texts);
/// Of equal keys the first one is found.
std::vector<char> keysOf(llvm::ArrayRef<llvm::StringRef> keys);
std::vector<char> keysOf(llvm::ArrayRef<int64_t> keys);
std::vector<char> lettersOf(bool upper);

/// Calls f(letter, its other case) for all letters that have one.
void eachLetter(bool upper, llvm::function_ref<void(uint32_t, uint32_t)> f);
/// The text in lower case; what is not UTF-8 stays.
std::string lowerCase(llvm::StringRef text);

/// What an onnx.Text does besides taking operands.
struct TextCall {
  llvm::StringRef does;         ///< the function of the support library, ingot_text_...
  int64_t to;                   ///< ONNX's number of the result's element type
  std::vector<char> table = {}; ///< empty: none
  int64_t number = 0;
  std::optional<Size> tail = std::nullopt; ///< of an axis behind those of the operand
};
mlir::Value makeText(Formula &f, llvm::ArrayRef<mlir::Value> xs, TextCall call);

/// The texts of these numbers.
mlir::Value spell(Formula &f, mlir::Value numbers, llvm::ArrayRef<llvm::StringRef> texts);
/// The number of each string among the keys; of one that is none, their number, or the run fails.
mlir::Value find(Formula &f, mlir::Value strings, llvm::ArrayRef<llvm::StringRef> keys, bool isNeeded = false);
/// A constant.
mlir::Value spelled(mlir::OpBuilder &b, mlir::Location loc, mlir::DenseStringElementsAttr texts);

/// Cast, where one of the types is that of strings.
mlir::Value castText(Formula &f, mlir::Value x, int64_t to);

/// A list of strings that is an attribute; a tensor of them, too.
llvm::SmallVector<llvm::StringRef> textsIn(const Node &node, llvm::StringRef name);

/// Whether the op makes strings that are nowhere yet.
bool makesStrings(mlir::Operation *op);

} // namespace ingot::onnx
