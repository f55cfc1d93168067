#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/lower/core/Counts.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace ingot::lower {

using support::Size;
using support::Sizes;

/// Returns the strides of an operand over the result's batch dimensions: 0 where the operand is broadcast. `step` is
/// the stride of the operand's last batch axis.
static Sizes batchStrides(const Sizes &sizes, const Sizes &batchSizes, Size step) {
  Sizes strides(batchSizes.size(), 0);
  size_t own = sizes.size() < 2 ? 0 : sizes.size() - 2, shift = batchSizes.size() - own;
  for (size_t i = own; i-- > 0;) {
    strides[i + shift] = step * onnx::strideFactor(sizes[i], batchSizes[i + shift]);
    step = step * sizes[i];
  }
  return strides;
}

/// Whether the first `rows` dimensions of the result may be joined to one: each operand of the epilogue has to go along
/// all of them, or be the same for all.
static bool rowsMerge(plan::KernelOp kernel, Operation *root, ArrayRef<Size> shape, int64_t rows) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || llvm::all_of(argument.getUsers(), [&](Operation *user) { return user == root; })) {
      continue;
    }
    bool along = false, broadcast = false;
    int64_t shift = static_cast<int64_t>(shape.size()) - type.getRank();
    Sizes sizes = onnx::sizesOf(type);
    for (int64_t d = 0; d < rows; ++d) {
      if (!shape[d].is(1)) {
        Size factor = d >= shift ? onnx::strideFactor(sizes[d - shift], shape[d]) : Size(0);
        along |= !factor.is(0), broadcast |= !factor.is(1);
      }
    }
    if (along && broadcast) {
      return false;
    }
  }
  return true;
}

MatMulProblem matmulProblem(plan::KernelOp kernel, const target::MachineModel &machine) {
  Operation *op = kernel.root();
  auto matmul = dyn_cast<onnx::MatMulOp>(op);
  bool transA = matmul && matmul.getTransA();
  Value left = op->getOperand(0), right = op->getOperand(1);
  RankedTensorType a = Group::typeOf(left), b = Group::typeOf(right), y = Group::typeOf(op->getResult(0));
  using Factors = MatMulProblem::Factors;
  MatMulProblem p;
  p.requested = requestedSchedule(op);
  if (isa<formats::Int8MatMulOp>(op)) {
    p.factors = onnx::isInt(a.getElementType(), 16) ? Factors::Int16 : Factors::Bytes;
  } else if (isa<formats::Bf16MatMulOp>(op)) {
    p.factors = Factors::Bfloat16;
  }
  p.element = valueType(y.getElementType());
  p.elementBytes = onnx::elementBytes(p.element);
  p.weightBytes = p.isInteger() ? ByteProducts::dotBytes : onnx::elementBytes(b.getElementType());
  p.vectorA = a.getRank() == 1, p.vectorB = b.getRank() == 1;
  p.transB = matmul && matmul.getTransB();
  p.constantB = static_cast<bool>(constantOperand(kernel, right));
  Sizes sa = onnx::sizesOf(a), sb = onnx::sizesOf(b), shape = onnx::sizesOf(y);
  p.k = transA ? sa[sa.size() - 2] : sa.back();
  if (p.isBf16()) {
    p.k = sb.front() * Size(2);
  } else if (auto few = dyn_cast<formats::FewBitsMatMulOp>(op)) { // B has several numbers in a word
    p.k = static_cast<int64_t>(few.getK());
  } else if (!p.k.isNumber()) { // both operands have the same K, and B may have it as a number
    p.k = p.vectorB ? sb.back() : sb[sb.size() - (p.transB ? 1 : 2)];
  }
  p.m = p.vectorA ? Size(1) : sa[sa.size() - (transA ? 1 : 2)];
  p.n = p.vectorB ? Size(1) : sb[sb.size() - (p.transB ? 2 : 1)];
  p.rowA = transA ? Size(1) : p.k, p.stepA = transA ? p.m : Size(1);
  p.stepB = p.transB ? Size(1) : p.n, p.columnB = p.transB ? p.k : Size(1);
  int64_t matrixDims = !p.vectorA + !p.vectorB;
  p.batchSizes.assign(shape.begin(), shape.end() - matrixDims);
  p.batch = product(p.batchSizes);
  p.matricesB = sb.size() > 2 ? product(ArrayRef<Size>(sb).drop_back(2)) : Size(1);
  bool several = !p.batch.isNumber() || p.batch.number() > 1;
  bool alike = p.matricesB.is(1) && several && !p.vectorA && !transA;
  if (alike && rowsMerge(kernel, op, shape, y.getRank() - !p.vectorB)) {
    p.merged = true;
    p.m = p.m * p.batch, p.batch = 1;
    p.batchSizes.clear();
  } else {
    p.batchA = batchStrides(sa, p.batchSizes, p.m * p.k);
    p.batchB = batchStrides(sb, p.batchSizes, 1);
  }
  if (p.isBf16()) {
    p.k = p.k.number() / 2, p.stepA = 2;
  }
  if (p.isInteger()) {
    p.int16Dots = onnx::int16DotsOf(op);
    ByteProducts bytes = p.bytes(machine);
    p.stepRows = bytes.rows(), p.restA = p.k.number() % bytes.step();
    p.k = static_cast<int64_t>(llvm::divideCeil(p.k.number(), bytes.step())), p.stepA = bytes.step();
  }
  return p;
}

