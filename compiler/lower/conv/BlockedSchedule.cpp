// Chooses register tile and order of loops, by a small model of a core: two multiply-adds and two loads a cycle, which
// may hold each other up, and four cycles from one addition to an accumulator to the next.
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/core/Counts.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

int64_t BlockedSchedule::panelCount() const {
  int64_t n = 0;
  for (auto [vectors, count] : panels) {
    n += count;
  }
  return n;
}

int64_t BlockedSchedule::subConvBase(const ConvGeometry &g, size_t subConv) const {
  int64_t taps = 0;
  for (const SubConv &p : ArrayRef(g.subConvs).take_front(subConv)) {
    taps += p.taps.size();
  }
  return blocks * lanes * stepsOfPanel() * stepRows * taps;
}
int64_t BlockedSchedule::weightElements(const ConvGeometry &g) const { return subConvBase(g, g.subConvs.size()); }

std::pair<int64_t, int64_t> BlockedSchedule::inputRange(const ConvGeometry &g, int64_t out, int64_t width) {
  int64_t last = std::min(out + width, g.outChannels) - 1;
  return {out / g.outGroup() * g.inGroup(), (last / g.outGroup() + 1) * g.inGroup()};
}

int64_t pixelsFor(const BlockedSchedule &s, int64_t vectors, const target::MachineModel &machine) {
  if (ByteProducts bytes = s.bytes(machine); s.isOfBytes() && bytes.takesTwoInstructions()) {
    return bytes.heightOf(vectors, machine);
  }
  if (vectors == machine.matmulTile.vectors) {
    return machine.matmulTile.rows;
  }
  int64_t left = machine.tileRegisters() - 2 - vectors - (machine.fusedMultiplyAdd ? 0 : 1);
  return std::max<int64_t>(1, left / vectors);
}

SmallVector<TileRun, 2> tileRuns(const ConvAxis &row, int64_t pixels) {
  SmallVector<TileRun, 2> runs;
  int64_t length = row.out.number();
  auto tapsOf = [&](int64_t i) {
    auto [first, last] = row.tapsOf(i);
    return std::pair(first.number(), std::max(first.number(), last.number()));
  };
  for (int64_t from = 0, to = 0; from < length; from = to) {
    while (to < length && (!row.image || tapsOf(to) == tapsOf(from))) {
      to = row.image ? to + 1 : length;
    }
    int64_t start = from;
    for (auto [size, count] : balancedTiles(to - from, pixels)) {
      runs.push_back({start, size, count, tapsOf(from)});
      start += size * count;
    }
  }
  return runs;
}
int64_t tilesOfRow(const ConvAxis &row, int64_t pixels) {
  int64_t n = 0;
  for (const TileRun &run : tileRuns(row, pixels)) {
    n += run.count;
  }
  return n;
}

/// Returns the cycles of one step (an input channel at a tap) over a tile.
static double tileCost(int64_t pixels, int64_t vectors, const target::MachineModel &machine) {
  auto arithmetic = 0.5 * static_cast<double>(pixels * vectors), loads = static_cast<double>(pixels + vectors);
  constexpr double chain = 4;
  return std::max({arithmetic + machine.tuning.loadCycles * loads, 0.5 * loads, chain}) + 0.5;
}
/// Returns the cycles of a step over tiles that cover `extent` pixels.
static double stepCost(int64_t extent, int64_t pixels, int64_t vectors, const target::MachineModel &machine) {
  double sum = 0;
  for (auto [size, count] : balancedTiles(extent, pixels)) {
    sum += count * tileCost(size, vectors, machine);
  }
  return sum;
}
/// Returns the cycles of an input channel at all taps over a row of an image.
static double rowCost(const SubConv &subConv, int64_t row, int64_t pixels, int64_t vectors,
                      const target::MachineModel &machine) {
  const ConvAxis &inner = subConv.axes[2];
  double rows = static_cast<double>(subConv.axes[0].taps * subConv.axes[1].taps), sum = 0;
  if (!inner.image) {
    return rows * static_cast<double>(inner.taps) * stepCost(row, pixels, vectors, machine);
  }
  for (const TileRun &run : tileRuns(inner, pixels)) {
    sum += static_cast<double>(run.count * (run.taps.second - run.taps.first)) * tileCost(run.size, vectors, machine);
  }
  return rows * sum;
}

