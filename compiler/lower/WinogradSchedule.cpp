// Whether a convolution is Winograd's, with which tiles, cut into how many strips: an estimate of cycles from the
// arithmetic and from what each cache has to give; and the packing of the weights.
//
// F(4x4) takes a quarter of a direct convolution's multiplications, but four times its weights, which have to come from
// the third cache or from memory: they cost as much for 49 pixels as for 50,000. F(2x2) takes four ninths, and 16/9
// times the weights.
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/Winograd.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/support/ElementTypes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::lower {

// The parts of a schedule.

/// A whole odd number of cache lines.
static int64_t oddLines(int64_t elements, int64_t line) {
  return static_cast<int64_t>(llvm::divideCeil(elements, line) | 1) * line;
}

support::Size WinogradSchedule::runCount() const { return ceilDiv(tiles(), product.pixels); }
int64_t WinogradSchedule::inputStride() const { return oddLines(inputBlocks() * stripTiles() * product.lanes, line); }
int64_t WinogradSchedule::productStride() const {
  return oddLines(product.vectors * stripTiles() * product.lanes, line);
}

/// Scratch memory of all work items, as long as there are some; of one strip not more than `stripBytes`, even where
/// more of the weights' traffic could be saved.
static constexpr int64_t scratchBytes = 4 << 20, leastItems = 4, stripBytes = 2 << 20;

int64_t WinogradSchedule::itemsAtMost() const {
  return std::clamp<int64_t>(scratchBytes / (4 * scratchElements()), leastItems, std::max(leastItems, heavyItems));
}
support::Size WinogradSchedule::items() const { return min(units(), itemsAtMost()); }

// Estimates.

/// Bytes a cycle that a core gets from the second cache, the third one and memory while it multiplies, and how much of
/// the shorter of two things is not hidden behind the longer one.
static constexpr double fromSecond = 32, fromThird = 10, fromMemory = 8, notHidden = 0.25;

/// Of something that is read again and again.
static double rateOf(double bytes, const target::MachineModel &machine) {
  double share = 0.75; // something else is always there, too
  return bytes <= share * machine.l2Bytes ? fromSecond : bytes <= share * machine.l3Bytes ? fromThird : fromMemory;
}

static double together(double arithmetic, double memory) {
  return std::max(arithmetic, memory) + notHidden * std::min(arithmetic, memory);
}

/// Cycles of the linear maps of a tile and a block of channels: two operations a cycle, on vectors or with memory; what
/// does not fit the registers is written and read once more.
static double transformCycles(const WinogradSchedule &s, int64_t registers, bool isInput) {
  const Filtering &rows = s.rows.filtering, &columns = s.columns.filtering;
  int64_t high = isInput ? rows.inputs() : rows.outputs(), between = high * columns.inputs();
  int64_t operations = columns.inputs() * rows.operations() + high * columns.operations();
  int64_t elements = s.components() + high * (isInput ? columns.inputs() : columns.outputs());
  int64_t spilled = std::max<int64_t>(0, between - registers);
  return 0.5 * static_cast<double>(operations + elements + 2 * spilled);
}

/// `weightRate`: of weights that are read for the first time in a run.
static double winogradCycles(const WinogradSchedule &s, double weightRate, const target::MachineModel &machine) {
  auto tiles = static_cast<double>(s.tiles().number()), inputs = static_cast<double>(s.inputBlocks()),
       outputs = static_cast<double>(s.product.blocks), lanes = static_cast<double>(s.product.lanes);
  double arithmetic = static_cast<double>(s.components()) * cyclesOf(s.component, s.product);
  double weights = 4.0 * static_cast<double>(s.weightElements());
  double moved = 4 * static_cast<double>(s.components()) * tiles * lanes *
                 (inputs * static_cast<double>(1 + s.product.panelCount()) + 2 * outputs);
  double memory = moved / rateOf(4.0 * static_cast<double>(s.scratchElements()), machine) + weights / weightRate +
                  static_cast<double>(s.strips.number() - 1) * weights / rateOf(weights, machine);
  int64_t registers = machine.registers - 2;
  return together(arithmetic, memory) +
         tiles * (inputs * transformCycles(s, registers, true) + outputs * transformCycles(s, registers, false));
}

static double directCycles(const ConvGeometry &g, const DenseSchedule &s, double weightRate,
                           const target::MachineModel &machine) {
  const ConvPhase &phase = g.phases.front();
  int64_t pixels = phase.rows().number() * phase.axes[2].out.number();
  double input = 4.0 * static_cast<double>(g.inChannels * pixels);
  double memory = 4.0 * static_cast<double>(s.weightElements(g)) / weightRate +
                  input * static_cast<double>(s.pixelsOuter ? 1 : s.panelCount()) / rateOf(input, machine);
  return together(cyclesOf(g, s), memory);
}

// Schedules.

static ConvGeometry componentOf(const ConvGeometry &g, int64_t tiles) {
  ConvPhase phase{{}, {0}};
  phase.axes[2].out = tiles;
  return {1, g.inChannels, g.outChannels, 1, 1, false, 4, {support::Size(tiles)}, {phase}};
}

WinogradSchedule::Tiles::Tiles(const ConvAxis &axis, int64_t outputs)
    : filtering(axis.taps == 1 ? 1 : outputs), step(axis.taps == 1 ? 1 : axis.tapStep), outputs(axis.out) {
  support::Size groups = ceilDiv(this->outputs, reach()), left = groups * reach() - this->outputs;
  count = groups * step, old = typical(left, 0);
}

WinogradSchedule::WinogradSchedule(const ConvGeometry &g, int64_t outputs, int64_t lanes,
                                   const target::MachineModel &machine)
    : g(g), rows(g.phases[0].axes[1], outputs), columns(g.phases[0].axes[2], outputs),
      component(componentOf(g, tiles().number())), product(scheduleOf(component, lanes, /*planes=*/false, machine)),
      line(machine.lineBytes / 4), heavyItems(machine.tuning.heavyItems) {}

WinogradSchedule WinogradSchedule::opened(const ConvGeometry &open) const {
  WinogradSchedule s = *this;
  int64_t outputs = std::max(rows.filtering.outputs(), columns.filtering.outputs());
  s.g = open, s.rows = Tiles(open.phases[0].axes[1], outputs), s.columns = Tiles(open.phases[0].axes[2], outputs);
  s.strips = ceilDiv(s.runCount(), stripRuns);
  return s;
}

/// The cheapest number of strips; of equally cheap ones the largest, which takes the least memory.
static void chooseStrips(WinogradSchedule &s, double weightRate, const target::MachineModel &machine) {
  WinogradSchedule trial = s;
  s.cycles = std::numeric_limits<double>::infinity();
  int64_t runs = s.runCount().number();
  for (int64_t strips = 1; strips <= runs; ++strips) {
    trial.strips = strips, trial.stripRuns = llvm::divideCeil(runs, strips);
    double cycles = winogradCycles(trial, weightRate, machine);
    bool fits = 4 * trial.scratchElements() <= stripBytes || strips == runs;
    if (fits && cycles <= s.cycles) {
      s.strips = strips, s.stripRuns = trial.stripRuns, s.cycles = cycles;
    }
  }
  int64_t items = s.itemsAtMost(), images = typical(s.g.batch, 1) * s.strips.number();
  s.shares = std::clamp<int64_t>(items / std::max<int64_t>(1, images), 1, s.product.panelCount());
}

/// Whether the loops can do it: an image of known size is at least a tile.
static bool isPossible(const ConvGeometry &g, int64_t outputs) {
  if (g.groups != 1 || g.phases.size() != 1 || g.phases[0].axes[0].dim >= 0) {
    return false;
  }
  auto axes = ArrayRef(g.phases[0].axes).drop_front();
  bool possible = llvm::all_of(axes, [&](const ConvAxis &a) {
    bool isTile = !a.out.isNumber() || a.out.number() >= outputs * a.tapStep;
    return (a.taps == 1 || (a.taps == 3 && isTile)) && a.inStep == 1 && a.outStep == 1;
  });
  return possible && llvm::any_of(axes, [](const ConvAxis &a) { return a.taps == 3; });
}

/// What a symbol in the height or width of an image is taken for, if it may be so large.
static constexpr int64_t typicalExtent = 640;

/// The geometry of a typical image, by which one whose size the run tells is estimated.
static ConvGeometry typicalOf(ConvGeometry g, const support::Facts &facts) {
  auto symbol = [&](support::Symbol s) -> std::optional<int64_t> {
    int64_t value = typicalExtent;
    for (const support::Size &fact : facts.sizes()) { // most - s
      support::Size most = fact + support::Size(s);
      value = std::min(value, typical(most, value));
    }
    return value;
  };
  auto fix = [&](support::Size &size) { size = std::max<int64_t>(1, size.evaluate(symbol).value_or(typicalExtent)); };
  llvm::for_each(g.spatial, fix);
  for (ConvAxis &axis : g.phases[0].axes) {
    fix(axis.out);
  }
  return g;
}

/// How fast the weights of a kernel come when a run gets to it: whether those of the whole model stay in a cache from
/// one run to the next.
static double weightRateOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  double bytes = 0;
  kernel->getParentOfType<ModuleOp>().walk([&](Operation *op) {
    if (op->getNumResults() == 1 && op->getNumOperands() == 0 && onnx::constantOf(op->getResult(0))) {
      bytes += 4.0 * static_cast<double>(cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
    }
  });
  return rateOf(bytes, machine);
}

/// More weights and other sums have to be worth it: by so much.
static constexpr double gainOverDirect = 0.9, gainOfLarger = 0.95;

std::optional<WinogradSchedule> winogradOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  auto policy = kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(winogradName);
  StringRef said = policy ? policy.getValue() : "";
  // Another machine that reads the same weights goes the same way.
  const target::MachineModel &packing = machine.packing ? *machine.packing : machine;
  int64_t lanes = plan::blockedOf(kernel.getResult(0).getType()).getLanes();
  ConvGeometry real = geometryOf(kernel.root(), /*wide=*/true), g = typicalOf(real, onnx::factsOf(kernel));
  bool isFloat = onnx::computedIn(onnx::elementOf(kernel.root()->getOperand(0))).isF32();
  if (said == "off" || !isFloat || !packing.vectorTypes || lanes != packing.lanes || lanes < 4) {
    return std::nullopt;
  }
  double weightRate = weightRateOf(kernel, packing), least = 0;
  std::optional<WinogradSchedule> best;
  for (int64_t outputs : {2, 4}) {
    bool wanted = said.empty() || said == std::to_string(outputs);
    if (!wanted || !isPossible(real, outputs)) {
      continue;
    }
    if (said.empty() && least == 0) {
      least = gainOverDirect * directCycles(g, scheduleOf(g, lanes, false, packing), weightRate, packing);
    }
    WinogradSchedule s(g, outputs, lanes, packing);
    chooseStrips(s, weightRate, packing);
    if (!said.empty() || s.cycles < least) {
      least = gainOfLarger * s.cycles;
      best = machine.packing ? WinogradSchedule(g, outputs, lanes, machine) : s;
    }
  }
  if (best && machine.packing) {
    chooseStrips(*best, weightRate, machine);
  }
  bool isOpen = llvm::any_of(real.phases[0].axes, [](const ConvAxis &a) { return !a.out.isNumber(); });
  return best && isOpen ? best->opened(real) : best;
}

