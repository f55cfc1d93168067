// Has what the subcommands have in common: how they end, and how they compile.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include "llvm/Support/Error.h"

namespace ingot::driver {

/// Runs the whole program: parses, runs one subcommand, prints its error. Returns the exit code.
int run(int argc, const char *const *argv);

/// An error that says with which code to exit. Any other error exits with 1.
class ExitError : public llvm::ErrorInfo<ExitError> {
public:
  static char ID;
  ExitError(int code, std::string text) : code(code), text(std::move(text)) {}
  void log(llvm::raw_ostream &out) const override { out << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const int code;
  const std::string text; ///< empty: everything has been said
};

/// Compiles with progress on a terminal; diagnostics, and the times if asked for, go to stderr. An error has been
/// printed. `diagnostics` also gets what was printed.
llvm::Expected<pipeline::Result> compileModel(const Invocation &invocation, const pipeline::Options &options,
                                              std::string *diagnostics = nullptr);

/// Returns a message in which the model is called by what the user knows (Invocation::shownPath).
std::string withShownPath(const Invocation &invocation, std::string text);

llvm::Error compileCommand(const Invocation &invocation);
llvm::Error inspectCommand(const Invocation &invocation);
llvm::Error runCommand(const Invocation &invocation);
llvm::Error verifyCommand(const Invocation &invocation);
llvm::Error benchCommand(const Invocation &invocation);
llvm::Error reportCommand(const Invocation &invocation);
llvm::Error quantizeCommand(const Invocation &invocation);
llvm::Error tuneCommand(const Invocation &invocation);
llvm::Error diffCommand(const Invocation &invocation);
llvm::Error packageCommand(const Invocation &invocation);
llvm::Error targetsCommand(const Invocation &invocation);

} // namespace ingot::driver
