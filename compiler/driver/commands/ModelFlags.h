// Binds the flags that concern the model once, so that every subcommand that compiles one has the same.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include "compiler/support/Words.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ingot::driver {

/// Adds the model's path, and the flags that say how it is compiled.
void addModelFlags(CLI::App &app, Invocation &invocation, const char *modelHelp);
void addLoadTarget(CLI::App &app, Invocation &invocation);
/// Returns those flags on the command line that a compiled model cannot obey any more.
std::vector<std::string> givenCompileFlags(const CLI::App &app);

/// Makes an option take one value each time it is given (CLI11 would take all that follow).
CLI::Option *repeated(CLI::Option *option);

/// Puts options that are added from here on under this title in the help.
void beginGroup(CLI::App &app, const char *title);

/// The words of a table, and a sentence with what they mean: "WHAT: off, 2 (by F(2x2)) or 4; default: off".
struct WordList {
  std::vector<std::string> words, meanings;
  template <typename Value> explicit WordList(llvm::ArrayRef<support::Word<Value>> table) {
    for (const support::Word<Value> &row : table) {
      words.push_back(row.word.str());
      meanings.push_back(words.back() + (row.help.empty() ? "" : " (" + row.help.str() + ")"));
    }
  }
  std::string sentence(const std::string &what, const std::string &standard) const;
};

/// Adds a flag whose values are the words of a table. `standard` says what the default is where that has no word.
template <typename Value>
CLI::Option *addWord(CLI::App &app, const char *flag, Value &value, const char *what, const char *standard = "",
                     llvm::ArrayRef<support::Word<Value>> table = wordsOf(Value())) {
  WordList list(table);
  std::string word = support::wordOf(value, table);
  auto set = [&value, table](const std::string &text) { value = *support::valueOf(text, table); };
  return app.add_option_function<std::string>(flag, set, list.sentence(what, word.empty() ? standard : word))
      ->check(CLI::IsMember(list.words));
}

} // namespace ingot::driver