/// Returns the input channels that all panels read, each step weighed by its cost.
static double panelCost(const ConvGeometry &g, const BlockedSchedule &s,
                        llvm::function_ref<double(int64_t vectors)> step) {
  double sum = 0;
  int64_t block = 0;
  for (auto [vectors, count] : s.panels) {
    for (int64_t i = 0; i < count; ++i, block += vectors) {
      auto [first, last] = BlockedSchedule::inputRange(g, block * s.lanes, vectors * s.lanes);
      sum += (last - first) * step(vectors);
    }
  }
  return sum;
}

/// The pixels of a row whose length the run determines, for choosing among tiles: many, so that remainders do not
/// count.
static constexpr int64_t openRow = 1000;

/// Returns the cycles of an input channel at all taps over the pixels of an image, in tiles of `vectors` vectors.
static double imageCost(const ConvGeometry &g, const BlockedSchedule &s, int64_t vectors,
                        const target::MachineModel &machine) {
  const SubConv &subConv = g.subConvs.front();
  int64_t row = typical(subConv.axes[2].out, openRow), rows = typical(subConv.rows(), openRow);
  return s.flat ? static_cast<double>(subConv.taps.size()) * stepCost(row * rows, s.pixels, vectors, machine)
                : static_cast<double>(rows) * rowCost(subConv, row, s.pixels, vectors, machine);
}

double cyclesOf(const ConvGeometry &g, const BlockedSchedule &s, const target::MachineModel &machine) {
  return panelCost(g, s, [&](int64_t vectors) { return imageCost(g, s, vectors, machine); });
}

bool knowsPixels(const SubConv &subConv) { return subConv.rows().isNumber() && subConv.axes[2].out.isNumber(); }

bool mayBeFlat(const ConvGeometry &g, const BlockedSchedule &s) {
  const SubConv &subConv = g.subConvs.front();
  if (!knowsPixels(subConv)) {
    return false;
  }
  int64_t row = subConv.axes[2].out.number(), rows = subConv.rows().number();
  bool skips = llvm::any_of(subConv.axes, [](const ConvAxis &axis) { return axis.image > 0; });
  return g.subConvs.size() == 1 && s.channels != BlockedSchedule::Planes && rows > 1 && row * rows <= flatPixels &&
         !skips;
}

/// Static tiles are much code: they must earn it.
constexpr double costOfStaticTiles = 1.1;
/// A tile that is tried later must take less than this share of the cycles.
constexpr double shareOfLaterTile = 0.99;

/// A register tile that was tried, and its cycles.
struct TriedTile {
  BlockedSchedule s;
  double cycles;
};

/// Says what the tiles that were tried take, the chosen one first; of one that would take less, why it is not chosen.
static std::string tileText(ArrayRef<TriedTile> tried, const TriedTile &best, double scale) {
  auto text = [&](const TriedTile &tile, const char *form) {
    const char *flat = tile.s.flat ? "flat=1 " : "";
    return llvm::formatv(form, flat, tile.s.vectors, countText(scale * tile.cycles), tile.s.pixels).str();
  };
  std::string all = text(best, "{0}vectors={1}: {2} cycles of arithmetic in tiles of {3} pixels");
  for (const TriedTile &tile : tried) {
    if (tile.s == best.s) {
      continue;
    }
    all += text(tile, ", {0}vectors={1} {2} in {3}");
    if (tile.cycles < best.cycles) {
      all += tile.s.flat && !best.s.flat ? llvm::formatv(" (static tiles count {0:f2} times)", costOfStaticTiles).str()
                                         : llvm::formatv(" (has to be below {0:f2})", shareOfLaterTile).str();
    }
  }
  return all;
}

