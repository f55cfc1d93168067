// A compiled model in this process: the very shared library that `compile --emit shared` writes, called through its
// public entry.
#pragma once
#include "compiler/driver/DataSet.h"
#include "compiler/driver/Manifest.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>

namespace ingot::driver {

class LoadedModel {
public:
  /// Loads NAME.so beside the manifest. It stays loaded when the files are removed.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const std::string &manifestPath);
  ~LoadedModel();

  const ingot_model &model() const { return *entry; }
  const Manifest &manifest() const { return facts; }

private:
  LoadedModel() = default;
  Manifest facts;
  void *library = nullptr;
  const ingot_model *entry = nullptr;
};

/// Threads for runs; null for one thread.
class Threads {
public:
  explicit Threads(int count);
  ~Threads() { ingot_pool_destroy(pool); }
  Threads(const Threads &) = delete;
  const ingot_exec *exec() const { return pool ? ingot_pool_exec(pool) : nullptr; }
  int count() const;

private:
  ingot_pool *pool = nullptr;
};

/// Buffers for one model: inputs, outputs and workspace, aligned to 64 bytes, outputs and workspace with a guard behind
/// them.
class Execution {
public:
  Execution(const LoadedModel &model, const ingot_exec *exec);

  /// Copies recorded inputs in; the error says which does not fit the model.
  llvm::Error setInputs(llvm::ArrayRef<HostTensor> inputs, const std::string &folder);

  /// The same values each time: floats from -1 to 1, integers 0 or 1 (they may be indices).
  void setRandomInputs();

  /// One run through ingot_run; its status.
  int run();

  /// The error that a status stands for. With status 0: whether something was written behind a buffer.
  llvm::Error check(int status) const;

  std::vector<HostTensor> outputs() const;

private:
  struct Free {
    void operator()(char *data) const;
  };
  using Memory = std::unique_ptr<char, Free>;
  static Memory allocate(int64_t bytes);
  static bool guardIsIntact(const Memory &memory, int64_t bytes);

  const ingot_model &model;
  const ingot_exec *exec;
  std::vector<Memory> inputMemory, outputMemory;
  Memory workspace;
  std::vector<ingot_buffer> inputs, outputBuffers;
};

/// One run on recorded inputs, in buffers of its own.
llvm::Expected<std::vector<HostTensor>> runOnce(const LoadedModel &model, const Threads &threads, const DataSet &data);

} // namespace ingot::driver
