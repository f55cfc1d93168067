// Loads a compiled model: the very shared library that `compile --emit shared` writes, which is called through its
// public entry, in this process or, with a runner, on another machine.
#pragma once
#include "compiler/driver/execution/DataSet.h"
#include "compiler/driver/execution/Manifest.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <optional>

namespace ingot::driver {

class Devices;
class Execution;
class ModelElsewhere;
struct BoardRun;
class Runner;

/// Returns what this host lacks to run code for `spec`, one element of --target; empty when it can, or when nobody
/// knows it.
std::string hostLacks(const std::string &spec);
/// Returns the error for the first of several --target that this host cannot run.
llvm::Error checkTargets(llvm::ArrayRef<std::string> specs);

/// The resources of their process that runs get: threads, and the level that they shall not exceed (0: that of the
/// machine).
class RunThreads {
public:
  /// `here`: runs are in this process.
  explicit RunThreads(int count, int32_t level = 0, bool here = true);
  ~RunThreads() { ingot_pool_destroy(pool); }
  RunThreads(const RunThreads &) = delete;
  const ingot_exec *exec() const { return &host; }
  int requested() const { return wanted; } ///< 0: all that there are
  int32_t level() const { return host.level; }

private:
  ingot_pool *pool = nullptr;
  int wanted = 1;
  ingot_exec host = {};
};

class LoadedModel {
public:
  /// Loads NAME.so beside the manifest, and NAME.weights when the model needs it; with a runner, there. In this process
  /// they stay loaded when the files are removed.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const std::string &manifestPath,
                                                           const Runner *runner = nullptr);
  ~LoadedModel();

  /// Returns what the model says of itself; the functions in it can be called only in this process.
  const ingot_model &model() const { return *entry; }
  const Manifest &manifest() const { return facts; }
  /// Returns the weights for ingot_exec; null when the model has its weights in itself, or is elsewhere.
  const void *weights() const { return forRuns; }

  std::unique_ptr<Execution> execution(const RunThreads &threads) const;
  /// Returns the memory and instructions that the last run took of a board; nothing where models do not run on one.
  std::optional<BoardRun> lastBoardRun() const;
  /// Returns the devices of this process on which the model runs, opened by the first execution that needs them.
  Devices &devices() const { return *ownDevices; }

private:
  LoadedModel();
  llvm::Error open(llvm::StringRef path);

  Manifest facts;
  void *library = nullptr;
  const ingot_model *entry = nullptr;
  ingot_weights mapped = {nullptr, 0};
  ingot_reader reader = {}; ///< of a model that streams its weights
  const void *forRuns = nullptr;
  std::unique_ptr<ModelElsewhere> elsewhere; ///< null in this process
  std::unique_ptr<Devices> ownDevices;       ///< null with a runner
};

/// Runs once on recorded inputs, in buffers of its own.
llvm::Expected<std::vector<HostTensor>> runOnce(const LoadedModel &model, const RunThreads &threads,
                                                const DataSet &data);

} // namespace ingot::driver