// Weights: for each panel of output channels and each component a row for each input channel. They are float32 where
// the filters are narrower, too: sums of transformed weights cancel, and magnify what 16 bits would round away.

/// `from`: the filters.
static void packPanel(const WinogradSchedule &s, int64_t out, int64_t width, llvm::function_ref<double(int64_t)> from,
                      float *to) {
  ArrayRef<int64_t> taps = s.g.phases[0].taps;
  int64_t inputs = s.g.inChannels;
  SmallVector<double> transformed(s.components());
  for (int64_t o = out; o < std::min(out + width, s.g.outChannels); ++o) {
    for (int64_t c = 0; c < inputs; ++c) {
      auto filter = llvm::map_to_vector<9>(taps, [&](int64_t t) { return from(s.g.weightAt(o, c, t)); });
      Filtering::filter(s.rows.filtering, s.columns.filtering, filter, transformed);
      for (auto [i, value] : llvm::enumerate(transformed)) {
        to[(static_cast<int64_t>(i) * inputs + c) * width + o - out] = static_cast<float>(value);
      }
    }
  }
}

/// `element`: of the filters.
static plan::WeightTable::Recipe transformedWeights(const WinogradSchedule &s, const support::ElementType &element) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "winograd of " << element.name << ' ' << std::max(s.rows.filtering.outputs(), s.columns.filtering.outputs())
     << ' ' << s.g.outChannels << '/' << s.g.inChannels << " transposed " << s.g.transposed << " lanes "
     << s.product.lanes << " vectors " << s.product.vectors << " taps";
  for (int64_t t : s.g.phases[0].taps) {
    os << ' ' << t;
  }
  auto pack = [s, &element](ArrayRef<char> from, MutableArrayRef<char> to) {
    auto source = [&](int64_t i) -> double {
      if (s.g.weightBytes == 4) {
        return reinterpret_cast<const float *>(from.data())[i];
      }
      return element.format.decode(reinterpret_cast<const uint16_t *>(from.data())[i]);
    };
    auto *packed = reinterpret_cast<float *>(to.data());
    int64_t block = 0;
    for (auto [vectors, count] : s.product.panels) {
      for (int64_t i = 0; i < count; ++i, block += vectors) {
        packPanel(s, block * s.product.lanes, vectors * s.product.lanes, source,
                  packed + block * s.product.lanes * s.g.inChannels * s.components());
      }
    }
  };
  return {key, 4 * s.weightElements(), pack};
}

KernelShape winogradShape(plan::KernelOp kernel, const WinogradSchedule &s) {
  Operation *root = kernel.root();
  KernelShape shape;
  shape.items = s.items();
  shape.scratchBytes = shape.items * (4 * s.scratchElements());
  int weights = operandNumber(root->getOperand(1));
  auto element = cast<FloatType>(onnx::elementOf(root->getOperand(1)));
  shape.packed[weights] = transformedWeights(s, support::elementType(element.getFloatSemantics()));
  shape.packedAsFloats = weights;
  if (onnx::present(root->getOperand(2))) {
    shape.packed[operandNumber(root->getOperand(2))] =
        paddedRecipe(s.product.blocks * s.product.lanes, s.g.weightBytes);
  }
  return shape;
}

} // namespace ingot::lower
