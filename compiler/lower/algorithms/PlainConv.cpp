// Convolutions of row-major tensors (conv/PlainConv.h), which compute whatever no faster algorithm does.
#include "compiler/lower/conv/PlainConv.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class PlainConv : public Algorithm {
public:
  PlainConv() : Algorithm("row-major", /*rank=*/0) {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::ConvOp, onnx::ConvTransposeOp, formats::IntegerConvOp>();
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (isFromBlocks(kernel) || isToBlocks(kernel)) {
      return "its images are in channel blocks";
    }
    bool ofBytes = isa<formats::IntegerConvOp>(kernel.root());
    return Candidate{name, std::nullopt, {}, /*isWanted=*/false, [=, &machine] {
                       return ofBytes ? plainIntegerConvShape(kernel) : plainConvShape(kernel, machine);
                     }};
  }
};

} // namespace

std::unique_ptr<Algorithm> createPlainConvAlgorithm() { return std::make_unique<PlainConv>(); }

} // namespace ingot::lower
