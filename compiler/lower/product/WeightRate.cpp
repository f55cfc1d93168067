#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/target/Platform.h"
#include "compiler/target/Roof.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

double ingot::lower::overlappedCycles(double arithmetic, double memory) {
  constexpr double notHidden = 0.25; ///< share of the shorter one
  return std::max(arithmetic, memory) + notHidden * std::min(arithmetic, memory);
}

double ingot::lower::rateOf(double bytes, const target::MachineModel &machine) {
  return bytes <= target::cacheShare * static_cast<double>(machine.l2Bytes)   ? machine.l2Rate
         : bytes <= target::cacheShare * static_cast<double>(machine.l3Bytes) ? machine.l3Rate
                                                                              : machine.memoryRate;
}

static constexpr StringRef bytesName = "ingot.weight_bytes";

static double weightBytes(ModuleOp module) {
  double bytes = 0;
  module.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && op->getNumOperands() == 0 && ingot::onnx::constantOf(op->getResult(0))) {
      bytes += 4.0 * static_cast<double>(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
    }
  });
  return bytes;
}

void ingot::lower::noteWeights(ModuleOp module) {
  module->setAttr(bytesName, Builder(module.getContext()).getF64FloatAttr(weightBytes(module)));
}

void ingot::lower::forgetWeights(ModuleOp module) { module->removeAttr(bytesName); }

double ingot::lower::weightRateOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto noted = module->getAttrOfType<FloatAttr>(bytesName);
  return rateOf(noted ? noted.getValueAsDouble() : weightBytes(module), machine);
}

double ingot::lower::whileWeightsCome(double arithmetic, double bytes, plan::KernelOp kernel,
                                      const target::MachineModel &machine) {
  // Where even memory is fast enough, the weights of the model need not be counted.
  bool mayWait = bytes > arithmetic * machine.memoryRate;
  return mayWait ? std::max(arithmetic, bytes / weightRateOf(kernel, machine)) : arithmetic;
}

int64_t ingot::lower::chunkBytesOfPanel(const target::MachineModel &machine) {
  constexpr int64_t shareOfCache = 32, least = 32 << 10;
  return std::max(least, machine.l2Bytes / shareOfCache);
}

int64_t ingot::lower::mostSpilledBytes(const target::MachineModel &machine) {
  constexpr int64_t others = 2 << 10; ///< what else a stack frame holds
  return target::platformOf(machine).stackBytes - others;
}
