// The loopback device's code where it is of another architecture than the host: shared objects, which Worker.c opens.
#pragma once
#include "compiler/target/Image.h"

namespace ingot::targets::loopback {

class Images final : public target::ImageTarget {
public:
  /// Makes an image for each architecture of the machine's spec.
  llvm::Expected<std::vector<target::Image>> images(mlir::ModuleOp module, llvm::ArrayRef<std::string> kernels,
                                                    const target::MachineModel &machine) const override;
};

/// Returns `machine` with LLVM's triple, CPU and features of the architecture.
target::MachineModel machineOf(const std::string &architecture, target::MachineModel machine);

} // namespace ingot::targets::loopback
