// Whether a convolution is Winograd's, with which tiles, cut into how many strips: an estimate of cycles from the
// arithmetic and from what each cache has to give; and the packing of the weights.
//
// F(4x4) takes a quarter of a direct convolution's multiplications, but four times its weights, which have to come from
// the third cache or from memory: they cost as much for 49 pixels as for 50,000. F(2x2) takes four ninths, and 16/9
// times the weights.
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/conv/Winograd.h"
#include "compiler/lower/core/CacheLines.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/support/ElementTypes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::lower {

// The parts of a schedule.

support::Size WinogradSchedule::runCount() const { return ceilDiv(tiles(), product.pixels); }
int64_t WinogradSchedule::inputStride() const { return oddLines(inputBlocks() * stripTiles() * blockWords(), line); }
int64_t WinogradSchedule::productStride() const {
  return oddLines(product.vectors * stripTiles() * product.lanes, line);
}

/// Scratch memory of all work items, as long as there are some; of one strip not more than `stripBytes`, even where
/// more of the weights' traffic could be saved.
static constexpr int64_t scratchBytes = 4 << 20, leastItems = 4, stripBytes = 2 << 20;

int64_t WinogradSchedule::itemsAtMost() const {
  return std::clamp<int64_t>(scratchBytes / (4 * scratchWords()), leastItems, std::max(leastItems, heavyItems));
}
support::Size WinogradSchedule::items() const { return min(units(), itemsAtMost()); }

// Estimates.

/// How much of the shorter of two things is not hidden behind the longer one.
static constexpr double notHidden = 0.25;

static double together(double arithmetic, double memory) {
  return std::max(arithmetic, memory) + notHidden * std::min(arithmetic, memory);
}

/// Cycles of the linear maps of a tile and a block of channels: two operations a cycle, on vectors or with memory; what
/// does not fit the registers is written and read once more.
static double transformCycles(const WinogradSchedule &s, int64_t registers, bool isInput) {
  const Filtering &rows = s.rows.filtering, &columns = s.columns.filtering;
  int64_t high = isInput ? rows.inputs() : rows.outputs(), between = high * columns.inputs();
  int64_t operations = isInput ? columns.inputs() * rows.inputOperations() + high * columns.inputOperations()
                               : columns.inputs() * rows.outputOperations() + high * columns.outputOperations();
  int64_t elements = s.components() + high * (isInput ? columns.inputs() : columns.outputs());
  int64_t spilled = std::max<int64_t>(0, between - registers);
  return 0.5 * static_cast<double>(operations + elements + 2 * spilled);
}

/// `weightRate`: of weights that are read for the first time in a run.
static double winogradCycles(const WinogradSchedule &s, double weightRate, const target::MachineModel &machine) {
  auto tiles = static_cast<double>(s.tiles().number()), inputs = static_cast<double>(s.inputBlocks()),
       outputs = static_cast<double>(s.outputBlocks()), lanes = static_cast<double>(s.product.lanes);
  double arithmetic = static_cast<double>(s.components() * s.g.groups) * cyclesOf(s.component, s.product, machine);
  double weights = 4.0 * static_cast<double>(s.weightWords()), perWord = static_cast<double>(s.perWord);
  double moved = 4 * static_cast<double>(s.components()) * tiles * lanes *
                 (inputs / perWord * static_cast<double>(1 + s.product.panelCount()) + 2 * outputs);
  double memory = moved / rateOf(4.0 * static_cast<double>(s.scratchWords()), machine) + weights / weightRate +
                  static_cast<double>(s.strips.number() - 1) * weights / rateOf(weights, machine);
  int64_t registers = machine.registers - 2;
  return together(arithmetic, memory) +
         tiles * (inputs * transformCycles(s, registers, true) + outputs * transformCycles(s, registers, false));
}

