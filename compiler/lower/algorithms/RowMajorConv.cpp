// Computes convolutions of row-major tensors (conv/RowMajorConv.h), for kernels that no faster algorithm takes.
#include "compiler/lower/conv/RowMajorConv.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Estimates a cycle for each vector of products, of each weight with each pixel that it gives or, transposed, takes:
/// the few sums of a tile wait for each other. Bytes are multiplied one by one.
double cyclesOf(Operation *root, const target::MachineModel &machine) {
  constexpr int64_t openSize = 64;
  Value image = isa<onnx::ConvTransposeOp>(root) ? root->getOperand(0) : root->getResult(0);
  support::Sizes sizes = onnx::sizesOf(onnx::ranked(root->getOperand(1))), pixels = onnx::sizesOf(onnx::ranked(image));
  sizes.append(pixels.begin() + 2, pixels.end());
  double products = isa<formats::Int8ConvOp>(root) ? 1 : 1 / static_cast<double>(machine.lanes);
  for (const support::Size &size : sizes) {
    products *= static_cast<double>(typical(size, openSize));
  }
  return products;
}

class RowMajorConv : public Algorithm {
public:
  RowMajorConv() : Algorithm("row-major", /*rank=*/0) {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::ConvOp, onnx::ConvTransposeOp, formats::Int8ConvOp>();
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (isFromBlocks(kernel) || isToBlocks(kernel)) {
      return "its images are in channel blocks";
    }
    bool ofBytes = isa<formats::Int8ConvOp>(kernel.root());
    return Candidate{name, cyclesOf(kernel.root(), machine), {}, /*isWanted=*/false, [=, &machine] {
                       return ofBytes ? rowMajorInt8ConvShape(kernel) : rowMajorConvShape(kernel, machine);
                     }};
  }
};

} // namespace

std::unique_ptr<Algorithm> createRowMajorConvAlgorithm() { return std::make_unique<RowMajorConv>(); }

} // namespace ingot::lower
