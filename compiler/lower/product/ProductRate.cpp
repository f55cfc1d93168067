// Counts multiplying instructions: a machine is taken to start as many of any kind in a cycle as of multiply-adds of
// float32. An addition that needs an instruction of its own counts for nothing, because other units of the processor do
// it; where the same units do, a kernel reaches less of the machine's rate than another one would.
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

/// What a kernel's multiplications cost beside those of float32.
struct Rate {
  int64_t perInstruction = 1; ///< products that an instruction does for one product of float32
  int64_t instructions = 1;   ///< such products, or instructions of full width, for one multiplication of the op
};

/// Returns how many products of bytes a tile instruction does for one product of float32, of which two vectors would be
/// done in each of its 16 cycles.
int64_t bytesPerTileInstruction(const target::MachineModel &machine) {
  return machine.tiles.rows * machine.tiles.rows * machine.tiles.rowBytes / 16 / (2 * machine.lanes);
}

Rate rateOf(Operation *op, const KernelShape &shape, const target::MachineModel &machine) {
  bool byteDots = machine.has(target::Instruction::ByteDot4);
  if (auto product = dyn_cast<formats::SplitIntegerMatMulOp>(op)) {
    return {4, onnx::present(product.getFine())     ? 3
               : onnx::present(product.getMiddle()) ? 2
                                                    : 1}; // a product for each digit of a float
  }
  if (isa<formats::Bf16MatMulOp>(op)) {
    return {shape.ofTiles ? bytesPerTileInstruction(machine) / 2 : 2};
  }
  if (isa<formats::Bf16ConvOp>(op)) { // without tiles it is computed in float32
    return {shape.ofTiles ? bytesPerTileInstruction(machine) / 2 : 1};
  }
  Type element = onnx::elementOf(op->getOperand(0));
  if (isa<formats::Int8MatMulOp, formats::Int8ConvOp>(op)) {
    bool bytes = element.getIntOrFloatBitWidth() == 8 && !shape.multiplyAdds; // Winograd's algorithm multiplies int16
    bool fours = bytes && (byteDots || onnx::int16DotsOf(op));
    return {shape.ofTiles                                 ? bytesPerTileInstruction(machine)
            : fours                                       ? 4
            : machine.has(target::Instruction::Int16Dot2) ? 2
                                                          : 1};
  }
  return {1, element.isF64() ? 2 : 1}; // a vector has half as many float64
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
    others |= rate.perInstruction != rate.instructions;
    all = all + ceilDiv((op == kernel.root() ? shape.multiplyAdds.value_or(*macs) : *macs) * rate.instructions,
                        rate.perInstruction);
  });
  return others ? std::optional(all) : std::nullopt;
}

} // namespace ingot::lower