static double directCycles(const ConvGeometry &g, const DenseSchedule &s, double weightRate,
                           const target::MachineModel &machine) {
  const ConvPhase &phase = g.phases.front();
  int64_t pixels = phase.rows().number() * phase.axes[2].out.number();
  double input = static_cast<double>(s.elementBytes() * g.inChannels * pixels);
  double memory = 4.0 * static_cast<double>(s.weightElements(g)) / weightRate +
                  input * static_cast<double>(s.pixelsOuter ? 1 : s.panelCount()) / rateOf(input, machine);
  return together(cyclesOf(g, s, machine) * (s.isOfBytes() ? s.bytes(machine).share() : 1), memory);
}

// Schedules.

/// `inputWords`: of input channels, which the component has.
static ConvGeometry componentOf(const ConvGeometry &g, int64_t inputWords, int64_t tiles) {
  ConvPhase phase{{}, {0}};
  phase.axes[2].out = tiles;
  ConvGeometry component = {1, inputWords, g.outGroup(), 1, 1, false, 4, {support::Size(tiles)}, {phase}};
  if (std::optional<int64_t> vectors = g.said["vectors"]) {
    component.said = {{"vectors", *vectors}};
  }
  return component;
}

WinogradSchedule::Tiles::Tiles(const ConvAxis &axis, int64_t outputs, bool ofBytes)
    : filtering(outputs, axis.taps, ofBytes), step(axis.taps == 1 ? 1 : axis.tapStep), outputs(axis.out) {
  support::Size groups = ceilDiv(this->outputs, reach()), left = groups * reach() - this->outputs;
  count = groups * step, old = typical(left, 0);
}

WinogradSchedule::WinogradSchedule(const ConvGeometry &g, int64_t outputs, int64_t lanes, bool ofBytes,
                                   const target::MachineModel &machine)
    : g(g), perWord(ofBytes ? 2 : 1), rows(g.phases[0].axes[1], outputs, ofBytes),
      columns(g.phases[0].axes[2], outputs, ofBytes), component(componentOf(g, inputWords(), tiles().number())),
      product(scheduleOf(component, lanes, /*planes=*/false, machine)), line(machine.lineBytes / 4),
      heavyItems(machine.tuning.heavyItems) {}

WinogradSchedule WinogradSchedule::opened(const ConvGeometry &open) const {
  WinogradSchedule s = *this;
  s.g = open, s.rows = Tiles(open.phases[0].axes[1], outputs(), isOfBytes());
  s.columns = Tiles(open.phases[0].axes[2], outputs(), isOfBytes());
  s.strips = ceilDiv(s.runCount(), stripRuns);
  return s;
}

/// How many threads may share the panels of a strip.
static int64_t sharesOf(const WinogradSchedule &s) {
  int64_t images = typical(s.g.batch, 1) * s.strips.number();
  return std::clamp<int64_t>(s.itemsAtMost() / std::max<int64_t>(1, images), 1, s.panelCount());
}

/// How many times as much a kernel that is worth sharing costs because two threads would not have as many units each.
static double unevenness(const WinogradSchedule &s) {
  constexpr double leastCycles = 60'000, weight = 0.1; // most libraries are run by one thread
  int64_t units = typical(s.g.batch, 1) * s.strips.number() * s.shares;
  return s.cycles < leastCycles ? 1 : 1 + weight * static_cast<double>(units % 2) / static_cast<double>(units);
}

/// The cheapest number of strips; of equally cheap ones the largest, which takes the least memory.
static void chooseStrips(WinogradSchedule &s, double weightRate, const target::MachineModel &machine) {
  WinogradSchedule trial = s;
  double least = s.cycles = std::numeric_limits<double>::infinity();
  int64_t runs = s.runCount().number();
  std::optional<int64_t> said = s.g.said["strips"];
  for (int64_t strips = 1; strips <= runs; ++strips) {
    if (said && strips != *said) {
      continue;
    }
    trial.strips = strips, trial.stripRuns = llvm::divideCeil(runs, strips), trial.shares = sharesOf(trial);
    trial.cycles = winogradCycles(trial, weightRate, machine);
    double cost = trial.cycles * unevenness(trial);
    bool fits = 4 * trial.scratchWords() <= stripBytes || strips == runs || said;
    if (fits && cost <= least) {
      s = trial, least = cost;
    }
  }
}

