// Decides into how many strips a convolution by Winograd's algorithm is cut, by an estimate of cycles from the
// arithmetic and from what each cache can deliver; and packs the weights.
//
// F(4x4) takes a quarter of a direct convolution's multiplications, but four times its weights, which have to come from
// the third cache or from memory: they cost as much for 49 pixels as for 50,000. F(2x2) takes four ninths of the
// multiplications, and 16/9 times the weights.
#include "compiler/lower/conv/Winograd.h"
#include "compiler/lower/core/CacheLines.h"
#include "compiler/lower/core/Counts.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

// The parts of a schedule

support::Size WinogradSchedule::registerTileCount() const { return ceilDiv(tiles(), product.pixels); }
int64_t WinogradSchedule::inputStride() const { return oddLines(inputBlocks() * stripTiles() * blockWords(), line); }
int64_t WinogradSchedule::productStride() const {
  return oddLines(product.vectors * stripTiles() * product.lanes, line);
}

/// The most bytes of scratch memory of all work items, as long as there are `leastItems`, and of one strip, even where
/// a larger strip would save traffic of the weights.
static constexpr int64_t scratchBytes = 4 << 20, leastItems = 4, stripBytes = 2 << 20;

int64_t WinogradSchedule::itemsAtMost() const {
  return std::clamp<int64_t>(scratchBytes / (4 * scratchWords()), leastItems, std::max(leastItems, heavyItems));
}
support::Size WinogradSchedule::items() const { return min(units(), itemsAtMost()); }

// Estimates

/// Returns the cycles of the linear maps of a tile and a block of channels. The machine does two operations a cycle, on
/// vectors or with memory; what does not fit the registers is written and read once more.
static double transformCycles(const WinogradSchedule &s, int64_t registers, bool isInput) {
  const Filtering &rows = s.rows.filtering, &columns = s.columns.filtering;
  int64_t high = isInput ? rows.inputs() : rows.outputs(), between = high * columns.inputs();
  int64_t operations = isInput ? columns.inputs() * rows.inputOperations() + high * columns.inputOperations()
                               : columns.inputs() * rows.outputOperations() + high * columns.outputOperations();
  int64_t elements = s.components() + high * (isInput ? columns.inputs() : columns.outputs());
  int64_t spilled = std::max<int64_t>(0, between - registers);
  return 0.5 * static_cast<double>(operations + elements + 2 * spilled);
}

/// Returns the cycles of an image. `weightRate` is the bytes a cycle of weights that are read for the first time in a
/// run.
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
  return overlappedCycles(arithmetic, memory) +
         tiles * (inputs * transformCycles(s, registers, true) + outputs * transformCycles(s, registers, false));
}

// Schedules

