// Runs a compiled model on Python's objects. A run takes what it needs (buffers that it borrows, workspace, memory for
// strings) from a Context, of which the model keeps those that no run is using; so many threads may run one model.
//
// What a run needs is found in this order: arguments by their places and names, the inputs' memory and shapes, the
// sizes (ingot_bind), what follows from them (ingot_plan), the outputs' memory, given or made. The run itself lets
// other threads have the interpreter.
#pragma once
#include "Buffer.h"
#include "Library.h"
#include "runtime_support/include/ingot.hpp"
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <vector>

namespace ingot::python {

/// What one run has, kept for the next one.
struct Context {
  ~Context();

  std::vector<nanobind::object> inputs, outputs; ///< as given by the caller; null where nothing is
  nanobind::object named;                        ///< the caller's values of sizes, a dictionary, or null
  std::vector<Buffer> inputViews, outputViews;
  std::vector<nanobind::object> shapesHeld; ///< tuples behind `shapes` of inputs that had to be converted
  std::vector<std::vector<int64_t>> converted;
  std::vector<std::vector<ingot_string>> strings; ///< of inputs, then of outputs
  std::vector<ingot_shape> shapes;
  std::vector<ingot_buffer> inputBuffers, outputBuffers;
  std::vector<void *> allocated; ///< outputs for which the run finds the memory
  std::vector<int64_t> sizes, dims;
  Workspace workspace;
  ingot_heap heap = {nullptr, 0};
  ingot_strings made = {nullptr, 0, 0, nullptr};
  ingot_exec exec = {};

  void drop(); ///< gives back what the caller lent
};

class Model {
public:
  Model(const std::string &path, const std::string &name, const std::string &weights, int threads);

  /// Runs: inputs by place or name; `out`, the outputs' memory; `sizes`, values of symbols that no input tells.
  nanobind::object call(nanobind::handle arguments, nanobind::handle named);

  nanobind::dict describe() const;

  int threads = 0; ///< of each run; 0: all processors

private:
  /// A context for as long as a run lasts.
  class Lease;

  void takeArguments(Context &context, nanobind::handle arguments, nanobind::handle named) const;
  void takeOutputs(Context &context, nanobind::handle out) const;
  void borrowInput(Context &context, int32_t number) const;
  void convertInput(Context &context, int32_t number) const;
  void findSizes(Context &context) const;
  void placeOutputs(Context &context) const;
  void placeOutput(Context &context, int32_t number, const int64_t *dims) const;
  void borrowOutput(Context &context, int32_t number, const int64_t *dims) const;
  void checkOverlap(const Context &context, int32_t number) const;
  void run(Context &context) const;
  nanobind::object results(Context &context) const;
  nanobind::object finish(Context &context, int32_t number, const int64_t *dims) const;
  [[noreturn]] void fail(int status) const;

  Library library;
  const ingot_model &model;
  nanobind::dict places; ///< the number of each input by its name
  std::vector<nanobind::object> outputTypes;
  std::vector<bool> isFound; ///< whether a run finds one of the output's sizes
  nanobind::object empty, tensors, errors;

  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Context>> idle;
};

} // namespace ingot::python
