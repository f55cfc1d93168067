// Holds the ingot_model of runtime_support/include/ingot.h as data, and visits the members of its structures in the
// header's order. Two visitors exist: one writes the constants of the object, the other the initializers of the C++
// source. Invariant: visitMembers() names the members of each structure exactly as the header declares them.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// An ingot_model without addresses. Fields without a comment are what ingot.h says of the member of the same name.
struct Descriptor {
  struct Tensor {
    std::string name;
    int32_t type;
    std::vector<int64_t> dims; ///< sizes; negative codes for open ones, see ingot_tensor_info.dims
    int64_t elements, bytes;
    uint32_t flags;
    int32_t inPlaceOf, device;
  };
  struct Symbol {
    std::string name;
    int64_t least, most;
  };
  // Kernels and images hold references into the `devices` that describe() was given, which has to outlive them.
  struct Kernel {
    llvm::StringRef name;
    llvm::ArrayRef<int64_t> threads; ///< three
    int64_t sharedBytes;
  };
  struct Image {
    llvm::StringRef target, bytes;
    llvm::ArrayRef<std::string> bodies; ///< instead of `bytes`: the kernels whose code is functions of the model
  };
  struct Device {
    std::string target;
    int64_t workspaceBytes, weightBytes;
    bool isEmbedded; ///< whether its weights are in the model's section of weights, from weightsAt on
    int64_t weightsAt;
    uint32_t flags;
    std::vector<Kernel> kernels;
    std::vector<Image> images;
  };
  uint32_t abi, flags;
  std::string name, target;
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> nodes;
  std::vector<Symbol> symbols; ///< first the symbols that the caller chooses, then those that a run finds
  int32_t symbolCount, dataDependentCount;
  int64_t workspaceBytes, workspaceAlign, weightBytes;
  uint64_t weightHash;
  std::vector<int32_t> levels;
  std::vector<Device> devices;
};

Descriptor describe(const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices);

// These visit the members of each structure in the order of the header. An array without elements is a null pointer.

template <typename V> void visitMembers(V &v, const Descriptor::Tensor &tensor) {
  v.text("name", tensor.name);
  v.int32("type", tensor.type);
  v.int32("rank", int64_t(tensor.dims.size()));
  v.int64s("dims", tensor.dims);
  v.int64("elements", tensor.elements);
  v.int64("bytes", tensor.bytes);
  v.int32("flags", tensor.flags);
  v.int32("in_place_of", tensor.inPlaceOf);
  v.int32("device", tensor.device);
}

template <typename V> void visitMembers(V &v, const Descriptor::Symbol &symbol) {
  v.text("name", symbol.name);
  v.int64("least", symbol.least);
  v.int64("most", symbol.most);
}

template <typename V> void visitMembers(V &v, const Descriptor::Kernel &kernel) {
  v.text("name", kernel.name);
  v.threads("threads", kernel.threads);
  v.int32("shared_bytes", kernel.sharedBytes);
}

template <typename V> void visitMembers(V &v, const Descriptor::Image &image) {
  v.text("target", image.target);
  v.bytes("bytes", image.bytes);
  v.int64("size", int64_t(image.bytes.size()));
  v.bodies("bodies", image.bodies);
}

template <typename V> void visitMembers(V &v, const Descriptor::Device &device) {
  v.text("target", device.target);
  v.int64("workspace_bytes", device.workspaceBytes);
  v.int64("weight_bytes", device.weightBytes);
  v.weights("weights", device);
  v.int64("weights_at", device.weightsAt);
  v.int32("flags", device.flags);
  v.int32("kernel_count", int64_t(device.kernels.size()));
  v.int32("image_count", int64_t(device.images.size()));
  v.records("kernels", "ingot_kernel", device.kernels);
  v.records("images", "ingot_image", device.images);
}

template <typename V> void visitMembers(V &v, const Descriptor &model) {
  v.int32("abi", model.abi);
  v.int32("flags", model.flags);
  v.text("name", model.name);
  v.text("target", model.target);
  v.int32("input_count", int64_t(model.inputs.size()));
  v.int32("output_count", int64_t(model.outputs.size()));
  v.int32("node_count", int64_t(model.nodes.size()));
  v.int32("symbol_count", model.symbolCount);
  v.records("inputs", "ingot_tensor_info", model.inputs);
  v.records("outputs", "ingot_tensor_info", model.outputs);
  v.int64("workspace_bytes", model.workspaceBytes);
  v.int64("workspace_align", model.workspaceAlign);
  v.int64("weight_bytes", model.weightBytes);
  v.texts("nodes", model.nodes);
  v.records("symbols", "ingot_symbol_info", model.symbols);
  v.function("plan");
  v.function("run");
  v.hash("weight_hash", model.weightHash);
  v.int32("found_count", model.dataDependentCount);
  v.int32("level_count", int64_t(model.levels.size()));
  v.int32s("levels", model.levels);
  v.int32("device_count", int64_t(model.devices.size()));
  v.records("devices", "ingot_device_info", model.devices);
}

} // namespace ingot::emit
