// Matrix products: tiles by blocks of threads (TileProduct.h), on tensor cores where both factors are float16 or
// bfloat16, or uint8 and int8 (TensorProduct.h), and, under few rows, sums of which each block has some columns, whose
// depth its threads share. Few rows are bound by what reads the right factor, which is read once there, in whole lines
// of memory. The right factor of bytes is a constant, packed into lines (PackedLines.h). Where there are few tiles,
// several blocks share the depth of each, or of the last ones (SplitDepth.h). Where some tiles are whole, blocks of the
// kernel multiply those, and add up the others. Where the user asks for them, warpgroups of sm_90a are a second way to
// multiply float16 and bfloat16 (WarpgroupProduct.h), which the choice of algorithms compares with all of these.
//
// If the number of rows is open, as that of a language model's tokens is, the kernel has both forms, and each run takes
// the one for its number of rows. A launch ahead of the kernel multiplies few rows: it leaves a sum for each part of
// the depth in memory, and the kernel adds these up. For many rows that launch has no blocks, and the kernel multiplies
// tiles.
#include "compiler/onnx/formats/Products.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/ByteDots.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/FewRows.h"
#include "targets/cuda/PackedLines.h"
#include "targets/cuda/SplitDepth.h"
#include "targets/cuda/TensorProduct.h"
#include "targets/cuda/TileCycles.h"
#include "targets/cuda/WarpgroupProduct.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;

/// A product, whose depth `k` is counted in elements.
struct Problem : lower::MatMulProblem {
  std::optional<PackedLines> int8; ///< how the right factor is packed where the product is one of bytes

  Problem(plan::KernelOp kernel, const target::MachineModel &machine)
      : MatMulProblem(lower::matmulProblem(kernel, machine)) {
    if (isInteger()) {
      k = rowA, stepA = 1;
      int8 = {.matrices = matricesB.number(),
              .lines = n.number(),
              .depth = k.number(),
              .alongDepth = false,
              .inVectors = true};
      stepB = 1, columnB = int8->pitch();
    }
  }
};

/// How a product is cut: into tiles, or by columns where `rows` is 0; an open number of rows in either way.
struct Cut {
  int64_t rows = 0, columns = FewRows::columns;
  TensorProduct::Numbers tensor = {}; ///< what tensor cores multiply
  SplitDepth depth = {};
  bool isOpen = false; ///< a run's rows may be few or many; `depth` is that of few
  bool byWarpgroups = false;

  int64_t threads() const {
    return byWarpgroups ? WarpgroupProduct::grid().threads[0]
           : !rows      ? FewRows::threads
           : tensor     ? TensorProduct::grid(rows).threads[0]
                        : TileProduct::threads;
  }
  support::Size tiles(const Problem &p) const {
    return p.batch * ceilDiv(p.n, columns) * (rows ? ceilDiv(p.m, rows) : support::Size(1));
  }
  /// Returns how many tiles have a depth that blocks share.
  support::Size sharedTiles(const Problem &p) const { return tiles(p) - support::Size(depth.whole); }
};

constexpr int64_t warp = FewRows::warp, warps = FewRows::warps;

/// Returns 1 for runs whose rows are few, and 0 for others, and for none.
support::Size areFew(const Problem &p) {
  return min(support::Size(1), p.m) *
         max(support::Size(0), min(support::Size(1), support::Size(FewRows::most + 1) - p.m));
}

Cut tilesOf(const Problem &p, Operation *root, const target::MachineModel &machine) {
  bool isDeep = !p.k.isNumber() || p.k.number() >= warp; // else there is nothing to share
  if (p.m.isNumber() && p.m.number() <= FewRows::most && isDeep) {
    return {};
  }
  // Tiles of 128 by 128 read half as much of the shared memory for each product; there have to be enough of them for
  // all multiprocessors of a large GPU.
  constexpr int64_t enough = 128, small = TensorProduct::small, large = TensorProduct::large;
  bool isLarge =
      p.m.isNumber() && p.n.isNumber() && p.batch.isNumber() && p.elementBytes == 4 &&
      llvm::divideCeil(p.m.number(), large) * llvm::divideCeil(p.n.number(), large) * p.batch.number() >= enough;
  int64_t side = isLarge ? large : small;
  return {side, side, TensorProduct::numbersFor(root, root->getOperand(0), root->getOperand(1), machine)};
}