static void chooseTile(const ConvGeometry &g, BlockedSchedule &s, const target::MachineModel &machine,
                       ScheduleReasons *reasons) {
  bool mayFlatten = mayBeFlat(g, s);
  std::optional<int64_t> requestedVectors = g.requested["vectors"], requestedFlat = g.requested["flat"];
  SmallVector<TriedTile> tried;
  TriedTile best;
  std::string tooHigh;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(4, s.blocks); ++vectors) {
    BlockedSchedule t = s;
    t.vectors = vectors, t.pixels = pixelsFor(s, vectors, machine), t.panels = balancedTiles(s.blocks, vectors);
    if (vectors > 2 && t.pixels < 3) {
      tooHigh = llvm::formatv(", vectors={0} has registers for {1} pixels only", vectors, t.pixels);
      break;
    }
    for (bool flat : {false, true}) {
      if ((requestedVectors && requestedVectors != vectors) || (requestedFlat && requestedFlat != flat) ||
          (flat && !mayFlatten)) {
        continue;
      }
      t.flat = flat;
      tried.push_back({t, cyclesOf(g, t, machine)});
      double cost = tried.back().cycles * (flat ? costOfStaticTiles : 1.0);
      if (cost < shareOfLaterTile * least) {
        least = cost, best = tried.back();
      }
    }
  }
  s = best.s;
  if (reasons) {
    double scale = static_cast<double>(g.subConvs.size()) * (s.isOfBytes() ? s.bytes(machine).share() : 1);
    reasons->tile = tileText(tried, best, scale) + (requestedVectors ? ", as the file of schedules says" : tooHigh);
  }
}

/// Chooses the channels that panels read: all alike from a block's beginning, or any range.
static void chooseChannels(const ConvGeometry &g, BlockedSchedule &s) {
  bool alike = true;
  int64_t block = 0, count = -1;
  for (auto [vectors, panels] : s.panels) {
    for (int64_t i = 0; i < panels; ++i, block += vectors) {
      auto [first, last] = BlockedSchedule::inputRange(g, block * s.lanes, vectors * s.lanes);
      alike &= first % s.lanes == 0 && (count < 0 || count == last - first);
      count = last - first;
      s.inputs = std::max(s.inputs, count);
    }
  }
  if (!alike) {
    s.channels = BlockedSchedule::Range;
  }
}

/// Chooses the tile for panels that another machine with longer vectors chose.
static void chooseTileOf(const ConvGeometry &g, const BlockedSchedule &packed, BlockedSchedule &s,
                         const target::MachineModel &machine) {
  s = packed;
  int64_t registers = llvm::divideCeil(s.lanes, machine.lanes); // registers of a block
  s.part = std::clamp<int64_t>(machine.matmulTile.vectors / registers, 1, s.vectors);
  s.pixels = pixelsFor(s, s.part * registers, machine);
  BlockedSchedule list = s, rows = s;
  list.flat = true, rows.flat = false;
  s.flat = mayBeFlat(g, s) && s.pixels > 2 && // else static tiles would be many
           costOfStaticTiles * imageCost(g, list, s.part * registers, machine) <
               imageCost(g, rows, s.part * registers, machine);
}

