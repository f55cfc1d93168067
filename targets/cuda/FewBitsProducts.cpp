// Products of rows of floats by weights of 2, 4 or 8 bits, as decoders of language models have them: of few rows
// reading the weights is what takes time. A block has 8 rows of 32 columns, and a thread four of these for some blocks
// of the depth:
//
//   for each of the thread's blocks of K: dots = 0, sum of the row's elements = 0
//     for each word: 16 bytes of four columns / for each number: convert, multiply each row's element, add
//     totals += (dots - zero * sum) * scale
//
// Words, scales and zero points of 32 columns lie together (FewBits.h), so that a block reads them from the beginning
// to the end. A number q of a word becomes a float by its bits: those of 2^23 + q, less 2^23. Where the number of rows
// is open, the last one by itself, as a step of a decoder has it, is code of its own.
#include "compiler/lower/core/Vectors.h"
#include "compiler/lower/product/FewBits.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/formats/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Families.h"
#include "targets/cuda/FewRows.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

using lower::Ix;
using Values = SmallVector<Value>;

constexpr int64_t lanes = 4; ///< columns of a thread

lower::FewBits formatOf(formats::FewBitsMatMulOp op, const target::MachineModel &machine) {
  lower::FewBits format(op, machine);
  format.lanes = lanes, format.strip = FewRows::columns;
  return format;
}

/// Returns the rows of a product, of all matrices.
support::Size rowsOf(formats::FewBitsMatMulOp op) {
  support::Size rows = 1;
  for (const support::Size &size : ArrayRef<support::Size>(onnx::sizesOf(onnx::ranked(op.getA()))).drop_back()) {
    rows = rows * size;
  }
  return rows;
}

/// Builds the loops of one kernel.
class Builder {
public:
  explicit Builder(lower::Build &build)
      : build(build), w(build.w), op(cast<formats::FewBitsMatMulOp>(build.group.root)), format(formatOf(op, w.machine)),
        p(lower::matmulProblem(build.group.kernel, w.machine)), space(build.group.space(build.group.resultType())) {
    lower::shapeSpace(space, p);
    a = build.group.buffer(op.getA()), words = build.group.buffer(op.getB());
    scales = build.group.buffer(op.getScales());
    zeros = onnx::present(op.getZeros()) ? build.group.buffer(op.getZeros()) : lower::Buffer();
    allRows = rowsOf(op), k = static_cast<int64_t>(op.getK());
    number = w.vectorOf(w.b.getF32Type(), lanes);
  }

  /// Writes the product, with vectors of the rows where a run finds them so.
  void run() {
    Wide wide(w, lanes);
    wide.requireBegin(a);
    wide.require(k);
    Ix blocksOfRows = ceilDiv(allRows, FewRows::most);
    strip = floorDiv(build.begin, blocksOfRows), firstRow = remainder(build.begin, blocksOfRows) * FewRows::most;
    auto write = [&](bool inVectors) {
      readsVectors = inVectors;
      if (allRows.isNumber()) {
        product(std::min(FewRows::most, allRows.number()));
        return;
      }
      Value isLast = w.compare(arith::CmpIPredicate::eq, firstRow, Ix(allRows) - 1);
      w.ifElse(isLast, [&] { product(1); }, [&] { product(FewRows::most); });
    };
    writeWhereWide(w, wide.condition(), [&] { write(true); }, [&] { write(false); });
  }

private:
  lower::Build &build;
  lower::Writer &w;
  formats::FewBitsMatMulOp op;
  lower::FewBits format;
  lower::MatMulProblem p;
  lower::Space space;
  lower::Buffer a, words, scales, zeros;
  support::Size allRows;
  int64_t rows = 0, k; ///< rows: that are computed together
  Ix strip, firstRow;
  bool readsVectors = false;
  Type number; ///< a vector of floats