Cut cutOf(const Problem &p, Operation *root, const target::MachineModel &machine) {
  Cut cut = tilesOf(p, root, machine);
  constexpr int64_t bytesOfFour = 4, bytesOfTwo = 2;
  int64_t together = !p.int8 ? 1 : cut.tensor ? bytesOfTwo : bytesOfFour;
  int64_t step = cut.tensor ? cut.tensor.step() : cut.rows ? TileProduct::step : FewRows::step;
  cut.isOpen = !p.m.isNumber() && (!p.k.isNumber() || p.k.number() >= FewRows::step);
  cut.depth = cut.isOpen ? SplitDepth::of(Cut().tiles(p), p.k, FewRows::step * (p.int8 ? bytesOfFour : 1), machine)
                         : SplitDepth::of(cut.tiles(p), p.k, step * together, machine, /*mayBeWhole=*/cut.rows > 0);
  return cut;
}

/// Builds the loops of one kernel.
class Builder {
public:
  /// `isAhead`: what is computed is sums for the kernel behind this launch.
  Builder(lower::Build &build, const Problem &p, const Cut &cut, bool isAhead)
      : build(build), w(build.w), p(p), cut(cut), isAhead(isAhead), space(build.group.space(build.group.resultType())),
        depth(p.k), fewRows(p.m.isNumber() ? p.m.number() : FewRows::most) {
    lower::shapeSpace(space, p);
    a = build.group.buffer(build.group.root->getOperand(0)), b = build.group.buffer(build.group.root->getOperand(1));
  }

  void run() {
    auto [row, column] = enterTile(enterPart(build.begin));
    auto none = [&](Ix) { return w.constant(0, p.element); };
    auto put = [&](Ix m, Ix n, Value sum) { finish(m, n, sum); };
    if (cut.isOpen && !cut.rows) {
      openRows(column);
    } else if (cut.tensor) {
      cut.byWarpgroups ? warpgroups(row, column) : tensor(row, column);
    } else if (cut.rows) {
      constexpr int64_t bytes = 4;
      int64_t together = p.int8 ? bytes : 1;
      Type leftBytes = p.int8 ? onnx::elementOf(build.group.root->getOperand(0)) : Type();
      TileProduct(w, p.element, cut.rows, cut.columns, isWhole(TileProduct::step * together), leftBytes)
          .write(left(together), right(together), floorDiv(depth + (together - 1), together), row, column, none, put);
    } else {
      few(column);
    }
  }

  /// Adds up the sums of a tile whose depth was shared.
  void addUp() {
    Ix tile = build.begin - cut.depth.whole, thread = lower::threadNumber(w);
    auto [row, column] = enterTile(build.begin);
    int64_t elements = cut.rows * cut.columns;
    w.loop(0, elements / cut.threads(), 1, [&, row = row, column = column](Ix turn) {
      Ix i = turn * cut.threads() + thread, m = row + floorDiv(i, cut.columns), n = column + remainder(i, cut.columns);
      Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, m, p.m),
                                            w.compare(arith::CmpIPredicate::slt, n, p.n));
      w.ifThen(isThere,
               [&] { finish(m, n, cut.depth.sumOf(build, tile * elements + i, Ix(cut.sharedTiles(p)) * elements)); });
    });
  }

