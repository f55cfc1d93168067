// Reads and writes choices that have fixed words on the command line or in an attribute. A table beside each enum says
// which word stands for which value. A word is read where it comes in; everything behind that compares values.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace ingot::support {

/// A row of the table that `wordsOf(Value)` returns, which is a function beside the type of the value.
template <typename Value> struct Word {
  Value value;
  llvm::StringLiteral word;
  llvm::StringLiteral help = ""; ///< what the value means, for the help of the flag; may be empty
};

template <typename Value>
std::optional<Value> valueOf(llvm::StringRef word, llvm::ArrayRef<Word<Value>> words = wordsOf(Value())) {
  const auto *row = llvm::find_if(words, [&](const Word<Value> &known) { return known.word == word; });
  return row == words.end() ? std::nullopt : std::optional(row->value);
}

/// Returns the word of a value. It is empty where the table has none, as for defaults that no flag can ask for.
template <typename Value> std::string wordOf(Value value, llvm::ArrayRef<Word<Value>> words) {
  const auto *row = llvm::find_if(words, [&](const Word<Value> &known) { return known.value == value; });
  return row == words.end() ? "" : row->word.str();
}
template <typename Value> std::string wordOf(Value value) { return wordOf<Value>(value, wordsOf(value)); }

} // namespace ingot::support
