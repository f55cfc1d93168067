// Runs models on boards: `--runner 'board NAME'`. The model's object becomes a program with runtime_support/boards/
// program.c, the core of the support library and what the board needs to start; the C compiler that the board names
// builds it. Each run of it reads the inputs from a file and writes the outputs to another, byte by byte as program.c
// says.
#pragma once
#include "compiler/driver/execution/Runner.h"

namespace ingot::driver {

class BoardModel final : public ModelElsewhere {
public:
  /// Builds the program of `object`, NAME.o beside the manifest.
  static llvm::Expected<std::unique_ptr<BoardModel>> load(const Runner &runner, const Manifest &manifest,
                                                          const std::string &object);

  std::unique_ptr<Execution> execution(int threads, int32_t level) const override;
  std::optional<BoardRun> lastRun() const override { return last; }

  /// Runs the program, and returns its reply to the request.
  llvm::Expected<std::string> exchange(const std::string &request) const;

  /// Keeps what a run took: bytes of stack, what the board counted, and the bytes of workspace, inputs and outputs.
  void noteRun(int64_t stack, int64_t counted, int64_t ram) const;

private:
  BoardModel(const Board &board, const Manifest &manifest, std::string folder);
  llvm::Error writeFiles() const;
  llvm::Error build(const std::string &object) const;
  llvm::Error lacks(llvm::StringRef program) const;
  llvm::Error buildError(const std::string &output) const;
  std::string in(llvm::StringRef file) const;

  const Board &board;
  const Manifest facts;
  const std::string folder; ///< with the program, the request and the reply
  mutable std::optional<BoardRun> last;
};

} // namespace ingot::driver
