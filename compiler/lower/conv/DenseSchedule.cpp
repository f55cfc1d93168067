// Which register tile and which order of loops, by a small model of a core: two multiply-adds and two loads a cycle,
// which may hold each other up, four cycles from one addition to an accumulator to the next; and the packing of the
// weights that follows.
#include "compiler/lower/conv/DenseConv.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"

using namespace mlir;

namespace ingot::lower {

int64_t DenseSchedule::panelCount() const {
  int64_t n = 0;
  for (auto [vectors, count] : panels) {
    n += count;
  }
  return n;
}

int64_t DenseSchedule::phaseBase(const ConvGeometry &g, size_t phase) const {
  int64_t taps = 0;
  for (const ConvPhase &p : ArrayRef(g.phases).take_front(phase)) {
    taps += p.taps.size();
  }
  return blocks * lanes * stepsOfPanel() * stepRows * taps;
}
int64_t DenseSchedule::weightElements(const ConvGeometry &g) const { return phaseBase(g, g.phases.size()); }

std::pair<int64_t, int64_t> DenseSchedule::inputRange(const ConvGeometry &g, int64_t out, int64_t width) {
  int64_t last = std::min(out + width, g.outChannels) - 1;
  return {out / g.outGroup() * g.inGroup(), (last / g.outGroup() + 1) * g.inGroup()};
}

/// Pixels of the largest tile with so many of the machine's vectors: accumulators, weights and one broadcast (and a
/// product, without fused multiply-add).
static int64_t pixelsFor(const DenseSchedule &s, int64_t vectors, const target::MachineModel &machine) {
  if (ByteProducts bytes = s.bytes(machine); s.isOfBytes() && bytes.isOfPairs()) {
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

/// Cycles of one step (an input channel at a tap) over a tile.
static double tileCost(int64_t pixels, int64_t vectors, const target::MachineModel &machine) {
  auto arithmetic = 0.5 * static_cast<double>(pixels * vectors), loads = static_cast<double>(pixels + vectors);
  constexpr double chain = 4;
  return std::max({arithmetic + machine.tuning.loadCycles * loads, 0.5 * loads, chain}) + 0.5;
}
/// The same over tiles that cover `extent` pixels.
static double stepCost(int64_t extent, int64_t pixels, int64_t vectors, const target::MachineModel &machine) {
  double sum = 0;
  for (auto [size, count] : balancedTiles(extent, pixels)) {
    sum += count * tileCost(size, vectors, machine);
  }
  return sum;
}
/// Cycles of an input channel at all taps over a row of an image.
static double rowCost(const ConvPhase &phase, int64_t row, int64_t pixels, int64_t vectors,
                      const target::MachineModel &machine) {
  const ConvAxis &inner = phase.axes[2];
  double rows = static_cast<double>(phase.axes[0].taps * phase.axes[1].taps), sum = 0;
  if (!inner.image) {
    return rows * static_cast<double>(inner.taps) * stepCost(row, pixels, vectors, machine);
  }
  for (const TileRun &run : tileRuns(inner, pixels)) {
    sum += static_cast<double>(run.count * (run.taps.second - run.taps.first)) * tileCost(run.size, vectors, machine);
  }
  return rows * sum;
}

/// Input channels read by all panels, each step weighed by its cost.
static double panelCost(const ConvGeometry &g, const DenseSchedule &s,
                        llvm::function_ref<double(int64_t vectors)> step) {
  double sum = 0;
  int64_t block = 0;
  for (auto [vectors, count] : s.panels) {
    for (int64_t i = 0; i < count; ++i, block += vectors) {
      auto [first, last] = DenseSchedule::inputRange(g, block * s.lanes, vectors * s.lanes);
      sum += (last - first) * step(vectors);
    }
  }
  return sum;
}

/// Pixels of a row whose length the run tells, for choosing among tiles: many, so that remainders do not count.
static constexpr int64_t openRow = 1000;

/// Cycles of an input channel at all taps over the pixels of an image, in tiles of so many vectors.
static double imageCost(const ConvGeometry &g, const DenseSchedule &s, int64_t vectors,
                        const target::MachineModel &machine) {
  const ConvPhase &phase = g.phases.front();
  int64_t row = typical(phase.axes[2].out, openRow), rows = typical(phase.rows(), openRow);
  return s.flat ? static_cast<double>(phase.taps.size()) * stepCost(row * rows, s.pixels, vectors, machine)
                : static_cast<double>(rows) * rowCost(phase, row, s.pixels, vectors, machine);
}

double cyclesOf(const ConvGeometry &g, const DenseSchedule &s, const target::MachineModel &machine) {
  return panelCost(g, s, [&](int64_t vectors) { return imageCost(g, s, vectors, machine); });
}

/// Whether the number of rows and their length are known.
static bool knowsPixels(const ConvPhase &phase) { return phase.rows().isNumber() && phase.axes[2].out.isNumber(); }

/// Whether the pixels may be one list of static tiles.
static bool mayBeFlat(const ConvGeometry &g, const DenseSchedule &s) {
  const ConvPhase &phase = g.phases.front();
  if (!knowsPixels(phase)) {
    return false;
  }
  int64_t row = phase.axes[2].out.number(), rows = phase.rows().number();
  bool skips = llvm::any_of(phase.axes, [](const ConvAxis &axis) { return axis.image > 0; });
  return g.phases.size() == 1 && s.channels != DenseSchedule::Planes && rows > 1 && row * rows <= flatPixels && !skips;
}

/// Static tiles are much code: they must earn it.
constexpr double costOfStaticTiles = 1.1;

static void chooseTile(const ConvGeometry &g, DenseSchedule &s, const target::MachineModel &machine) {
  bool mayFlatten = mayBeFlat(g, s);
  std::optional<int64_t> saidVectors = g.said["vectors"], saidFlat = g.said["flat"];
  DenseSchedule best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(4, s.blocks); ++vectors) {
    DenseSchedule t = s;
    t.vectors = vectors, t.pixels = pixelsFor(s, vectors, machine), t.panels = balancedTiles(s.blocks, vectors);
    if (vectors > 2 && t.pixels < 3) {
      break;
    }
    for (bool flat : {false, true}) {
      if ((saidVectors && saidVectors != vectors) || (saidFlat && saidFlat != flat)) {
        continue;
      }
      t.flat = flat;
      double cost = cyclesOf(g, t, machine) * (flat ? costOfStaticTiles : 1.0);
      if ((!flat || mayFlatten) && cost < 0.99 * least) {
        least = cost, best = t;
      }
    }
  }
  s = best;
}

/// The channels that panels read: all alike from a block's beginning, or any range.
static void chooseChannels(const ConvGeometry &g, DenseSchedule &s) {
  bool alike = true;
  int64_t block = 0, count = -1;
  for (auto [vectors, panels] : s.panels) {
    for (int64_t i = 0; i < panels; ++i, block += vectors) {
      auto [first, last] = DenseSchedule::inputRange(g, block * s.lanes, vectors * s.lanes);
      alike &= first % s.lanes == 0 && (count < 0 || count == last - first);
      count = last - first;
      s.inputs = std::max(s.inputs, count);
    }
  }
  if (!alike) {
    s.channels = DenseSchedule::Range;
  }
}

/// The tile for panels that another machine with longer vectors chose.
static void chooseTileOf(const ConvGeometry &g, const DenseSchedule &packed, DenseSchedule &s,
                         const target::MachineModel &machine) {
  s = packed;
  int64_t registers = llvm::divideCeil(s.lanes, machine.lanes); // of a block
  s.part = std::clamp<int64_t>(machine.matmulTile.vectors / registers, 1, s.vectors);
  s.pixels = pixelsFor(s, s.part * registers, machine);
  DenseSchedule list = s, rows = s;
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
static void choosePart(const ConvGeometry &g, DenseSchedule &s, int64_t inputBytes, int64_t weightBytes,
                       const target::MachineModel &machine) {
  const ConvPhase &phase = g.phases.front();
  if (g.phases.size() != 1 || !knowsPixels(phase) || phase.rows().is(1)) {
    return;
  }
  auto extent = [](const ConvAxis &a, int64_t outs) { return (outs - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1; };
  int64_t slices = extent(phase.axes[0], 1), rows = phase.rows().number();
  int64_t inRow = tilesOfRow(phase.axes[2], s.pixels);
  int64_t rowBytes =
      s.elementBytes() * g.inChannels * slices * extent(phase.axes[1], 1) * extent(phase.axes[2], inRow * s.pixels);
  double least = static_cast<double>(weightBytes) + static_cast<double>(s.panelCount()) * inputBytes;
  constexpr double bytesOfCycle = 6;
  bool readsTooMuch =
      g.kernel == 1 && weightBytes <= machine.l3Bytes / 8 && least > bytesOfCycle * cyclesOf(g, s, machine);
  if (rowBytes <= machine.l2Bytes / 2 && !readsTooMuch) {
    return;
  }
  for (int64_t partRows : {1, 2, 4, 8, 16}) {
    for (int64_t cuts = 1; partRows <= rows && cuts <= inRow; cuts *= 2) {
      int64_t tiles = llvm::divideCeil(inRow, cuts);
      int64_t read = slices * extent(phase.axes[1], partRows) * extent(phase.axes[2], tiles * s.pixels);
      int64_t held = s.elementBytes() * g.inChannels * read,
              parts = llvm::divideCeil(rows, partRows) * llvm::divideCeil(inRow, tiles);
      double bytes = static_cast<double>(parts) * (held + weightBytes);
      if (held <= machine.l2Bytes / 2 && bytes < least) {
        least = bytes, s.partRows = partRows, s.partTiles = tiles;
      }
    }
  }
}

/// As many rows of phases as keep what they read and write in a part of the second cache.
static int64_t phaseRowsOf(const ConvGeometry &g, const DenseSchedule &s, const target::MachineModel &machine) {
  constexpr int64_t shareOfCache = 4;
  int64_t bytes = s.elementBytes() * g.inChannels * typical(g.spatial.back(), openRow);
  for (const ConvPhase &phase : g.phases) {
    bytes += 4 * s.vectors * s.lanes * typical(phase.axes[2].out, openRow);
  }
  return std::max<int64_t>(1, machine.l2Bytes / shareOfCache / std::max<int64_t>(1, bytes));
}

/// Of an image that it reads; open sizes are taken for many.
static int64_t inputBytesOf(const ConvGeometry &g, const DenseSchedule &s) {
  int64_t bytes = s.elementBytes() * g.inChannels;
  for (const support::Size &d : g.spatial) {
    bytes *= typical(d, openRow);
  }
  return bytes;
}

/// The order of loops that the kernel was told: `order` 1 has all panels for a tile of pixels, 0 all pixels for a
/// panel; `rows` or `tiles` have all panels for so many rows, or so many tiles of a row.
static void useOrder(const ConvGeometry &g, DenseSchedule &s) {
  std::optional<int64_t> order = g.said["order"], rows = g.said["rows"], tiles = g.said["tiles"];
  if (order || rows || tiles) {
    s.pixelsOuter = order == 1;
    s.partRows = rows || tiles ? rows.value_or(1) : 0;
    s.partTiles = rows ? tilesOfRow(g.phases.front().axes[2], s.pixels) : tiles.value_or(0);
  }
}

DenseSchedule scheduleOf(const ConvGeometry &g, int64_t lanes, bool planes, const target::MachineModel &machine,
                         bool ofBytes) {
  DenseSchedule s;
  if (ofBytes) {
    s.shortQuads = std::min(g.shortQuads, lanes / ByteProducts::quad); // a step is of one block
    ByteProducts bytes(machine, g.wide, s.shortQuads);
    s.quad = bytes.step(), s.stepRows = bytes.rows();
  }
  if (machine.packing && machine.packing->lanes > machine.lanes) {
    int64_t rows = s.stepRows;
    chooseTileOf(g, scheduleOf(g, lanes, planes, *machine.packing, ofBytes), s, machine);
    s.stepRows = rows;
  } else {
    s.lanes = lanes;
    s.blocks = llvm::divideCeil(g.outChannels, lanes);
    s.channels = planes ? DenseSchedule::Planes : DenseSchedule::Blocks;
    chooseTile(g, s, machine);
    chooseChannels(g, s);
  }
  int64_t weightBytes = 4 * s.weightElements(g), inputBytes = inputBytesOf(g, s);
  bool weightsStay = weightBytes <= machine.l2Bytes / 2, inputStays = g.kernel > 1 && inputBytes <= machine.l2Bytes / 2;
  s.pixelsOuter = planes || (g.phases.size() == 1 && !s.flat && weightsStay && !inputStays);
  if (!s.pixelsOuter && !inputStays && !s.flat) {
    choosePart(g, s, inputBytes, weightBytes, machine);
  }
  s.phaseRows = g.phases.size() > 1 ? phaseRowsOf(g, s, machine) : 1;
  useOrder(g, s);
  return s;
}

DenseSchedule rowScheduleOf(const ConvGeometry &g, int64_t lanes, const target::MachineModel &machine, bool ofBytes) {
  ConvGeometry row = g;
  row.phases.front().axes[1].out = 1;
  DenseSchedule s = scheduleOf(row, lanes, /*planes=*/false, machine, ofBytes);
  s.pixelsOuter = true;
  return s;
}

/// The step of a weight in its panel.
static int64_t stepOf(const DenseSchedule &s, int64_t taps, int64_t inputs, int64_t input, int64_t tap) {
  switch (s.channels) {
  case DenseSchedule::Planes:
    return input * taps + tap;
  case DenseSchedule::Range:
    return tap * s.stepsOfPanel() + input / s.quad;
  case DenseSchedule::Blocks:
    break;
  }
  int64_t before = input / s.lanes * s.lanes;
  return s.stepsOf(before) * taps + tap * s.stepsOf(std::min(s.lanes, inputs - before)) + input % s.lanes / s.quad;
}

template <typename Word>
static void packPanel(const ConvGeometry &g, const DenseSchedule &s, ArrayRef<int64_t> taps, int64_t out, int64_t width,
                      const Word *from, Word *to) {
  auto [first, last] = DenseSchedule::inputRange(g, out, width);
  int64_t count = taps.size();
  for (int64_t o = out; o < std::min(out + width, g.outChannels); ++o) {
    int64_t group = o / g.outGroup();
    for (int64_t c = group * g.inGroup(); c < (group + 1) * g.inGroup(); ++c) {
      for (int64_t t = 0; t < count; ++t) {
        to[stepOf(s, count, last - first, c - first, t) * width + o - out] = from[g.weightAt(o, c, taps[t])];
      }
    }
  }
}

/// The same of bytes, in the words of ByteProducts.
static void packBytes(const ConvGeometry &g, const DenseSchedule &s, const ByteProducts &bytes, ArrayRef<int64_t> taps,
                      int64_t out, int64_t width, const int8_t *from, uint32_t *to) {
  auto [begin, last] = DenseSchedule::inputRange(g, out, width);
  int64_t first = begin / s.quad * s.quad, count = taps.size();
  for (int64_t o = out; o < std::min(out + width, g.outChannels); ++o) {
    int64_t group = o / g.outGroup(), from0 = group * g.inGroup(), to0 = from0 + g.inGroup();
    for (int64_t c = from0 / s.quad * s.quad; c < to0; c += s.quad) {
      for (int64_t t = 0; t < count; ++t) {
        std::array<int8_t, ByteProducts::mostBytes> weights{};
        for (int64_t i = std::max(c, from0); i < std::min(c + s.quad, to0); ++i) {
          weights[i - c] = from[g.weightAt(o, i, taps[t])];
        }
        int64_t step = stepOf(s, count, last - first, c - first, t);
        for (int64_t row = 0; row < s.stepRows; ++row) {
          to[(step * s.stepRows + row) * width + o - out] = bytes.word(weights, row);
        }
      }
    }
  }
}

plan::WeightTable::Recipe packedWeights(const ConvGeometry &g, const DenseSchedule &s, const ByteProducts &bytes) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "conv " << g.outChannels << '/' << g.inChannels << '/' << g.groups << " transposed " << g.transposed
     << " lanes " << s.lanes << " vectors " << s.vectors << " channels " << s.channels;
  if (s.isOfBytes()) {
    os << ' ' << bytes.key();
  }
  for (const ConvPhase &p : g.phases) {
    os << " taps";
    for (int64_t t : p.taps) {
      os << ' ' << t;
    }
  }
  auto pack = [g, s, bytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t base = 0;
    auto eachPanel = [&](llvm::function_ref<void(const ConvPhase &p, int64_t block, int64_t width, int64_t at)> body) {
      for (const ConvPhase &p : g.phases) {
        int64_t block = 0, rows = s.stepsOfPanel() * s.stepRows * static_cast<int64_t>(p.taps.size());
        for (auto [vectors, count] : s.panels) {
          for (int64_t i = 0; i < count; ++i, block += vectors) {
            body(p, block * s.lanes, vectors * s.lanes, base + block * s.lanes * rows);
          }
        }
        base += s.blocks * s.lanes * rows;
      }
    };
    if (s.isOfBytes()) {
      auto *source = reinterpret_cast<const int8_t *>(from.data());
      auto *words = reinterpret_cast<uint32_t *>(to.data());
      return eachPanel([&](const ConvPhase &p, int64_t out, int64_t width, int64_t at) {
        packBytes(g, s, bytes, p.taps, out, width, source, words + at);
      });
    }
    asWords(g.weightBytes, from, to, [&](const auto *source, auto *packed) {
      eachPanel([&](const ConvPhase &p, int64_t out, int64_t width, int64_t at) {
        packPanel(g, s, p.taps, out, width, source, packed + at);
      });
    });
  };
  return {key, (s.isOfBytes() ? ByteProducts::quad : g.weightBytes) * s.weightElements(g), pack};
}

// Merged pixels.

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

std::optional<ConvGeometry> mergedPixels(const ConvGeometry &g, plan::KernelOp kernel, RankedTensorType x) {
  const ConvPhase &phase = g.phases.front();
  bool pointwise = g.phases.size() == 1 && phase.taps.size() == 1 && x.getRank() > 3 && oneRow(x);
  support::Sizes sizes = onnx::sizesOf(x);
  for (auto [i, a] : llvm::enumerate(phase.axes)) {
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
  pixels.dim = 2, pixels.out = phase.rows() * phase.axes[2].out;
  merged.phases[0].axes = {ConvAxis(), ConvAxis(), pixels};
  return merged;
}

/// The stride of the one dimension is that of the innermost dimension
/// that an access strides over: one of size 1 has stride 0, whatever is in front of it.
void mergePixels(Space &space) {
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

// Kernels.

ConvGeometry blockedGeometry(plan::KernelOp kernel, bool &merged) {
  Operation *root = kernel.root();
  ConvGeometry g = geometryOf(root, /*wide=*/true);
  for (auto [i, skips] : llvm::enumerate(skipsPadding(root))) {
    for (ConvAxis &axis : g.phases.front().axes) {
      if (skips && axis.dim == static_cast<int>(i) + 2) {
        axis.image = g.spatial[i].number();
      }
    }
  }
  auto row = mergedPixels(g, kernel, Group::typeOf(root->getOperand(0)));
  merged = row.has_value();
  return merged ? *row : g;
}

/// Of one tap and an image that stays in the second cache: whether all pixels for a panel read less from there than all
/// panels for a tile of pixels. Weights that stay in the first cache are not read from there.
static bool panelsReadLess(const ConvGeometry &g, const DenseSchedule &s, const target::MachineModel &machine) {
  if (g.groups > 1) {
    return false;
  }
  const ConvPhase &phase = g.phases.front();
  int64_t weightBytes = 4 * s.weightElements(g), inputBytes = inputBytesOf(g, s);
  int64_t tiles = phase.rows().number() * tilesOfRow(phase.axes[2], s.pixels);
  return inputBytes <= machine.l2Bytes / 2 && weightBytes > machine.l1Bytes / 2 &&
         inputBytes * s.panelCount() + weightBytes < weightBytes * tiles + inputBytes;
}

/// Of one tap and at least as many results as inputs: the order in which results are written, and images behind the
/// sums are read, in long runs, where all images of the kernel that are as large as the result do not stay in the
/// second cache. All panels for a tile of pixels would touch a few lines of every channel block at a time: no machine
/// fetches so many streams ahead, or keeps all their pages at hand (64 to 256 channels of 56x56 and a residual sum on
/// Zen 4: 0.5 to 0.8 of the time with AVX2, 0.75 to 0.94 with AVX-512).
static void writeLongRuns(const ConvGeometry &g, DenseSchedule &s, plan::KernelOp kernel,
                          const target::MachineModel &machine) {
  if (s.channels != DenseSchedule::Blocks || s.panelCount() == 1) {
    return;
  }
  const ConvPhase &phase = g.phases.front();
  int64_t inputBytes = inputBytesOf(g, s), pixels = phase.rows().number() * phase.axes[2].out.number();
  int64_t resultBytes = s.elementBytes() * g.outChannels * pixels;
  auto isImage = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == cast<RankedTensorType>(kernel.getResult(0).getType()).getShape();
  };
  int64_t images = 1 + llvm::count_if(kernel.getBody().getArgumentTypes(), isImage);
  if (resultBytes < inputBytes || images * resultBytes <= machine.l2Bytes / 2) {
    return;
  }
  s.pixelsOuter = false;
  if (inputBytes > machine.l3Bytes / 2) { // which would be read once for each panel
    int64_t rowTiles = tilesOfRow(phase.axes[2], s.pixels);
    int64_t tiles = std::max<int64_t>(1, machine.l2Bytes / 2 / (s.elementBytes() * g.inChannels * s.pixels));
    s.partRows = std::clamp<int64_t>(tiles / rowTiles, 1, phase.rows().number());
    s.partTiles = std::min(tiles, rowTiles);
  }
}

/// Long panels of weights that a small image meets are read in parts (WeightRate.h).
static void chooseDepth(const ConvGeometry &g, DenseSchedule &s, const target::MachineModel &machine) {
  const ConvPhase &phase = g.phases.front();
  bool isPlain = s.channels == DenseSchedule::Blocks && !s.isOfBytes() && !s.part && !machine.packing &&
                 g.phases.size() == 1 && s.inputs % s.lanes == 0 && knowsPixels(phase);
  bool skips = llvm::any_of(phase.axes, [](const ConvAxis &axis) { return axis.image > 0; });
  if (!isPlain || skips) {
    return;
  }
  int64_t pixels = phase.rows().number() * phase.axes[2].out.number(), blocks = s.inputs / s.lanes;
  int64_t panelBytes = g.weightBytes * s.weightElements(g) / std::max<int64_t>(1, s.panelCount());
  int64_t part = panelPartBytes(machine);
  if (pixels > flatPixels || pixels <= s.pixels || 4 * pixels * s.vectors * s.lanes > waitingBytes ||
      panelBytes < 2 * part || g.weightBytes * s.weightElements(g) <= machine.l2Bytes / 2) {
    return;
  }
  s.depth = std::max<int64_t>(1, blocks * part / panelBytes);
  while (blocks % s.depth) {
    --s.depth;
  }
  s.flat = true;
}

static DenseSchedule blockedSchedule(const ConvGeometry &g, plan::KernelOp kernel,
                                     const target::MachineModel &machine) {
  bool ofBytes = onnx::elementOf(kernel.root()->getOperand(0)).isInteger();
  int64_t lanes = plan::blockedOf(kernel.getResult(0).getType()).getLanes();
  DenseSchedule s = scheduleOf(g, lanes, /*planes=*/false, machine, ofBytes);
  if (!s.pixelsOuter && !s.partRows && !g.said["flat"]) {
    chooseDepth(g, s, machine);
  }
  if (!s.pixelsOuter || g.said["order"] || g.kernel > 1 || !knowsPixels(g.phases.front())) {
    return s;
  }
  if (panelsReadLess(g, s, machine)) {
    s.pixelsOuter = false;
  } else {
    writeLongRuns(g, s, kernel, machine);
  }
  return s;
}

/// The orders of loops for a register tile.
static void addOrders(const ConvGeometry &g, target::Schedule tile, std::vector<target::Schedule> &all) {
  const ConvPhase &phase = g.phases.front();
  if (g.phases.size() > 1) {
    all.push_back(tile);
    return;
  }
  auto add = [&](const char *name, int64_t value) {
    all.push_back(tile);
    all.back().set(name, value);
  };
  add("order", 0), add("order", 1);
  if (!knowsPixels(phase)) {
    return;
  }
  int64_t rows = phase.rows().number();
  for (int64_t part : {2, 4, 8, 16}) {
    if (rows > 1 ? part < rows : 4 * part * flatPixels < phase.axes[2].out.number()) {
      add(rows > 1 ? "rows" : "tiles", part);
    }
  }
}

std::vector<target::Schedule> denseConvSchedules(plan::KernelOp kernel, const target::MachineModel &machine) {
  bool merged;
  ConvGeometry g = blockedGeometry(kernel, merged);
  DenseSchedule s = blockedSchedule(g, kernel, machine);
  std::vector<target::Schedule> all;
  for (int64_t vectors : {2, 1, 3, 4}) {
    if (vectors > s.blocks || (vectors > 2 && pixelsFor(s, vectors, machine) < 3)) {
      continue;
    }
    addOrders(g, {{"vectors", vectors}, {"flat", 0}}, all);
    if (mayBeFlat(g, s)) {
      all.push_back({{"vectors", vectors}, {"flat", 1}});
    }
  }
  llvm::erase_if(all, [&](const target::Schedule &said) {
    g.said = said;
    return blockedSchedule(g, kernel, machine) == s;
  });
  return all;
}

static void packOperands(plan::KernelOp kernel, const ConvGeometry &g, const DenseSchedule &s,
                         const target::MachineModel &machine, std::map<unsigned, plan::WeightTable::Recipe> &packed) {
  Value weights = kernel.root()->getOperand(1), bias = kernel.root()->getOperand(2);
  packed[operandNumber(weights)] = packedWeights(g, s, s.bytes(machine));
  if (onnx::present(bias)) {
    packed[operandNumber(bias)] = paddedRecipe(s.blocks * s.lanes, g.weightBytes);
  }
}

KernelShape denseConvShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  bool merged;
  ConvGeometry g = blockedGeometry(kernel, merged);
  DenseSchedule s = blockedSchedule(g, kernel, machine);
  KernelShape shape;
  shape.items = DenseConv::items(g, s);
  packOperands(kernel, g, s, machine, shape.packed);
  return shape;
}

std::optional<RowShape> denseRowShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  if (!hasRows(kernel) || !skipsPadding(kernel.root()).empty()) {
    return std::nullopt;
  }
  bool merged;
  Operation *root = kernel.root();
  ConvGeometry whole = blockedGeometry(kernel, merged), g = geometryOf(root, /*wide=*/false);
  DenseSchedule s = rowScheduleOf(g, plan::blockedOf(kernel.getResult(0).getType()).getLanes(), machine);
  RowShape shape = rowShapeOf(g);
  shape.cycles = cyclesOf(g, s, machine);
  shape.alone = cyclesOf(whole, blockedSchedule(whole, kernel, machine), machine);
  shape.weightBytes = 4 * s.weightElements(g);
  packOperands(kernel, g, s, machine, shape.packed);
  return shape;
}

Access blockedInput(const Build &build, const ConvGeometry &g) {
  Value x = build.group.root->getOperand(0);
  support::Strided<Ix> in = Group::placeIn(build.group.buffer(x), Group::typeOf(x));
  Access input{{in.offset, {in.strides[0], in.strides[1]}}, build.group.buffer(x), 1};
  for (const ConvAxis &a : g.phases[0].axes) {
    input.strides.push_back(a.dim < 0 ? Ix(0) : in.strides[a.dim]);
  }
  return input;
}

void buildDenseConv(Build &build) {
  Operation *root = build.group.root;
  bool merged;
  ConvGeometry g = blockedGeometry(build.group.kernel, merged);
  DenseSchedule s = blockedSchedule(g, build.group.kernel, build.w.machine);
  Space space = build.group.space(build.group.resultType());
  Access input = blockedInput(build, g);
  if (merged) {
    mergePixels(space);
    input.strides.back() = plan::stridesOf(Group::typeOf(root->getOperand(0))).strides.back();
  }
  DenseConv(build, g, s, input, std::move(space)).run();
}

void buildDenseRows(Build &build, const Rows &rows) {
  ConvGeometry g = geometryOf(build.group.root, /*wide=*/false);
  Space space = build.group.space(build.group.resultType());
  DenseSchedule s = rowScheduleOf(g, space.block, build.w.machine);
  DenseConv(build, g, s, blockedInput(build, g), std::move(space)).rows(rows.image, 0, rows.from, rows.to);
}

} // namespace ingot::lower
