// A tile takes 64 bytes of neighbouring channels of each of its pixels, and a channel block has 16. So a strip of the
// image is copied first, pixel by pixel with all of its channels (a copy for all taps and all output channels); a row
// of taps is then one run of bytes for each pixel:
//
//   for a strip of rows: copy it / for a panel of output channels / for a block of pixels, two tiles of a row or of
//   two:
//     for each row of taps, for 64 bytes of the run at a time: load, multiply, add
//     sums to memory; pixel by pixel from there as vectors: what follows the convolution, store
//
// Where rows of pixels fill tiles badly, a copy has for each output column the pixels of all its taps, side by side
// (isFlat). Then neighbouring outputs are one distance apart from the first row to the last, and a block takes them as
// if they were one row. Input rows that are a stride apart, which one tap reads, are neighbours in it.
//
// Images of one channel block lie so already. Those of float32 are split by the copy, which has all high parts first,
// then all lower ones. Of row-major ones with up to four channels (isTileStem) the copy has four for each pixel, and
// the zeros around the image. As in TileMatMul, steps are of one size, and a last one that would be too long begins
// early, with zeros for what has been added.
#include "compiler/lower/TileConv.h"
#include "compiler/lower/InterleavedRows.h"
#include "compiler/lower/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/target/Roof.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

static constexpr int64_t lanes = 16; ///< of a channel block, and columns of a tile

/// As many as scratch memory allows, as long as there are some.
support::Size TileConv::items() const {
  constexpr int64_t enough = 4 << 20, least = 4, most = 64;
  int64_t each = std::max<int64_t>(1, scratchBytes());
  return evenItems(min(g.batch * Size(units * shares), std::clamp<int64_t>(enough / each, least, most)));
}

// The schedule.

static constexpr int64_t stemChannels = InterleavedRows::channels;

bool isTileStem(Operation *root, const target::MachineModel &machine) {
  if (!machine.tiles.count || machine.packing || machine.lanes != lanes || !InterleavedRows::canBeReadBy(root, lanes)) {
    return false;
  }
  ConvGeometry g = geometryOf(root, /*wide=*/false);
  const ConvAxis &rows = g.phases[0].axes[1], &columns = g.phases[0].axes[2];
  // Along rows the copy has every pixel, and taps that are neighbours are one run.
  bool isDense = columns.tapStep == 1 && (columns.taps > 1 || columns.inStep == 1);
  return isDense && rows.out.atLeast(lanes) && columns.out.atLeast(lanes);
}

LayoutRule TileConvFamily::layoutRule(Operation *root, const target::MachineModel &machine) const {
  return isTileStem(root, machine) ? LayoutRule::PlainToBlocked : ConvFamily::layoutRule(root, machine);
}

static bool isPossible(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  const ConvGeometry &g = c.g;
  const ConvPhase &phase = g.phases.front();
  auto blocks = plan::blockedOf(kernel.getResult(0).getType());
  bool isPlane = phase.axes[0].dim < 0 && phase.axes[1].out.isNumber() && phase.axes[2].out.isNumber();
  bool isEmpty = !isPlane || phase.axes[1].out.is(0) || phase.axes[2].out.is(0);
  // What lies in a block behind the last channel is multiplied with zeros, and may be anything.
  bool areWhole = !c.ofHalves || c.splits() || c.ofPlanes || g.inChannels % lanes == 0;
  return machine.tiles.count && areWhole && !machine.packing && blocks && blocks.getLanes() == lanes && g.groups == 1 &&
         g.phases.size() == 1 && !isEmpty;
}

static int64_t reach(const ConvAxis &a) { return (a.taps - 1) * a.tapStep + 1; }

/// Where rows of pixels fill tiles badly.
static bool shouldBeFlat(const TileConv &c, const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), block = 2 * machine.tiles.rows;
  int64_t byRows = row <= machine.tiles.rows ? llvm::divideCeil(rows, 2) : rows * llvm::divideCeil(row, block);
  int64_t flat = llvm::divideCeil(rows * row, block), percent = c.splits() ? 80 : 60; // it is more to store
  return c.copies && !c.ofPlanes && rows > 1 && 100 * flat <= percent * byRows;
}

