#include "compiler/lower/attention/AttentionPlan.h"
#include "compiler/lower/core/CacheLines.h"
#include "compiler/onnx/ops/Attention.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;
using support::Sizes;

/// Reads the problem from Attend. Axes of the batch at whose indices keys and values are the same are counted as rows.
static AttentionProblem problemOf(plan::KernelOp kernel) {
  auto op = cast<onnx::AttendOp>(kernel.root());
  Sizes axes = onnx::sizesOf(Group::typeOf(op.product()));
  AttentionProblem p;
  p.batch.assign(axes.begin(), axes.end() - 2);
  p.queries = axes[axes.size() - 2], p.keys = axes.back();
  p.width = op.getWidth(), p.valueWidth = op.getValueWidth();
  p.q = {op.getWalkQ().value()}, p.k = {op.getWalkK().value()}, p.v = {op.getWalkV().value()};
  p.own = p.batch.size();
  while (p.own > 0 && (p.batch[p.own - 1].is(1) || (p.k.strides[p.own - 1].is(0) && p.v.strides[p.own - 1].is(0)))) {
    --p.own;
  }
  p.rows = p.queries * product(ArrayRef(p.batch).drop_front(p.own));
  p.outer = product(ArrayRef(p.batch).take_front(p.own));
  return p;
}

/// Returns the largest power of two that is at most `n` and at most `most`.
static int64_t powerOfTwoIn(int64_t n, int64_t most) { return std::min<int64_t>(most, llvm::bit_floor<uint64_t>(n)); }

/// Returns the size of the parts if `n` is cut into as few parts as possible, of at most `most` each and of equal size,
/// rounded up.
static int64_t evenly(int64_t n, int64_t most) { return llvm::divideCeil(n, llvm::divideCeil(n, most)); }

/// Returns how many of `vectors` vectors of columns a tile has: its sums, the columns and a weight (without fused
/// multiply-adds also a product) have to fit the registers.
static int64_t panelFor(int64_t rows, int64_t vectors, const target::MachineModel &machine) {
  int64_t spare = machine.fusedMultiplyAdd ? 1 : 2;
  return evenly(vectors, std::max<int64_t>(1, (machine.tileRegisters() - spare) / (rows + 1)));
}

/// Returns whether tiles of scores are three vectors of rows wide instead of two. That is better where the registers
/// hold as many keys beside them, loads take time from multiply-adds, and hardly any rows are left for narrower tiles.
static bool isThreeWide(const AttentionCut &c, const target::MachineModel &machine) {
  constexpr int64_t registers = 32, many = 12;
  bool fits = machine.tileRegisters() >= registers && c.vectors.isNumber();
  return fits && machine.tuning.loadCycles > 0 && (c.vectors.number() % 3 == 0 || c.vectors.number() > many);
}

/// Returns the rows of a block: as many as the machine wants, or fewer where several threads would have too few tasks.
static int64_t rowsOfBlock(const AttentionProblem &p, const AttentionCut &c, const target::MachineModel &machine) {
  constexpr int64_t least = 32;
  int64_t most = machine.tuning.attentionRows;
  if (p.rows.isNumber() && p.outer.isNumber() && p.outer.atLeast(1)) {
    auto blocks = static_cast<int64_t>(llvm::divideCeil(machine.tuning.heavyItems, p.outer.number()));
    most = std::min(most, std::max<int64_t>(least, llvm::divideCeil(p.rows.number(), blocks)));
  }
  return std::max(most, c.lanes);
}

/// Chooses the rows of V's tiles and of a block. With four rows by two vectors, additions wait for each other; with six
/// rows they do not.
static void cutTile(AttentionCut &c, const AttentionProblem &p, const target::MachineModel &machine) {
  c.valueTile = 8;
  if (machine.registers < 32) {
    bool waits = machine.fusedMultiplyAdd && panelFor(4, c.valueVectors, machine) <= 2;
    c.valueTile = waits ? 6 : 4;
  }
  constexpr int64_t aligned = 8; ///< a block has as many tiles, so that it is whole pairs of vectors as well
  c.rowsBlock = rowsOfBlock(p, c, machine);
  if (isThreeWide(c, machine)) {
    c.rowVectors = 3;
    int64_t tile = c.rowVectors * c.lanes;
    c.rowsBlock = std::max(tile, c.rowsBlock - c.rowsBlock % tile);
    c.valueTile = panelFor(6, c.valueVectors, machine) > panelFor(8, c.valueVectors, machine) ? 6 : 8;
    return;
  }
  if (c.lanes <= aligned) {
    c.rowsBlock = static_cast<int64_t>(llvm::alignTo(c.rowsBlock, c.valueTile * aligned));
  } else { // blocks take whole tiles of scores
    c.rowsBlock = static_cast<int64_t>(llvm::alignTo(c.rowsBlock, c.rowVectors * c.lanes));
  }
}

