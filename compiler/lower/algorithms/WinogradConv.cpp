// Convolutions of stride 1 from channel blocks to channel blocks by Winograd's algorithm (conv/Winograd.h), by F(2x2)
// or F(4x4), where that takes fewer cycles than a direct convolution and the user allows its rounding. With bytes it
// rounds nothing, and is used where sums are small enough to be exact.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/conv/Winograd.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::lower {

/// Returns the outputs of a tile that a table of schedules asks for in this kernel, or else the user for all kernels.
static Winograd requestedOutputs(plan::KernelOp kernel) {
  if (std::optional<int64_t> outputs = requestedSchedule(kernel.root())["winograd"]) {
    return static_cast<Winograd>(*outputs);
  }
  auto module = kernel->getParentOfType<ModuleOp>();
  auto policy = policyOf<Winograd>(module, winogradName);
  bool isExact = !module->hasAttr(plan::strictName) || isa<formats::Int8ConvOp>(kernel.root());
  return policy == Winograd::Faster && !isExact ? Winograd::Off : policy;
}

static bool hasVectors(const target::MachineModel &machine, int64_t lanes) {
  return machine.vectorTypes && lanes == machine.lanes && lanes >= 4;
}

/// How large sums of products of bytes may be. The transforms are multiplied by whole numbers, to have no fractions, so
/// that what is computed, modulo 2^32, is a multiple of the sum: up to 576 times by F(4x4), 4 times by F(2x2). The odd
/// part of a factor can be divided out modulo 2^32 and loses no bit. 576 is 9 * 2^6, so 6 bits are lost, and sums must
/// fit 26 bits with a sign: they are less than 2^25.
struct SumBits {
  int64_t outputs, bits;
};
static constexpr SumBits sumBits[] = {{4, 25}, {2, 29}};
/// The attribute of a root with the most outputs of a tile for which its sums fit.
static constexpr llvm::StringLiteral exactOutputsName = "ingot.exact_outputs";

/// Returns the largest absolute value of a sum that these weights give, whatever unsigned bytes they are multiplied by.
static int64_t largestSum(ArrayRef<char> weights, size_t perOutput) {
  constexpr int64_t largestByte = 255;
  int64_t largest = 0;
  for (; !weights.empty(); weights = weights.drop_front(perOutput)) {
    int64_t positive = 0, negative = 0;
    for (char weight : weights.take_front(perOutput)) {
      auto value = static_cast<int8_t>(weight);
      (value > 0 ? positive : negative) += value;
    }
    largest = std::max({largest, largestByte * positive, -largestByte * negative});
  }
  return largest;
}

void markExactOutputs(plan::KernelOp kernel) {
  Operation *root = kernel.root();
  ElementsAttr constant = constantOperand(kernel, root->getOperand(1));
  if (!constant) {
    return;
  }
  ConvGeometry g = geometryOf(root, /*maySwapAxes=*/false);
  std::vector<char> storage;
  int64_t largest = largestSum(onnx::bytesOf(constant, storage), g.inGroup() * g.kernel);
  const auto *fits = llvm::find_if(sumBits, [&](const SumBits &s) { return largest < int64_t(1) << s.bits; });
  if (fits != std::end(sumBits)) {
    root->setAttr(exactOutputsName, Builder(root->getContext()).getI64IntegerAttr(fits->outputs));
  }
}

/// Returns the most outputs of a tile for which transformed values and sums fit the types that the machine multiplies
/// and adds; 0: none do.
static int64_t mostOutputs(Operation *root, const target::MachineModel &machine) {
  constexpr int64_t most = 4;
  if (isa<formats::Int8ConvOp>(root)) {
    auto exact = root->getAttrOfType<IntegerAttr>(exactOutputsName);
    return exact && machine.has(target::Instruction::Int16Dot2) ? exact.getInt() : 0;
  }
  return onnx::computedIn(onnx::elementOf(root->getOperand(0))).isF32() ? most : 0;
}