static void chooseRuns(TileConv &c, int64_t columnBytes, const target::MachineModel &machine) {
  const ConvAxis &columns = c.columns();
  int64_t channels = c.ofPlanes ? stemChannels : static_cast<int64_t>(llvm::alignTo(c.g.inChannels, lanes));
  c.pixelBytes = channels * c.elementBytes();
  c.copies = c.ofPlanes || c.splits() || c.g.inChannels > lanes;
  c.rowStep = c.copies && c.rows().taps == 1 ? 1 : c.rows().inStep;
  c.columnStep = c.copies && columns.taps == 1 ? 1 : columns.inStep;
  // A tile's rows would share few sets of the first cache if they were so many lines, or a multiple of it, apart.
  constexpr int64_t few = 4;
  c.isFlat = shouldBeFlat(c, machine);
  int64_t cell = c.pixelBytes * (c.isFlat ? columns.taps : 1);
  bool isApart = c.copies && !c.ofPlanes && cell % (few * machine.lineBytes) == 0;
  c.nextPixel = cell + (isApart ? machine.lineBytes : 0);
  c.columnStep = c.isFlat ? 1 : c.columnStep;
  bool together = c.isFlat || (!isApart && columns.tapStep * (c.copies ? c.pixelBytes : columnBytes) == c.pixelBytes);
  c.runs = together ? 1 : columns.taps;
  c.runBytes = c.pixelBytes * (together ? columns.taps : 1);
}

static void chooseBlocks(TileConv &c, const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), tile = machine.tiles.rows;
  c.twoRows = !c.isFlat && row <= tile && rows > 1;
  int64_t depth = TileShape::depthOf(c.runBytes, c.splits() || !c.ofHalves, machine);
  c.strips = llvm::divideCeil(c.g.outChannels, lanes);
  c.shape = TileShape::of(c.isFlat ? rows * row : c.twoRows ? 2 * tile : row, c.strips, depth, machine);
  c.shape.tall = c.twoRows ? 2 : c.shape.tall;
  c.shape.parts = c.parts;
  c.stepsOfRun = llvm::divideCeil(c.runBytes, depth);
  c.panels = llvm::divideCeil(c.strips, c.shape.wide);
  c.groups = c.twoRows ? 1 : llvm::divideCeil(row, c.shape.tall * tile);
  c.height = c.twoRows ? 2 * row : llvm::divideCeil(row, c.groups);
}

// What it takes. Of split factors the numbers are fitted to 360 kernels of nine convolutional networks on a Xeon of
// 2023 (docs/rationale.md).

/// What the vectors take without Winograd's algorithm: two products of four bytes, or of a float, a cycle and lane; of
/// floats those that tiles may take attain about 80 % of that, and wait for weights and stores.
static double directCycles(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  auto words = static_cast<double>(llvm::divideCeil(c.g.inChannels, c.ofHalves ? 1 : 4) * c.g.kernel);
  auto outputs = static_cast<double>(c.rows().out.number() * c.columns().out.number() * c.strips);
  if (!c.splits()) {
    return 0.5 * words * outputs;
  }
  double weightVectors = words * static_cast<double>(c.strips);
  return (0.61 * words + 2.2) * outputs + 0.35 * 64 * weightVectors / weightRateOf(kernel, machine);
}

/// What products of split factors wait for: the image, if it is not in the second cache; weights for the first time;
/// and a panel of them for each block, if it leaves that cache before.
static double waitingCycles(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  auto image = 2.0 * static_cast<double>(c.units * c.partBytes());
  auto results = static_cast<double>(c.rows().out.number() * c.columns().out.number() * c.strips * 64);
  auto bytes =
      static_cast<double>(c.steps() * c.shape.stepBytes(c.strips)); // no less where floats are split on the way
  double cycles = 0.6 * bytes / weightRateOf(kernel, machine);
  if (c.copies && image + results > target::cacheShare * static_cast<double>(machine.l2Bytes)) {
    cycles += 0.7 * image / machine.l3Rate;
  }
  if (!c.shape.splitsRight && 2 * c.panelBytes() + c.stripBytes() > machine.l2Bytes) {
    cycles += 0.8 * bytes * static_cast<double>(c.units * (c.blocksOfUnit() - 1)) / machine.l3Rate;
  }
  return cycles;
}

/// Of a strip.
static double copyCycles(const TileConv &c) {
  double storeCycles = c.splits() ? 2.5 : 2; // of 32 bytes, with what comes before
  return c.copies ? static_cast<double>(c.stripBytes()) / 32 * storeCycles : 0;
}

static double tileCycles(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  auto blocks = static_cast<double>(c.blocksOfImage());
  double behind =
      c.splits() ? 9.5 * static_cast<double>(c.height * c.shape.wide) : tileBlockCycles(c.height, c.shape.wide);
  auto weightBytes = static_cast<double>(c.panels * c.panelBytes());
  double panel =
      static_cast<double>(c.steps()) * tileStepCycles(c.shape, c.height, c.shape.wide, c.blocksOfUnit()) + behind;
  double products = blocks * static_cast<double>(c.panels) * panel, units = static_cast<double>(c.units);
  double again = weightBytes / (c.shape.splitsRight ? 10 : 30); // of each strip but the first
  return machine.tiles.startCycles + products + units * copyCycles(c) + (units - 1) * again +
         (c.splits() ? waitingCycles(kernel, c, machine) : 0);
}