void shapeSpace(Space &space, const MatMulProblem &p) {
  auto insert = [&](size_t at) {
    space.sizes.insert(space.sizes.begin() + at, 1);
    for (auto &[value, access] : space.accesses) {
      access.strides.insert(access.strides.begin() + at, 0);
    }
    for (Access &access : space.results) {
      access.strides.insert(access.strides.begin() + at, 0);
    }
  };
  if (p.vectorB) {
    insert(space.sizes.size());
  }
  if (p.vectorA) {
    insert(space.sizes.size() - 1);
  }
  if (!p.merged) {
    return;
  }
  // Merged rows have the stride of the innermost row dimension that is longer than 1.
  size_t rows = space.sizes.size() - 1, inner = rows - 1;
  while (inner > 0 && space.sizes[inner].is(1)) {
    --inner;
  }
  auto merge = [&](Access &access) { access.strides = {access.strides[inner], access.strides.back()}; };
  for (auto &[value, access] : space.accesses) {
    merge(access);
  }
  llvm::for_each(space.results, merge);
  space.sizes = {p.m, space.sizes.back()};
}

static int64_t lanesOf(const MatMulProblem &p, const target::MachineModel &machine) {
  return std::max<int64_t>(1, machine.lanes * 4 / std::max<int64_t>(p.elementBytes, 4));
}

/// The most rows or vectors of a tile, and a text that says why there are no more.
struct Most {
  int64_t count;
  const char *why;
};

/// Returns the most vectors that fit the registers beside `rows` rows; at most eight, which hide the latency of any
/// multiply-add.
static Most vectorsFor(const MatMulProblem &p, int64_t rows, const target::MachineModel &machine) {
  if (p.requested["vectors"]) {
    return {*p.requested["vectors"], "the file of schedules says so"};
  }
  if (ByteProducts bytes = p.bytes(machine); p.isInteger() && bytes.takesTwoInstructions()) {
    int64_t v = 4; // with more, the rows of weights alone would not fit the registers
    while (v > 1 && bytes.heightOf(v, machine) < rows) {
      --v;
    }
    return {v, "no more rows of weights fit the registers"};
  }
  int64_t spare = machine.fusedMultiplyAdd ? 1 : 2, v = 8; // without fusing, a register for the product
  const char *why = "8 hide the latency of a multiply-add";
  if (rows <= 2) { // most of the time goes into reading the panel, and narrow panels are read twice as fast
    constexpr int64_t mostLines = 4;
    int64_t narrow = std::clamp<int64_t>(mostLines * machine.lineBytes / (lanesOf(p, machine) * p.elementBytes), 1, v);
    // Two panels of equal width may have more columns than one: five vectors would be two panels of three.
    int64_t columns = p.n.isNumber() ? llvm::divideCeil(p.n.number(), lanesOf(p, machine)) : 0;
    bool padded = columns > narrow && columns <= v && columns % llvm::divideCeil(columns, narrow);
    v = padded ? v : narrow;
    why = padded ? "all columns, where two panels would have more" : "narrow panels are read faster by few rows";
  }
  while (v > 1 && rows * v + v + spare > machine.tileRegisters() - 1) {
    --v;
    why = "no more fit the registers beside so many rows";
  }
  return {v, why};
}

/// Returns a size, or `otherwise` where it is not known. Nothing but speed may depend on the answer.
static int64_t assumed(const Size &size, int64_t otherwise) { return size.isNumber() ? size.number() : otherwise; }