private:
  lower::Build &build;
  lower::Writer &w;
  const Problem &p;
  const Cut &cut;
  bool isAhead;
  lower::Space space;
  lower::Buffer a, b;
  SmallVector<Ix> batchAt;
  Ix baseA = 0, baseB = 0;
  Ix part = 0, depth; ///< the block's part of the depth, and how long it is
  Ix sharedPlace = 0; ///< where the element in row 0 and column 0 of a tile that is shared would be among the sums
  int64_t fewRows;    ///< that are computed together where there are no tiles

  /// Enters the part of the depth of a block; returns its tile.
  Ix enterPart(Ix block) {
    if (!isAhead || !cut.depth) {
      return block;
    }
    Ix tiles = cut.sharedTiles(p);
    part = floorDiv(block, tiles), depth = cut.depth.lengthOf(part, p.k);
    baseA = cut.depth.begin(part) * Ix(p.stepA), baseB = cut.depth.begin(part) * Ix(p.stepB);
    return remainder(block, tiles) + cut.depth.whole;
  }

  /// Enters the matrices of a tile; returns its first row and column.
  std::pair<Ix, Ix> enterTile(Ix tile) {
    Ix columns = ceilDiv(p.n, cut.columns), rows = cut.rows ? ceilDiv(p.m, cut.rows) : support::Size(1);
    // Neighbouring blocks share columns of the right factor.
    Ix rest = floorDiv(tile, rows);
    enterBatch(floorDiv(rest, columns));
    Ix row = remainder(tile, rows) * std::max<int64_t>(1, cut.rows), column = remainder(rest, columns) * cut.columns;
    if (isAhead && cut.depth.whole) {
      Ix shared = part * cut.sharedTiles(p) + tile - cut.depth.whole;
      sharedPlace = shared * (cut.rows * cut.columns) - row * cut.columns - column;
    }
    return {row, column};
  }

  /// Whether the depth is a multiple of a step, and so is that of each part.
  bool isWhole(int64_t step) const { return p.k.isNumber() && p.k.number() % step == 0; }

  void enterBatch(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    Ix matrix = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      batchAt[d] = d == 0 ? index : remainder(index, p.batchSizes[d]);
      index = floorDiv(index, p.batchSizes[d]);
      baseA += batchAt[d] * Ix(p.batchA[d]), matrix += batchAt[d] * Ix(p.batchB[d]);
    }
    baseB += matrix * Ix(p.int8 ? support::Size(p.int8->lines * p.int8->pitch()) : p.k * p.n);
  }

  Value loadA(Ix m, Ix k, int64_t lanes = 1) {
    m = cut.rows || p.m.isNumber() ? m : min(m, Ix(p.m) - 1);
    return w.load(a, baseA + m * Ix(p.rowA) + k * Ix(p.stepA), lanes);
  }
  Value loadB(Ix n, Ix k, int64_t lanes = 1) { return w.load(b, baseB + n * Ix(p.columnB) + k * Ix(p.stepB), lanes); }

  /// Returns the left factor, so many bytes of which are an element. Behind a row they are the last one of it.
  Factor left(int64_t together = 1) {
    auto element = [=, this](Ix m, Ix k) {
      auto byte = [&](int64_t i) { return loadA(m, min(k * together + i, depth - 1)); };
      return together > 1 ? joinBytes(w, together, byte) : loadA(m, k);
    };
    return {[=](Ix m) { return [=](Ix from, Ix k) { return element(m, from + k); }; }, p.m, p.stepA.is(1)};
  }
  Factor right(int64_t together = 1) {
    auto element = [=, this](Ix n, Ix k) {
      auto byte = [&](int64_t i) { return loadB(n, k * together + i); };
      return together > 1 ? joinBytes(w, together, byte) : loadB(n, k);
    };
    return {[=](Ix n) { return [=](Ix from, Ix k) { return element(n, from + k); }; }, p.n, p.stepB.is(1)};
  }

  void finish(Ix m, Ix n, Value sum) {
    auto vector = dyn_cast<VectorType>(sum.getType());
    lower::Point at{batchAt, vector ? vector.getNumElements() : 1, {}};
    at.at.append({m, n});
    if (!isAhead) {
      build.group.finish(sum, space, at);
    } else if (cut.depth.whole) {
      w.store(sum, build.ahead.back(), sharedPlace + m * cut.columns + n);
    } else {
      SplitDepth::store(build, space, part, at, sum);
    }
  }

  /// Requires vectors along the one axis of a factor whose elements are neighbours, of `depth` or `lines` elements.
  static void requireVectors(Wide &wide, const lower::Buffer &buffer, Ix base, Ix perLine, Ix perStep, Ix lines,
                             Ix depth) {
    bool along = perStep.is(1);
    wide.requireBegin(buffer);
    for (const Ix &number :
         {base, along ? depth : lines, along ? perLine : perStep, Ix(along || perLine.is(1) ? 0 : 1)}) {
      wide.require(number);
    }
  }

  /// Returns the factors as tensor cores get them, so many bytes of which are an element.
  std::pair<Factor, Factor> withAddresses(int64_t together) {
    int64_t bytes = cut.tensor.bytes() / together;
    if (!p.int8) {
      a = TensorProduct::raw(w, a), b = TensorProduct::raw(w, b);
    }
    Factor l = left(together), r = right(together);
    l.address = [=, this](Ix m, Ix k) {
      return TensorProduct::addressIn(w, a, baseA + m * Ix(p.rowA) + k * together * Ix(p.stepA), bytes);
    };
    r.address = [=, this](Ix n, Ix k) {
      return TensorProduct::addressIn(w, b, baseB + n * Ix(p.columnB) + k * together * Ix(p.stepB), bytes);
    };
    return {l, r};
  }

  void requireVectorsOfFactors(Wide &wide) {
    requireVectors(wide, a, baseA, p.rowA, p.stepA, p.m, p.k);
    requireVectors(wide, b, baseB, p.columnB, p.stepB, p.n, p.k);
  }

  /// Writes a tile on tensor cores: with vectors of both factors, and results in pairs, where memory is so.
  void tensor(Ix row, Ix column) {
    int64_t together = p.int8 ? cut.tensor.bytes() : 1;
    auto [l, r] = withAddresses(together);
    auto write = [&, &l = l, &r = r](TensorProduct::Accesses by) {
      TensorProduct(w, cut.tensor, cut.rows, by, isWhole(cut.tensor.step() * together))
          .write(
              l, r, floorDiv(depth + (together - 1), together), row, column,
              [&](Ix) { return w.constant(0, p.element); }, [&](Ix m, Ix n, Value sum) { finish(m, n, sum); });
    };
    Wide wide(w, cut.tensor.lanes() * together), pairs(w, 2);
    requireVectorsOfFactors(wide);
    if (isAhead) {
      pairs.require(cut.depth.whole ? Ix(cut.columns) : Ix(p.n));
    } else {
      pairs.require(space, accessesOf(space));
    }
    TensorProduct::writeAsMemoryIs(w, wide, pairs, write);
  }

  void warpgroups(Ix row, Ix column) {
    int64_t together = p.int8 ? cut.tensor.bytes() : 1;
    auto [l, r] = withAddresses(together);
    Wide wide(w, cut.tensor.lanes() * together), pairs(w, 2);
    requireVectorsOfFactors(wide);
    pairs.require(space, accessesOf(space));
    WarpgroupProduct::Conditions conditions = {wide.condition(), pairs.condition()};
    WarpgroupProduct(w, cut.tensor.element, isWhole(WarpgroupProduct::step * together))
        .write(
            l, r, floorDiv(depth + (together - 1), together), row, column, conditions,
            [&](Ix) { return w.constant(0, p.element); }, [&](Ix m, Ix n, Value sum) { finish(m, n, sum); });
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (p.int8) {
      return multiplyBytes(x, y, sum);
    }
    return isa<FloatType>(p.element)
               ? w.fma(x, y, sum)
               : arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, x, y)).getResult();
  }

  /// Returns the sum (i32) and the products of two bytes, or of two vectors of them.
  Value multiplyBytes(Value x, Value y, Value sum) {
    auto type = dyn_cast<VectorType>(x.getType());
    if (!type) {
      return dotOfOne(w, x, y, sum);
    }
    auto words = VectorType::get({type.getNumElements() / 4}, w.b.getI32Type());
    x = vector::BitCastOp::create(w.b, w.loc, words, x), y = vector::BitCastOp::create(w.b, w.loc, words, y);
    Type left = onnx::elementOf(build.group.root->getOperand(0));
    for (int64_t i = 0; i < words.getNumElements(); ++i) {
      sum = dotOfFour(w, left, vector::ExtractOp::create(w.b, w.loc, x, i), vector::ExtractOp::create(w.b, w.loc, y, i),
                      sum);
    }
    return sum;
  }

  void finishIf(Ix m, Ix n, Value isMine, Value sum) {
    Value isThere = w.compare(arith::CmpIPredicate::slt, n, p.n);
    if (!p.m.isNumber()) {
      isThere = arith::AndIOp::create(w.b, w.loc, isThere, w.compare(arith::CmpIPredicate::slt, m, p.m));
    }
    w.ifThen(arith::AndIOp::create(w.b, w.loc, isMine, isThere), [&] { finish(m, n, sum); });
  }

  /// Writes a product of few rows whose number is open: one, or all that there may be.
  void openRows(Ix column) {
    Value isOne = w.compare(arith::CmpIPredicate::eq, p.m, 1);
    auto write = [&](int64_t rows) {
      fewRows = rows;
      few(column);
    };
    w.ifElse(isOne, [&] { write(1); }, [&] { write(FewRows::most); });
  }

  /// Writes a product of few rows: with 16 bytes of the right factor for each access, where that lies so.
  void few(Ix column) {
    bool alongDepth = p.stepB.is(1) && !p.columnB.is(1);
    constexpr int64_t bytesOfAccess = 16;
    int64_t lanes = p.int8 ? bytesOfAccess : wideLanes(TypeRange{build.group.root->getOperand(1).getType()});
    Wide wide(w, lanes);
    wide.requireBegin(b);
    wide.require(baseB);
    if (alongDepth) {
      wide.requireBegin(a);
      for (Ix number : {Ix(p.k), Ix(p.columnB), baseA, Ix(p.rowA), p.stepA.is(1) ? Ix(0) : Ix(1)}) {
        wide.require(number);
      }
    } else {
      wide.require(p.columnB.is(1) ? Ix(p.n) : Ix(1));
      wide.require(p.stepB);
    }
    auto write = [&](int64_t with) { alongDepth ? fewAlongDepth(column, with) : fewAlongColumns(column, with); };
    writeWhereWide(w, wide.condition(), [&] { write(lanes); }, [&] { write(1); });
  }

  /// Returns sums over every so many steps of the depth from `from` on, one for each row. `next` gives a row's next
  /// sum; a sum is so many lanes.
  SmallVector<Value> sumsOf(Ix from, int64_t step, int64_t lanes,
                            llvm::function_ref<Value(Ix k, Ix m, Value sum)> next) {
    SmallVector<Value> none(fewRows, w.constant(0, w.vectorOf(p.element, lanes)));
    return w.loop(from, depth, step, none, [&](Ix k, ValueRange carried) {
      SmallVector<Value> after;
      for (auto [m, sum] : llvm::enumerate(carried)) {
        after.push_back(next(k, static_cast<int64_t>(m), sum));
      }
      return after;
    });
  }

  /// Rows of the right factor are contiguous: a block has 32 columns. With vectors, each of a warp's rows of threads
  /// has them all, and all rows of threads share the depth.
  void fewAlongColumns(Ix column, int64_t lanes) {
    FewRows rows(w, lanes);
    Ix n = min(column + rows.column(), Ix(p.n) - lanes);
    Value y;
    SmallVector<Value> sums = sumsOf(rows.share(), rows.shares(), lanes, [&](Ix k, Ix m, Value sum) {
      y = m.is(0) ? loadB(n, k, lanes) : y;
      return multiplyAdd(w.splat(loadA(m, k), lanes), y, sum);
    });
    rows.finish(sums, [&](int64_t m, Ix own, Value hasOne, Value sum) { finishIf(m, column + own, hasOne, sum); });
  }

  /// Columns of the right factor are contiguous: a warp has every so many columns, and its threads share the depth.
  void fewAlongDepth(Ix column, int64_t lanes) {
    Ix thread = lower::threadNumber(w), lane = remainder(thread, warp), own = floorDiv(thread, warp);
    Value isFirst = w.compare(arith::CmpIPredicate::eq, lane, 0);
    w.loop(0, warp / warps, 1, [&](Ix turn) {
      Ix n = column + turn * warps + own, there = min(n, Ix(p.n) - 1);
      Value y;
      int64_t lanesOfSum = p.int8 ? 1 : lanes;
      SmallVector<Value> sums = sumsOf(lane * lanes, warp * lanes, lanesOfSum, [&](Ix k, Ix m, Value sum) {
        y = m.is(0) ? loadB(there, k, lanes) : y;
        return multiplyAdd(loadA(m, k, lanes), y, sum);
      });
      for (auto [m, sum] : llvm::enumerate(sums)) {
        Value one = p.int8 ? sum : across(w, lower::Combine::Add, sum);
        finishIf(static_cast<int64_t>(m), n, isFirst, FewRows::sumOver(w, one, 1, warp));
      }
    });
  }
};