// Strips.

static int64_t extent(int64_t outs, int64_t step, int64_t reach) { return (outs - 1) * step + reach; }

/// The same in so many strips, if they can be as long as each other, but for the last one. `whole`: parts of an only
/// row are of blocks as high as those of the whole row, which may be higher than they could be otherwise.
static std::optional<TileConv> inStrips(TileConv c, int64_t units, bool whole, const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), most = c.shape.tall * machine.tiles.rows;
  auto inBlocks = [&](int64_t pixels) {
    c.groups = llvm::divideCeil(pixels, most);
    c.height = llvm::divideCeil(pixels, c.groups);
  };
  c.units = units, c.copiedColumns = c.isFlat ? row : extent(row, c.columnStep, reach(c.columns()));
  int64_t last = 0, least = 1;
  if (rows == 1) {
    inBlocks(whole ? row : static_cast<int64_t>(llvm::divideCeil(row, units)));
    c.unitColumns = c.height * static_cast<int64_t>(llvm::divideCeil(llvm::divideCeil(row, c.height), units));
    c.unitColumns = whole ? c.unitColumns : static_cast<int64_t>(llvm::divideCeil(row, units));
    c.copiedColumns = extent(c.unitColumns, c.columnStep, reach(c.columns()));
    c.unitRows = 1, last = row - (units - 1) * c.unitColumns, least = c.height;
  } else {
    c.unitRows = llvm::divideCeil(rows, units), last = rows - (units - 1) * c.unitRows;
    c.isFlat ? inBlocks(c.unitRows * row) : void();
  }
  c.copiedRows = extent(c.unitRows, c.rowStep, reach(c.rows()));
  c.copiedRows = c.isFlat ? static_cast<int64_t>(llvm::alignTo(c.copiedRows, c.rowStep)) : c.copiedRows;
  bool isPossible = c.isFlat ? rows % units == 0 : last >= least;
  return isPossible ? std::optional(c) : std::nullopt;
}

/// What a kernel costs one thread and two, and a little of what it costs eight. Where the work of one ends inside a
/// strip, the next one copies it, too.
static double cyclesOfThreads(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  static constexpr std::pair<int64_t, double> usualThreads[] = {{1, 1}, {2, 1}, {8, 0.25}};
  double cycles = 0;
  for (auto [threads, weight] : usualThreads) {
    double all = tileCycles(kernel, c, machine);
    for (int64_t i = 1; i < threads; ++i) {
      all += i * c.units % threads ? copyFromAfar * copyCycles(c) : 0;
    }
    cycles += weight * all;
  }
  return cycles;
}

/// What a strip's copy may take of the second cache. Of weights that are split on the way all strips split their own,
/// so that it is better to have few.
static int64_t mostOfStrip(const TileConv &c, const target::MachineModel &machine) {
  double share = c.shape.splitsRight ? 0.6 : c.isFlat ? 0.75 : c.splits() ? 0.3 : 0.25;
  return std::llround(share * static_cast<double>(machine.l2Bytes));
}

/// Strips are as many as several threads need, but each has some blocks, so that weights are not read too often.
static TileConv inBestStrips(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  constexpr int64_t enoughStrips = 16, leastPixels = 96;
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), bytes = mostOfStrip(c, machine);
  int64_t most = rows == 1 ? static_cast<int64_t>(llvm::divideCeil(row, machine.tiles.rows)) : rows;
  std::optional<TileConv> best;
  double least = 0;
  for (int64_t units = 1; units <= most; ++units) {
    bool areSmall = units > 1 && (units > enoughStrips || rows * row < units * leastPixels);
    for (bool whole : {false, true}) {
      std::optional<TileConv> cut = inStrips(c, units, whole, machine);
      bool bestFits = best && best->stripBytes() <= bytes, fits = cut && cut->stripBytes() <= bytes;
      if (!cut || (bestFits && (areSmall || !fits))) {
        continue;
      }
      double cycles = cyclesOfThreads(kernel, *cut, machine);
      if (!best || fits > bestFits || cycles <= least) {
        best = *cut, least = cycles;
      }
    }
  }
  return *best;
}

/// So many that several threads have work, each with a copy of the strip.
static void chooseShares(TileConv &c) {
  constexpr int64_t enough = 8, most = 4;
  int64_t strips = c.units * (c.g.batch.isNumber() ? c.g.batch.number() : 1);
  auto wanted = static_cast<int64_t>(llvm::divideCeil(enough, std::max<int64_t>(strips, 1)));
  c.shares = std::min({wanted, most, c.panels});
}

