// Convolutions in matrix registers (conv/TileConv.h): of unsigned by signed bytes, of bfloat16, and of float32 that is
// split. Images of few channels are read as they are, row by row.
#include "compiler/lower/conv/TileConv.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class TileConvAlgorithm : public Algorithm {
public:
  TileConvAlgorithm() : Algorithm("matrix", /*rank=*/4, /*key=*/"matrix") {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::ConvOp, formats::Int8ConvOp, formats::Bf16ConvOp>();
  }

  std::optional<LayoutRule> layoutRule(Operation *root, const target::MachineModel &machine) const override {
    bool isStem = !isa<onnx::ConvOp>(root) && isTileStem(root, machine);
    return isStem ? std::optional(LayoutRule::RowMajorToBlocked) : std::nullopt;
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!machine.tiles.count) {
      return "the machine has no matrix registers";
    }
    bool isFloat = isa<onnx::ConvOp>(kernel.root());
    Splitting splitting = isFloat ? splittingOf(kernel, machine) : Splitting{1, false};
    if (std::string why = whyNot(kernel, splitting, machine); !why.empty()) {
      return why;
    }
    std::optional<TileConv> tiles = tileConvOf(kernel, machine, splitting.parts);
    if (!tiles) {
      return "not of these sizes, groups or channels";
    }
    Candidate candidate{name, tiles->cycles, {{"matrix", 1}}, splitting.always};
    candidate.shape = [kernel, c = *tiles] { return tileConvShape(kernel, c); };
    candidate.mustSave = tiles->splits() ? sureGainOfSplit : 0;
    candidate.mustBeBelow = tiles->ofPlanes ? 2 : 1; // the estimate of a stem leaves out what it copies
    return candidate;
  }

private:
  /// Float images are not taken as the caller gave them: where a mean is subtracted from such an image, the rounding of
  /// its factors may be most of what remains (fns-candy).
  static std::string whyNot(plan::KernelOp kernel, const Splitting &splitting, const target::MachineModel &machine) {
    if (!splitting.parts) {
      return "float32 is not to be split (--split-floats off, --accuracy strict, --levels)";
    }
    bool isFloat = isa<onnx::ConvOp>(kernel.root());
    if (!isToBlocks(kernel) || (!isFromBlocks(kernel) && (isFloat || !isTileStem(kernel.root(), machine)))) {
      return "its images are not in channel blocks";
    }
    bool isConstant = !isFloat || constantOperand(kernel, kernel.root()->getOperand(1));
    return !isConstant                            ? "its weights are not constant"
           : !skipsPadding(kernel.root()).empty() ? "taps that read padding are left out"
                                                  : "";
  }
};

} // namespace

std::unique_ptr<Algorithm> createTileConvAlgorithm() { return std::make_unique<TileConvAlgorithm>(); }

} // namespace ingot::lower