/// Returns the shape of a kernel of tiles, or of few rows.
lower::KernelShape shapeOf(const Problem &p, const Cut &cut, plan::KernelOp kernel) {
  lower::KernelShape shape;
  if (p.int8) {
    shape.packed[lower::operandNumber(kernel.root()->getOperand(1))] = p.int8->recipe();
  }
  shape.items = cut.tiles(p);
  if (cut.byWarpgroups) {
    shape.grid = WarpgroupProduct::grid();
  } else if (cut.rows) {
    shape.grid = cut.tensor ? TensorProduct::grid(cut.rows) : TileProduct::grid(p.elementBytes, cut.rows, cut.columns);
  } else {
    shape.grid = FewRows::grid(p.elementBytes);
  }
  if (cut.isOpen) {
    support::Size few = areFew(p), sums = p.batch * p.n * support::Size(FewRows::most);
    shape.ahead.push_back({"rows", few * Cut().tiles(p) * support::Size(cut.depth.parts), FewRows::grid(p.elementBytes),
                           sums * support::Size(cut.depth.parts), p.element});
    shape.items = few * SplitDepth::blocksFor(sums, cut.threads()) + (support::Size(1) - few) * shape.items;
  } else if (cut.depth.whole) {
    cut.depth.shareLast(shape, cut.tiles(p).number(), cut.rows * cut.columns, p.element);
  } else if (cut.depth) {
    cut.depth.share(shape, (p.batch * p.m * p.n).number(), p.element);
  }
  return shape;
}