/// Computes how many blocks of rows, tasks and work items there are.
static void cutBlocks(AttentionCut &c, const AttentionProblem &p, const target::MachineModel &machine) {
  c.blocks = max(Size(1), ceilDiv(c.vectors, c.rowsBlock / c.lanes));
  c.tasks = p.outer * c.blocks;
  c.items = max(Size(1), min(c.tasks, machine.tuning.heavyItems));
}

/// Cuts rows into vectors and blocks. More than a third of a vector of rows is computed as a vector, fewer one by one.
static void cutRows(AttentionCut &c, const AttentionProblem &p, const target::MachineModel &machine) {
  c.most = c.lanes / 3;
  c.vectors = floorDiv(p.rows + Size(c.lanes - 1 - c.most), c.lanes);
  c.left = p.rows - c.vectors * Size(c.lanes);
  cutTile(c, p, machine);
  if (c.vectors.isNumber()) {
    int64_t rows = c.vectors.number() * c.lanes;
    c.rowsBlock = std::min(c.rowsBlock, std::max(rows, c.lanes));
    if (rows > 0 && rows <= c.rowsBlock) {
      c.valueTile = evenly(std::min(rows, p.rows.number()), c.valueTile);
    }
  }
  c.rowVectors = std::min(c.rowVectors, c.rowsBlock / c.lanes);
  cutBlocks(c, p, machine);
}

/// Cuts keys into blocks and tiles.
static void cutKeys(AttentionCut &c, const AttentionProblem &p, const target::MachineModel &machine) {
  c.keyTile = c.rowVectors > 2 ? (machine.tileRegisters() - 1 - c.rowVectors) / c.rowVectors
                               : std::min<int64_t>(8, machine.matmulTile.rows);
  c.keysBlock = machine.tuning.attentionKeys;
  if (p.keys.isNumber()) {
    c.keysBlock = evenly(p.keys.number(), c.keysBlock);
    c.keyTile = evenly(c.keysBlock, c.keyTile);
  }
  c.keysBlock = static_cast<int64_t>(llvm::alignTo(c.keysBlock, c.keyTile));
}

/// Cuts a problem for vectors.
static AttentionCut cutOf(const AttentionProblem &p, const target::MachineModel &machine) {
  AttentionCut c;
  c.lanes = std::max<int64_t>(1, machine.lanes);
  c.dotLanes = powerOfTwoIn(p.width, c.lanes);
  c.valueLanes = powerOfTwoIn(p.valueWidth, c.lanes);
  c.valueVectors = llvm::divideCeil(p.valueWidth, c.valueLanes);
  cutRows(c, p, machine);
  cutKeys(c, p, machine);
  c.panel = panelFor(c.valueTile, c.valueVectors, machine);
  return c;
}

/// Returns in how many parts factors are split for products in matrix registers; 0 where such products are impossible
/// or not worth it. Splitting keys and values takes as long as some rows' products, hence the least numbers of rows.
static int64_t partsInTiles(plan::KernelOp kernel, const AttentionProblem &p, const target::MachineModel &machine) {
  constexpr int64_t few = 16, some = 64, many = 256;
  Splitting splitting = splittingOf(kernel, machine);
  int64_t least = splitting.always ? few : splitting.parts == 3 ? many : some;
  auto op = cast<onnx::AttendOp>(kernel.root());
  auto isFloat = [](Value v) { return onnx::elementOf(v).isF32(); };
  bool areFloats = isFloat(op.getQ()) && isFloat(op.getK()) && isFloat(op.getV());
  bool areRows = p.q.column().is(1) && p.k.column().is(1) && p.v.column().is(1);
  bool fills = p.width % elementsOfStep == 0 && p.valueWidth % machine.lanes == 0;
  bool areMany =
      p.rows.isNumber() && p.keys.isNumber() && p.rows.atLeast(least) && p.keys.atLeast(splitting.always ? 1 : least);
  return areFloats && areRows && fills && areMany ? splitting.parts : 0;
}

/// Changes the cut for matrix registers. Blocks of rows are larger, since each block splits all keys and values, but
/// there are enough of them for several threads.
static void cutForTiles(AttentionCut &c, const AttentionProblem &p, int64_t parts,
                        const target::MachineModel &machine) {
  constexpr int64_t mostKeys = 128, someVectors = 8, manyVectors = 16, manyRows = 512;
  c.tiles = TileShape{/*mostRowTiles=*/2, /*mostColumnTiles=*/2, /*depth=*/64, parts};
  c.rowVectors = 2;
  int64_t vectors = c.vectors.number();
  c.rowsBlock = evenly(vectors, p.rows.atLeast(manyRows) ? manyVectors : someVectors) * c.lanes;
  c.rowsBlock = static_cast<int64_t>(llvm::alignTo(c.rowsBlock, c.rowVectors * c.lanes));
  cutBlocks(c, p, machine);
  c.keysBlock = static_cast<int64_t>(llvm::alignTo(evenly(p.keys.number(), mostKeys), elementsOfStep));
  auto rowBytes = [&](int64_t elements) { return oddLines(2 * parts * elements, machine.lineBytes); };
  c.keyBytes = rowBytes(p.width), c.weightBytes = rowBytes(c.keysBlock);
}

