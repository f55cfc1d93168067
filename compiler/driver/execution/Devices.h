// Opens the devices of this host on which a model runs, each with its workspace and a copy of the weights that it
// reads. All executions of a loaded model share them, one run at a time: memory that has been given back is given out
// again, so that a run which is like an earlier one has its addresses, too, and a device may repeat what it did (a
// graph of launches).
#pragma once
#include "compiler/target/Target.h"
#include "runtime_support/include/ingot.h"

namespace ingot::driver {

class Devices {
public:
  explicit Devices(const ingot_model &model) : model(model) {}
  Devices(const Devices &) = delete;
  ~Devices() { close(); }

  /// Makes them ready for runs with these sizes; `weights` as in ingot_exec. The model has to stay loaded.
  llvm::Error open(const int64_t *sizes, const void *weights);
  /// Gives back all memory and code, but not the devices themselves. No execution may hold any of it.
  void close();
  /// Memory of a device, for a tensor that is bound to it.
  struct Held {
    int32_t number;
    int64_t bytes;
    void *memory;
  };
  /// Returns memory with a copy of `data`, unless that is null, until giveBack().
  llvm::Expected<Held> hold(int32_t number, int64_t bytes, const void *data);
  void giveBack(const Held &held) { unused.push_back(held); }
  llvm::Error download(int32_t number, void *to, const void *from, int64_t bytes) const;
  const ingot_device_use *uses() const { return all.empty() ? nullptr : all.data(); }
  /// Returns what the device that a status is about says of it; empty: nothing.
  std::string message(int status) const;

private:
  llvm::Error failure(int32_t number, int status) const;
  llvm::Error openDevices();
  llvm::Expected<Held> take(int32_t number, int64_t bytes);

  const ingot_model &model;
  std::vector<std::unique_ptr<target::OpenDevice>> opened; ///< devices, which stay open when sizes change
  std::vector<ingot_device_use> all;
  std::vector<int64_t> workspaceBytes; ///< of each of `all`
  std::vector<Held> unused;
};

} // namespace ingot::driver
