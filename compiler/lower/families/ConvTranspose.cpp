// Transposed convolutions: in channel blocks as one convolution for each residue of the output coordinates modulo the
// strides, by DenseConv; row-major as a convolution of the input with zeros between its elements.
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/conv/PlainConv.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ConvTranspose : public ConvFamily {
  static bool blocked(plan::KernelOp kernel) {
    return static_cast<bool>(plan::blockedOf(kernel.getResult(0).getType()));
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvTransposeOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return blocked(kernel) ? denseConvShape(kernel, machine) : plainConvShape(kernel, machine);
  }
  LogicalResult build(Build &build, const KernelShape &shape) const override {
    blocked(build.group.kernel) ? buildDenseConv(build) : buildPlainConv(build, shape);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createConvTransposeFamily() { return std::make_unique<ConvTranspose>(); }

} // namespace ingot::lower
