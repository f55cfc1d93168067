// A device with a memory of its own, on this machine (device/Device.h). `loopback` takes every op, `loopback:Conv+Relu`
// only those that are named, `loopback:%7` about half of all kinds of
// ops: a hash of the op's name and of this text decides, so that another number is another half. In front of the colon
// stands what kind of device it is: `loopback@2` is another one, `loopback@64k` has so much memory, and `loopback@card`
// costs as much as a card on a bus (`loopback@2@card:Conv`); else it costs nothing, so that the partition by cost
// leaves it all that it takes. Its code is the host's, functions in the host's object, unless it is of another
// architecture: `loopback@riscv64` has an image of its kernels for that one, `loopback@riscv64@aarch64` two, of which
// it takes the one that it is when it is opened (Images.h). With `@blocks` these are kernels of blocks of threads
// (Blocks.h). `loopback@bare` has no kernels at all, indices of `loopback@riscv64@short` have 32 bits and its addresses
// 64, and launches of `loopback@riscv64@tight` and `@narrow` take little.
#include "compiler/target/Target.h"
#include "Blocks.h"
#include "Images.h"
#include "device/Device.h"
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
  explicit OpenLoopback(const MachineModel &machine) : opened(machine.spec, settingsOf(machine)) {}
  const ingot_device &device() const override { return opened.device(); }
  bool isOpen() const { return opened.isOpen(); }

private:
  ingot::targets::loopback::Device opened;

  static ingot::targets::loopback::Settings settingsOf(const MachineModel &machine) {
    ingot::targets::loopback::Settings settings = ingot::targets::loopback::settingsFromEnvironment();
    settings.memoryBytes = machine.memoryBytes ? machine.memoryBytes : settings.memoryBytes;
    return settings;
  }
};

class LoopbackTarget final : public Target {
public:
  StringRef name() const override { return "loopback"; }

  std::vector<Level> levels() const override { return {{"loopback", "a device with a memory of its own, for tests"}}; }

  bool accepts(StringRef spec) const override {
    return spec.consume_front("loopback") && (spec.empty() || spec.starts_with("@") || spec.starts_with(":"));
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
    if (std::vector<std::string> others = ingot::targets::loopback::architecturesOf(machine.spec); !others.empty()) {
      machine = ingot::targets::loopback::machineOf(others.front(), machine);
    }
    constexpr double atOnce = std::numeric_limits<double>::infinity();
    machine.rates = {atOnce, atOnce, atOnce, 0};
    llvm::SmallVector<StringRef> kinds;
    spec.split(':').first.split(kinds, '@');
    for (StringRef kind : llvm::drop_begin(kinds)) {
      if (!addKind(kind, machine)) {
        return llvm::createStringError(
            "'" + kind + "' is neither a number, nor a size such as 64k, nor 'card', 'riscv64', 'aarch64' or 'blocks'");
      }
    }
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.indexBits = isKind(machine, "short") ? 32 : platform.indexBits;
    return platform;
  }

  llvm::Expected<std::unique_ptr<OpenDevice>> open(const MachineModel &machine) const override {
    auto device = std::make_unique<OpenLoopback>(machine);
    if (!device->isOpen()) {
      return llvm::createStringError("the process of device '" + machine.spec + "' cannot be started");
    }
    return device;
  }

  bool takesCompilersFamilies(const MachineModel &machine) const override { return !isKind(machine, "bare"); }

  const ImageTarget *images(const MachineModel &machine) const override {
    return ingot::targets::loopback::architecturesOf(machine.spec).empty() ? nullptr : &foreign;
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

  const ingot::lower::KernelFamily *family(mlir::Operation *op, const MachineModel &machine) const override {
    return isKind(machine, "blocks") ? blocks.family(op) : nullptr;
  }

private:
  ingot::targets::loopback::Images foreign;
  ingot::targets::loopback::Blocks blocks;

  static bool isKind(const MachineModel &machine, StringRef kind) {
    llvm::SmallVector<StringRef> kinds;
    StringRef(machine.spec).split(':').first.split(kinds, '@');
    return llvm::is_contained(llvm::drop_begin(kinds), kind);
  }

  static bool addKind(StringRef kind, MachineModel &machine) {
    uint64_t number = 0;
    if (kind == "riscv64") { // without vectors
      machine.lanes = 1;
      machine.matmulTile = {4, 1};
      return true;
    }
    if (kind == "aarch64" || kind == "bare" || kind == "short") {
      return true;
    }
    if (kind == "blocks") { // Worker.c
      machine.limits.threads = 64;
      machine.limits.sharedBytes = 64 << 10;
      return true;
    }
    if (kind == "tight" || kind == "narrow") { // than which a target's family may have less sense
      machine.limits = {7 * 8, kind == "tight" ? 64 : 4, kind == "tight" ? 64 : 64 << 10};
      return true;
    }
    if (kind == "card") {
      // A small accelerator: PCI Express 4.0 with eight lanes gives 12 GB/s, a copy begins some 10 us after it was
      // asked for and a kernel 5 us; dense arithmetic is some twenty times that of a CPU's core, memory too.
      machine.upload = machine.download = {10e-6, 12e9};
      machine.rates = {1e12, 100e9, 200e9, 5e-6};
      return true;
    }
    int64_t unit = kind.consume_back("k") ? 1 << 10 : kind.consume_back("m") ? 1 << 20 : 0;
    if (kind.getAsInteger(10, number) || number == 0) {
      return false;
    }
    machine.memoryBytes = static_cast<int64_t>(number) * unit;
    return true;
  }
};

} // namespace

namespace ingot::targets::loopback {
std::unique_ptr<Target> create() { return std::make_unique<LoopbackTarget>(); }
} // namespace ingot::targets::loopback
