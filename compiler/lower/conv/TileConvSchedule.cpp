// Decides how the tiles of a convolution are filled and into which strips its images are cut, and packs the weights.
// The decision is the least of an estimate of cycles: those of the products, those of copying strips, and those that
// products wait for memory.
//
// Strips are chosen for one, two and eight threads together. More strips are smaller, so that their copies stay in the
// second cache, but all weights are read once for each strip. A strip in which the work of two threads meets is copied
// by both of them.
#include "compiler/lower/conv/InterleavedRows.h"
#include "compiler/lower/conv/TileConv.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/target/Roof.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

static constexpr int64_t lanes = TileConv::lanes;

/// Returns as many items as scratch memory allows, as long as there are some.
support::Size TileConv::items() const {
  constexpr int64_t enough = 4 << 20, least = 4, most = 64;
  int64_t each = std::max<int64_t>(1, scratchBytes());
  return evenItems(min(g.batch * Size(units * shares), std::clamp<int64_t>(enough / each, least, most)));
}

static constexpr int64_t stemChannels = InterleavedRows::channels;

bool isTileStem(Operation *root, const target::MachineModel &machine) {
  if (!machine.tiles.count || machine.packing || machine.lanes != lanes || !InterleavedRows::canBeReadBy(root, lanes)) {
    return false;
  }
  ConvGeometry g = geometryOf(root, /*maySwapAxes=*/false);
  const ConvAxis &rows = g.subConvs[0].axes[1], &columns = g.subConvs[0].axes[2];
  // Along rows the copy has every pixel, and taps that are neighbours are one run.
  bool isDense = columns.tapStep == 1 && (columns.taps > 1 || columns.inStep == 1);
  return isDense && rows.out.atLeast(lanes) && columns.out.atLeast(lanes);
}

static bool isPossible(plan::KernelOp kernel, const TileConv &c, const target::MachineModel &machine) {
  const ConvGeometry &g = c.g;
  const SubConv &subConv = g.subConvs.front();
  auto blocks = plan::blockedOf(kernel.getResult(0).getType());
  bool isPlane = subConv.axes[0].dim < 0 && subConv.axes[1].out.isNumber() && subConv.axes[2].out.isNumber();
  bool isEmpty = !isPlane || subConv.axes[1].out.is(0) || subConv.axes[2].out.is(0);
  // What lies in a block behind the last channel is multiplied with zeros. It may be anything, and of bfloat16 also
  // NaN, which times zero is NaN.
  bool areWhole = !c.ofBf16 || c.splits() || c.ofPlanes || g.inChannels % lanes == 0;
  return machine.tiles.count && areWhole && !machine.packing && blocks && blocks.getLanes() == lanes && g.groups == 1 &&
         g.subConvs.size() == 1 && !isEmpty;
}

/// Whether all pixels of an image are taken as one list (flat), because its rows fill tiles badly: a row of 17 pixels
/// takes two tiles of 16, of which the second one is nearly empty.
static bool shouldBeFlat(const TileConv &c, const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), block = 2 * machine.tiles.rows;
  int64_t byRows = row <= machine.tiles.rows ? llvm::divideCeil(rows, 2) : rows * llvm::divideCeil(row, block);
  int64_t flat = llvm::divideCeil(rows * row, block),
          percent = c.splits() ? 80 : 60; // a flat copy stores each pixel several times
  return c.copies && !c.ofPlanes && rows > 1 && 100 * flat <= percent * byRows;
}

static void chooseRuns(TileConv &c, int64_t columnBytes, const target::MachineModel &machine) {
  const ConvAxis &columns = c.columns();
  int64_t channels = c.ofPlanes ? stemChannels : static_cast<int64_t>(llvm::alignTo(c.g.inChannels, lanes));
  c.pixelBytes = channels * c.elementBytes();
  c.copies = c.ofPlanes || c.splits() || c.g.inChannels > lanes;
  c.rowStep = c.copies && c.rows().taps == 1 ? 1 : c.rows().inStep;
  c.columnStep = c.copies && columns.taps == 1 ? 1 : columns.inStep;
  // A tile's rows would share few sets of the first cache if a multiple of four lines lay between them.
  constexpr int64_t few = 4;
  c.isFlat = shouldBeFlat(c, machine);
  int64_t cell = c.pixelBytes * (c.isFlat ? columns.taps : 1);
  bool isSpread = c.copies && !c.ofPlanes && cell % (few * machine.lineBytes) == 0;
  c.nextPixel = cell + (isSpread ? machine.lineBytes : 0);
  c.columnStep = c.isFlat ? 1 : c.columnStep;
  bool together = c.isFlat || (!isSpread && columns.tapStep * (c.copies ? c.pixelBytes : columnBytes) == c.pixelBytes);
  c.runs = together ? 1 : columns.taps;
  c.runBytes = c.pixelBytes * (together ? columns.taps : 1);
}