/// Where neither the weights nor the input stay in the second cache, and not even the rows that one row of outputs
/// reads, each panel reads all of the input from behind that cache, once for each row of the kernel. Then all panels go
/// over a part of the image that stays, the one with which the fewest bytes come from there: the weights once a part.
/// Of one tap with a stride, too, whose panels read lines for a part of their pixels: more a cycle than come from there
/// (not where weights come from even further away).
static void choosePart(const ConvGeometry &g, BlockedSchedule &s, int64_t inputBytes, int64_t weightBytes,
                       const target::MachineModel &machine, ScheduleReasons *reasons) {
  const SubConv &subConv = g.subConvs.front();
  if (g.subConvs.size() != 1 || !knowsPixels(subConv) || subConv.rows().is(1)) {
    return;
  }
  auto extent = [](const ConvAxis &a, int64_t outs) { return (outs - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1; };
  int64_t slices = extent(subConv.axes[0], 1), rows = subConv.rows().number();
  int64_t inRow = tilesOfRow(subConv.axes[2], s.pixels);
  int64_t rowBytes =
      s.elementBytes() * g.inChannels * slices * extent(subConv.axes[1], 1) * extent(subConv.axes[2], inRow * s.pixels);
  double least = static_cast<double>(weightBytes) + static_cast<double>(s.panelCount()) * inputBytes;
  constexpr double bytesOfCycle = 6;
  bool readsTooMuch =
      g.kernel == 1 && weightBytes <= machine.l3Bytes / 8 && least > bytesOfCycle * cyclesOf(g, s, machine);
  if (rowBytes <= machine.l2Bytes / 2 && !readsTooMuch) {
    return;
  }
  std::string whole = bytesText(least), before;
  for (int64_t partRows : {1, 2, 4, 8, 16}) {
    for (int64_t cuts = 1; partRows <= rows && cuts <= inRow; cuts *= 2) {
      int64_t tiles = llvm::divideCeil(inRow, cuts);
      int64_t read = slices * extent(subConv.axes[1], partRows) * extent(subConv.axes[2], tiles * s.pixels);
      int64_t held = s.elementBytes() * g.inChannels * read,
              parts = llvm::divideCeil(rows, partRows) * llvm::divideCeil(inRow, tiles);
      double bytes = static_cast<double>(parts) * (held + weightBytes);
      if (held <= machine.l2Bytes / 2 && bytes < least) {
        if (s.partRows) {
          before = llvm::formatv(", parts of {0} x {1} {2}", s.partRows, s.partTiles, bytesText(least));
        }
        least = bytes, s.partRows = partRows, s.partTiles = tiles;
      }
    }
  }
  if (reasons && s.partRows) {
    reasons->order =
        llvm::formatv("parts of {0} rows x {1} tiles: with their halo they read {2} from behind the second "
                      "cache{3}, the whole image {4}",
                      s.partRows, s.partTiles, bytesText(least), before, whole);
  }
}

/// Returns as many rows of sub-convolutions as keep what they read and write in a part of the second cache.
static int64_t subConvRowsOf(const ConvGeometry &g, const BlockedSchedule &s, const target::MachineModel &machine) {
  constexpr int64_t shareOfCache = 4;
  int64_t bytes = s.elementBytes() * g.inChannels * typical(g.spatial.back(), openRow);
  for (const SubConv &subConv : g.subConvs) {
    bytes += 4 * s.vectors * s.lanes * typical(subConv.axes[2].out, openRow);
  }
  return std::max<int64_t>(1, machine.l2Bytes / shareOfCache / std::max<int64_t>(1, bytes));
}

int64_t inputBytesOf(const ConvGeometry &g, const BlockedSchedule &s) {
  int64_t bytes = s.elementBytes() * g.inChannels;
  for (const support::Size &d : g.spatial) {
    bytes *= typical(d, openRow);
  }
  return bytes;
}

/// Takes the order of loops that the requested schedule has: `order` 1 has all panels for a tile of pixels, 0 all
/// pixels for a panel; `rows` or `tiles` have all panels for that many rows, or tiles of a row.
static void useOrder(const ConvGeometry &g, BlockedSchedule &s, ScheduleReasons *reasons) {
  std::optional<int64_t> order = g.requested["order"], rows = g.requested["rows"], tiles = g.requested["tiles"];
  if (order || rows || tiles) {
    s.pixelsOuter = order == 1;
    s.partRows = rows || tiles ? rows.value_or(1) : 0;
    s.partTiles = rows ? tilesOfRow(g.subConvs.front().axes[2], s.pixels) : tiles.value_or(0);
    if (reasons) {
      reasons->order = "the file of schedules says the order";
    }
  }
}

/// Says why all panels go over a tile of pixels (`order` 1), or all pixels over a panel.
static std::string orderText(const ConvGeometry &g, const BlockedSchedule &s, int64_t inputBytes, int64_t weightBytes,
                             const target::MachineModel &machine) {
  if (s.channels == BlockedSchedule::Planes || s.flat || g.subConvs.size() > 1) {
    return "";
  }
  const int64_t halfBytes = machine.l2Bytes / 2;
  std::string half = "half of the second cache (" + bytesText(halfBytes) + ")";
  std::string weights = "the weights (" + bytesText(weightBytes) + ")", image = "the image (" + bytesText(inputBytes);
  if (s.pixelsOuter) {
    return "order=1: " + weights + " stay in " + half +
           (g.kernel > 1 ? ", " + image + ") does not" : ", and of one tap a pixel is read while it is at hand");
  }
  return "order=0: " + (weightBytes > halfBytes ? weights + " exceed " + half : image + ") stays in " + half);
}

BlockedSchedule scheduleOf(const ConvGeometry &g, int64_t lanes, bool planes, const target::MachineModel &machine,
                           bool ofBytes, ScheduleReasons *reasons) {
  BlockedSchedule s;
  if (ofBytes) {
    s.int16Dots = std::min(g.int16Dots, lanes / ByteProducts::dotBytes); // a step belongs to one block
    ByteProducts bytes(machine, g.isInt16, s.int16Dots);
    s.stepChannels = bytes.step(), s.stepRows = bytes.rows();
  }
  if (machine.packing && machine.packing->lanes > machine.lanes) {
    int64_t rows = s.stepRows;
    chooseTileOf(g, scheduleOf(g, lanes, planes, *machine.packing, ofBytes), s, machine);
    s.stepRows = rows;
    if (reasons) {
      reasons->tile = llvm::formatv("vectors={0}: the weights are packed so for {1}", s.vectors, machine.packing->spec);
      reasons->tile += s.part ? llvm::formatv(", and a tile has {0} of them", s.part).str() : "";
    }
  } else {
    s.lanes = lanes;
    s.blocks = llvm::divideCeil(g.outChannels, lanes);
    s.channels = planes ? BlockedSchedule::Planes : BlockedSchedule::Blocks;
    chooseTile(g, s, machine, reasons);
    chooseChannels(g, s);
  }
  int64_t weightBytes = 4 * s.weightElements(g), inputBytes = inputBytesOf(g, s);
  bool weightsStay = weightBytes <= machine.l2Bytes / 2, inputStays = g.kernel > 1 && inputBytes <= machine.l2Bytes / 2;
  s.pixelsOuter = planes || (g.subConvs.size() == 1 && !s.flat && weightsStay && !inputStays);
  if (reasons) {
    reasons->order = orderText(g, s, inputBytes, weightBytes, machine);
  }
  if (!s.pixelsOuter && !inputStays && !s.flat) {
    choosePart(g, s, inputBytes, weightBytes, machine, reasons);
  }
  s.subConvRows = g.subConvs.size() > 1 ? subConvRowsOf(g, s, machine) : 1;
  useOrder(g, s, reasons);
  return s;
}

BlockedSchedule rowScheduleOf(const ConvGeometry &g, int64_t lanes, const target::MachineModel &machine, bool ofBytes,
                              ScheduleReasons *reasons) {
  ConvGeometry row = g;
  row.subConvs.front().axes[1].out = 1;
  BlockedSchedule s = scheduleOf(row, lanes, /*planes=*/false, machine, ofBytes, reasons);
  s.pixelsOuter = true;
  return s;
}

// These merge pixels.

/// Whether the spatial dimensions lie in memory as one.
static bool oneRow(RankedTensorType type) {
  plan::Strides s = plan::stridesOf(type);
  for (size_t i = 3; i < s.sizes.size(); ++i) {
    if (s.strides[i - 1] != s.strides[i] * s.sizes[i]) {
      return false;
    }
  }
  return true;
}

/// Whether the group can read `type` and walk all pixels of a result of `shape` as one row.
static bool readsAsRow(RankedTensorType type, ArrayRef<support::Size> shape) {
  int64_t missing = shape.size() - type.getRank();
  support::Sizes sizes = onnx::sizesOf(type);
  bool all = missing <= 2, none = true;
  for (int64_t i = std::max<int64_t>(2, missing); i < static_cast<int64_t>(shape.size()); ++i) {
    all &= sizes[i - missing] == shape[i], none &= sizes[i - missing].is(1);
  }
  return none || (all && oneRow(type));
}

/// Returns the geometry with one axis of pixels, where the kernel can walk the whole image so.
static std::optional<ConvGeometry> mergedPixels(const ConvGeometry &g, plan::KernelOp kernel, RankedTensorType x) {
  const SubConv &subConv = g.subConvs.front();
  bool pointwise = g.subConvs.size() == 1 && subConv.taps.size() == 1 && x.getRank() > 3 && oneRow(x);
  support::Sizes sizes = onnx::sizesOf(x);
  for (auto [i, a] : llvm::enumerate(subConv.axes)) {
    pointwise &= a.inStep == 1 && a.inStart == 0 && a.outStep == 1 && (a.dim < 0 || a.out == sizes[a.dim]);
  }
  support::Sizes shape = onnx::sizesOf(cast<RankedTensorType>(kernel.getResult(0).getType()));
  for (Type type : kernel.getResultTypes()) {
    pointwise &= oneRow(cast<RankedTensorType>(type));
  }
  Operation *root = kernel.root();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool onlyRoots = llvm::all_of(argument.getUsers(), [&](Operation *user) { return user == root; });
    if (type && !onlyRoots) {
      pointwise &= type.getRank() <= x.getRank() && readsAsRow(type, shape);
    }
  }
  if (!pointwise) {
    return std::nullopt;
  }
  ConvGeometry merged = g;
  ConvAxis pixels;
  pixels.dim = 2, pixels.out = subConv.rows() * subConv.axes[2].out;
  merged.subConvs[0].axes = {ConvAxis(), ConvAxis(), pixels};
  return merged;
}

