// Computes convolutions of bytes from columns (conv/ColumnConv.h), for machines whose kernels are scalar.
#include "compiler/lower/conv/ColumnConv.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/onnx/formats/Convolutions.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class ColumnConv : public Algorithm {
public:
  ColumnConv() : Algorithm("columns", /*rank=*/7, /*key=*/"columns") {}

  SmallVector<TypeID> roots() const override { return rootsOf<formats::Int8ConvOp>(); }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (std::string why = whyNoColumns(kernel, machine); !why.empty()) {
      return why;
    }
    Candidate candidate{name, columnCycles(kernel, machine)};
    candidate.mustBeBelow = WordProducts::aboveOthers;
    candidate.shape = [=, &machine] { return columnConvShape(kernel, machine); };
    return candidate;
  }
};

} // namespace

std::unique_ptr<Algorithm> createColumnConvAlgorithm() { return std::make_unique<ColumnConv>(); }

} // namespace ingot::lower
