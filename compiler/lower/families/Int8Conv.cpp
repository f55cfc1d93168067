// Builds convolutions of unsigned by signed bytes with sums of int32, by the algorithm that is chosen
// (lower/Algorithm.h). Convolutions of each channel by itself have a family of their own, DepthwiseConv.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Winograd.h"
#include "compiler/onnx/formats/Convolutions.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Int8Conv : public ByAlgorithm<ConvFamily> {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<formats::Int8ConvOp>(); }
  bool isFor(Operation *root) const override { return !isDepthwise(root); }
  void mark(plan::KernelOp kernel) const override { markExactOutputs(kernel); }
};

} // namespace

std::unique_ptr<KernelFamily> createInt8ConvFamily() { return std::make_unique<Int8Conv>(); }

} // namespace ingot::lower
