// Strings in the graph. A tensor of strings is computed by onnx.Text alone, each of which is a call of the support
// library; constants are no onnx.Constant but strings of a pool by their numbers ("spell").
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/text/Regex.h"

namespace ingot::onnx {

/// Bytes of the tables of runtime_support/core/text.h.
std::vector<char> poolOf(llvm::ArrayRef<llvm::StringRef> texts);
/// Of equal keys the first one is found.
std::vector<char> keysOf(llvm::ArrayRef<llvm::StringRef> keys);
/// What stands for each of them, and behind these what stands for all else.
std::vector<char> keysOf(llvm::ArrayRef<llvm::StringRef> keys, llvm::ArrayRef<int64_t> values);
std::vector<char> keysOf(llvm::ArrayRef<int64_t> keys);
std::vector<char> lettersOf(bool upper);

struct Gram {
  llvm::SmallVector<int64_t> numbers; ///< at least one
  uint32_t place;                     ///< of its count in the result
};
/// Of n-grams that all differ; those of `least` to `most` numbers are counted, also with up to `skips` others in
/// between.
std::vector<char> gramsOf(llvm::ArrayRef<Gram> grams, int64_t least, int64_t most, int64_t skips);

struct Tokenizer {
  uint64_t kind; ///< an ingot_text_token_kind
  std::vector<Searcher> searchers;
  int64_t least; ///< characters of a token
  bool marks;    ///< whether there are marks in front of each string's tokens and behind them
  llvm::StringRef pad;
};
std::vector<char> tokenizerOf(const Tokenizer &tokenizer);

/// Calls f(letter, its other case) for all letters that have one.
void eachLetter(bool upper, llvm::function_ref<void(uint32_t, uint32_t)> f);
/// The text in lower case; what is not UTF-8 stays.
std::string lowerCase(llvm::StringRef text);

/// The bytes of a table as a constant.
mlir::Value makeTable(Formula &f, std::vector<char> table);

/// What an onnx.Text does besides taking operands.
struct TextCall {
  llvm::StringRef does;         ///< the function of the support library, ingot_text_...
  int64_t to;                   ///< ONNX's number of the result's element type
  std::vector<char> table = {}; ///< empty: none
  int64_t number = 0;
  std::optional<Size> tail = std::nullopt; ///< of an axis behind those of the operand
  bool rows = false;                       ///< in the place of its last axis
  mlir::Value constant = {};               ///< the table as it is there already
};
mlir::Value makeText(Formula &f, llvm::ArrayRef<mlir::Value> xs, TextCall call);

/// The texts of these numbers.
mlir::Value spell(Formula &f, mlir::Value numbers, llvm::ArrayRef<llvm::StringRef> texts);
/// The number of each string among the keys; of one that is none, their number, or the run fails.
mlir::Value find(Formula &f, mlir::Value strings, llvm::ArrayRef<llvm::StringRef> keys, bool isNeeded = false);
/// What stands for the key that each string is, and behind these what stands for all others.
mlir::Value find(Formula &f, mlir::Value strings, llvm::ArrayRef<llvm::StringRef> keys, llvm::ArrayRef<int64_t> values);
/// Numbers that are the same for equal strings, in the order of the strings' bytes or in that in which they occur.
mlir::Value ranks(Formula &f, mlir::Value strings, bool inOrder);
/// A constant.
mlir::Value spelled(mlir::OpBuilder &b, mlir::Location loc, mlir::DenseStringElementsAttr texts);

/// Cast, where one of the types is that of strings.
mlir::Value castText(Formula &f, mlir::Value x, int64_t to);

/// A list of strings that is an attribute; a tensor of them, too.
llvm::SmallVector<llvm::StringRef> textsIn(const Node &node, llvm::StringRef name);

/// Whether the op makes strings that are nowhere yet.
bool makesStrings(mlir::Operation *op);

} // namespace ingot::onnx