/// Writes the kernel, behind its launches ahead.
void write(lower::Build &build, const Problem &p, const Cut &cut) {
  auto multiply = [&] { Builder(build, p, cut, /*isAhead=*/false).run(); };
  if (cut.isOpen) {
    Value few = build.w.compare(arith::CmpIPredicate::sle, p.m, FewRows::most);
    build.w.ifElse(few, [&] { cut.depth.addUp(build, cut.threads()); }, multiply);
  } else if (cut.depth.whole) {
    Value isWhole = build.w.compare(arith::CmpIPredicate::slt, build.begin, cut.depth.whole);
    build.w.ifElse(isWhole, multiply, [&] { Builder(build, p, cut, /*isAhead=*/false).addUp(); });
  } else {
    cut.depth ? cut.depth.addUp(build) : multiply();
  }
}

/// Returns the cycles until all tiles are there.
double cyclesOf(const Problem &p, const Cut &cut, const target::MachineModel &machine) {
  int64_t rows = std::max<int64_t>(cut.rows, FewRows::most);
  return cyclesOfTiles(cut.sharedTiles(p), p.k, {cut.tensor, rows, cut.columns, cut.byWarpgroups}, machine);
}

/// What needs no other instructions than the oldest architecture has, or those that can be made of them.
class Tiles final : public lower::Algorithm {
public:
  Tiles() : Algorithm("tiles", /*rank=*/0) {}
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp>(); }

  lower::Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p(kernel, machine);
    Cut cut = cutOf(p, kernel.root(), machine);
    lower::Candidate candidate{name, cyclesOf(p, cut, machine)};
    candidate.shape = [p, cut, kernel] { return shapeOf(p, cut, kernel); };
    return candidate;
  }
};