/// Cuts the columns into panels of `most` vectors, or of fewer if all panels have the same width then. With strips of
/// `strip` columns (0: there are none), a panel is some whole strips or a part of one.
static void cutColumns(MatMulTiling &t, const MatMulProblem &p, int64_t most, int64_t strip) {
  if (!p.n.isNumber()) {
    t.vectors = most, t.width = t.strip = most * t.lanes;
    t.panels = max(Size(1), ceilDiv(p.n, t.width));
    return;
  }
  int64_t columns = llvm::divideCeil(p.n.number(), t.lanes);
  t.vectors = std::min(columns, most);
  t.vectors = llvm::divideCeil(columns, llvm::divideCeil(columns, t.vectors)); // panels alike
  while (strip && t.vectors * t.lanes % strip && strip % (t.vectors * t.lanes)) {
    --t.vectors;
  }
  t.width = t.vectors * t.lanes, t.strip = strip ? strip : t.width;
  int64_t panels = llvm::divideCeil(columns, t.vectors);
  t.panels = panels;
  t.lastVectors = columns - (panels - 1) * t.vectors;
  t.rest = p.n.number() % t.lanes;
}

/// Cuts rows whose number is known into tiles, and these into blocks that a work item computes.
static void cutRows(MatMulTiling &t, const MatMulProblem &p, const target::MachineModel &machine, int64_t rows) {
  t.tilesPerBlock = t.tiles;
  if (t.from != MatMulTiling::From::Scratch) {
    int64_t k = assumed(p.k, 256), items = assumed(t.panels * p.batch, 16);
    int64_t held = std::max<int64_t>(1, machine.l2Bytes / 2 / std::max<int64_t>(1, rows * k * p.elementBytes));
    // Enough items for several threads, but none with fewer than so many multiplications.
    int64_t least = llvm::divideCeil(int64_t(1) << 17, std::max<int64_t>(1, rows * k * t.width));
    t.tilesPerBlock = std::min({t.tiles, held, std::max(least, t.tiles * items / 16)});
    t.tilesPerBlock = std::min(t.tiles, p.requested["block"].value_or(t.tilesPerBlock));
  }
  t.blocks = static_cast<int64_t>(llvm::divideCeil(t.tiles, t.tilesPerBlock));
}

/// Cuts long panels of weights along K, where few rows are multiplied by them (WeightRate.h). A product of 48 rows by
/// 3072x768 did 131 GFLOP/s on a Xeon with a second cache of 2 MB. With chunks it did 178, and 207 where the weights
/// had been in the cache before.
static void cutDepth(MatMulTiling &t, const MatMulProblem &p, const target::MachineModel &machine) {
  int64_t unroll = machine.tuning.unroll;
  bool isPlain = t.from == MatMulTiling::From::Packed && !p.isInteger() && t.strip == t.width;
  if (!isPlain || !(p.k * p.n * p.matricesB).isNumber() || p.k.number() % unroll) {
    return;
  }
  // A cache line of weights that is multiplied for so long leaves enough time to prefetch the next one.
  constexpr int64_t cyclesOfLine = 64;
  int64_t rows = 2 * cyclesOfLine * t.lanes * p.elementBytes / machine.lineBytes;
  int64_t tiles = std::min(mostSpilledBytes(machine) / (p.elementBytes * t.width), rows) / t.mostRows(p);
  int64_t panelBytes = t.panelElements(p).number() * p.weightBytes, part = chunkBytesOfPanel(machine);
  int64_t bytes = (t.matrixElements(p) * p.matricesB).number() * p.weightBytes;
  bool fits = tiles > 1 && (t.highest || (t.tilesPerBlock > 1 && t.tilesPerBlock <= tiles));
  if (fits && bytes > machine.l2Bytes / 2 && panelBytes > 2 * part) {
    int64_t depth = llvm::divideCeil(p.k.number(), llvm::divideCeil(panelBytes, part));
    t.chunkSteps = static_cast<int64_t>(llvm::alignTo(depth, unroll)),
    t.spilledTiles = t.highest ? tiles : t.tilesPerBlock;
  }
}

/// Cuts rows whose number depends on the run into blocks, by the measures of cutRows().
static void cutOpenRows(MatMulTiling &t, const MatMulProblem &p, const target::MachineModel &machine) {
  if (t.from == MatMulTiling::From::Scratch) { // each block would pack the panel again
    return;
  }
  int64_t k = std::max<int64_t>(1, assumed(p.k, 256)), items = std::max<int64_t>(1, assumed(t.panels * p.batch, 4));
  int64_t held = std::max(t.highest, machine.l2Bytes / 2 / (k * p.elementBytes));
  int64_t least = std::max(t.highest, (int64_t(1) << 17) / (k * t.width));
  Size enough = min(ceilDiv(p.m, least), static_cast<int64_t>(llvm::divideCeil(16, items)));
  t.blocksOfRows = max(ceilDiv(p.m, held), enough);
  t.blocks = max(Size(1), t.blocksOfRows);
}