/// Says why the loops cannot compute the convolution: an image of known size has to be at least a tile, and groups have
/// to be whole channel blocks. Returns nothing where they can. `pointwise` also allows F(1, 1) along both axes.
static std::string whyImpossible(const ConvGeometry &g, int64_t outputs, int64_t lanes, bool ofBytes, bool pointwise) {
  bool areWhole = g.groups == 1 || (!ofBytes && g.inGroup() % lanes == 0 && g.outGroup() % lanes == 0);
  if (!areWhole) {
    return "its groups are not of whole channel blocks";
  }
  if (g.subConvs.size() != 1 || g.subConvs[0].axes[0].dim >= 0) {
    return "it is not of two axes";
  }
  auto axes = ArrayRef(g.subConvs[0].axes).drop_front();
  if (llvm::any_of(axes, [](const ConvAxis &a) { return a.inStep != 1 || a.outStep != 1; })) {
    return "it has a stride";
  }
  bool hasTaps = llvm::any_of(axes, [](const ConvAxis &a) { return a.taps > 1; });
  if (!(pointwise || hasTaps) ||
      !llvm::all_of(axes, [&](const ConvAxis &a) { return Filtering::exists(outputs, a.taps, ofBytes); })) {
    return "there is no form of it for " + std::to_string(axes[0].taps) + " x " + std::to_string(axes[1].taps) +
           " taps";
  }
  bool areTiles = llvm::all_of(axes, [&](const ConvAxis &a) {
    return a.taps == 1 || !a.out.isNumber() || a.out.number() >= outputs * a.tapStep;
  });
  return areTiles ? "" : "the image is smaller than a tile";
}

namespace {

class WinogradConv : public Algorithm {
public:
  WinogradConv() : Algorithm("winograd", /*rank=*/3, /*key=*/"winograd") {}

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp, formats::Int8ConvOp>(); }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (std::string why = whyNot(kernel, machine); !why.empty()) {
      return why;
    }
    Problem p(kernel, machine);
    Winograd requested = requestedOutputs(kernel);
    std::string wanted = support::wordOf(requested), why;
    double weightRate = 0;
    std::vector<Candidate> candidates;
    for (int64_t outputs : {2, 4}) {
      bool isOffered = requested == Winograd::Faster || requested == static_cast<Winograd>(outputs);
      if (!isOffered || outputs > p.most) {
        continue;
      }
      if (std::string reason = p.whyImpossible(outputs); !reason.empty()) {
        why = why.empty() ? reason : why;
        continue;
      }
      weightRate = weightRate > 0 ? weightRate : weightRateOf(kernel, p.packing);
      candidates.push_back(candidateOf(p, outputs, weightRate));
      candidates.back().isWanted = requested != Winograd::Faster;
    }
    return candidates.empty() ? Offer(why.empty() ? "there is no F(" + wanted + "x" + wanted + ") of it" : why)
                              : Offer(std::move(candidates));
  }

  std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!isa<onnx::ConvOp>(kernel.root()) || !whyNot(kernel, machine).empty() ||
        requestedOutputs(kernel) != Winograd::Faster) {
      return {};
    }
    Problem p(kernel, machine);
    double weightRate = weightRateOf(kernel, p.packing);
    std::vector<target::Schedule> all;
    for (int64_t outputs : {4, 2}) {
      if (p.isOpen() || outputs > p.most || !p.whyImpossible(outputs).empty()) {
        continue;
      }
      WinogradSchedule s = p.schedule(outputs, weightRate, machine);
      int64_t strips = s.strips.number(), registerTiles = s.registerTileCount().number();
      for (int64_t n : {strips / 2, strips * 2, strips / 4, strips * 4}) {
        if (n > 0 && n <= registerTiles) {
          all.push_back({{"winograd", outputs}, {"strips", n}});
        }
      }
      for (int64_t vectors = 1; vectors <= std::min<int64_t>(3, s.product.blocks); ++vectors) {
        if (vectors != s.product.vectors) {
          all.push_back({{"winograd", outputs}, {"vectors", vectors}});
        }
      }
    }
    return all;
  }

