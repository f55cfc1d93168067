// Matrix products: tiles by blocks of threads (TileProduct.h), on tensor cores where both factors are float16 or
// bfloat16 (TensorProduct.h), and, under few rows, sums of which each block has some columns, whose depth its threads
// share. Few rows are bound by what reads the right factor, which is read once there, in whole lines of memory.
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/MatMul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/TensorProduct.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;
using Problem = lower::MatMulProblem;

/// How a product is cut: into tiles, or by columns where `rows` is 0.
struct Cut {
  int64_t rows = 0, columns = 32;
  Type half = {}; ///< what tensor cores multiply; null: they do not
};

constexpr int64_t fewRows = 8, warp = 32, warps = 8;

Cut cutOf(const Problem &p, Operation *root, const target::MachineModel &machine) {
  if (p.m.isNumber() && p.m.number() <= fewRows) {
    return {};
  }
  if (Type half = TensorProduct::elementFor(root->getOperand(0), root->getOperand(1), machine)) {
    return {TensorProduct::side, TensorProduct::side, half};
  }
  // Tiles of 128 by 128 read half as much of the shared memory for each product; there have to be enough of them for
  // all multiprocessors of a large GPU.
  constexpr int64_t enough = 128, large = 128;
  bool isLarge =
      p.m.isNumber() && p.n.isNumber() && p.batch.isNumber() && p.elementBytes == 4 &&
      llvm::divideCeil(p.m.number(), large) * llvm::divideCeil(p.n.number(), large) * p.batch.number() >= enough;
  return isLarge ? Cut{large, large} : Cut{64, 64};
}

class Products final : public lower::KernelFamily {
public:
  Products() { stem = "MatMul"; }

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::MatMulOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return lower::compilersFamily(root)->unsupported(root, machine);
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Problem p = lower::matmulProblem(kernel, machine);
    Cut cut = cutOf(p, kernel.root(), machine);
    lower::KernelShape shape;
    shape.items = p.batch * ceilDiv(p.n, cut.columns);
    if (cut.rows) {
      shape.items = shape.items * ceilDiv(p.m, cut.rows);
      shape.grid = cut.half ? TensorProduct::grid() : TileProduct::grid(p.elementBytes, cut.rows, cut.columns);
    } else {
      shape.grid = lower::Grid{{warp * warps, 1, 1}, p.elementBytes * warps * warp};
    }
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override;
};

/// Builds the loops of one kernel.
class Builder {
public:
  Builder(lower::Build &build, const Problem &p)
      : build(build), w(build.w), p(p), space(build.group.space(build.group.resultType())) {
    lower::shapeSpace(space, p);
    a = build.group.buffer(build.group.root->getOperand(0)), b = build.group.buffer(build.group.root->getOperand(1));
  }

  void run() {
    Cut cut = cutOf(p, build.group.root, w.machine);
    Ix columns = ceilDiv(p.n, cut.columns), rows = cut.rows ? ceilDiv(p.m, cut.rows) : support::Size(1);
    // Neighbouring blocks share columns of the right factor.
    Ix rest = floorDiv(build.begin, rows);
    enterBatch(floorDiv(rest, columns));
    Ix row = remainder(build.begin, rows) * std::max<int64_t>(1, cut.rows),
       column = remainder(rest, columns) * cut.columns;
    auto none = [&](Ix) { return w.constant(0, p.element); };
    auto put = [&](Ix m, Ix n, Value sum) { finish(m, n, sum); };
    if (cut.half) {
      a = TensorProduct::raw(w, a), b = TensorProduct::raw(w, b);
      TensorProduct(w, cut.half).write(left(), right(), p.k, row, column, none, put);
    } else if (cut.rows) {
      TileProduct(w, p.element, cut.rows, cut.columns).write(left(), right(), p.k, row, column, none, put);
    } else {
      p.stepB.is(1) && !p.columnB.is(1) ? fewAlongDepth(column) : fewAlongColumns(column);
    }
  }

private:
  lower::Build &build;
  lower::Writer &w;
  const Problem &p;
  lower::Space space;
  lower::Buffer a, b;
  SmallVector<Ix> batchAt;
  Ix baseA = 0, baseB = 0;

