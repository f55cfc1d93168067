// In front of a product, or of a Gather of its rows, a constant matrix of 2, 4 or 8 bits stays as it is:
//
//   MatMul(a, DequantizeLinear(q))  ->  FewBitsMatMul(a, q)
//   Gather(DequantizeLinear(q), i)  ->  Dequantize(Gather(q, i))
//
// whether its scales belong to blocks along K, to columns or to all of it, and also behind a Transpose or a Cast. A
// block that has no kernel is dequantized while compiling, as other constants are, and so are weights that many rows
// meet, where products of floats are faster: that is known when it is known who computes them.
#include "compiler/integer/FewBits.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/quantization/Quantization.h"

using namespace mlir;

namespace ingot::integer {
namespace {

using onnx::FewBitsWeights;

/// The size of blocks along rows, which have one scale: sums of digits need short ones (SplitFloats.cpp), and a scale
/// for each of these costs little.
constexpr int64_t ownBlock = 256, mostInBlock = 512;

/// A constant matrix of integers, and the numbers that dequantize it.
struct Source {
  ElementsAttr numbers, scales, zeros;
  int64_t block = 0; ///< elements of a block; 0: there are none
  /// The axis of the blocks, or, where there are none, that along which scales differ; -1: they do not.
  int64_t axis = -1;
  bool bytesA = false; ///< whether what they are multiplied with may be rounded to bytes
};

bool isMatrixOfFewBits(ElementsAttr a) {
  Type element = a ? a.getElementType() : Type();
  return a && a.getShapedType().getRank() == 2 && isa<IntegerType>(element) &&
         (element.getIntOrFloatBitWidth() == 2 || element.getIntOrFloatBitWidth() == 4 ||
          element.getIntOrFloatBitWidth() == 8);
}

bool isFloatOf(ElementsAttr a) {
  Type element = a ? a.getElementType() : Type();
  return a && (element.isF32() || element.isF16() || element.isBF16());
}

/// Returns a matrix with blocks, which is still as the model has it.
std::optional<Source> inBlocks(Operation *op) {
  auto node = dyn_cast_or_null<onnx::DequantizeLinearOp>(op);
  if (!node || !node.getBlockSize()) {
    return std::nullopt;
  }
  auto axis = static_cast<int64_t>(node.getAxis());
  Source s{onnx::constantOf(node.getX()),
           onnx::constantOf(node.getXScale()),
           {},
           static_cast<int64_t>(node.getBlockSize()),
           axis < 0 ? axis + 2 : axis};
  s.bytesA = onnx::mayFactorBeBytes(node);
  if (onnx::present(node.getXZeroPoint()) && !(s.zeros = onnx::constantOf(node.getXZeroPoint()))) {
    return std::nullopt;
  }
  return s;
}

/// Returns the axis along which a constant differs that broadcasts to a matrix: -1 for none; nothing for both.
std::optional<int64_t> axisOf(ElementsAttr a) {
  auto shape = a.getShapedType().getShape();
  std::optional<int64_t> axis = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size != 1) {
      axis = *axis < 0 ? std::optional(static_cast<int64_t>(i + 2 - shape.size())) : std::nullopt;
    }
    if (!axis) {
      break;
    }
  }
  return axis;
}

/// Returns a matrix without blocks.
std::optional<Source> byColumns(Operation *op) {
  auto node = dyn_cast_or_null<onnx::DequantizeOp>(op);
  Source s;
  if (!node || !(s.numbers = onnx::constantOf(node.getX())) || !(s.scales = onnx::constantOf(node.getScale())) ||
      !(s.zeros = onnx::constantOf(node.getZero()))) {
    return std::nullopt;
  }
  auto axis = axisOf(s.scales), other = axisOf(s.zeros);
  if (!axis || !other || (*axis >= 0 && *other >= 0 && *axis != *other)) {
    return std::nullopt;
  }
  s.axis = std::max(*axis, *other);
  return s;
}

std::optional<Source> sourceOf(Value v) {
  auto s = inBlocks(v.getDefiningOp());
  s = s ? s : byColumns(v.getDefiningOp());
  bool fits = s && isMatrixOfFewBits(s->numbers) && isFloatOf(s->scales) && s->numbers.getNumElements() > 0;
  return fits ? s : std::nullopt;
}