/// Whether the loops can do it: an image of known size is at least a tile, groups are of whole blocks. `pointwise`: so
/// is F(1, 1) along both axes.
static bool isPossible(const ConvGeometry &g, int64_t outputs, int64_t lanes, bool ofBytes, bool pointwise) {
  bool whole = g.groups == 1 || (!ofBytes && g.inGroup() % lanes == 0 && g.outGroup() % lanes == 0);
  if (!whole || g.phases.size() != 1 || g.phases[0].axes[0].dim >= 0) {
    return false;
  }
  auto axes = ArrayRef(g.phases[0].axes).drop_front();
  bool possible = llvm::all_of(axes, [&](const ConvAxis &a) {
    bool isTile = !a.out.isNumber() || a.out.number() >= outputs * a.tapStep;
    return (a.taps == 1 || isTile) && Filtering::exists(outputs, a.taps, ofBytes) && a.inStep == 1 && a.outStep == 1;
  });
  return possible && (pointwise || llvm::any_of(axes, [](const ConvAxis &a) { return a.taps > 1; }));
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

/// The user's wish for all kernels, or what a table of schedules says of this one: "off", "2", "4", or nothing.
static std::string saidOf(plan::KernelOp kernel) {
  if (std::optional<int64_t> outputs = scheduleSaid(kernel.root())["winograd"]) {
    return *outputs ? std::to_string(*outputs) : "off";
  }
  auto policy = kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(winogradName);
  StringRef said = policy ? policy.getValue() : "";
  if (said == winogradIfExact) {
    said = isa<onnx::IntegerConvOp>(kernel.root()) ? "" : "off";
  }
  return said.str();
}

static bool hasVectors(const target::MachineModel &machine, int64_t lanes) {
  return machine.vectorTypes && lanes == machine.lanes && lanes >= 4;
}

/// Of bytes multiples of the sums are computed, modulo 2^32; by F(4x4) those are up to 576 times as large, by F(2x2)
/// four times. Odd factors lose nothing: 576 is 9 * 2^6, so that sums must fit 26 bits with a sign.
struct SumBits {
  int64_t outputs, bits;
};
static constexpr SumBits sumBits[] = {{4, 25}, {2, 29}};
/// The most outputs of a tile for which they fit.
static constexpr llvm::StringLiteral exactOutputsName = "ingot.exact_outputs";

/// The largest sum that such weights give, whatever unsigned bytes they are multiplied by, or the smallest one's size.
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
  ConvGeometry g = geometryOf(root, /*wide=*/false);
  std::vector<char> storage;
  int64_t largest = largestSum(onnx::bytesOf(constant, storage), g.inGroup() * g.kernel);
  const auto *fits = llvm::find_if(sumBits, [&](const SumBits &s) { return largest < int64_t(1) << s.bits; });
  if (fits != std::end(sumBits)) {
    root->setAttr(exactOutputsName, Builder(root->getContext()).getI64IntegerAttr(fits->outputs));
  }
}

/// The most outputs of a tile for which what the machine multiplies can hold transformed values, and sums.
static int64_t mostOutputs(Operation *root, const target::MachineModel &machine) {
  constexpr int64_t most = 4;
  if (isa<onnx::IntegerConvOp>(root)) {
    auto exact = root->getAttrOfType<IntegerAttr>(exactOutputsName);
    return exact && !machine.pairDot.empty() ? exact.getInt() : 0;
  }
  return onnx::computedIn(onnx::elementOf(root->getOperand(0))).isF32() ? most : 0;
}

/// More weights and other sums have to be worth it: by so much.
static constexpr double gainOverDirect = 0.9, gainOfLarger = 0.95;