  void enterBatch(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    Ix matrix = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      batchAt[d] = d == 0 ? index : remainder(index, p.batchSizes[d]);
      index = floorDiv(index, p.batchSizes[d]);
      baseA += batchAt[d] * Ix(p.batchA[d]), matrix += batchAt[d] * Ix(p.batchB[d]);
    }
    baseB = matrix * Ix(p.k * p.n);
  }

  Value loadA(Ix m, Ix k) { return w.load(a, baseA + m * Ix(p.rowA) + k * Ix(p.stepA)); }
  Value loadB(Ix n, Ix k) { return w.load(b, baseB + n * Ix(p.columnB) + k * Ix(p.stepB)); }

  Factor left() {
    return {[this](Ix m) { return [this, m](Ix k) { return loadA(m, k); }; }, p.m, p.stepA.is(1)};
  }
  Factor right() {
    return {[this](Ix n) { return [this, n](Ix k) { return loadB(n, k); }; }, p.n, p.stepB.is(1)};
  }

  void finish(Ix m, Ix n, Value sum) {
    lower::Point at{batchAt, 1, {}};
    at.at.append({m, n});
    build.group.finish(sum, space, at);
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    return isa<FloatType>(p.element)
               ? w.fma(x, y, sum)
               : arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, x, y)).getResult();
  }

  /// Returns sums over every so many steps of the depth from `from` on, one for each row.
  SmallVector<Value> sumsOf(Ix n, Ix from, int64_t step) {
    SmallVector<Value> none(p.m.number(), w.constant(0, p.element));
    return w.loop(from, p.k, step, none, [&](Ix k, ValueRange carried) {
      Value y = loadB(n, k);
      SmallVector<Value> next;
      for (auto [m, sum] : llvm::enumerate(carried)) {
        next.push_back(multiplyAdd(loadA(static_cast<int64_t>(m), k), y, sum));
      }
      return next;
    });
  }

  void finishIf(Ix m, Ix n, Value isMine, Value sum) {
    Value isThere = w.compare(arith::CmpIPredicate::slt, n, p.n);
    w.ifThen(arith::AndIOp::create(w.b, w.loc, isMine, isThere), [&] { finish(m, n, sum); });
  }

  /// Rows of the right factor are contiguous: a warp has 32 columns, and the warps share the depth.
  void fewAlongColumns(Ix column) {
    Ix thread = lower::threadNumber(w), lane = remainder(thread, warp), own = floorDiv(thread, warp);
    Ix n = column + lane;
    SmallVector<Value> sums = sumsOf(min(n, Ix(p.n) - 1), own, warps);
    lower::Buffer parts = w.scratch(lower::sharedMemory(w), 0, p.element, warps * warp);
    Value isFirst = w.compare(arith::CmpIPredicate::eq, own, 0);
    for (auto [m, sum] : llvm::enumerate(sums)) {
      lower::barrier(w);
      w.store(sum, parts, thread);
      lower::barrier(w);
      SmallVector<Value> all;
      for (int64_t i = 0; i < warps; ++i) {
        all.push_back(w.load(parts, lane + i * warp));
      }
      finishIf(static_cast<int64_t>(m), n, isFirst, tree(w, lower::Combine::Add, all));
    }
  }

  /// Columns of the right factor are contiguous: a warp has every so many columns, and its threads share the depth.
  void fewAlongDepth(Ix column) {
    Ix thread = lower::threadNumber(w), lane = remainder(thread, warp), own = floorDiv(thread, warp);
    Value isFirst = w.compare(arith::CmpIPredicate::eq, lane, 0);
    w.loop(0, warp / warps, 1, [&](Ix turn) {
      Ix n = column + turn * warps + own;
      SmallVector<Value> sums = sumsOf(min(n, Ix(p.n) - 1), lane, warp);
      for (auto [m, sum] : llvm::enumerate(sums)) {
        for (int64_t distance = warp / 2; distance; distance /= 2) {
          sum = combine(w, lower::Combine::Add, sum, lower::exchange(w, sum, distance));
        }
        finishIf(static_cast<int64_t>(m), n, isFirst, sum);
      }
    });
  }
};

LogicalResult Products::build(lower::Build &build, const lower::KernelShape &) const {
  Problem p = lower::matmulProblem(build.group.kernel, build.w.machine);
  Builder(build, p).run();
  return success();
}

} // namespace

std::unique_ptr<lower::KernelFamily> createProducts() { return std::make_unique<Products>(); }

} // namespace ingot::targets::cuda
