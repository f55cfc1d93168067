// A device with a memory of its own, on this machine (Device.h). `loopback` takes every op, `loopback:Conv+Relu` only
// those that are named, `loopback:%7` half of all ops, the seventh of such halves; `loopback@2` and `loopback@2:Conv`
// are another device of the same kind.
#include "compiler/target/Target.h"
#include "Device.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

class OpenLoopback final : public OpenDevice {
public:
  explicit OpenLoopback(const std::string &spec) : opened(spec, ingot::targets::loopback::settingsFromEnvironment()) {}
  const ingot_device &device() const override { return opened.device(); }
  bool isOpen() const { return opened.isOpen(); }

private:
  ingot::targets::loopback::Device opened;
};

class LoopbackTarget final : public Target {
public:
  StringRef name() const override { return "loopback"; }

  std::vector<Level> levels() const override { return {{"loopback", "a device with a memory of its own, for tests"}}; }

  bool accepts(StringRef spec) const override {
    return spec.consume_front("loopback") && (spec.empty() || spec.starts_with("@2") || spec.starts_with(":"));
  }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = llvm::sys::getDefaultTargetTriple();
    machine.cpu = llvm::StringRef(machine.triple).starts_with("x86_64") ? "x86-64-v2" : "generic"; // can round
    machine.lanes = 4;
    machine.fusedMultiplyAdd = false;
    machine.matmulTile = {4, 2};
    machine.hasOwnMemory = true;
    return machine;
  }

  llvm::Expected<std::unique_ptr<OpenDevice>> open(const MachineModel &machine) const override {
    auto device = std::make_unique<OpenLoopback>(machine.spec);
    if (!device->isOpen()) {
      return llvm::createStringError("the process of device '" + machine.spec + "' cannot be started");
    }
    return device;
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override {
    StringRef list = StringRef(machine.spec).split(':').second;
    if (list.starts_with("%")) {
      bool isOurs = llvm::xxh3_64bits((list + op->getName().getStringRef()).str()) % 2 == 0;
      return isOurs ? "" : "not in this half of all ops";
    }
    llvm::SmallVector<StringRef> claimed;
    list.split(claimed, '+');
    StringRef opName = op->getName().stripDialect();
    return list.empty() || llvm::is_contained(claimed, opName) ? ""
                                                               : "only " + list.str() + " here, not " + opName.str();
  }
};

} // namespace

namespace ingot::targets::loopback {
std::unique_ptr<Target> create() { return std::make_unique<LoopbackTarget>(); }
} // namespace ingot::targets::loopback