/// Whether tiles of rows read B's panels where they are, and not from a copy. A copy does not pay for a panel that one
/// or two tiles read, nor for some more tiles where the second cache holds the panel. Rows of a panel are a whole row
/// of B apart, so they may compete for a few of the cache's sets: addresses 64 KiB apart share one on most machines,
/// and addresses 4 KiB apart one of the first cache, where a panel then is not held. On Zen 4 with AVX2 64 x 256 x 1024
/// takes 0.72 of the time with a copy, and 24 x 256 x 1024 1.02.
static bool readsInPlace(const MatMulProblem &p, const MatMulTiling &t, const target::MachineModel &machine) {
  constexpr int64_t fewTiles = 4, mostTiles = 16, firstRepeat = 4 << 10, setsRepeat = 64 << 10;
  if (t.tiles <= 2 || t.tiles > mostTiles || !p.n.isNumber()) {
    return t.tiles <= 2;
  }
  // Rows begin at multiples of gcd(rowBytes, 64 KiB) within the range of the sets. `held` is how many of them the cache
  // holds at once.
  int64_t rowBytes = p.n.number() * p.elementBytes, setBytes = std::gcd(rowBytes, setsRepeat);
  if (rowBytes % firstRepeat == 0 && t.tiles > fewTiles) {
    return false;
  }
  int64_t held = machine.l2Bytes / std::max(setBytes, t.width * p.elementBytes);
  return assumed(p.k, 256) <= (t.tiles <= fewTiles ? 2 * held : held);
}

/// Returns the most rows that a single tile of two vectors may have to read weights from memory as a stream, by
/// prefetching what it reads next itself; 0: weights are not streamed. Several tiles prefetch the next panel instead,
/// and a core that has few prefetches in flight delays them. A single tile is as fast as memory.
static int64_t tallestStream(const MatMulProblem &p, const target::MachineModel &machine) {
  constexpr int64_t vectors = 2;
  bool isKnown = p.constantB && !p.isInteger() && (p.m * p.n * p.k * p.matricesB).isNumber();
  if (!isKnown || streamedTiles(machine) < 2 || machine.packing ||
      (p.n * p.k * p.matricesB).number() * p.weightBytes <= machine.l2Bytes / 2) {
    return 0;
  }
  return (machine.tileRegisters() - 2 - vectors) / vectors;
}

/// Returns the most rows of a tile.
static Most rowsFor(const MatMulProblem &p, const target::MachineModel &machine) {
  if (p.requested["rows"]) {
    return {*p.requested["rows"], "the file of schedules says so"};
  }
  // Rows of A that lie a multiple of 4 KiB apart compete for the same cache sets: fewer of them at a time when they are
  // long.
  constexpr int64_t longRow = 768, fewRows = 8;
  bool isOpen = !p.m.isNumber(), areLong = assumed(p.k, 0) > longRow && p.stepA.is(1);
  Most most = {machine.matmulTile.rows, "the machine's tiles have no more"};
  if ((isOpen || areLong) && fewRows < most.count) {
    most = {fewRows, isOpen ? "8 where the run may have few" : "8 where rows are long and compete for cache sets"};
  }
  if (ByteProducts bytes = p.bytes(machine); p.isInteger() && bytes.takesTwoInstructions()) {
    if (int64_t height = bytes.heightOf(machine.matmulTile.vectors, machine); height < most.count) {
      most = {height, "no more sums of pairs fit the registers"};
    }
  }
  if (!isOpen && p.m.number() <= tallestStream(p, machine) && p.m.number() > most.count) {
    most = {p.m.number(), "a single tile reads the weights from memory as a stream"};
  }
  return most;
}

