// Declares code for a device that the host cannot run: a target makes images of the kernels that the device is to run,
// and the library carries them as bytes (ingot_image in ingot.h). A target without images leaves its kernels in the
// host's object, as functions.
#pragma once
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace ingot::target {

/// The resources of the device that one kernel takes, for the manifest; -1 where the target does not know.
struct KernelNeeds {
  int64_t registers = -1;    ///< registers of a thread
  int64_t scratchBytes = -1; ///< bytes of a thread's own memory
  int64_t sharedBytes = -1;  ///< bytes of a block's memory
};

/// The code of all kernels of a device, for one kind of it.
struct Image {
  std::string target; ///< the kind, as the device's driver calls it: an architecture
  std::string bytes;
  std::vector<KernelNeeds> needs; ///< one for each kernel, in their order; empty: nothing is known
};

/// Makes images.
class ImageTarget {
public:
  virtual ~ImageTarget() = default;

  /// At least one image with all of these kernels. `module` is loop IR: for each kernel a function of its name,
  ///
  ///   @KERNEL(buffers..., sizes: index..., begin: index, end: index) -> () or i32
  ///
  /// which runs work items [begin, end) and whose i32 is a status; the target may change and consume the module. Where
  /// a function has plan::gridName, an item is a block, which each of its threads calls for, and the module declares
  /// the functions of compiler/lower/core/Threads.h, which the image defines. An image has for each kernel an entry of
  /// its name, which gets its arguments as ingot_launch says. What compiler/emit/DeviceObject.h offers goes all the way
  /// to an object file for machines that LLVM knows. The error is the target's fault, and tells what it is.
  virtual llvm::Expected<std::vector<Image>> images(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels,
                                                    const MachineModel &machine) const = 0;
};

} // namespace ingot::target
