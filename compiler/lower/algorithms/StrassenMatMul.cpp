// Products of many rows with a constant matrix by Strassen's algorithm (product/Strassen.h), with seven multiplications
// instead of eight, where that is allowed and takes fewer cycles.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/product/Strassen.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/ops/MatMul.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class StrassenMatMul : public Algorithm {
public:
  StrassenMatMul() : Algorithm("strassen", /*rank=*/1, /*key=*/"strassen") {}

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::MatMulOp>(); }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto module = kernel->getParentOfType<ModuleOp>();
    auto policy = policyOf<Use>(module, strassenName);
    if (policy == Use::Off || (policy == Use::Faster && module->hasAttr(strictName))) {
      return "--strassen off, or sums are to be the model's";
    }
    MatMulProblem p = matmulProblem(kernel, machine);
    std::optional<Strassen> strassen = strassenOf(p, machine);
    if (!strassen) {
      return "for one matrix of float32 of known sizes by a constant one, of an even depth";
    }
    Candidate candidate{name, Cost{strassen->cycles}, {{"strassen", 1}}, /*isWanted=*/policy == Use::On};
    candidate.shape = [=, s = *strassen, &machine] { return strassenShape(kernel, p, s, machine); };
    candidate.beats = [=, s = *strassen, &machine](const Candidate &best) {
      constexpr double worthwhile = 0.98;
      return s.cycles / best.cost->cycles < worthwhile && s.isHarmless(p) && !waitsForWeights(kernel, p, best, machine);
    };
    return candidate;
  }

private:
  /// Whether so few rows meet the weights that a plain product waits for them as long as it multiplies, or nearly so:
  /// then fewer multiplications gain nothing, and it reads weights as they come.
  static bool waitsForWeights(plan::KernelOp kernel, const MatMulProblem &p, const Candidate &plain,
                              const target::MachineModel &machine) {
    auto bytes = static_cast<double>(p.k.number() * p.n.number() * p.weightBytes);
    return 2 * bytes / weightRateOf(kernel, machine) > plain.cost->cycles;
  }
};

} // namespace

std::unique_ptr<Algorithm> createStrassenMatMulAlgorithm() { return std::make_unique<StrassenMatMul>(); }

} // namespace ingot::lower