private:
  /// What there is to compute, and the machine that decides how.
  struct Problem {
    plan::KernelOp kernel;
    const target::MachineModel &machine;
    /// The machine for which weights are packed: with --levels the highest level, else `machine`. Weights are packed as
    /// 16 components for F(2x2) and as 36 for F(4x4), and all levels read the same ones. So where F(4x4) is chosen for
    /// x86-64-v4, by the estimate for that machine, x86-64-v2 takes F(4x4), too.
    const target::MachineModel &packing;
    bool ofBytes;
    ConvGeometry real, typical;
    int64_t lanes, most;
    /// Whether a convolution of 1x1 may be one by F(1x1), which saves no product. That pays where bytes are multiplied
    /// as pairs of int16 but are bytes in memory: a direct convolution of eight panels makes int16 of each byte eight
    /// times, once for each panel, and F(1x1) does so once, where it transforms its input.
    bool pointwise;

    Problem(plan::KernelOp kernel, const target::MachineModel &machine)
        : kernel(kernel), machine(machine), packing(machine.packing ? *machine.packing : machine),
          ofBytes(isa<formats::Int8ConvOp>(kernel.root())), real(geometryOf(kernel.root(), /*maySwapAxes=*/true)),
          typical(typicalOf(real, onnx::factsOf(kernel))),
          lanes(plan::blockedOf(kernel.getResult(0).getType()).getLanes()),
          most(std::min(mostOutputs(kernel.root(), packing), mostOutputs(kernel.root(), machine))),
          pointwise(ofBytes && !packing.has(target::Instruction::ByteDot4) && !real.isInt16 && !real.int16Dots) {}

    bool isOpen() const {
      return llvm::any_of(real.subConvs[0].axes, [](const ConvAxis &a) { return !a.out.isNumber(); });
    }
    std::string whyImpossible(int64_t outputs) const {
      return lower::whyImpossible(real, outputs, lanes, ofBytes, pointwise);
    }
    /// Estimates the cost for a typical image. `why`, if any, is told why the schedule has its numbers.
    WinogradSchedule schedule(int64_t outputs, double weightRate, const target::MachineModel &machine,
                              std::string *why = nullptr) const {
      WinogradSchedule s(typical, outputs, lanes, ofBytes, machine);
      chooseStrips(s, weightRate, machine, why);
      if (why) {
        ScheduleReasons product;
        scheduleOf(s.component, lanes, /*planes=*/false, machine, /*ofBytes=*/false, &product);
        *why += "; of a component: " + product.tile;
      }
      return s;
    }
  };

  static std::string whyNot(plan::KernelOp kernel, const target::MachineModel &machine) {
    if (!isFromBlocks(kernel) || !isToBlocks(kernel)) {
      return "its images are not in channel blocks";
    }
    if (!skipsPadding(kernel.root()).empty()) {
      return "taps that read padding are left out";
    }
    if (requestedOutputs(kernel) == Winograd::Off) {
      auto policy = policyOf<Winograd>(kernel->getParentOfType<ModuleOp>(), winogradName);
      return policy == Winograd::Faster ? "sums are to be the model's (--accuracy strict)" : "--winograd off";
    }
    const target::MachineModel &packing = machine.packing ? *machine.packing : machine;
    if (!hasVectors(packing, plan::blockedOf(kernel.getResult(0).getType()).getLanes())) {
      return "a channel block is no vector of the machine";
    }
    if (mostOutputs(kernel.root(), packing) && mostOutputs(kernel.root(), machine)) {
      return "";
    }
    if (!isa<formats::Int8ConvOp>(kernel.root())) {
      return "it is not computed in float32";
    }
    bool hasPairs = packing.has(target::Instruction::Int16Dot2) && machine.has(target::Instruction::Int16Dot2);
    return hasPairs ? "sums may be too large for int32" : "the machine does not multiply pairs of int16";
  }

  static Candidate candidateOf(const Problem &p, int64_t outputs, double weightRate) {
    WinogradSchedule s = p.schedule(outputs, weightRate, p.packing);
    Candidate candidate{"winograd=" + std::to_string(outputs), s.cycles, {{"winograd", outputs}}};
    // It reads more weights than a direct convolution, and rounds otherwise: 100 k cycles of that are worth 90 k of
    // F(2x2) or F(4x4), and 100 k of F(2x2) are worth 95 k of F(4x4).
    candidate.mustBeBelow = 0.9, candidate.belowOwn = 0.95;
    // Machines with matrix registers take longer for it than is estimated: 100 k cycles of it count as 120 k for those.
    candidate.countsAs = p.ofBytes ? 1 : 1.2;
    WinogradSchedule own = p.machine.packing ? p.schedule(outputs, weightRate, p.machine) : s;
    if (!p.isOpen()) {
      (p.machine.packing ? candidate.numbers : candidate.schedule).set("strips", own.strips.number());
    }
    candidate.whySchedule = [=] {
      std::string why;
      p.schedule(outputs, weightRate, p.machine, &why);
      return why;
    };
    candidate.shape = [=] { return winogradShape(p.kernel, p.isOpen() ? own.opened(p.real) : own); };
    return candidate;
  }
};

} // namespace

std::unique_ptr<Algorithm> createWinogradConvAlgorithm() { return std::make_unique<WinogradConv>(); }

} // namespace ingot::lower
