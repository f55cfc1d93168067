// Products with a constant matrix in matrix registers (product/TileMatMul.h): of unsigned by signed bytes, of bfloat16
// and of float32 that is split, where that takes fewer cycles than vectors do.
#include "compiler/lower/product/TileMatMul.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// How many times as long as is estimated vectors take on machines with tiles: of floats, and of bfloat16, of which
/// they multiply two in two cycles there (bench/README.md: 80 of 140 GFLOP/s).
constexpr double vectorsOfFloats = 1.12, vectorsOfBf16 = 4;

class TileMatMulAlgorithm : public Algorithm {
public:
  TileMatMulAlgorithm() : Algorithm("matrix", /*rank=*/2, /*key=*/"matrix") {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp, formats::Bf16MatMulOp>();
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!machine.tiles.count) {
      return "the machine has no matrix registers";
    }
    MatMulProblem p = matmulProblem(kernel, machine);
    bool isFloat = !p.isInteger() && !p.isBf16();
    Splitting splitting = isFloat ? splittingOf(kernel, machine) : Splitting{1, false};
    if (std::string why = whyNot(p, isFloat, splitting); !why.empty()) {
      return why;
    }
    std::optional<TileMatMul> tiles = tileMatMulOf(kernel, p, splitting.parts, machine);
    if (!tiles) {
      return "rows are no whole number of steps";
    }
    Candidate candidate{name, tiles->cycles, {{"matrix", 1}}, splitting.always};
    candidate.shape = [=, t = *tiles] { return tileMatMulShape(kernel, p, t); };
    candidate.mustBeBelow = p.isBf16() ? vectorsOfBf16 : tiles->splits() ? vectorsOfFloats : 1;
    candidate.mustSave = tiles->splits() ? sureGainOfSplit : 0;
    return candidate;
  }

private:
  static std::string whyNot(const MatMulProblem &p, bool isFloat, const Splitting &splitting) {
    // Three parts of weights are more bytes than float32, for which a few rows would wait.
    constexpr int64_t enoughRows = 32;
    if (!p.constantB) {
      return "its right operand is not constant";
    }
    if (p.m.is(0) || p.n.is(0) || p.k.is(0) || p.batch.is(0)) {
      return "it is empty";
    }
    if (!splitting.parts) {
      return "float32 is not to be split (--split-floats off, --accuracy strict, --levels)";
    }
    if (splitting.parts == 3 && !p.m.atLeast(enoughRows) && !splitting.always) {
      return "it may have few rows, which would wait for three parts of weights";
    }
    return isFloat && (!p.element.isF32() || !p.stepA.is(1)) ? "it is not of rows of float32" : "";
  }
};

} // namespace

std::unique_ptr<Algorithm> createTileMatMulAlgorithm() { return std::make_unique<TileMatMulAlgorithm>(); }

} // namespace ingot::lower