/// Returns a constant whose element for (row, block) is at the index that is asked for.
ElementsAttr rearranged(ElementsAttr from, int64_t rows, int64_t blocks,
                        llvm::function_ref<int64_t(int64_t row, int64_t block)> at) {
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(from, storage);
  int64_t each = onnx::elementBytes(from.getElementType());
  std::vector<char> to(rows * blocks * each);
  for (int64_t i = 0; i < rows * blocks; ++i) {
    std::copy_n(bytes.data() + at(i / blocks, i % blocks) * each, each, to.data() + i * each);
  }
  return onnx::constantFromBytes(onnx::tensorOf({rows, blocks}, from.getElementType()), std::move(to));
}

/// Returns rows of blocks, without numbers; `transposed`: the columns are the rows. Nothing where blocks are not along
/// rows, or have no kernel.
std::optional<FewBitsWeights> emptyRowsOf(const Source &s, bool transposed) {
  auto shape = s.numbers.getShapedType().getShape();
  int64_t along = transposed ? 0 : 1; // the axis along a row
  FewBitsWeights w;
  w.bytesA = s.bytesA;
  w.bits = s.numbers.getElementType().getIntOrFloatBitWidth(), w.rows = shape[1 - along], w.columns = shape[along];
  if (!s.block) {
    w.block = std::min<int64_t>(ownBlock, llvm::alignTo(w.columns, 32));
  } else {
    w.block = s.block > mostInBlock && s.block % ownBlock == 0 ? ownBlock : s.block;
  }
  bool fits = onnx::isBlockOfFewBits(w.bits, w.block) && (s.axis < 0 || (s.axis == along) == (s.block > 0));
  return fits ? std::optional(w) : std::nullopt;
}

std::optional<FewBitsWeights> rowsOf(const Source &s, bool transposed) {
  std::optional<FewBitsWeights> rows = emptyRowsOf(s, transposed);
  if (!rows) {
    return std::nullopt;
  }
  FewBitsWeights w = std::move(*rows);
  Type element = s.numbers.getElementType();
  int64_t parts = s.block ? s.block / w.block : 1; // blocks with one of the given scales
  int64_t given = s.block ? llvm::divideCeil(w.columns, s.block) : 1;
  auto placeIn = [&](ElementsAttr of) {
    bool one = of.getNumElements() == 1;
    return [=, rows = w.rows, inBlocks = s.block > 0](int64_t row, int64_t block) {
      int64_t own = inBlocks ? block / parts : 0;
      return one ? 0 : transposed ? own * rows + row : row * given + own;
    };
  };
  w.scales = rearranged(s.scales, w.rows, w.blocks(), placeIn(s.scales));
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(s.numbers, storage);
  int64_t shift = element.isUnsignedInteger() ? 0 : int64_t(1) << (w.bits - 1), mask = (int64_t(1) << w.bits) - 1;
  w.numbers.resize(bytes.size());
  for (int64_t row = 0; row < w.rows; ++row) {
    for (int64_t c = 0; c < w.columns; ++c) {
      char number = bytes[transposed ? c * w.rows + row : row * w.columns + c];
      w.numbers[row * w.columns + c] = static_cast<char>((number + shift) & mask);
    }
  }
  w.zero = shift;
  if (s.zeros) {
    auto zeros = *onnx::integersOf(s.zeros);
    if (llvm::all_equal(zeros)) {
      w.zero = shift + zeros.front();
    } else {
      ElementsAttr own = rearranged(s.zeros, w.rows, w.blocks(), placeIn(s.zeros));
      auto moved = *onnx::integersOf(own);
      llvm::for_each(moved, [&](int64_t &z) { z = (z + shift) & mask; });
      Type u8 = IntegerType::get(element.getContext(), 8, IntegerType::Unsigned);
      w.zeros = onnx::constantFromIntegers(onnx::tensorOf({w.rows, w.blocks()}, u8), moved);
    }
  }
  return w;
}

