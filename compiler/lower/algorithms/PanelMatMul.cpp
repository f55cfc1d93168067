// Computes matrix products in register tiles from panels of the right factor, and dot products
// (product/PanelProduct.cpp), for kernels that no other algorithm takes.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Returns the line of a tuning table that asks for this tiling.
target::Schedule requestFor(const MatMulProblem &p, const MatMulTiling &t) {
  return {{"rows", t.mostRows(p)}, {"vectors", t.vectors}};
}

class PanelMatMul : public Algorithm {
public:
  PanelMatMul() : Algorithm("panels", /*rank=*/0) {}

  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp, formats::Bf16MatMulOp>();
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    MatMulProblem p = matmulProblem(kernel, machine);
    MatMulTiling t = matmulTiling(p, machine);
    Candidate candidate{t.dots ? "dot products" : name, panelCycles(kernel, p, t, machine)};
    if (!t.dots && !isEmpty(p)) {
      (hasSchedules(p, t, machine) ? candidate.schedule : candidate.numbers) = requestFor(p, t);
      candidate.whySchedule = [=, &machine] {
        std::string why;
        matmulTiling(p, machine, &why);
        return why;
      };
    }
    if (t.chunkSteps) {
      candidate.numbers.set("chunk", t.chunkSteps);
    }
    candidate.shape = [=, &machine] { return shapeOf(kernel, p, t, machine); };
    return candidate;
  }

  std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    MatMulProblem p = matmulProblem(kernel, machine);
    MatMulTiling t = matmulTiling(p, machine);
    return hasSchedules(p, t, machine) ? matmulSchedules(p, t, machine) : std::vector<target::Schedule>();
  }

private:
  static bool isEmpty(const MatMulProblem &p) { return p.m.is(0) || p.n.is(0); }
  static bool hasSchedules(const MatMulProblem &p, const MatMulTiling &t, const target::MachineModel &machine) {
    return !t.dots && !p.isInteger() && !machine.packing && !isEmpty(p);
  }

  static KernelShape shapeOf(plan::KernelOp kernel, const MatMulProblem &p, const MatMulTiling &t,
                             const target::MachineModel &machine) {
    KernelShape shape;
    shape.items = t.dots ? p.batch : p.batch * t.blocks * t.panels;
    if (isEmpty(p) || p.batch.is(0)) {
      shape.items = 1;
      shape.build = [](Build &) {};
      return shape;
    }
    if (t.from == MatMulTiling::From::Scratch) {
      support::Size bytes = shape.items * t.panelElements(p) * support::Size(p.elementBytes);
      shape.scratchBytes = max(support::Size(64), bytes);
    } else if (t.from == MatMulTiling::From::Packed) {
      shape.packed[operandNumber(kernel.root()->getOperand(1))] = packedPanels(p, t, machine);
    }
    shape.build = [=](Build &build) { buildPanels(build, p, t); };
    return shape;
  }
};

} // namespace

std::unique_ptr<Algorithm> createPanelMatMulAlgorithm() { return std::make_unique<PanelMatMul>(); }

} // namespace ingot::lower
