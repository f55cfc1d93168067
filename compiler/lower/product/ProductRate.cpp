// By instructions: the multipliers take one of each kind where they would take a multiply-add of float32. (A sum of two
// instructions counts as one, since additions have other units of their own; where they do not, kernels are below.)
#include "compiler/lower/product/ProductRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Products in the time of one of float32: `many` of them, or as many each of which `times` are taken.
struct Rate {
  int64_t many = 1, times = 1;
};

/// Returns how many times as many products of bytes a tile instruction makes in its 16 cycles as two vectors of float32
/// in each.
int64_t ofTiles(const target::MachineModel &machine) {
  return machine.tiles.rows * machine.tiles.rows * machine.tiles.rowBytes / 16 / (2 * machine.lanes);
}

Rate rateOf(Operation *op, const KernelShape &shape, const target::MachineModel &machine) {
  bool byteDots = machine.has(target::Instruction::ByteDot4);
  if (auto product = dyn_cast<formats::SplitIntegerMatMulOp>(op)) {
    return {4, onnx::present(product.getFine()) ? 3 : 2};
  }
  if (isa<formats::Bf16MatMulOp>(op)) {
    return {shape.ofTiles ? ofTiles(machine) / 2 : 2};
  }
  if (isa<formats::Bf16ConvOp>(op)) { // without tiles it is one of float32
    return {shape.ofTiles ? ofTiles(machine) / 2 : 1};
  }
  Type element = onnx::elementOf(op->getOperand(0));
  if (isa<formats::IntegerMatMulOp, formats::IntegerConvOp>(op)) {
    bool bytes = element.getIntOrFloatBitWidth() == 8 && !shape.multiplyAdds; // Winograd's are sums
    bool fours = bytes && (byteDots || onnx::int16DotsOf(op));
    return {shape.ofTiles ? ofTiles(machine) : fours ? 4 : machine.has(target::Instruction::Int16Dot2) ? 2 : 1};
  }
  return {1, element.isF64() ? 2 : 1};
}

} // namespace

std::optional<support::Size> floatMultiplyAdds(plan::KernelOp kernel, const KernelShape &shape,
                                               const target::MachineModel &machine) {
  support::Size all = 0;
  bool others = shape.multiplyAdds.has_value();
  kernel->walk([&](Operation *op) {
    std::optional<support::Size> macs = onnx::multiplyAddsOf(op);
    if (!macs) {
      return;
    }
    Rate rate = rateOf(op, shape, machine);
    others |= rate.many != rate.times;
    all = all + ceilDiv((op == kernel.root() ? shape.multiplyAdds.value_or(*macs) : *macs) * rate.times, rate.many);
  });
  return others ? std::optional(all) : std::nullopt;
}

} // namespace ingot::lower
