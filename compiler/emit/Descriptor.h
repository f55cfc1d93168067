// The ingot_model of runtime_support/include/ingot.h as data: what the object's constants and the C++ source's
// initializers are both written from.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// An ingot_model but for its addresses: fields are named as there.
struct Descriptor {
  struct Tensor {
    std::string name;
    int32_t type;
    std::vector<int64_t> dims; ///< as ingot_tensor_info.dims has them
    int64_t elements, bytes;
    uint32_t flags;
    int32_t inPlaceOf, device;
  };
  struct Symbol {
    std::string name;
    int64_t least, most;
  };
  struct Device {
    std::string target;
    int64_t workspaceBytes, weightBytes;
    bool isEmbedded; ///< its weights are in the section, from weightsAt on
    int64_t weightsAt;
    uint32_t flags;
    const DeviceCode *code; ///< its kernels and images; they live as long as what describe() was given
  };
  uint32_t abi, flags;
  std::string name, target;
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> nodes;
  std::vector<Symbol> symbols; ///< those that a run finds behind those that its caller chooses
  int32_t symbolCount, foundCount;
  int64_t workspaceBytes, workspaceAlign, weightBytes;
  uint64_t weightHash;
  std::vector<int32_t> levels;
  std::vector<Device> devices;
};

Descriptor describe(const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices);

} // namespace ingot::emit