class Warpgroups final : public lower::Algorithm {
public:
  Warpgroups() : Algorithm("wgmma", /*rank=*/1, /*key=*/"wgmma") {}
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp>(); }

  lower::Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p(kernel, machine);
    TensorProduct::Numbers numbers =
        TensorProduct::numbersFor(kernel.root(), kernel.root()->getOperand(0), kernel.root()->getOperand(1), machine);
    if (!numbers || numbers.areFloats()) {
      return "for products of float16, of bfloat16, or of uint8 and int8";
    }
    if (p.m.isNumber() && p.m.number() <= FewRows::most) {
      return "for more than 8 rows";
    }
    Cut cut = cutOf(p, kernel.root(), machine);
    cut.rows = cut.columns = WarpgroupProduct::side, cut.tensor = numbers, cut.byWarpgroups = true;
    cut.depth = cut.isOpen ? cut.depth : SplitDepth();
    // The emulator gets all that is possible.
    lower::Candidate candidate{name, cyclesOf(p, cut, machine), {}, /*isWanted=*/requestOf(machine).emulated};
    candidate.shape = [p, cut, kernel] {
      lower::KernelShape shape = shapeOf(p, cut, kernel);
      shape.build = [p, cut](lower::Build &build) { write(build, p, cut); };
      return shape;
    };
    return candidate;
  }
};