  void product(int64_t together) {
    rows = together;
    FewRows threads(w, lanes);
    Values totals(rows, w.constant(0, number));
    Ix column = threads.column();
    totals = w.loop(threads.share(), format.blocks, threads.shares(), totals,
                    [&](Ix block, ValueRange carried) { return addBlock(column, block, carried); });
    threads.finish(totals, [&](int64_t row, Ix own, Value hasOne, Value sum) {
      Ix n = strip * FewRows::columns + own;
      Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, n, format.n),
                                            w.compare(arith::CmpIPredicate::slt, firstRow + row, allRows));
      w.ifThen(arith::AndIOp::create(w.b, w.loc, hasOne, isThere),
               [&] { build.group.finish(sum, space, placeOf(rowAt(row), n)); });
    });
  }

  /// Returns the number of the block's row among all rows. A block's rows behind the last one read the last one.
  Ix rowAt(int64_t row) const { return min(firstRow + row, Ix(allRows) - 1); }

  /// Returns the place of a column of a row, which is counted through all matrices.
  lower::Point placeOf(Ix row, Ix n) const {
    lower::Point point;
    Ix matrix = floorDiv(row, p.m);
    for (size_t d = p.batchSizes.size(); d-- > 0; matrix = floorDiv(matrix, p.batchSizes[d])) {
      point.at.insert(point.at.begin(), d == 0 ? matrix : remainder(matrix, p.batchSizes[d]));
    }
    point.at.append({p.batchSizes.empty() ? row : remainder(row, p.m), n});
    return point;
  }

  /// Returns the elements of a row that meet the numbers of a word, in the order of the row. Behind the last one of the
  /// row they are zero, since zero points are there, too.
  Values elementsOf(int64_t row, Ix at) {
    int64_t count = readsVectors ? lanes : 1;
    Values all;
    for (int64_t i = 0; i < format.each(); i += count) {
      Ix own = at + i;
      Value v = w.load(a, (k % format.block ? min(own, k - count) : own) + rowAt(row) * k, count);
      if (k % format.block) {
        Value isThere = w.compare(arith::CmpIPredicate::slt, own, k);
        v = arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(0, v.getType()));
      }
      for (int64_t lane = 0; lane < count; ++lane) {
        all.push_back(count == 1 ? v : vector::ExtractOp::create(w.b, w.loc, v, lane).getResult());
      }
    }
    return all;
  }

  /// Returns the number at a place of each word, as a float.
  Value numberAt(Value word, int64_t place) {
    Type type = word.getType();
    if (place > 0) {
      word = arith::ShRUIOp::create(w.b, w.loc, word, w.constant(format.bits * place, type));
    }
    constexpr int64_t bitsOf2To23 = 0x4B000000;
    word = arith::AndIOp::create(w.b, w.loc, word, w.constant((1LL << format.bits) - 1, type));
    word = arith::OrIOp::create(w.b, w.loc, word, w.constant(bitsOf2To23, type));
    Value shifted = arith::BitcastOp::create(w.b, w.loc, number, word);
    return arith::SubFOp::create(w.b, w.loc, shifted, w.constant(double(1 << 23), number));
  }

  /// Returns the totals and the products of a block of K.
  Values addBlock(Ix column, Ix block, ValueRange totals) {
    // The dots of each row come first, then the sums of each row's elements.
    Values sums(rows, w.constant(0, number));
    sums.append(rows, w.constant(0, w.b.getF32Type()));
    sums = w.loop(0, format.wordsOfBlock, 1, sums, [&](Ix word, ValueRange carried) {
      Ix at = format.placeOf(strip, format.blocks * format.wordsOfBlock, block * format.wordsOfBlock + word, column);
      return addWord(w.load(words, at, lanes), block * format.block + word * format.each(), carried);
    });
    Ix at = format.placeOf(strip, format.blocks, block, column);
    Value scale = w.load(scales, at, lanes);
    Value zero = zeros ? format.zeroAt(w, zeros, at) : w.constant(static_cast<int64_t>(op.getZero()), number);
    Values next;
    for (int64_t row = 0; row < rows; ++row) {
      Value ofZero = arith::MulFOp::create(w.b, w.loc, zero, w.splat(sums[rows + row], lanes));
      Value dots = arith::SubFOp::create(w.b, w.loc, sums[row], ofZero);
      next.push_back(w.fma(dots, scale, totals[row]));
    }
    return next;
  }

  Values addWord(Value word, Ix at, ValueRange sums) {
    Values next(sums);
    SmallVector<Values> elements;
    for (int64_t row = 0; row < rows; ++row) {
      elements.push_back(elementsOf(row, at));
      next[rows + row] =
          arith::AddFOp::create(w.b, w.loc, next[rows + row], tree(w, lower::Combine::Add, elements[row]));
    }
    for (int64_t place = 0; place < format.each(); ++place) {
      Value numbers = numberAt(word, place);
      for (int64_t row = 0; row < rows; ++row) {
        next[row] = w.fma(w.splat(elements[row][format.elementAt(place)], lanes), numbers, next[row]);
      }
    }
    return next;
  }
};

class FewBitsProducts final : public lower::KernelFamily {
public:
  FewBitsProducts() { stem = "FewBitsMatMul"; }

  SmallVector<TypeID> roots() const override { return rootsOf<formats::FewBitsMatMulOp>(); }
  bool isFor(Operation *root) const override {
    support::Size rows = rowsOf(cast<formats::FewBitsMatMulOp>(root));
    return !rows.is(0) && !rows.isUnknown();
  }
  std::string unsupported(Operation *root, const target::MachineModel &) const override {
    return lower::FewBits::whyNotConstant(root, 1);
  }

  lower::KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<formats::FewBitsMatMulOp>(kernel.root());
    lower::FewBits format = formatOf(op, machine);
    lower::KernelShape shape;
    shape.items = support::Size(format.strips()) * ceilDiv(rowsOf(op), FewRows::most);
    shape.grid = FewRows::grid(sizeof(float));
    format.pack(shape, op);
    return shape;
  }

  LogicalResult build(lower::Build &build, const lower::KernelShape &) const override {
    Builder(build).run();
    alignVectors(*build.w.b.getInsertionBlock()->getParent());
    return success();
  }
};

} // namespace

std::unique_ptr<lower::KernelFamily> createFewBitsProducts() { return std::make_unique<FewBitsProducts>(); }

} // namespace ingot::targets::cuda