std::optional<WinogradSchedule> winogradOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  std::string said = saidOf(kernel);
  bool ofBytes = isa<onnx::IntegerConvOp>(kernel.root());
  // Another machine that reads the same weights goes the same way.
  const target::MachineModel &packing = machine.packing ? *machine.packing : machine;
  int64_t lanes = plan::blockedOf(kernel.getResult(0).getType()).getLanes();
  ConvGeometry real = geometryOf(kernel.root(), /*wide=*/true), g = typicalOf(real, onnx::factsOf(kernel));
  int64_t most = std::min(mostOutputs(kernel.root(), packing), mostOutputs(kernel.root(), machine));
  if (said == "off" || !hasVectors(packing, lanes)) {
    return std::nullopt;
  }
  // Where bytes are multiplied as int16, they become those once, rather than for each panel.
  bool pointwise = ofBytes && packing.quadDot.empty() && !real.wide && !real.shortQuads;
  double weightRate = weightRateOf(kernel, packing), least = 0;
  std::optional<WinogradSchedule> best;
  for (int64_t outputs : {2, 4}) {
    bool wanted = said.empty() || said == std::to_string(outputs);
    if (!wanted || outputs > most || !isPossible(real, outputs, lanes, ofBytes, pointwise)) {
      continue;
    }
    if (said.empty() && least == 0) {
      least = gainOverDirect * directCycles(g, scheduleOf(g, lanes, false, packing, ofBytes), weightRate, packing);
    }
    WinogradSchedule s(g, outputs, lanes, ofBytes, packing);
    chooseStrips(s, weightRate, packing);
    if (!said.empty() || s.cycles < least) {
      least = gainOfLarger * s.cycles;
      best = machine.packing ? WinogradSchedule(g, outputs, lanes, ofBytes, machine) : s;
    }
  }
  if (best && machine.packing) {
    chooseStrips(*best, weightRate, machine);
  }
  bool isOpen = llvm::any_of(real.phases[0].axes, [](const ConvAxis &a) { return !a.out.isNumber(); });
  return best && isOpen ? best->opened(real) : best;
}

std::vector<target::Schedule> winogradSchedules(plan::KernelOp kernel, const target::MachineModel &machine) {
  int64_t lanes = plan::blockedOf(kernel.getResult(0).getType()).getLanes();
  ConvGeometry g = geometryOf(kernel.root(), /*wide=*/true);
  bool isOpen = llvm::any_of(g.phases[0].axes, [](const ConvAxis &a) { return !a.out.isNumber(); });
  std::vector<target::Schedule> all, more;
  if (!saidOf(kernel).empty() || !hasVectors(machine, lanes)) {
    return all;
  }
  double weightRate = weightRateOf(kernel, machine);
  int64_t most = mostOutputs(kernel.root(), machine);
  for (int64_t outputs : {4, 2}) {
    if (outputs > most || !isPossible(g, outputs, lanes, /*ofBytes=*/false, /*pointwise=*/false)) {
      continue;
    }
    all.push_back({{"winograd", outputs}});
    if (isOpen) {
      continue;
    }
    WinogradSchedule s(g, outputs, lanes, /*ofBytes=*/false, machine);
    chooseStrips(s, weightRate, machine);
    int64_t strips = s.strips.number(), runs = s.runCount().number();
    for (int64_t n : {strips / 2, strips * 2, strips / 4, strips * 4}) {
      if (n > 0 && n <= runs) {
        more.push_back({{"winograd", outputs}, {"strips", n}});
      }
    }
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(3, s.product.blocks); ++vectors) {
      if (vectors != s.product.vectors) {
        more.push_back({{"winograd", outputs}, {"vectors", vectors}});
      }
    }
  }
  llvm::append_range(all, more);
  return all;
}

// Weights: for each panel of output channels and each component a row for each word of input channels. They are float32
// where the filters are narrower, too: sums of transformed weights cancel, and magnify what 16 bits would round away.
// Of bytes they are int16.

