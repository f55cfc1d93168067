// What a board is: a file NAME.json (runtime_support/boards) that says which targets it runs, how its program is
// compiled and linked, and how an emulator, or a command of the user's, runs it. docs/using/boards.md describes it.
#pragma once
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace ingot::driver {

struct Board {
  struct TargetRow {
    std::string target;
    std::vector<std::string> flags; ///< of the C compiler
  };
  std::string name, sentence;
  std::string folder;             ///< where its other files are; empty: they are in this program
  std::vector<TargetRow> targets; ///< the first is taken where the user names none
  std::vector<std::string> compiler, sources, run;
  std::string script;             ///< the linker's
  std::string packages;           ///< of Debian's that have its programs
  double instructionsPerTick = 0; ///< instructions for each that the program counts; 0: it does not count them

  /// Returns the row of a target, or null.
  const TargetRow *rowOf(llvm::StringRef target) const;
};

/// Returns what stands behind "board" in the text of --runner; nothing where that starts a command.
std::optional<std::string> boardOf(llvm::StringRef runner);

/// Returns the board of this name, or that of a file NAME.json of the user's.
llvm::Expected<Board> findBoard(const std::string &name);

/// Returns the target to compile for where the user gives these; the error says what the board runs.
llvm::Expected<std::string> boardTarget(const Board &board, llvm::ArrayRef<std::string> targets);

} // namespace ingot::driver
