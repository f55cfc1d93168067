// Strings are computed in the graph by onnx.Text alone, each of which calls a function of the support library. A
// constant of strings is no onnx.Constant: it is a pool of different strings, and a tensor of numbers that says which
// of them an element is (spell).
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/text/Regex.h"

namespace ingot::onnx {

/// These return the bytes of tables that runtime_support/core/text.h describes. poolOf() writes a pool of strings.
std::vector<char> poolOf(llvm::ArrayRef<llvm::StringRef> texts);
/// Writes a table of keys whose values are their numbers; the first one is found of equal keys, and the number of keys
/// stands for everything that is none.
std::vector<char> keysOf(llvm::ArrayRef<llvm::StringRef> keys);
/// Writes a table of keys with the value of each, and behind these the value for everything that is no key.
std::vector<char> keysOf(llvm::ArrayRef<llvm::StringRef> keys, llvm::ArrayRef<int64_t> values);
std::vector<char> keysOf(llvm::ArrayRef<int64_t> keys);
std::vector<char> lettersOf(bool upper);

struct Gram {
  llvm::SmallVector<int64_t> numbers; ///< at least one
  uint32_t place;                     ///< of its count in the result
};
/// Writes a tree of n-grams, which all differ. Those of `least` to `most` numbers are counted, with up to `skips`
/// others between two numbers, too.
std::vector<char> gramsOf(llvm::ArrayRef<Gram> grams, int64_t least, int64_t most, int64_t skips);

struct Tokenizer {
  uint64_t kind; ///< an ingot_text_token_kind
  std::vector<Searcher> searchers;
  int64_t least; ///< characters of a token
  bool marks;    ///< whether there are marks in front of each string's tokens and behind them
  llvm::StringRef pad;
};
std::vector<char> tokenizerOf(const Tokenizer &tokenizer);

/// Calls `f` with each letter that has another case, and with that one.
void eachLetter(bool upper, llvm::function_ref<void(uint32_t, uint32_t)> f);
/// Returns the text in lower case; bytes that are not UTF-8 stay as they are.
std::string lowerCase(llvm::StringRef text);

/// Returns the bytes of a table as a constant.
mlir::Value makeTable(Formula &f, std::vector<char> table);

/// The attributes of an onnx.Text, and its table.
struct TextCall {
  llvm::StringRef does;         ///< the function of the support library, ingot_text_...
  int64_t to;                   ///< the number that ONNX has for the result's element type
  std::vector<char> table = {}; ///< empty: none
  int64_t number = 0;
  std::optional<Size> tail = std::nullopt; ///< the size of an axis behind those of the operand; nothing: there is none
  bool rows = false;                       ///< whether that axis stands in place of the operand's last one
  mlir::Value constant = {};               ///< the table where it is a value already
};
mlir::Value makeText(Formula &f, llvm::ArrayRef<mlir::Value> xs, TextCall call);

/// Returns the text that each number stands for.
mlir::Value spell(Formula &f, mlir::Value numbers, llvm::ArrayRef<llvm::StringRef> texts);
/// Returns the number of each string among the keys. A string that is no key gets the number of keys, or makes a run
/// fail where `isNeeded` holds.
mlir::Value find(Formula &f, mlir::Value strings, llvm::ArrayRef<llvm::StringRef> keys, bool isNeeded = false);
/// Returns the value of the key that each string is; the last value is that of a string that is no key.
mlir::Value find(Formula &f, mlir::Value strings, llvm::ArrayRef<llvm::StringRef> keys, llvm::ArrayRef<int64_t> values);
/// Returns numbers that are equal for equal strings. They rise with the bytes of the strings (`inOrder`), or with their
/// first places in the tensor.
mlir::Value ranks(Formula &f, mlir::Value strings, bool inOrder);
/// Returns a constant of strings.
mlir::Value spelled(mlir::OpBuilder &b, mlir::Location loc, mlir::DenseStringElementsAttr texts);

/// Returns `x` cast to a type, where that or its own type is strings.
mlir::Value castText(Formula &f, mlir::Value x, int64_t to);

/// Returns the strings of an attribute, which is a list or a tensor of them.
llvm::SmallVector<llvm::StringRef> textsIn(const Node &node, llvm::StringRef name);

/// Whether the op makes strings that no input and no pool of the model has, so that a run needs memory for them.
bool makesStrings(mlir::Operation *op);

} // namespace ingot::onnx