/// A weight of the filters.
static double weightOf(const support::ElementType &element, ArrayRef<char> filters, int64_t i) {
  switch (element.bits) {
  case 8:
    return reinterpret_cast<const int8_t *>(filters.data())[i];
  case 32:
    return reinterpret_cast<const float *>(filters.data())[i];
  default:
    return element.format.decode(reinterpret_cast<const uint16_t *>(filters.data())[i]);
  }
}

/// `from`: the filters.
template <typename Transformed>
static void packPanel(const WinogradSchedule &s, int64_t out, int64_t width, llvm::function_ref<double(int64_t)> from,
                      Transformed *to) {
  ArrayRef<int64_t> taps = s.g.phases[0].taps;
  int64_t words = s.inputWords();
  SmallVector<double> transformed(s.components());
  for (int64_t o = out; o < std::min(out + width, s.g.outChannels); ++o) {
    for (int64_t c = 0; c < s.g.inGroup(); ++c) {
      int64_t in = o / s.g.outGroup() * s.g.inGroup() + c;
      auto filter = llvm::map_to_vector<9>(taps, [&](int64_t t) { return from(s.g.weightAt(o, in, t)); });
      Filtering::filter(s.rows.filtering, s.columns.filtering, filter, transformed);
      for (auto [i, value] : llvm::enumerate(transformed)) {
        int64_t word = (static_cast<int64_t>(i) * words + c / s.perWord) * width + o - out;
        to[word * s.perWord + c % s.perWord] = static_cast<Transformed>(value);
      }
    }
  }
}

template <typename Transformed>
static void packPanels(const WinogradSchedule &s, llvm::function_ref<double(int64_t)> from, MutableArrayRef<char> to) {
  auto *packed = reinterpret_cast<Transformed *>(to.data());
  for (int64_t group = 0, block = 0; group < s.g.groups; ++group) {
    for (auto [vectors, count] : s.product.panels) {
      for (int64_t i = 0; i < count; ++i, block += vectors) {
        packPanel(s, block * s.product.lanes, vectors * s.product.lanes, from,
                  packed + block * s.product.lanes * (s.inputWords() * s.perWord) * s.components());
      }
    }
  }
}

/// `element`: of the filters.
static plan::WeightTable::Recipe transformedWeights(const WinogradSchedule &s, const support::ElementType &element) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "winograd of " << element.name << ' ' << std::max(s.rows.filtering.outputs(), s.columns.filtering.outputs())
     << ' ' << s.g.outChannels << '/' << s.g.inChannels << " groups " << s.g.groups << " transposed " << s.g.transposed
     << " lanes " << s.product.lanes << " vectors " << s.product.vectors << " taps " << s.rows.filtering.taps() << 'x'
     << s.columns.filtering.taps() << ':';
  for (int64_t t : s.g.phases[0].taps) {
    os << ' ' << t;
  }
  auto pack = [s, &element](ArrayRef<char> filters, MutableArrayRef<char> to) {
    auto from = [&](int64_t i) { return weightOf(element, filters, i); };
    s.isOfBytes() ? packPanels<int16_t>(s, from, to) : packPanels<float>(s, from, to);
  };
  return {key, 4 * s.weightWords(), pack};
}

KernelShape winogradShape(plan::KernelOp kernel, const WinogradSchedule &s) {
  Operation *root = kernel.root();
  KernelShape shape;
  shape.items = s.items();
  shape.scratchBytes = shape.items * (4 * s.scratchWords());
  shape.multiplyAdds = s.multiplyAdds();
  int weights = operandNumber(root->getOperand(1));
  shape.packed[weights] = transformedWeights(s, onnx::rowOf(onnx::elementOf(root->getOperand(1))));
  if (!s.isOfBytes()) {
    shape.packedAsFloats = weights;
  }
  if (onnx::present(root->getOperand(2))) {
    shape.packed[operandNumber(root->getOperand(2))] =
        paddedRecipe(s.outputBlocks() * s.product.lanes, s.g.weightBytes);
  }
  return shape;
}

} // namespace ingot::lower