/// Takes bytes of scratch, and returns where they begin.
static int64_t take(AttentionCut &c, int64_t bytes) {
  int64_t at = c.bytes;
  c.bytes += static_cast<int64_t>(llvm::alignTo(bytes, 64));
  return at;
}

/// Calls f with the arguments of the kernel's region that a value is computed from.
static void collectArguments(Value v, llvm::function_ref<void(BlockArgument)> f) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    return f(argument);
  }
  for (Value operand : v.getDefiningOp()->getOperands()) {
    collectArguments(operand, f);
  }
}

/// Finds along which axes a value varies that Attend's region has as `argument`.
static AttentionOther otherOf(BlockArgument argument, const AttentionProblem &p) {
  auto op = cast<onnx::AttendOp>(argument.getOwner()->getParentOp());
  AttentionOther other{op.getOthers()[argument.getArgNumber() - 1], argument};
  int64_t rank = static_cast<int64_t>(p.batch.size()) + 2;
  collectArguments(other.inRegion, [&](BlockArgument argument) {
    Sizes sizes = onnx::sizesOf(Group::typeOf(argument));
    int64_t shift = rank - static_cast<int64_t>(sizes.size());
    for (auto [axis, size] : llvm::enumerate(sizes)) {
      int64_t of = static_cast<int64_t>(axis) + shift;
      bool along = !size.repeats();
      other.alongKeys |= along && of == rank - 1;
      other.alongHeads |= along && of == static_cast<int64_t>(p.own) - 1;
      other.alongRows |= along && of >= static_cast<int64_t>(p.own) && of < rank - 1;
    }
  });
  return other;
}

/// Returns what the score is computed from besides the product.
static SmallVector<AttentionOther> othersOf(plan::KernelOp kernel, const AttentionProblem &p) {
  auto op = cast<onnx::AttendOp>(kernel.root());
  SmallVector<AttentionOther> others;
  for (BlockArgument argument : op.block().getArguments().drop_front()) {
    bool isScored = llvm::any_of(argument.getUsers(), [](Operation *user) { return !isa<onnx::ScoreOp>(user); });
    if (isScored || argument != op.lastKey()) {
      others.push_back(otherOf(argument, p));
    }
  }
  return others;
}

/// Gives everything its place in scratch.
static void place(AttentionCut &c, const AttentionProblem &p, MutableArrayRef<AttentionOther> others) {
  bool many = !c.vectors.is(0);
  int64_t rows = many ? c.rowsBlock : std::max<int64_t>(1, c.most), keys = c.keysBlock + c.lanes;
  c.q = take(c, 4 * std::max(many && !c.tiles ? rows * p.width : 0, c.most * (p.width + c.lanes)));
  c.copiesKeys = many && !c.tiles && p.k.row().is(1) && !p.k.column().is(1);
  if (c.copiesKeys) {
    c.k = take(c, 4 * c.keyStride() * p.width);
  }
  c.s = take(c, 4 * keys * (many ? rows : 1));
  int64_t tiled = rows; // including the rows of the last tile that nobody reads
  if (many && p.rows.isNumber()) {
    tiled = std::max<int64_t>(rows, llvm::alignTo(std::min(rows, p.rows.number()), c.valueTile));
  }
  if (c.tiles) {
    int64_t pairs = rows / (2 * c.lanes), valuePairs = llvm::divideCeil(c.valueVectors, 2);
    c.splitQ = take(c, pairs * p.width / elementsOfStep * c.tiles->stepBytes(2));
    c.splitK = take(c, c.keysBlock * c.keyBytes);
    c.splitWeights = take(c, rows * c.weightBytes);
    c.splitV = take(c, valuePairs * c.keysBlock / elementsOfStep * c.tiles->stepBytes(2));
  }
  c.sums = take(c, 4 * tiled * c.valueStride());
  c.best = take(c, 4 * tiled), c.total = take(c, 4 * tiled), c.worth = take(c, 4 * tiled);
  for (AttentionOther &other : others) {
    if (other.alongRows && many) {
      int64_t bytes = llvm::divideCeil(memoryType(other.element()).getIntOrFloatBitWidth(), 8);
      other.packed = take(c, bytes * rows * (other.alongKeys ? keys : 1));
    }
  }
}

AttentionPlan planAttention(plan::KernelOp kernel, const target::MachineModel &machine) {
  AttentionProblem problem = problemOf(kernel);
  AttentionPlan plan{problem, cutOf(problem, machine), othersOf(kernel, problem), std::nullopt};
  if (BlockArgument last = cast<onnx::AttendOp>(kernel.root()).lastKey()) {
    plan.lastKey = otherOf(last, problem);
  }
  if (int64_t parts = partsInTiles(kernel, problem, machine)) {
    cutForTiles(plan.cut, problem, parts, machine);
  }
  place(plan.cut, problem, plan.others);
  return plan;
}

} // namespace ingot::lower
