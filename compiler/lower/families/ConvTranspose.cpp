// Builds transposed convolutions, by the algorithm that is chosen (lower/Algorithm.h).
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ConvTranspose : public ByAlgorithm<ConvFamily> {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvTransposeOp>(); }
};

} // namespace

std::unique_ptr<KernelFamily> createConvTransposeFamily() { return std::make_unique<ConvTranspose>(); }

} // namespace ingot::lower