static void chooseBlocks(TileConv &c, const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), tile = machine.tiles.rows;
  c.twoRows = !c.isFlat && row <= tile && rows > 1;
  int64_t depth = TileShape::depthOf(c.runBytes, c.splits() || !c.ofBf16, machine);
  c.strips = llvm::divideCeil(c.g.outChannels, lanes);
  c.shape = TileShape::of(c.isFlat ? rows * row : c.twoRows ? 2 * tile : row, c.strips, depth, machine);
  c.shape.mostRowTiles = c.twoRows ? 2 : c.shape.mostRowTiles;
  c.shape.parts = c.parts;
  c.stepsOfRun = llvm::divideCeil(c.runBytes, depth);
  c.panels = llvm::divideCeil(c.strips, c.shape.mostColumnTiles);
  c.groups = c.twoRows ? 1 : llvm::divideCeil(row, c.shape.mostRowTiles * tile);
  c.height = c.twoRows ? 2 * row : llvm::divideCeil(row, c.groups);
}

// These estimate cycles. The numbers for split factors are fitted to 360 kernels of nine convolutional networks on a
// Xeon of 2023 (docs/decisions/split-floats.md).

/// Returns the cycles for which products of split factors wait for memory: for the image, if the second cache does not
/// hold it; for weights that are read for the first time; and for a panel of them again in each block, if it has left
/// that cache meanwhile. Rates are bytes a cycle; 0.6 to 0.8 of each time is not hidden behind products.
static double memoryCycles(const TileConv &c, double weightRate, const target::MachineModel &machine) {
  auto image = 2.0 * static_cast<double>(c.units * c.partBytes());
  auto results = static_cast<double>(c.rows().out.number() * c.columns().out.number() * c.strips * 64);
  // Where floats are split when the model runs, the parts are as many bytes as if they came from memory.
  auto bytes = static_cast<double>(c.steps() * c.shape.stepBytes(c.strips));
  double cycles = 0.6 * bytes / weightRate;
  if (c.copies && image + results > target::cacheShare * static_cast<double>(machine.l2Bytes)) {
    cycles += 0.7 * image / machine.l3Rate;
  }
  if (!c.shape.splitsRight && 2 * c.panelBytes() + c.stripBytes() > machine.l2Bytes) {
    cycles += 0.8 * bytes * static_cast<double>(c.units * (c.blocksOfUnit() - 1)) / machine.l3Rate;
  }
  return cycles;
}

/// Returns the cycles that copying a strip takes.
static double copyCycles(const TileConv &c) {
  double storeCycles = c.splits() ? 2.5 : 2; // of 32 bytes, with what comes before
  return c.copies ? static_cast<double>(c.stripBytes()) / 32 * storeCycles : 0;
}

/// Returns the cycles of a whole kernel on one thread. Storing a block of split factors takes 9.5 cycles for each row
/// and tile of columns; weights are read again for each strip at 30 bytes a cycle, or 10 if they are split on the way.
static double tileCycles(const TileConv &c, double weightRate, const target::MachineModel &machine) {
  auto blocks = static_cast<double>(c.blocksOfImage());
  double behind = c.splits() ? 9.5 * static_cast<double>(c.height * c.shape.mostColumnTiles)
                             : tileBlockCycles(c.height, c.shape.mostColumnTiles);
  auto weightBytes = static_cast<double>(c.panels * c.panelBytes());
  double panel =
      static_cast<double>(c.steps()) * tileStepCycles(c.shape, c.height, c.shape.mostColumnTiles, c.blocksOfUnit()) +
      behind;
  double products = blocks * static_cast<double>(c.panels) * panel, units = static_cast<double>(c.units);
  double again = weightBytes / (c.shape.splitsRight ? 10 : 30); // of each strip but the first
  return machine.tiles.startCycles + products + units * copyCycles(c) + (units - 1) * again +
         (c.splits() ? memoryCycles(c, weightRate, machine) : 0);
}

