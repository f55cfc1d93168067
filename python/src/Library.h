// Opens a compiled model, the shared library NAME.so, with its weights.
#pragma once
#include "runtime_support/include/ingot.h"
#include <string>

namespace ingot::python {

class Library {
public:
  /// Loads the library at `path`, whose model is called `name`. Throws std::runtime_error with a sentence.
  Library(const std::string &path, const std::string &name, const std::string &weightsPath);
  ~Library();
  Library(const Library &) = delete;

  const ingot_model &model() const { return *entry; }
  const void *weights() const { return forRuns; }

private:
  void open(const std::string &path, const std::string &name, const std::string &weightsPath);

  void *handle = nullptr;
  const ingot_model *entry = nullptr;
  ingot_weights mapped = {nullptr, 0};
  ingot_reader reader = {}; ///< of a model that streams its weights
  const void *forRuns = nullptr;
};

/// Returns the threads for runs with so many of them (0: all processors), which all models of the process share; null
/// for one. A process that was forked off gets new ones.
const ingot_exec *sharedThreads(int count);

} // namespace ingot::python
