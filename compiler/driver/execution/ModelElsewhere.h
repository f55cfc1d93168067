// Declares the interface of models that this process cannot load, since they run on another machine (Runner.h) or on a
// board (BoardModel.h).
#pragma once
#include "compiler/driver/execution/Execution.h"
#include "compiler/emit/Descriptor.h"
#include <memory>
#include <optional>

namespace ingot::driver {

/// An ingot_model without functions, and what it points to.
class ModelDescription {
public:
  explicit ModelDescription(emit::Descriptor descriptor);
  ModelDescription(const ModelDescription &) = delete;
  const ingot_model &model() const { return whole; }

  /// Whether dims speak of symbols that are there.
  bool isSound() const;

private:
  const emit::Descriptor from;
  std::vector<ingot_tensor_info> inputs, outputs;
  std::vector<const char *> nodes;
  std::vector<ingot_symbol_info> symbols;
  ingot_model whole = {};
};

/// What a run took of a board; -1: nobody knows.
struct BoardRun {
  std::string board, target;
  int64_t flash = -1, ram = -1;         ///< by the manifest; RAM of open sizes is that of the run
  int64_t stack = -1, stackAtMost = -1; ///< what a painted stack shows, and the manifest's bound
  int64_t instructions = -1;
};

/// A model that runs on another machine or on a board.
class ModelElsewhere {
public:
  virtual ~ModelElsewhere() = default;
  const ingot_model &model() const { return description->model(); }
  virtual std::unique_ptr<Execution> execution(int threads, int32_t level) const = 0;
  /// Returns the memory and instructions that the last run took of a board; nothing where it was on none.
  virtual std::optional<BoardRun> lastRun() const { return std::nullopt; }

protected:
  std::unique_ptr<const ModelDescription> description;
};

/// Returns the error that a model has strings, or nothing.
llvm::Error refuseStrings(const ingot_model &model);

} // namespace ingot::driver
