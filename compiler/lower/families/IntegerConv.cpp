// Convolutions of unsigned by signed bytes with sums of int32, from channel blocks to channel blocks: DenseConv over
// quads of input channels. Where there are no blocks, PlainIntegerConv.
#include "compiler/lower/DenseConv.h"
#include "compiler/lower/PlainConv.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class IntegerConv : public ConvFamily {
  static bool blocked(plan::KernelOp kernel) {
    return static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::IntegerConvOp>(); }
  bool isFor(Operation *root) const override { return !isDepthwise(root); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return blocked(kernel) ? denseConvShape(kernel, machine) : plainIntegerConvShape(kernel);
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    blocked(build.group.kernel) ? buildDenseConv(build) : buildPlainIntegerConv(build);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createIntegerConvFamily() { return std::make_unique<IntegerConv>(); }

} // namespace ingot::lower