std::optional<TileConv> tileConvOf(plan::KernelOp kernel, const target::MachineModel &machine,
                                   std::optional<double> otherwise, int64_t parts) {
  TileConv c;
  c.ofPlanes = !plan::blockedOf(kernel.root()->getOperand(0).getType());
  c.g = c.ofPlanes ? geometryOf(kernel.root(), /*wide=*/false) : blockedGeometry(kernel, c.merged);
  c.parts = parts;
  c.ofHalves = c.splits() || isa<onnx::HalfConvOp>(kernel.root());
  if (!isPossible(kernel, c, machine)) {
    return std::nullopt;
  }
  // The stride of the axis that is the inner one here; merged pixels lie one behind the other.
  support::Strided<Size> in = plan::stridesOf(Group::typeOf(kernel.root()->getOperand(0)));
  int dim = c.columns().dim;
  Size stride = c.merged ? in.strides.back() : in.strides[dim];
  int64_t columnStride = c.merged ? lanes : stride.isNumber() ? stride.number() : 0;
  chooseRuns(c, columnStride * c.elementBytes(), machine);
  chooseBlocks(c, machine);
  int64_t pixels = c.g.batch.isNumber() ? c.g.batch.number() * c.rows().out.number() * c.columns().out.number() : 0;
  c.shape.splitsRight = pixels && splitsOnTheWay(kernel, c.parts, pixels, machine);
  c = inBestStrips(kernel, c, machine);
  chooseShares(c);
  c.chunk = c.shape.stepsOfChunk(c.steps(), c.blocksOfUnit(), machine);
  c.cycles = tileCycles(kernel, c, machine);
  c.copyShare = shareOfCopy(static_cast<double>(c.units) * copyCycles(c), c.cycles);
  double vectors = otherwise.value_or(directCycles(kernel, c, machine));
  bool isFaster = c.cycles + (c.splits() ? sureGainOfSplit : 0) < vectors;
  return c.ofPlanes || isFaster ? std::optional(c) : std::nullopt;
}

// Weights: for each panel, row of taps, run, step and tile of the panel its words, row by row.

/// Runs `put` on each element of a packed tile that is a weight: which one of the tile, and which one of the weights.
static void eachWeight(const TileConv &c, int64_t strip, int64_t step, llvm::function_ref<void(int64_t, int64_t)> put) {
  int64_t tapsOfRun = c.columns().taps / c.runs, each = c.elementBytes(), ofWord = 4 / each;
  int64_t run = step / c.stepsOfRun, first = step % c.stepsOfRun * c.shape.depth;
  int64_t at = std::min(first, c.runBytes - c.shape.depth), columns = std::min(lanes, c.g.outChannels - strip * lanes);
  for (int64_t i = 0; i < c.shape.depth / each; ++i) {
    int64_t byte = at + i * each, channel = byte % c.pixelBytes / each;
    channel = c.splits() ? splitOrder(channel, c.pixelBytes / each) : channel;
    int64_t tap = c.g.phases[0].taps[run * tapsOfRun + byte / c.pixelBytes];
    for (int64_t column = 0; channel < c.g.inChannels && byte >= first && column < columns; ++column) {
      // Where parts are made on the way, a pair's rows stay apart: storeSplit alternates them.
      int64_t at = c.shape.splitsRight ? i * lanes + column : (i / ofWord * lanes + column) * ofWord + i % ofWord;
      put(at, c.g.weightAt(strip * lanes + column, channel, tap));
    }
  }
}

static void pack(const TileConv &c, Type element, const char *from, char *to) {
  int64_t each = c.elementBytes();
  std::optional<FloatAt> floats;
  if (c.splits()) {
    floats.emplace(element, from);
  }
  SmallVector<float, 512> parted(c.shape.rightBytes() / each);
  for (int64_t strip = 0; strip < c.strips; ++strip) {
    int64_t panel = strip / c.shape.wide, wide = std::min(c.shape.wide, c.strips - panel * c.shape.wide);
    for (int64_t step = 0; step < c.steps(); ++step) {
      char *tile = to + panel * c.panelBytes() + step * c.shape.storedBytes(wide);
      tile += strip % c.shape.wide * c.shape.storedTileBytes();
      if (!floats) {
        eachWeight(c, strip, step,
                   [&](int64_t i, int64_t weight) { std::memcpy(tile + i * each, from + weight * each, each); });
        continue;
      }
      llvm::fill(parted, 0);
      eachWeight(c, strip, step, [&](int64_t i, int64_t weight) { parted[i] = (*floats)(weight); });
      if (c.shape.splitsRight) {
        std::memcpy(tile, parted.data(), sizeof(float) * parted.size());
      } else {
        storeSplit(parted, c.parts, tile, wide * c.shape.rightBytes());
      }
    }
  }
}