/// Says why a product in panels is cut so.
static std::string whyTiling(const MatMulProblem &p, const MatMulTiling &t, const Most &rows, const Most &vectors,
                             const target::MachineModel &machine) {
  bool hasAllRows = t.tiles == 1 && t.mostRows(p) < rows.count, hasAllColumns = t.vectors < vectors.count;
  std::string text = llvm::formatv("rows={0}: {1}", t.mostRows(p), hasAllRows ? "there are no more" : rows.why);
  if (t.tiles > 1 && t.mostRows(p) < rows.count) {
    text += llvm::formatv(", and {0} rows are {1} tiles alike", p.m.number(), t.tiles).str();
  }
  text += llvm::formatv("; vectors={0}: ", t.vectors);
  if (p.constantB && machine.packing) {
    text += llvm::formatv("{0}, and weights are packed for {1}", vectors.why, machine.packing->spec).str();
  } else if (hasAllColumns && t.panels.is(1)) {
    text += "there are no more";
  } else {
    text += vectors.why;
    text += hasAllColumns
                ? llvm::formatv(", and {0} columns are {1} panels alike", p.n.number(), t.panels.number()).str()
                : "";
  }
  if (t.chunkSteps) {
    text += llvm::formatv("; chunk={0}: few rows meet panels of {1}, which are cut into chunks", t.chunkSteps,
                          bytesText(static_cast<double>(t.panelElements(p).number() * p.weightBytes)));
  }
  return text;
}

MatMulTiling matmulTiling(const MatMulProblem &p, const target::MachineModel &machine, std::string *why) {
  MatMulTiling t;
  t.lanes = lanesOf(p, machine);
  bool alongK = p.stepA.is(1) && (p.n.is(1) || p.transB), openRows = !p.m.isNumber();
  bool dotsPay = alongK && !p.constantB;
  t.dots = !p.isInteger() && alongK && (p.n.is(1) || (dotsPay && !openRows && p.m.number() <= 2));
  if (t.dots || p.m.is(0) || p.n.is(0)) {
    t.from = MatMulTiling::From::InPlace;
    return t;
  }
  Most most = rowsFor(p, machine);
  t.tiles = openRows ? 1 : llvm::divideCeil(p.m.number(), most.count);
  int64_t rows = openRows ? most.count : llvm::divideCeil(p.m.number(), t.tiles);
  Most vectors = vectorsFor(p, rows, machine);
  t.highest = openRows ? most.count : 0;
  cutColumns(t, p, vectors.count, p.constantB && machine.packing ? lanesOf(p, *machine.packing) : 0);
  bool whole = p.n.isNumber() && t.rest == 0;
  bool readable = !p.transB && (whole || machine.maskedAccess || t.lanes == 1);
  bool inPlace = readable && readsInPlace(p, t, machine);
  t.from =
      p.constantB ? MatMulTiling::From::Packed : (inPlace ? MatMulTiling::From::InPlace : MatMulTiling::From::Scratch);
  t.dotsForFew = openRows && dotsPay;
  openRows ? cutOpenRows(t, p, machine) : cutRows(t, p, machine, rows);
  cutDepth(t, p, machine);
  if (why) {
    *why = whyTiling(p, t, most, vectors, machine);
  }
  return t;
}

/// A step takes half a cycle for each multiply-add, of which two are done in a cycle, and 0.25 for the loop. With fewer
/// than 12 sums the latency of a multiply-add is not hidden.
double registerStepCycles(int64_t rows, int64_t vectors) {
  constexpr double enough = 12;
  auto sums = static_cast<double>(rows * vectors);
  return sums / 2 + std::max(0.0, enough - sums) / 4 + 0.25;
}

double panelCycles(plan::KernelOp kernel, const MatMulProblem &p, const MatMulTiling &t,
                   const target::MachineModel &machine) {
  if (p.m.is(0) || p.n.is(0)) { // such a product has no tiles
    return 0;
  }
  constexpr int64_t openExtent = 64;
  auto number = [](const Size &size) { return static_cast<double>(assumed(size, openExtent)); };
  double m = number(p.m), n = number(p.n), k = number(p.k), lanes = static_cast<double>(t.lanes);
  double cycles = m * n * std::ceil(k / lanes); // of dot products, a load of each factor
  if (!t.dots) {
    int64_t rows = t.mostRows(p);
    double step = registerStepCycles(rows, t.vectors) / static_cast<double>(rows * t.vectors);
    cycles = m * k * std::ceil(n / lanes) * step;
  }
  double weights = p.constantB ? k * n * static_cast<double>(p.weightBytes) : 0;
  return whileWeightsCome(cycles, weights, kernel, machine);
}

