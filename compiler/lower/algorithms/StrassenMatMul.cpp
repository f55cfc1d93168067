// Products of many rows with a constant matrix by Strassen's algorithm (product/Strassen.h), with seven multiplications
// instead of eight, where that is allowed and takes fewer cycles.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/product/Strassen.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/plan/KernelAttributes.h"
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
    if (policy == Use::Off || (policy == Use::Faster && module->hasAttr(plan::strictName))) {
      return policy == Use::Off ? "--strassen off" : "sums are to be the model's (--accuracy strict)";
    }
    MatMulProblem p = matmulProblem(kernel, machine);
    std::optional<Strassen> strassen = strassenOf(p, machine);
    if (!strassen) {
      return "for one matrix of float32 of known sizes by a constant one, of an even depth";
    }
    Candidate candidate{name, strassen->cycles, {{"strassen", 1}}, /*isWanted=*/policy == Use::On};
    candidate.shape = [=, s = *strassen, &machine] { return strassenShape(kernel, p, s, machine); };
    candidate.mustBeBelow = 0.98;
    if (!strassen->isHarmless(p)) {
      candidate.drawback = "it takes more memory, or has less work for several threads";
    }
    // It reads weights in another order than they come in, which counts as twice as many: where few rows meet the
    // weights a plain product waits for them about as long as it multiplies, and fewer multiplications gain nothing.
    double bytes = 2 * static_cast<double>(p.k.number() * p.n.number() * p.weightBytes);
    candidate.cycles = whileWeightsCome(candidate.cycles, bytes, kernel, machine);
    return candidate;
  }
};

} // namespace

std::unique_ptr<Algorithm> createStrassenMatMulAlgorithm() { return std::make_unique<StrassenMatMul>(); }

} // namespace ingot::lower
