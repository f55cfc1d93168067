// Convolutions of bfloat16 with sums of float32 (--accuracy fast), into channel blocks: in matrix registers, from
// blocks or from a row-major image of few channels; else by DenseConv, which widens what it reads.
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/conv/TileConv.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class HalfConv : public TileConvFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::HalfConvOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    std::optional<TileConv> tiles = tileConvOf(kernel, machine, std::nullopt);
    return tiles ? tileConvShape(kernel, *tiles) : denseConvShape(kernel, machine);
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    if (std::optional<TileConv> tiles = tileConvOf(build.group.kernel, build.w.machine, std::nullopt)) {
      buildTileConv(build, *tiles);
    } else {
      buildDenseConv(build);
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createHalfConvFamily() { return std::make_unique<HalfConv>(); }

} // namespace ingot::lower