// Strips.

static int64_t extent(int64_t outs, int64_t step, int64_t reach) { return (outs - 1) * step + reach; }

/// Returns the convolution in `units` strips, if they can be as long as each other, except the last one. Strips of an
/// only row are some of its blocks each (`wholeBlocks`), or some pixels, which they cut into blocks of their own.
static std::optional<TileConv> inStrips(TileConv c, int64_t units, bool wholeBlocks,
                                        const target::MachineModel &machine) {
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(),
          most = c.shape.mostRowTiles * machine.tiles.rows;
  auto inBlocks = [&](int64_t pixels) {
    c.groups = llvm::divideCeil(pixels, most);
    c.height = llvm::divideCeil(pixels, c.groups);
  };
  c.units = units, c.copiedColumns = c.isFlat ? row : extent(row, c.columnStep, TileConv::reach(c.columns()));
  int64_t last = 0, least = 1;
  if (rows == 1) {
    int64_t part = llvm::divideCeil(row, units);
    inBlocks(wholeBlocks ? row : part);
    auto blocks = static_cast<int64_t>(llvm::divideCeil(row, c.height));
    c.unitColumns = wholeBlocks ? c.height * static_cast<int64_t>(llvm::divideCeil(blocks, units)) : part;
    c.copiedColumns = extent(c.unitColumns, c.columnStep, TileConv::reach(c.columns()));
    c.unitRows = 1, last = row - (units - 1) * c.unitColumns, least = c.height;
  } else {
    c.unitRows = llvm::divideCeil(rows, units), last = rows - (units - 1) * c.unitRows;
    c.isFlat ? inBlocks(c.unitRows * row) : void();
  }
  c.copiedRows = extent(c.unitRows, c.rowStep, TileConv::reach(c.rows()));
  c.copiedRows = c.isFlat ? static_cast<int64_t>(llvm::alignTo(c.copiedRows, c.rowStep)) : c.copiedRows;
  bool isPossible = (c.isFlat ? rows % units == 0 : last >= least) && (rows == 1 || !wholeBlocks);
  return isPossible ? std::optional(c) : std::nullopt;
}

/// Returns the sum of the cycles that one, two and eight threads spend on a kernel, the latter counted a quarter. Where
/// the work of a thread ends inside a strip, the next thread copies that strip once more.
static double cyclesOfThreads(const TileConv &c, double weightRate, const target::MachineModel &machine) {
  static constexpr std::pair<int64_t, double> usualThreads[] = {{1, 1}, {2, 1}, {8, 0.25}};
  double one = tileCycles(c, weightRate, machine), again = copyFromAfar * copyCycles(c), cycles = 0;
  for (auto [threads, weight] : usualThreads) {
    double all = one;
    for (int64_t i = 1; i < threads; ++i) {
      all += i * c.units % threads ? again : 0;
    }
    cycles += weight * all;
  }
  return cycles;
}

/// Returns how many bytes of the second cache a strip's copy may take. Weights that are split when the model runs are
/// split anew for each strip, so that few and long strips are better then.
static int64_t mostOfStrip(const TileConv &c, const target::MachineModel &machine) {
  double share = c.shape.splitsRight ? 0.6 : c.isFlat ? 0.75 : c.splits() ? 0.3 : 0.25;
  return std::llround(share * static_cast<double>(machine.l2Bytes));
}

