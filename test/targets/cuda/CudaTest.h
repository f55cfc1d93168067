// Tests of targets/cuda/device open a GPU of the emulator here, with the kernels of Kernels.c.
#pragma once
#include "ingot_cuda.h"
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace ingot::cuda_test {

/// What the emulator can be told and asked (emulator/Driver.cpp).
struct Emulator {
  Emulator();
  void (*set)(const char *text);
  int64_t (*calls)(), (*commands)(), (*heldBytes)(), (*graphLaunches)(), (*launches)(), (*pinnedBlocks)();
};
const Emulator &emulator();

/// Returns the bytes of the library of Kernels.c.
const std::string &kernelsImage();

/// All kernels of Kernels.c, and what images of them a model has.
struct Model {
  std::vector<ingot_kernel> kernels;
  std::vector<ingot_image> images;
  ingot_device_info info = {};

  /// Images of these names.
  explicit Model(const std::vector<const char *> &architectures = {"sm_80", "emulated"});
  int32_t numberOf(const std::string &kernel) const;
};

/// An open GPU with a model's code, or `why` not.
class Gpu {
public:
  explicit Gpu(const Model &model, const ingot_cuda_settings &settings = {});
  ~Gpu();
  Gpu(const Gpu &) = delete;

  std::string why; ///< empty if all went well
  const ingot_device *device = nullptr;

  /// Null after a failure, of which `message` tells.
  float *allocate(size_t elements) const;
  void release(void *memory) const { device->release(device->context, memory); }
  int upload(void *to, const std::vector<float> &from) const;
  int download(std::vector<float> &to, const void *from) const;
  int launch(const char *kernel, std::vector<uint64_t> words, int64_t items) const;
  int wait() const { return device->wait(device->context); }
  std::string message() const;

private:
  const Model &model;
  ingot_cuda *gpu = nullptr;
  void *code = nullptr;
};

inline uint64_t wordOf(const void *address) { return reinterpret_cast<uintptr_t>(address); }

} // namespace ingot::cuda_test