KernelShape tileConvShape(plan::KernelOp kernel, const TileConv &c) {
  KernelShape shape;
  shape.ofTiles = true;
  shape.items = c.items();
  shape.scratchBytes = shape.items * Size(c.scratchBytes());
  std::string key;
  llvm::raw_string_ostream os(key);
  StringRef elements = c.splits() ? "of parts " : "of halves ";
  os << "conv in tiles " << (c.ofPlanes ? "of planes " : "") << (c.ofHalves ? elements : "") << c.g.outChannels << '/'
     << c.g.inChannels << " wide " << c.shape.wide << " deep " << c.shape.depth << " runs " << c.runs
     << (c.shape.splitsRight ? " floats" : "") << " taps";
  for (int64_t t : c.g.phases[0].taps) {
    os << ' ' << t;
  }
  int64_t bytes = c.shape.splitsRight ? c.panels * c.panelBytes() : c.steps() * c.shape.storedBytes(c.strips);
  Type element = onnx::elementOf(kernel.root()->getOperand(1));
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = {
      key, bytes,
      [c, element](ArrayRef<char> from, MutableArrayRef<char> to) { pack(c, element, from.data(), to.data()); }};
  if (Value bias = kernel.root()->getOperand(2); onnx::present(bias)) {
    shape.packed[operandNumber(bias)] = paddedRecipe(c.strips * lanes, c.g.weightBytes);
  }
  return shape;
}

namespace {

class Conv {
public:
  Conv(Build &build, const TileConv &c)
      : build(build), w(build.w), c(c), block(w, c.shape, c.ofHalves), input(blockedInput(build, c.g)),
        space(build.group.space(build.group.resultType())),
        weights(build.group.buffer(build.group.root->getOperand(1))) {
    Value added = build.group.root->getOperand(2);
    bias = onnx::present(added) ? build.group.buffer(added) : Buffer();
    if (c.merged) {
      mergePixels(space);
      input.strides.back() = lanes;
    }
  }

  void run() {
    block.configure(c.height);
    takeScratch();
    // A strip is copied once for all panels that a thread has of it.
    StripWork work = {c.g.batch, c.units, c.blocksOfUnit(), c.blocksOfLastUnit(), c.panels, c.copyShare};
    Ix first = work.panelOf(build.begin, c.items()), last = work.panelOf(build.end, c.items()), panels = c.panels;
    w.loop(floorDiv(first, panels), floorDiv(last + (panels - 1), panels), 1, [&](Ix u) {
      firstPanel = max(first - u * panels, 0), endPanel = min(last - u * panels, panels);
      strip(floorDiv(u, c.units), remainder(u, c.units));
    });
    block.release();
  }

private:
  Build &build;
  Writer &w;
  const TileConv &c;
  TileBlock block;
  Access input;
  Space space;
  Buffer weights, bias;
  Ix scratchAt;
  Ix firstPanel, endPanel; ///< of the strip's
  Buffer chunkParts = {};  ///< of two chunks that are split on the way
  Buffer sums = {};        ///< of blocks that wait for the next chunk

  /// What tiles are read from: the image or its copy. Bytes from one output row or pixel to the next, and from one
  /// input row and one tap of a row to the next.
  struct Source {
    Buffer buffer;
    Ix base; ///< of the first tap of the strip's first output
    Ix row, pixel, nextRow, columnTap;
  };
  struct Strip {
    Ix image, firstRow, lastRow, firstColumn;
    Ix columns; ///< of the only row
    Source from;
  };

  /// That of the first one of the items that a thread runs, which stays in its cache.
  void takeScratch() {
    scratchAt = build.begin * c.scratchBytes();
    Ix behind = scratchAt + (c.copies ? c.stripBytes() : 0);
    if (c.shape.splitsRight) {
      // Two chunks, of elements of two bytes.
      chunkParts = w.scratch(build.scratch, behind, w.b.getBF16Type(), c.shape.chunkBytes(c.chunk));
    }
    if (c.keepsSums()) {
      sums = w.scratch(build.scratch, behind + 2 * c.shape.chunkBytes(c.chunk), w.b.getF32Type(), c.sumBytes() / 4);
    }
  }

