#include "test/targets/loopback/Images.h"
#include "compiler/emit/DeviceObject.h"
#include "compiler/emit/Linker.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/targets/loopback/device/Device.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace ingot::targets::loopback {

target::MachineModel machineOf(const std::string &architecture, target::MachineModel machine) {
  bool isArm = architecture == "aarch64";
  machine.triple = architecture + "-unknown-linux-gnu";
  machine.cpu = isArm ? "generic" : "generic-rv64";
  machine.features = isArm ? "" : "+m,+a,+f,+d,+c";
  return machine;
}

Expected<std::vector<target::Image>> Images::images(mlir::ModuleOp module, ArrayRef<std::string> kernels,
                                                    const target::MachineModel &machine) const {
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  std::vector<target::Image> all;
  for (const std::string &architecture : architecturesOf(machine.spec)) {
    mlir::OwningOpRef<mlir::ModuleOp> own(module.clone());
    auto object = emit::deviceObject(*own, kernels, machineOf(architecture, machine));
    if (!object) {
      return object.takeError();
    }
    Expected<std::string> image = emit::linkShared(StringRef(object->data(), object->size()), "linking the kernels");
    if (!image) {
      return image.takeError();
    }
    target::KernelNeeds needs;
    needs.sharedBytes = 0; // a block is a thread
    all.push_back({architecture, std::move(*image), std::vector(kernels.size(), needs)});
  }
  return all;
}

} // namespace ingot::targets::loopback