/// Merges the spatial dimensions of the result's space to one. Its stride is the stride of the innermost dimension that
/// an access strides over: one of size 1 has stride 0, whatever is in front of it.
static void mergePixels(Space &space) {
  auto merge = [](Access &a) {
    while (a.strides.size() > 3 && a.strides.back().is(0)) {
      a.strides.pop_back();
    }
    a.strides[2] = a.strides.back();
    a.strides.truncate(3);
  };
  for (auto &[value, access] : space.accesses) {
    merge(access);
  }
  llvm::for_each(space.results, merge);
  for (const Ix &d : ArrayRef(space.sizes).drop_front(3)) {
    space.sizes[2] *= d;
  }
  space.sizes.truncate(3);
}

// These make kernels.

BlockedKernel BlockedKernel::of(plan::KernelOp kernel) {
  Operation *root = kernel.root();
  ConvGeometry g = geometryOf(root, /*maySwapAxes=*/true);
  for (auto [i, skips] : llvm::enumerate(skipsPadding(root))) {
    for (ConvAxis &axis : g.subConvs.front().axes) {
      if (skips && axis.dim == static_cast<int>(i) + 2) {
        axis.image = g.spatial[i].number();
      }
    }
  }
  std::optional<ConvGeometry> row = mergedPixels(g, kernel, Group::typeOf(root->getOperand(0)));
  return {row.value_or(g), row.has_value()};
}

Access BlockedKernel::input(const Build &build) const {
  Access input = blockedInput(build, g);
  if (isMerged) {
    input.strides.back() = plan::stridesOf(Group::typeOf(build.group.root->getOperand(0))).strides.back();
  }
  return input;
}

Space BlockedKernel::result(const Build &build) const {
  Space space = build.group.space(build.group.resultType());
  if (isMerged) {
    mergePixels(space);
  }
  return space;
}

Access blockedInput(const Build &build, const ConvGeometry &g) {
  Value x = build.group.root->getOperand(0);
  support::Strided<Ix> in = Group::placeIn(build.group.buffer(x), Group::typeOf(x));
  Access input{{in.offset, {in.strides[0], in.strides[1]}}, build.group.buffer(x), 1};
  for (const ConvAxis &a : g.subConvs[0].axes) {
    input.strides.push_back(a.dim < 0 ? Ix(0) : in.strides[a.dim]);
  }
  return input;
}

} // namespace ingot::lower
