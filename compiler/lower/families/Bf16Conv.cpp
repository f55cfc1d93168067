// Builds convolutions of bfloat16 with sums of float32 (--accuracy fast), by the algorithm that is chosen
// (lower/Algorithm.h).
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/onnx/formats/Convolutions.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Bf16Conv : public ByAlgorithm<ConvFamily> {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<formats::Bf16ConvOp>(); }
};

} // namespace

std::unique_ptr<KernelFamily> createBf16ConvFamily() { return std::make_unique<Bf16Conv>(); }

} // namespace ingot::lower
