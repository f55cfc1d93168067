#include "test/targets/loopback/Images.h"
#include "compiler/emit/DeviceObject.h"
#include "compiler/emit/Linker.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/targets/loopback/device/Device.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ingot::targets::loopback {

/// A file of the linker's, gone in the end.
static Expected<std::unique_ptr<FileRemover>> makeFile(StringRef bytes, SmallString<128> &path) {
  int fd = -1;
  if (std::error_code code = sys::fs::createTemporaryFile("loopback", "o", fd, path)) {
    return errorCodeToError(code);
  }
  raw_fd_ostream(fd, /*shouldClose=*/true) << bytes;
  return std::make_unique<FileRemover>(path);
}

/// The object as a shared object, which needs no others.
static Expected<std::string> linked(StringRef object) {
  SmallString<128> from, to;
  Expected<std::unique_ptr<FileRemover>> first = makeFile(object, from);
  Expected<std::unique_ptr<FileRemover>> second = makeFile("", to);
  if (!first || !second) {
    return joinErrors(first.takeError(), second.takeError());
  }
  const char *arguments[] = {"-shared", "-o", to.c_str(), from.c_str()};
  if (Error error = emit::link(arguments, "linking the kernels")) {
    return error;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> image = MemoryBuffer::getFile(to);
  return image ? Expected<std::string>((*image)->getBuffer().str()) : errorCodeToError(image.getError());
}

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
    Expected<std::string> image = linked(StringRef(object->data(), object->size()));
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
