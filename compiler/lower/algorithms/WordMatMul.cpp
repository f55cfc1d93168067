// Computes products of bytes in words (product/WordMatMul.h), for machines whose kernels are scalar.
#include "compiler/lower/product/WordMatMul.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/onnx/formats/Products.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class WordMatMul : public Algorithm {
public:
  WordMatMul() : Algorithm("words", /*rank=*/3, /*key=*/"words") {}

  SmallVector<TypeID> roots() const override { return rootsOf<formats::Int8MatMulOp>(); }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (std::string why = whyNoWords(kernel, machine); !why.empty()) {
      return why;
    }
    Candidate candidate{name, wordCycles(kernel, machine)};
    candidate.mustBeBelow = WordProducts::aboveOthers;
    candidate.shape = [=, &machine] { return wordMatMulShape(kernel, machine); };
    return candidate;
  }
};

} // namespace

std::unique_ptr<Algorithm> createWordMatMulAlgorithm() { return std::make_unique<WordMatMul>(); }

} // namespace ingot::lower