std::vector<target::Schedule> matmulSchedules(const MatMulProblem &p, const MatMulTiling &t,
                                              const target::MachineModel &machine) {
  std::vector<target::Schedule> all;
  int64_t spare = machine.fusedMultiplyAdd ? 1 : 2;
  for (int64_t vectors : {2, 3, 4, 1, 6, 8}) {
    // The highest tile that fits the registers, and the next lower ones.
    int64_t most = (machine.tileRegisters() - 1 - spare - vectors) / vectors;
    for (int64_t rows = most; rows >= 1 && rows > most - 3; --rows) {
      if (rows == most || !p.m.isNumber() || p.m.number() % rows == 0) {
        all.push_back({{"rows", rows}, {"vectors", vectors}});
      }
    }
  }
  if (t.highest == 0 && t.from != MatMulTiling::From::Scratch) {
    for (int64_t block = 1; block <= t.tiles; block *= 2) {
      if (block != t.tilesPerBlock) {
        all.push_back({{"block", block}});
      }
    }
  }
  MatMulProblem candidate = p;
  llvm::erase_if(all, [&](const target::Schedule &requested) {
    candidate.requested = requested;
    return matmulTiling(candidate, machine) == t;
  });
  return all;
}

/// Packs the panels of a matrix of bytes, `b`, which is row-major, in words of 32 bits.
static void packWords(const MatMulProblem &p, const MatMulTiling &t, const ByteProducts &bytes, const int8_t *b,
                      int64_t depth, uint32_t *to) {
  int64_t n = p.n.number();
  for (int64_t column = 0; column < n; ++column) {
    uint32_t *strip = to + column / t.strip * t.stripElements(p).number() + column % t.strip;
    for (int64_t k = 0; k < depth; k += bytes.step()) {
      std::array<int8_t, ByteProducts::mostBytes> weights{};
      for (int64_t i = k; i < std::min(k + bytes.step(), depth); ++i) {
        weights[i - k] = b[i * n + column];
      }
      for (int64_t row = 0; row < p.stepRows; ++row) {
        strip[(k / bytes.step() * p.stepRows + row) * t.strip] = bytes.word(weights, row);
      }
    }
  }
}

static void packPanels(const MatMulProblem &p, const MatMulTiling &t, const ByteProducts &bytes, ArrayRef<char> from,
                       MutableArrayRef<char> to) {
  int64_t n = p.n.number(), depth = p.k.number() * bytes.step() - (p.restA ? bytes.step() - p.restA : 0);
  for (int64_t matrix = 0; matrix < p.matricesB.number(); ++matrix) {
    packWords(p, t, bytes, reinterpret_cast<const int8_t *>(from.data()) + matrix * depth * n, depth,
              reinterpret_cast<uint32_t *>(to.data()) + matrix * t.matrixElements(p).number());
  }
}

static void packPanels(const MatMulProblem &p, const MatMulTiling &t, ArrayRef<char> from, MutableArrayRef<char> to) {
  int64_t size = p.weightBytes, rows = p.k.number(), n = p.n.number();
  int64_t stepB = p.stepB.number(), columnB = p.columnB.number(), strip = t.stripElements(p).number() * size;
  for (int64_t matrix = 0; matrix < p.matricesB.number(); ++matrix) {
    const char *b = from.data() + matrix * rows * n * size;
    char *out = to.data() + matrix * t.matrixElements(p).number() * size;
    for (int64_t n0 = 0; n0 < n; n0 += t.strip, out += strip) {
      int64_t columns = std::min(t.strip, n - n0);
      for (int64_t k = 0; k < rows; ++k) {
        char *row = out + k * t.strip * size;
        const char *source = b + (k * stepB + n0 * columnB) * size;
        if (columnB == 1) {
          std::copy_n(source, columns * size, row);
          continue;
        }
        for (int64_t c = 0; c < columns; ++c) {
          std::copy_n(source + c * columnB * size, size, row + c * size);
        }
      }
    }
  }
}

plan::WeightTable::Recipe packedPanels(const MatMulProblem &p, const MatMulTiling &t,
                                       const target::MachineModel &machine) {
  plan::WeightTable::Recipe recipe;
  recipe.key = llvm::formatv("panels {0} {1} {2} {3} {4} {5}", t.strip, p.k.number(), p.n.number(),
                             p.matricesB.number(), p.transB, p.weightBytes)
                   .str();
  ByteProducts bytes = p.bytes(machine);
  recipe.key += p.isInteger() ? " " + bytes.key() : "";
  recipe.bytes = (p.matricesB * t.matrixElements(p)).number() * p.weightBytes;
  recipe.pack = [p, t, bytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    p.isInteger() ? packPanels(p, t, bytes, from, to) : packPanels(p, t, from, to);
  };
  return recipe;
}

} // namespace ingot::lower