  void strip(Ix n, Ix u) {
    Strip s;
    s.image = n;
    int64_t rows = c.rows().out.number(), row = c.columns().out.number();
    bool ofOneRow = c.unitColumns; // of which a strip is a part
    s.firstRow = ofOneRow ? 0 : u * c.unitRows, s.lastRow = min(s.firstRow + c.unitRows, rows);
    s.firstColumn = u * c.unitColumns;
    Ix columns = ofOneRow ? min(row - s.firstColumn, c.unitColumns) : row;
    s.columns = c.isFlat ? c.unitRows * row : columns;
    const Ix &rowStride = input.strides[3], &columnStride = input.strides[4];
    int64_t each = c.elementBytes();
    Ix image = input.offset + n * input.strides[0] + (s.firstRow * c.rows().inStep + c.rows().inStart) * rowStride +
               (s.firstColumn * c.columns().inStep + c.columns().inStart) * columnStride;
    s.from = {input.buffer,
              image * each,
              c.rows().inStep * rowStride * each,
              c.columns().inStep * columnStride * each,
              rowStride * each,
              c.columns().tapStep * columnStride * each};
    if (c.copies) {
      Ix rows = (s.lastRow - s.firstRow - 1) * c.rowStep + reach(c.rows());
      Ix pixels = c.isFlat ? columns : (columns - 1) * c.columnStep + reach(c.columns());
      Type element = c.splits() ? Type(w.b.getBF16Type()) : onnx::elementOf(build.group.root->getOperand(0));
      Buffer to = w.scratch(build.scratch, scratchAt, element, c.stripBytes() / each);
      if (c.ofPlanes) {
        Ix first = s.firstRow * c.rows().inStep + c.rows().inStart;
        InterleavedRows(build, c.g).copy(n, first, rows, c.rows().inStep / c.rowStep, pixels, c.copiedColumns, to);
      } else {
        copy(image, rows, pixels, to);
      }
      Ix line = c.copiedColumns * c.nextPixel;
      s.from = {to, 0, c.rowStep * line, c.columnStep * c.nextPixel, line, c.columns().tapStep * c.nextPixel};
    }
    int64_t last = c.strips % c.shape.wide, alike = c.panels - (last ? 1 : 0);
    if (c.shape.splitsRight) {
      block.splitRest(chunkAt(firstPanel * c.chunks()), chunkParts, block.partsAt(firstPanel * c.chunks(), c.chunk), 0,
                      1);
    }
    w.loop(firstPanel, min(endPanel, alike), 1, [&](Ix panel) { eachPanel(s, panel, c.shape.wide); });
    if (last) {
      w.ifThen(w.compare(arith::CmpIPredicate::eq, endPanel, c.panels), [&] { eachPanel(s, alike, last); });
    }
  }

  /// Copies so many rows and pixels of each.
  void copy(Ix image, Ix rows, Ix pixels, Buffer to) {
    int64_t pixel = c.pixelBytes / c.elementBytes();
    // Pixels that no output reads are left out where there is one tap.
    Ix rowStride = (c.rows().inStep / c.rowStep) * input.strides[3];
    Ix columnStride = (c.columns().inStep / c.columnStep) * input.strides[4];
    int64_t blocks = pixel / lanes, together = std::min<int64_t>(blocks, 4);
    int64_t rest = c.splits() ? c.g.inChannels % lanes : 0;
    int64_t alike = (blocks - (rest ? 1 : 0)) / together * together;
    auto take = [&](Ix from, Ix block) {
      Value v = w.load(input.buffer, from, lanes);
      return rest && block.is(blocks - 1) // behind them may be anything
                 ? arith::SelectOp::create(w.b, w.loc, w.maskFor(rest, lanes), v, w.constant(0, v.getType()))
                 : v;
    };
    auto put = [&](ArrayRef<Value> vectors, Ix at) {
      c.splits() ? storeSplit(w, vectors, c.parts, to, at, c.partBytes() / c.elementBytes())
                 : w.store(vectors[0], to, at);
    };
    Ix tapStride = c.columns().tapStep * input.strides[4]; // of a flat copy, which has a pixel for each tap
    auto some = [&](Ix y, Ix tap, Ix first, int64_t count) {
      w.loop(0, pixels, 1, [&](Ix x) {
        Ix from = image + y * rowStride + x * columnStride + tap * tapStride + first * input.strides[1];
        Ix at = (copiedRow(y) * c.copiedColumns + x) * (c.nextPixel / c.elementBytes()) + tap * pixel + first * lanes;
        for (int64_t i = 0, taken; i < count; i += taken) {
          taken = c.splits() ? std::min<int64_t>(2, count - i) : 1;
          SmallVector<Value, 2> vectors;
          for (int64_t j = i; j < i + taken; ++j) {
            vectors.push_back(take(from + j * input.strides[1], first + j));
          }
          put(vectors, at + i * lanes);
        }
      });
    };
    w.loop(0, rows, 1, [&](Ix y) {
      w.loop(0, c.isFlat ? c.columns().taps : 1, 1, [&](Ix tap) {
        w.loop(0, alike, together, [&](Ix b) { some(y, tap, b, together); });
        if (alike < blocks) {
          some(y, tap, alike, blocks - alike);
        }
      });
    });
  }

