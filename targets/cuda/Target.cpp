// Describes NVIDIA's GPUs, as devices beside the host: `cuda:sm_80,x86-64-v3`. Their kernels are images of PTX
// (Images.h), for one architecture or several (`cuda:sm_80+sm_90`). Of several the oldest is what the partition
// estimates by. The driver compiles the PTX of the oldest for GPUs that are newer than all of them.
#include "compiler/target/Target.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/Images.h"
#include "targets/cuda/Recurrences.h"
#include "targets/cuda/device/include/ingot_cuda.h"
#include "llvm/Support/TargetSelect.h"

using namespace ingot::target;
using llvm::StringRef;

namespace {

using namespace ingot::targets::cuda;

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

/// What runs attain of a data sheet's peaks is not known as long as none has been measured: a quarter of the arithmetic
/// and half of the bandwidth are guesses, and so are the times until a copy or a kernel begins.
MachineModel::Rates ratesOf(const Architecture &oldest) {
  double multiplyAdds = oldest.flops / 2;
  return {multiplyAdds / 4, multiplyAdds / 8, oldest.bytes / 2, 5e-6};
}

/// One thread alone has so small a part of these rates: a guess, by which it reads 8 bytes from memory in half a
/// microsecond.
constexpr double threadsAtWork = 50'000;

class OpenGpu final : public OpenDevice {
public:
  explicit OpenGpu(ingot_cuda *gpu) : gpu(gpu) {}
  ~OpenGpu() override { ingot_cuda_close(gpu); }
  OpenGpu(const OpenGpu &) = delete;
  const ingot_device &device() const override { return *ingot_cuda_device(gpu); }

private:
  ingot_cuda *gpu;
};

class CudaTarget final : public Target {
public:
  StringRef name() const override { return "cuda"; }

  std::vector<Level> levels() const override {
    std::vector<Level> levels;
    for (const Architecture &row : architectures()) {
      levels.push_back({std::string("cuda:") + row.name, std::string("an NVIDIA GPU beside the host: ") + row.card +
                                                             (row.isAlone() ? " and no other" : " and later") +
                                                             "; + joins several"});
    }
    return levels;
  }

  bool accepts(StringRef spec) const override { return spec == "cuda" || spec.starts_with("cuda:"); }

  llvm::Expected<MachineModel> machine(StringRef spec) const override {
    llvm::Expected<Request> request = readRequest(spec);
    if (!request) {
      return request.takeError();
    }
    initializeBackEnd();
    const Architecture &oldest = *request->architectures.front();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = "nvptx64-nvidia-cuda";
    machine.cpu = oldest.name;
    machine.features = oldest.features;
    machine.lanes = 1; // of a thread
    machine.registers = 64;
    machine.gatherLoads = false;
    machine.memoryOperands = false;
    machine.f16Conversions = true;
    machine.matmulTile = {4, 4};
    machine.tuning.unroll = 1; // loops are LLVM's and ptxas' to unroll
    machine.tuning.convUnroll = 1;
    machine.tuning.chains = 2;
    machine.tuning.itemElements = 1;
    machine.tuning.lightItems = machine.tuning.heavyItems = 4096;
    machine.hasOwnMemory = true;
    machine.itemsAreThreads = true;
    machine.team = 128;
    machine.limits = {4096, 1024, request->wgmma ? sharedBytesOfHopper : sharedBytesOfAll};
    if (request->emulated) { // which takes all that it can, since it is for tests of kernels
      constexpr double atOnce = std::numeric_limits<double>::infinity();
      machine.rates = {atOnce, atOnce, atOnce, 0};
    } else {
      machine.rates = ratesOf(oldest);
      machine.upload = machine.download = {10e-6, oldest.link};
    }
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.stackBytes = 64 << 10; // of memory that is a thread's own
    return platform;
  }

  std::string hostLacks(const MachineModel &) const override { return ""; }

  std::string refuses(mlir::Operation *op, const MachineModel &) const override { return families.refuses(op); }

  double seconds(mlir::Operation *op, const Work &work, const MachineModel &machine) const override {
    MachineModel::Rates rates = *machine.rates;
    if (llvm::isa<ingot::onnx::RecurrenceOp>(op) && std::isfinite(rates.multiplyAdds)) {
      return Recurrences::seconds(op, work, machine);
    }
    if (families.isSerial(op)) {
      rates.multiplyAdds /= threadsAtWork;
      rates.operations /= threadsAtWork;
      rates.bytes /= threadsAtWork;
    }
    return secondsFor(work, rates);
  }

  const ingot::lower::KernelFamily *family(mlir::Operation *op, const MachineModel &) const override {
    return families.of(op);
  }

  const ImageTarget *images(const MachineModel &) const override { return &maker; }

  llvm::Expected<std::unique_ptr<OpenDevice>> open(const MachineModel &) const override {
    ingot_cuda *gpu = nullptr;
    char why[INGOT_CUDA_WHY_BYTES] = "the host has no memory left";
    if (ingot_cuda_open(nullptr, &gpu, why, sizeof why)) {
      return llvm::createStringError(why);
    }
    return std::make_unique<OpenGpu>(gpu);
  }

private:
  Families families;
  Images maker;
};

} // namespace

namespace ingot::targets::cuda {
std::unique_ptr<Target> create() { return std::make_unique<CudaTarget>(); }
} // namespace ingot::targets::cuda