/// Returns a component as a convolution of one tap. `inputWords` are its input channels, in words.
static ConvGeometry componentOf(const ConvGeometry &g, int64_t inputWords, int64_t tiles) {
  SubConv subConv{{}, {0}};
  subConv.axes[2].out = tiles;
  ConvGeometry component = {1, inputWords, g.outGroup(), 1, 1, false, 4, {support::Size(tiles)}, {subConv}};
  if (std::optional<int64_t> vectors = g.requested["vectors"]) {
    component.requested = {{"vectors", *vectors}};
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
    : g(g), perWord(ofBytes ? 2 : 1), rows(g.subConvs[0].axes[1], outputs, ofBytes),
      columns(g.subConvs[0].axes[2], outputs, ofBytes), component(componentOf(g, inputWords(), tiles().number())),
      product(scheduleOf(component, lanes, /*planes=*/false, machine)), line(machine.lineBytes / 4),
      heavyItems(machine.tuning.heavyItems) {}

WinogradSchedule WinogradSchedule::opened(const ConvGeometry &open) const {
  WinogradSchedule s = *this;
  s.g = open, s.rows = Tiles(open.subConvs[0].axes[1], outputs(), isOfBytes());
  s.columns = Tiles(open.subConvs[0].axes[2], outputs(), isOfBytes());
  s.strips = ceilDiv(s.registerTileCount(), stripRegisterTiles);
  return s;
}

/// Returns how many threads may share the panels of a strip.
static int64_t sharesOf(const WinogradSchedule &s) {
  int64_t images = typical(s.g.batch, 1) * s.strips.number();
  return std::clamp<int64_t>(s.itemsAtMost() / std::max<int64_t>(1, images), 1, s.panelCount());
}

/// Returns how many times as much a kernel costs because two threads would not have as many units each, where it is
/// worth sharing.
static double unevenness(const WinogradSchedule &s) {
  // The weight is small because most libraries are run by one thread.
  constexpr double leastCycles = 60'000, weight = 0.1;
  int64_t units = typical(s.g.batch, 1) * s.strips.number() * s.shares;
  return s.cycles < leastCycles ? 1 : 1 + weight * static_cast<double>(units % 2) / static_cast<double>(units);
}

/// Says what other numbers of strips would take: of those that fit the cheapest one, and the largest that does not fit.
static std::string stripText(const WinogradSchedule &best, ArrayRef<WinogradSchedule> fitting,
                             ArrayRef<WinogradSchedule> tooLarge) {
  auto text = [](const WinogradSchedule &s) {
    return "strips=" + std::to_string(s.strips.number()) + " " + countText(s.cycles);
  };
  std::string all = text(best);
  const WinogradSchedule *next = nullptr;
  for (const WinogradSchedule &s : fitting) {
    bool isBetter = !next || s.cycles * unevenness(s) < next->cycles * unevenness(*next);
    next = s.strips != best.strips && isBetter ? &s : next;
  }
  if (next) {
    all += ", " + text(*next) + (next->cycles < best.cycles ? " (two threads would not have as many each)" : "");
  }
  if (!tooLarge.empty()) {
    const WinogradSchedule &s = tooLarge.back();
    all += ", " + text(s) + " (its strips take " + bytesText(4.0 * static_cast<double>(s.scratchWords())) +
           " of scratch memory; " + bytesText(stripBytes) + " are the most)";
  }
  return all;
}

void chooseStrips(WinogradSchedule &s, double weightRate, const target::MachineModel &machine, std::string *why) {
  std::vector<WinogradSchedule> fitting, tooLarge;
  WinogradSchedule trial = s;
  double least = s.cycles = std::numeric_limits<double>::infinity();
  int64_t registerTiles = s.registerTileCount().number();
  std::optional<int64_t> requested = s.g.requested["strips"];
  for (int64_t strips = 1; strips <= registerTiles; ++strips) {
    if (requested && strips != *requested) {
      continue;
    }
    trial.strips = strips, trial.stripRegisterTiles = llvm::divideCeil(registerTiles, strips),
    trial.shares = sharesOf(trial);
    trial.cycles = winogradCycles(trial, weightRate, machine);
    double cost = trial.cycles * unevenness(trial);
    bool fits = 4 * trial.scratchWords() <= stripBytes || strips == registerTiles || requested;
    if (fits && cost <= least) {
      s = trial, least = cost;
    }
    if (why) {
      (fits ? fitting : tooLarge).push_back(trial);
    }
  }
  if (why) {
    *why = stripText(s, fitting, tooLarge);
  }
}

// Weights are packed for each panel of output channels and each component, with a row for each word of input channels.
// They are float32 even where the filters are narrower: sums of transformed weights cancel, and magnify what 16 bits
// would round away. For bytes they are int16.

/// Returns a weight of the filters.
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

/// Packs one panel; `from` gives the weights of the filters.
template <typename Transformed>
static void packPanel(const WinogradSchedule &s, int64_t out, int64_t width, llvm::function_ref<double(int64_t)> from,
                      Transformed *to) {
  ArrayRef<int64_t> taps = s.g.subConvs[0].taps;
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

/// Returns the recipe for the weights; `element` is the type of the filters.
static plan::WeightTable::Recipe transformedWeights(const WinogradSchedule &s, const support::ElementType &element) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "winograd of " << element.name << ' ' << std::max(s.rows.filtering.outputs(), s.columns.filtering.outputs())
     << ' ' << s.g.outChannels << '/' << s.g.inChannels << " groups " << s.g.groups << " transposed " << s.g.transposed
     << " lanes " << s.product.lanes << " vectors " << s.product.vectors << " taps " << s.rows.filtering.taps() << 'x'
     << s.columns.filtering.taps() << ':';
  for (int64_t t : s.g.subConvs[0].taps) {
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
  shape.build = [s](Build &build) { buildWinograd(build, s); };
  return shape;
}

} // namespace ingot::lower