  /// What all blocks of a strip multiply before any goes on.
  struct Chunk {
    Ix panel, number; ///< of those of the panel
    int64_t wide;
  };

  void eachPanel(const Strip &s, Ix panel, int64_t wide) {
    w.loop(0, c.chunks(), 1, [&](Ix number) {
      Chunk chunk{panel, number, wide};
      eachBlock(s, chunk);
      if (c.shape.splitsRight) {
        block.splitRest(chunkAt(nextChunk(chunk)), chunkParts, block.partsAt(indexOf(chunk) + 1, c.chunk),
                        blocksOf(s) * c.chunk, block.splitPairs(c.blocksOfUnit()));
      }
    });
  }

  /// A block: where its tiles begin, and what of it is stored where.
  struct Block {
    std::array<Ix, 2> at;
    llvm::SmallVector<std::array<Ix, 2>, 2> pixels; ///< row and column of the first one of each run of pixels
  };

  Ix blocksOf(const Strip &s) const {
    Ix rows = s.lastRow - s.firstRow;
    return c.isFlat        ? Ix(c.groups)
           : c.unitColumns ? floorDiv(s.columns + (c.height - 1), c.height)
           : c.twoRows     ? floorDiv(rows + 1, 2)
                           : rows * c.groups;
  }

  Block blockAt(const Strip &s, Ix i) {
    if (c.twoRows) {
      Ix rows = s.lastRow - s.firstRow, first = min(2 * i, max(rows - 2, 0)), second = min(first + 1, rows - 1);
      return {{s.from.base + first * s.from.row, s.from.base + second * s.from.row},
              {{s.firstRow + first, 0}, {s.firstRow + second, 0}}};
    }
    Ix row = c.isRow() ? Ix(0) : floorDiv(i, c.groups), group = c.isRow() ? i : remainder(i, c.groups);
    Ix x = w.settled(min(group * c.height, s.columns - c.height));
    Ix first = s.from.base + row * s.from.row + x * s.from.pixel;
    return {{first, first + block.second() * s.from.pixel}, {{s.firstRow + row, w.settled(s.firstColumn + x)}}};
  }

  void finishBlock(const Strip &s, const Chunk &chunk, const Block &own) {
    int64_t each = c.height / static_cast<int64_t>(own.pixels.size()), first = 0;
    for (const std::array<Ix, 2> &pixel : own.pixels) {
      finish(s, chunk, pixel[0], pixel[1], first, first + each);
      first += each;
    }
  }

  void eachBlock(const Strip &s, const Chunk &chunk) {
    w.loop(0, blocksOf(s), 1, [&](Ix i) { multiply(s, chunk, blockAt(s, i), i); });
  }

  /// A chunk of those of all panels.
  TileBlock::Panel chunkAt(Ix index) const {
    int64_t bytes = c.chunk * c.shape.storedBytes(c.shape.wide); // a narrower panel is the last one
    return {weights, index * bytes, weightBytes(), c.chunk};
  }
  Ix indexOf(const Chunk &chunk) const { return chunk.panel * c.chunks() + chunk.number; }
  Ix nextChunk(const Chunk &chunk) const { return min(indexOf(chunk) + 1, endPanel * c.chunks() - 1); }

  void multiply(const Strip &s, const Chunk &chunk, const Block &own, Ix index) {
    Ix kept = index * c.shape.sumBytes();
    auto isChunk = [&](int64_t number) { return w.compare(arith::CmpIPredicate::eq, chunk.number, number); };
    auto leave = [&] { block.leave(chunk.wide), finishBlock(s, chunk, own); };
    if (c.chunks() == 1) {
      block.clear(chunk.wide);
      multiplySteps(s, chunk, own, index);
      return leave();
    }
    w.ifElse(isChunk(0), [&] { block.clear(chunk.wide); }, [&] { keep(&TileBlock::resume, kept, chunk.wide); });
    multiplySteps(s, chunk, own, index);
    w.ifElse(isChunk(c.chunks() - 1), leave, [&] { keep(&TileBlock::keep, kept, chunk.wide); });
  }