class Products final : public lower::KernelFamily {
public:
  Products() { stem = "MatMul"; }

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::MatMulOp, formats::Int8MatMulOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return lower::compilersFamily(root)->unsupported(root, machine);
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!requestOf(machine).wgmma) { // there is no choice
      Problem p(kernel, machine);
      return shapeOf(p, cutOf(p, kernel.root(), machine), kernel);
    }
    static const Tiles tiles;
    static const Warpgroups warpgroups;
    return lower::chosenShape(kernel, machine, {&tiles, &warpgroups});
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override;
  LogicalResult buildAhead(lower::Build &build, const lower::KernelShape &) const override;
};

LogicalResult Products::build(lower::Build &build, const lower::KernelShape &shape) const {
  if (shape.build) {
    return KernelFamily::build(build, shape);
  }
  Problem p(build.group.kernel, build.w.machine);
  write(build, p, cutOf(p, build.group.root, build.w.machine));
  return success();
}

LogicalResult Products::buildAhead(lower::Build &build, const lower::KernelShape &) const {
  Problem p(build.group.kernel, build.w.machine);
  Cut cut = cutOf(p, build.group.root, build.w.machine);
  if (cut.isOpen) { // what is ahead is few rows
    cut.rows = 0, cut.columns = FewRows::columns, cut.tensor = {};
  }
  Builder(build, p, cut, /*isAhead=*/true).run();
  return success();
}

} // namespace

std::unique_ptr<lower::KernelFamily> createProducts() { return std::make_unique<Products>(); }

} // namespace ingot::targets::cuda
