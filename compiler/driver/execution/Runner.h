// Runs models on another machine: `--runner COMMAND` starts ingot-runner (runtime_support/runner) there, with the
// shared library and files that it reads and writes. The command is an emulator, or ssh to a board that sees the same
// folders. `--runner 'board NAME'` is no command: the model becomes a program for a board (BoardModel.h).
#pragma once
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/driver/execution/Board.h"
#include "compiler/driver/execution/Manifest.h"
#include "compiler/driver/execution/ModelElsewhere.h"

namespace ingot::driver {

/// The user's command, and a folder for what is exchanged with the program that it starts.
class Runner {
public:
  static llvm::Expected<std::unique_ptr<Runner>> create(const std::string &command);
  Runner(const Runner &) = delete;

  /// Returns a path in the folder, which lives as long as this object.
  std::string path(llvm::StringRef name) const;

  /// Returns the board on which models run; null where COMMAND starts ingot-runner.
  const Board *board() const { return onBoard ? &*onBoard : nullptr; }

  /// Starts COMMAND program arguments...
  llvm::Error start(const std::string &program, llvm::ArrayRef<std::string> arguments) const;

private:
  Runner() = default;
  std::string command;
  std::vector<std::string> words; ///< words of the command; the first is the program's path
  std::optional<Board> onBoard;
  TemporaryFolder folder;
};

/// A model as a runner describes it.
class RemoteModel final : public ModelElsewhere {
public:
  static llvm::Expected<std::unique_ptr<RemoteModel>> load(const Runner &runner, const Manifest &manifest,
                                                           const std::string &library);
  std::unique_ptr<Execution> execution(int threads, int32_t level) const override;

  /// Starts the runner on a file with a request, and returns the reply.
  llvm::Expected<std::string> ask(const std::string &request) const;

private:
  RemoteModel(const Runner &runner, std::string program, std::string library, std::string name);
  llvm::Expected<std::string> start(const std::string &verb, const std::string &request) const;

  const Runner &runner;
  std::string program, library, name;
};

} // namespace ingot::driver
