// Builds convolutions, by the algorithm that is chosen (lower/Algorithm.h). Convolutions of each channel by itself have
// a family of their own, DepthwiseConv.
#include "compiler/onnx/ops/Conv.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Conv : public ByAlgorithm<ConvFamily> {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp>(); }
  bool isFor(Operation *root) const override { return !isDepthwise(root); }
};

} // namespace

std::unique_ptr<KernelFamily> createConvFamily() { return std::make_unique<Conv>(); }

} // namespace ingot::lower
