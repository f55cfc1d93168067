// Convolutions of unsigned by signed bytes with sums of int32, from channel blocks to channel blocks: by Winograd's
// algorithm where that is faster, else by DenseConv over quads of input channels. Where there are no blocks,
// PlainIntegerConv.
#include "compiler/lower/DenseConv.h"
#include "compiler/lower/PlainConv.h"
#include "compiler/lower/Winograd.h"
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

  void mark(plan::KernelOp kernel) const override { markExactOutputs(kernel); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!blocked(kernel)) {
      return plainIntegerConvShape(kernel);
    }
    std::optional<WinogradSchedule> schedule = winogradOf(kernel, machine);
    return schedule ? winogradShape(kernel, *schedule) : denseConvShape(kernel, machine);
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    if (!blocked(build.group.kernel)) {
      buildPlainIntegerConv(build);
    } else if (auto schedule = winogradOf(build.group.kernel, build.w.machine)) {
      buildWinograd(build, *schedule);
    } else {
      buildDenseConv(build);
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createIntegerConvFamily() { return std::make_unique<IntegerConv>(); }

} // namespace ingot::lower