/// The weights of a product.
struct Weights {
  Operation *dequantize;
  Source source;
  bool transposed; ///< whether their columns are the rows
};

std::optional<Weights> weightsOf(onnx::MatMulOp op) {
  Value b = op.getB();
  bool transposed = !op.getTransB();
  while (Operation *above = b.getDefiningOp()) {
    auto transpose = dyn_cast<onnx::TransposeOp>(above);
    if (!transpose && !(isa<onnx::CastOp>(above) && isa<FloatType>(onnx::elementOf(above->getOperand(0))))) {
      break;
    }
    if (transpose && !llvm::equal(transpose.permutation(), ArrayRef<int64_t>{1, 0})) {
      return std::nullopt;
    }
    transposed ^= static_cast<bool>(transpose);
    b = above->getOperand(0);
  }
  // A product of two dequantized operands is one of integers.
  auto a = op.getA().getDefiningOp<onnx::DequantizeOp>();
  bool isOfIntegers =
      a && onnx::elementOf(a.getX()).getIntOrFloatBitWidth() == 8 && b.getDefiningOp<onnx::DequantizeOp>();
  auto source = isOfIntegers || op.getTransA() || !onnx::isForFewBits(op.getA()) ? std::nullopt : sourceOf(b);
  return source ? std::optional(Weights{b.getDefiningOp(), *source, transposed}) : std::nullopt;
}

/// Whether weights may become digits where many rows meet them.
bool mayBeDigits(onnx::MatMulOp op, const FewBitsWeights &rows) {
  return rows.block <= mostInBlock && onnx::ranked(op.getA()).getRank() > 1;
}

struct Product : OpRewritePattern<onnx::MatMulOp> {
  Product(MLIRContext *context, FormsOf formsOf) : OpRewritePattern(context), formsOf(formsOf) {}
  FormsOf formsOf; ///< null: only products of few rows are wanted
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    std::optional<Weights> weights = weightsOf(op);
    std::optional<FewBitsWeights> rows = weights ? emptyRowsOf(weights->source, weights->transposed) : std::nullopt;
    if (!rows || !(onnx::hasFewRows(op.getA()) || (formsOf && mayBeDigits(op, *rows) && areFaster(op, *rows)))) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    rewriter.replaceOp(op, onnx::productOfFewBits(f, op.getA(), *rowsOf(weights->source, weights->transposed)));
    return success();
  }

  bool areFaster(onnx::MatMulOp op, const FewBitsWeights &rows) const {
    const SplitProducts &digits = formsOf(op).splitProducts;
    bool pays = rows.rows >= SplitProducts::leastColumns && (digits.ofRows || rows.bytesA);
    return pays && rows.bits <= digits.bits;
  }
};

struct Table : OpRewritePattern<onnx::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::GatherOp op, PatternRewriter &rewriter) const override {
    auto axis = static_cast<int64_t>(op.getAxis());
    auto s = axis == 0 || axis == -2 ? sourceOf(op.getData()) : std::nullopt;
    auto table = s ? rowsOf(*s, /*transposed=*/false) : std::nullopt;
    if (!table || !onnx::isSized(op.getIndices())) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    Value y = onnx::rowsOfFewBits(f, *table, op.getIndices());
    Type element = onnx::elementOf(op.getResult());
    rewriter.replaceOp(op, f.cast(y, element, onnx::numberOfElement(element)));
    return success();
  }
};

} // namespace

void addFewBitsTables(RewritePatternSet &patterns) { patterns.add<Table>(patterns.getContext()); }
void addFewBitsProducts(RewritePatternSet &patterns, FormsOf formsOf) {
  patterns.add<Product>(patterns.getContext(), formsOf);
}

void keepFewBits(func::FuncOp function) {
  function.walk([](onnx::MatMulOp op) {
    std::optional<Weights> weights = weightsOf(op);
    std::optional<FewBitsWeights> rows = weights ? emptyRowsOf(weights->source, weights->transposed) : std::nullopt;
    if (rows && mayBeDigits(op, *rows)) {
      onnx::keepDequantized(weights->dequantize);
    }
  });
}

} // namespace ingot::integer
