// The kernels of devices with a memory of their own: which ones there are, and where their code is. A device whose
// target makes images (compiler/target/Image.h) gets those, and its kernels leave the module; those of another one stay
// functions of the module.
#pragma once
#include "compiler/target/Image.h"
#include "mlir/IR/BuiltinOps.h"
#include <array>

namespace ingot::emit {

/// The kernels that a model runs on one of its devices, and their code.
struct DeviceCode {
  std::vector<std::string> kernels; ///< functions of the loop IR, in the order of their first calls
  /// For each kernel its attribute plan::gridName, or zeros where a work item is for a single thread.
  std::vector<std::array<int64_t, 4>> grids;
  bool checks = false; ///< some of them check what they read
  std::vector<target::Image> images;
  bool staysInObject() const { return images.empty(); }
};

/// Finds the kernels of `count` devices, and makes a constant of each run.kernel_number.
std::vector<DeviceCode> findDeviceCode(mlir::ModuleOp module, size_t count);

/// Makes the images of devices whose targets do that, from modules of their own; in `module` declarations are left of
/// those kernels. Machines are those of the devices, in their order. Fails with a diagnostic.
mlir::LogicalResult makeImages(mlir::ModuleOp module, llvm::ArrayRef<const target::MachineModel *> machines,
                               std::vector<DeviceCode> &codes);

/// The name of the function that runs a kernel as ingot_image.bodies says it.
std::string deviceBodyName(llvm::StringRef kernel);

/// What the name of a kernel's function ends with in an image, where its entry is called as the kernel is.
inline constexpr llvm::StringLiteral itemsSuffix = "_items";

/// Defines such a function for each kernel, in the LLVM dialect.
void addDeviceBodies(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels);

} // namespace ingot::emit
