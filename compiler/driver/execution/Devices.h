// Opens the devices of this host on which a model runs, each with its workspace and a copy of the weights that it
// reads.
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
  /// Gives back what open() and hold() took, but for the devices themselves.
  void close();
  /// Returns memory of a device until the next open(), for a tensor that is bound to it; with a copy of `data` unless
  /// that is null.
  llvm::Expected<void *> hold(int32_t number, int64_t bytes, const void *data);
  llvm::Error download(int32_t number, void *to, const void *from, int64_t bytes) const;
  const ingot_device_use *uses() const { return all.empty() ? nullptr : all.data(); }
  /// Returns what the device that a status is about says of it; empty: nothing.
  std::string message(int status) const;

private:
  llvm::Error failure(int32_t number, int status) const;

  const ingot_model &model;
  std::vector<std::unique_ptr<target::OpenDevice>> opened; ///< devices, which stay open when sizes change
  std::vector<ingot_device_use> all;
  std::vector<std::pair<int32_t, void *>> held;
};

} // namespace ingot::driver