/// Strips are as many as several threads need, but each has some blocks, so that weights are not read too often.
static TileConv inBestStrips(const TileConv &c, double weightRate, const target::MachineModel &machine) {
  constexpr int64_t enoughStrips = 16, leastPixels = 96;
  int64_t rows = c.rows().out.number(), row = c.columns().out.number(), bytes = mostOfStrip(c, machine);
  int64_t most = rows == 1 ? static_cast<int64_t>(llvm::divideCeil(row, machine.tiles.rows)) : rows;
  std::optional<TileConv> best;
  double least = 0;
  for (int64_t units = 1; units <= most; ++units) {
    bool areSmall = units > 1 && (units > enoughStrips || rows * row < units * leastPixels);
    for (bool wholeBlocks : {false, true}) {
      std::optional<TileConv> cut = inStrips(c, units, wholeBlocks, machine);
      bool bestFits = best && best->stripBytes() <= bytes, fits = cut && cut->stripBytes() <= bytes;
      if (!cut || (bestFits && (areSmall || !fits))) {
        continue;
      }
      double cycles = cyclesOfThreads(*cut, weightRate, machine);
      if (!best || fits > bestFits || cycles <= least) {
        best = *cut, least = cycles;
      }
    }
  }
  return *best;
}

std::optional<TileConv> tileConvOf(plan::KernelOp kernel, const target::MachineModel &machine, int64_t parts) {
  bool ofPlanes = !plan::blockedOf(kernel.root()->getOperand(0).getType());
  TileConv c{ofPlanes ? BlockedKernel{geometryOf(kernel.root(), /*maySwapAxes=*/false)} : BlockedKernel::of(kernel)};
  c.ofPlanes = ofPlanes, c.parts = parts;
  c.ofBf16 = c.splits() || isa<formats::Bf16ConvOp>(kernel.root());
  if (!isPossible(kernel, c, machine)) {
    return std::nullopt;
  }
  // The stride of the axis that is the inner one here; merged pixels lie one behind the other.
  support::Strided<Size> in = plan::stridesOf(Group::typeOf(kernel.root()->getOperand(0)));
  int dim = c.columns().dim;
  Size stride = c.isMerged ? in.strides.back() : in.strides[dim];
  int64_t columnStride = c.isMerged ? lanes : stride.isNumber() ? stride.number() : 0;
  chooseRuns(c, columnStride * c.elementBytes(), machine);
  chooseBlocks(c, machine);
  int64_t pixels = c.g.batch.isNumber() ? c.g.batch.number() * c.rows().out.number() * c.columns().out.number() : 0;
  c.shape.splitsRight = pixels && splitsOnTheWay(kernel, c.parts, pixels, machine);
  double weightRate = weightRateOf(kernel, machine);
  c = inBestStrips(c, weightRate, machine);
  c.shares = sharesOfStrip(c.units * (c.g.batch.isNumber() ? c.g.batch.number() : 1), c.panels);
  c.chunk = c.shape.stepsOfChunk(c.steps(), c.blocksOfUnit(), machine);
  c.cycles = tileCycles(c, weightRate, machine);
  c.copyShare = shareOfCopy(static_cast<double>(c.units) * copyCycles(c), c.cycles);
  return c;
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
    int64_t tap = c.g.subConvs[0].taps[run * tapsOfRun + byte / c.pixelBytes];
    for (int64_t column = 0; channel < c.g.inChannels && byte >= first && column < columns; ++column) {
      // Weights that are split when the model runs are packed row by row, since storeSplit interleaves rows itself.
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
    int64_t panel = strip / c.shape.mostColumnTiles,
            columnTiles = std::min(c.shape.mostColumnTiles, c.strips - panel * c.shape.mostColumnTiles);
    for (int64_t step = 0; step < c.steps(); ++step) {
      char *tile = to + panel * c.panelBytes() + step * c.shape.storedBytes(columnTiles);
      tile += strip % c.shape.mostColumnTiles * c.shape.storedTileBytes();
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
        storeSplit(parted, c.parts, tile, columnTiles * c.shape.rightBytes());
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
  StringRef elements = c.splits() ? "of parts " : "of bf16 ";
  os << "conv in tiles " << (c.ofPlanes ? "of planes " : "") << (c.ofBf16 ? elements : "") << c.g.outChannels << '/'
     << c.g.inChannels << " wide " << c.shape.mostColumnTiles << " deep " << c.shape.depth << " runs " << c.runs
     << (c.shape.splitsRight ? " floats" : "") << " taps";
  for (int64_t t : c.g.subConvs[0].taps) {
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
  shape.build = [c](Build &build) { buildTileConv(build, c); };
  return shape;
}

} // namespace ingot::lower
