// A compiled model in this process: the very shared library that `compile --emit shared` writes, called through its
// public entry.
#pragma once
#include "compiler/driver/DataSet.h"
#include "compiler/driver/HostMemory.h"
#include "compiler/driver/Manifest.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <memory>

namespace ingot::driver {

/// What this host lacks to run code for `spec`, one element of --target; empty when it can, or when nobody knows it.
std::string hostLacks(const std::string &spec);
/// The error for the first of several --target that this host cannot run.
llvm::Error checkTargets(llvm::ArrayRef<std::string> specs);

class LoadedModel {
public:
  /// Loads NAME.so beside the manifest, and NAME.weights when the model needs it. They stay loaded when the files are
  /// removed.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const std::string &manifestPath);
  ~LoadedModel();

  const ingot_model &model() const { return *entry; }
  const Manifest &manifest() const { return facts; }
  /// For ingot_exec; null when the model has its weights in itself.
  const void *weights() const { return mapped.data; }

private:
  LoadedModel() = default;
  Manifest facts;
  void *library = nullptr;
  const ingot_model *entry = nullptr;
  ingot_weights mapped = {nullptr, 0};
};

/// What runs get of this process: threads, and the level that they shall not exceed (0: that of the machine).
class Threads {
public:
  explicit Threads(int count, int32_t level = 0);
  ~Threads() { ingot_pool_destroy(pool); }
  Threads(const Threads &) = delete;
  const ingot_exec *exec() const { return &host; }
  int count() const;

private:
  ingot_pool *pool = nullptr;
  ingot_exec host = {};
};

/// Sizes that a user gives to a model's symbols: by name, or through the shapes of inputs.
struct GivenSizes {
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// Buffers for runs of one model with the same sizes: inputs, outputs and workspace, aligned to 64 bytes, outputs,
/// workspace and what runs allocate with a guard behind them. Inputs are set before the first run.
class Execution {
public:
  Execution(const LoadedModel &model, const ingot_exec *exec)
      : model(model.model()), exec(exec ? *exec : ingot_exec{}) {
    this->exec.weights = model.weights();
    host.serve(this->exec);
  }
  Execution(const Execution &) = delete;

  /// Copies recorded inputs in; their shapes say the sizes of the run. The error says which does not fit the model.
  llvm::Error setInputs(llvm::ArrayRef<HostTensor> inputs, const std::string &folder);

  /// The same values each time: floats from -1 to 1, integers 0 or 1 (they may be indices). Symbols without a size
  /// are 1, with a warning.
  llvm::Error setRandomInputs(const GivenSizes &given);

  /// Once inputs are set: what a run needs, and the value of an expression of the model's symbols; 0 when it has none.
  int64_t workspaceBytes() const { return workspace.bytes; }
  int64_t evaluate(const support::Size &size) const;

  /// One run through ingot_run; its status.
  int run();

  /// The error that a status stands for. With status 0: whether something was written behind a buffer.
  llvm::Error check(int status) const;

  std::vector<HostTensor> outputs() const;

private:
  struct Free {
    void operator()(char *data) const;
  };
  struct Memory {
    std::unique_ptr<char, Free> data;
    int64_t bytes = 0;
  };
  struct Tensor {
    std::vector<int64_t> dims;
    int64_t elements = 1;
    Memory memory;
    void *given = nullptr; ///< by the last run, which allocated this output
  };
  static Memory allocate(int64_t bytes);
  static bool guardIsIntact(const Memory &memory);
  /// Gives back the outputs that the last run allocated.
  void releaseGiven();
  static Tensor makeTensor(const ingot_tensor_info &info, std::vector<int64_t> dims);
  /// Binds the symbols; the input that does not fit is named as one of `folder`.
  llvm::Error bind(llvm::ArrayRef<HostTensor> inputs, const std::string &folder);
  /// Allocates everything for the sizes that were bound.
  llvm::Error prepare();
  llvm::Error failure(int status) const;
  std::string sizesText(const ingot_tensor_info &info) const;

  const ingot_model &model;
  HostMemory host;
  ingot_exec exec;
  std::vector<int64_t> sizes;      ///< of the model's symbols, then what the last run found
  std::vector<int64_t> outputDims; ///< of all outputs, of the last run
  std::vector<Tensor> inputs, outputTensors;
  Memory workspace;
  std::vector<ingot_buffer> inputBuffers, outputBuffers;
};

/// One run on recorded inputs, in buffers of its own.
llvm::Expected<std::vector<HostTensor>> runOnce(const LoadedModel &model, const Threads &threads, const DataSet &data);

} // namespace ingot::driver