  /// Sums of an only block stay where they are.
  void keep(void (TileBlock::*move)(Buffer, Ix, int64_t), Ix at, int64_t wide) {
    if (c.keepsSums()) {
      (block.*move)(sums, at, wide);
    }
  }

  void multiplySteps(const Strip &s, const Chunk &chunk, const Block &to, Ix index) {
    int64_t blocks = c.blocksOfUnit(), wide = chunk.wide;
    TileBlock::Panel own = chunkAt(indexOf(chunk));
    w.loop(0, c.chunk, 1, [&](Ix k) {
      Ix number = chunk.number * c.chunk + k, from = leftAt(s, number);
      TileBlock::Rows rows{s.from.buffer, {to.at[0] + from, to.at[1] + from}, s.from.pixel, c.partBytes()};
      if (c.shape.splitsRight) {
        TileBlock::RightSplit split =
            block.splitShare(chunkAt(nextChunk(chunk)), chunkParts, block.partsAt(indexOf(chunk) + 1, c.chunk),
                             index * c.chunk + k, block.splitPairs(blocks));
        Ix right = 2 * block.partsAt(indexOf(chunk), c.chunk) + k * c.shape.stepBytes(c.shape.wide);
        block.step(rows, chunkParts, right, wide, std::nullopt, split);
      } else {
        std::optional<TileBlock::Fetch> fetch;
        if (c.panels > 1 && blocks > 1 && wide == c.shape.wide) { // behind the last panel, too: that touches nothing
          fetch = block.share(chunkAt(chunk.panel + 1), index, blocks, k, wide);
        }
        block.step(rows, weights, own.at + k * c.shape.stepBytes(wide), wide, fetch);
      }
      block.stayAwake(c.keepsSums() ? k : number, c.keepsSums() ? c.chunk : c.steps());
    });
  }

  /// Where a flat copy has a row of the strip's input.
  Ix copiedRow(Ix row) const {
    return c.isFlat ? remainder(row, c.rowStep) * c.rowsOfPhase() + floorDiv(row, c.rowStep) : row;
  }

  /// Where a step reads, from a pixel's first tap on. The last step of a run begins early where it would be too long.
  Ix leftAt(const Strip &s, Ix number) const {
    Ix run = floorDiv(number, c.stepsOfRun), k = remainder(number, c.stepsOfRun);
    Ix tap = copiedRow(floorDiv(run, c.runs) * c.rows().tapStep) * s.from.nextRow +
             remainder(run, c.runs) * s.from.columnTap;
    return tap + min(k * c.shape.depth, c.runBytes - c.shape.depth);
  }

  /// Rows [first, last) of the block: pixels of output row `y`, from `x` on.
  void finish(const Strip &s, const Chunk &chunk, Ix y, Ix x, int64_t first, int64_t last) {
    int64_t together = build.group.together(lanes), whole = first + (last - first) / together * together;
    auto some = [&](Ix from, int64_t count) {
      for (int64_t v = 0; v < chunk.wide; ++v) {
        Ix strip = chunk.panel * c.shape.wide + v;
        Value biases = bias ? w.load(bias, strip * lanes, lanes) : Value();
        SmallVector<Value> sums;
        SmallVector<Point> points;
        for (int64_t i = 0; i < count; ++i) {
          Value sum = block.sums(from + i, v, chunk.wide);
          sums.push_back(bias ? arith::AddFOp::create(w.b, w.loc, sum, biases).getResult() : sum);
          Ix column = x + (from + i) - first, row = c.columns().out.number();
          points.push_back(c.isFlat ? point(s, strip, y + floorDiv(column, row), remainder(column, row))
                                    : point(s, strip, y, column));
        }
        build.group.finishSome(sums, space, points);
      }
    };
    w.loop(first, whole, together, [&](Ix i) { some(i, together); });
    w.loop(whole, last, 1, [&](Ix i) { some(i, 1); });
  }

  /// That the buffer of weights counts in.
  int64_t weightBytes() const { return c.splits() ? c.g.weightBytes : c.elementBytes(); }

  Point point(const Strip &s, Ix outputBlock, Ix y, Ix x) const {
    Point p;
    p.at.assign(space.sizes.size(), 0);
    p.at[0] = s.image, p.at[1] = outputBlock, p.lanes = lanes;
    std::array<Ix, 3> at{0, y, x};
    for (auto [axis, coordinate] : llvm::zip_equal(c.g.phases[0].axes, at)) {
      if (axis.dim >= 0) {
        p.at[axis.dim] = coordinate;
      }
    }
    return p;
  }
};

} // namespace

void buildTileConv(Build &build, const TileConv &conv) { Conv(build, conv).run(); }

} // namespace ingot::lower
