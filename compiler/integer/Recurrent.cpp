// A recurrence takes its constant weights apart by directions, by Slice and Reshape, so that what dequantizes them does
// not stand in front of a product:
//
//   MatMul(x, Reshape(Slice(Dequantize(W))))     ->  MatMul(x, Dequantize(W'))    as other products are (Quantize.cpp)
//   Recurrence(p, Reshape(Slice(Dequantize(R))))  ->  Recurrence(p, R')            of bytes with scales for rows
//
// Scales and zero points may differ along anything but the last axis of W and R. Between the steps the state is a float
// and not quantized, as the model has it: what the kernel does with bytes is in lower/product/StateProduct.h, and where
// floats are faster R stays as it is.
#include "compiler/integer/Recurrent.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Formula.h"

using namespace mlir;

namespace ingot::integer {
namespace {

using onnx::Formula;

/// Rows of signed bytes; scales and zero points have one element for all, or one for each.
struct ByteRows {
  int64_t rows = 0, columns = 0;
  std::vector<char> numbers;
  SmallVector<double> scales;
  SmallVector<int64_t> zeros;
};

/// A part of a tensor's elements, which lie one behind the other.
struct Part {
  Value of;
  int64_t first = 0, count = 0;
};

/// Returns a part of the first axis as a part of what it is sliced from; nothing where it is something else.
std::optional<Part> sliced(onnx::SliceOp slice) {
  auto from = onnx::ranked(slice.getData()), to = onnx::ranked(slice->getResult(0));
  auto starts = onnx::integersOf(slice.getStarts()), axes = onnx::integersOf(slice.getAxes()),
       steps = onnx::integersOf(slice.getSteps());
  if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() || !from.getRank() || !starts || !axes || !steps ||
      *axes != SmallVector<int64_t>{0} || *steps != SmallVector<int64_t>{1}) {
    return std::nullopt;
  }
  int64_t size = from.getDimSize(0), start = starts->front();
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  int64_t each = size ? from.getNumElements() / size : 0;
  return Part{slice.getData(), start * each, to.getNumElements()};
}

/// Returns the value that is dequantized, and which of its elements `v` has.
std::optional<Part> partOf(Value v) {
  auto type = onnx::ranked(v);
  if (!type || !type.hasStaticShape()) {
    return std::nullopt;
  }
  Part part{v, 0, type.getNumElements()};
  while (!part.of.getDefiningOp<onnx::DequantizeOp>()) {
    Value below = onnx::withoutReshapes(part.of);
    auto slice = below.getDefiningOp<onnx::SliceOp>();
    std::optional<Part> from = slice ? sliced(slice) : std::nullopt;
    if (below == part.of && !from) {
      return std::nullopt;
    }
    part.of = from ? from->of : below;
    part.first += from ? from->first : 0;
  }
  return part;
}

/// Returns the elements that a constant has for some rows of a tensor that it broadcasts to; one, where all are alike.
/// Nothing where they differ along the last axis.
template <typename T>
std::optional<SmallVector<T>> ofRows(std::optional<SmallVector<T>> values, RankedTensorType of, RankedTensorType to,
                                     int64_t first, int64_t rows) {
  if (!values || !of.hasStaticShape() || (of.getRank() && of.getShape().back() != 1) || of.getRank() > to.getRank()) {
    return std::nullopt;
  }
  if (llvm::all_equal(*values)) {
    return SmallVector<T>{values->front()};
  }
  SmallVector<T> own;
  for (int64_t row = first; row < first + rows; ++row) {
    int64_t left = row, at = 0, stride = 1;
    for (int64_t i = 1; i < to.getRank(); ++i) { // this begins at the last axis but one
      int64_t size = to.getDimSize(to.getRank() - 1 - i), place = left % size;
      int64_t axis = of.getRank() - 1 - i, own = axis < 0 ? 1 : of.getDimSize(axis);
      at += own == 1 ? 0 : place * stride;
      stride *= own, left /= size;
    }
    own.push_back((*values)[at]);
  }
  return own;
}

/// Returns a matrix of dequantized bytes; nothing where it is something else. `v` itself is no Dequantize, or may be.
std::optional<ByteRows> byteRowsOf(Value v) {
  std::optional<Part> part = partOf(v);
  auto op = part ? part->of.getDefiningOp<onnx::DequantizeOp>() : onnx::DequantizeOp();
  ElementsAttr constant = op ? onnx::constantOf(op.getX()) : ElementsAttr();
  auto type = onnx::ranked(v);
  if (!constant || type.getRank() != 2 || !type.getElementType().isF32()) {
    return std::nullopt;
  }
  if (Type bytes = constant.getElementType(); !onnx::isInt(bytes, 8) && !onnx::isUint(bytes, 8)) {
    return std::nullopt;
  }
  ByteRows w;
  w.rows = type.getDimSize(0), w.columns = type.getDimSize(1);
  auto whole = onnx::ranked(op.getX());
  if (!w.columns || !w.rows || whole.getShape().back() != w.columns) {
    return std::nullopt;
  }
  int64_t first = part->first / w.columns;
  auto scales = ofRows(onnx::floatsOf(op.getScale()), onnx::ranked(op.getScale()), whole, first, w.rows);
  auto zeros = ofRows(onnx::integersOf(op.getZero()), onnx::ranked(op.getZero()), whole, first, w.rows);
  if (!scales || !zeros) {
    return std::nullopt;
  }
  w.scales = *scales, w.zeros = *zeros;
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(constant, storage).slice(part->first, part->count);
  bool isUnsigned = constant.getElementType().isUnsignedInteger();
  w.numbers.assign(bytes.begin(), bytes.end());
  if (isUnsigned) {
    llvm::for_each(w.numbers, [](char &number) { number = static_cast<char>(number ^ 0x80); });
    llvm::for_each(w.zeros, [](int64_t &zero) { zero -= 128; });
  }
  return w;
}

Type int8(OpBuilder &b) { return b.getIntegerType(8); }

Value numbersOf(Formula &f, ByteRows &w) {
  auto type = onnx::tensorOf({w.rows, w.columns}, int8(f.b));
  return onnx::makeConstant(f.b, f.loc, onnx::constantFromBytes(type, std::move(w.numbers)));
}

/// A product with dequantized weights behind a Slice or Reshape.
struct Product : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    std::optional<ByteRows> w =
        op.getTransB() && !op.getB().getDefiningOp<onnx::DequantizeOp>() ? byteRowsOf(op.getB()) : std::nullopt;
    if (!w) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    auto along = [&](size_t count) {
      return count == 1 ? SmallVector<int64_t>() : SmallVector<int64_t>{static_cast<int64_t>(count), 1};
    };
    auto scale = onnx::constantFromFloats(onnx::tensorOf(along(w->scales.size()), rewriter.getF32Type()), w->scales),
         zero = onnx::constantFromIntegers(onnx::tensorOf(along(w->zeros.size()), int8(rewriter)), w->zeros);
    Value numbers = numbersOf(f, *w);
    Value b = f.op("Dequantize", {numbers, onnx::makeConstant(rewriter, op.getLoc(), scale),
                                  onnx::makeConstant(rewriter, op.getLoc(), zero)});
    rewriter.modifyOpInPlace(op, [&] { op.getBMutable().assign(b); });
    return success();
  }
};

/// The most hidden units: sums of a digit's products, which are 255 by 255 at most, are below 2^31.
constexpr int64_t mostHidden = 1 << 15;
/// The fewest hidden units: to make digits of a smaller state takes longer than its products.
constexpr int64_t leastHidden = 48;

/// Whether no new state is infinite: with digits that would be NaN.
bool keepsWithinOne(onnx::RecurrenceOp op) {
  auto isBounded = [](Attribute name) {
    StringRef text = cast<StringAttr>(name).getValue();
    return text == "tanh" || text == "sigmoid" || text == "hardsigmoid" || text == "softsign" || text == "scaledtanh";
  };
  return llvm::all_of(op.getActivations(), isBounded);
}

/// Returns R as bytes, where a kernel can read it so.
std::optional<ByteRows> stateWeightsOf(onnx::RecurrenceOp op) {
  auto r = onnx::ranked(op.getR());
  bool fits = onnx::elementOf(op.getP()).isF32() && r.getElementType().isF32() && r.getDimSize(1) >= leastHidden &&
              r.getDimSize(1) <= mostHidden && keepsWithinOne(op);
  return fits ? byteRowsOf(op.getR()) : std::nullopt;
}

struct Recurrence : OpRewritePattern<onnx::RecurrenceOp> {
  Recurrence(MLIRContext *context, FormsOf formsOf) : OpRewritePattern(context), formsOf(formsOf) {}
  FormsOf formsOf;

  LogicalResult matchAndRewrite(onnx::RecurrenceOp op, PatternRewriter &rewriter) const override {
    std::optional<ByteRows> r = isFaster(op) ? stateWeightsOf(op) : std::nullopt;
    if (!r) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    r->scales.resize(r->rows, r->scales.front());
    r->zeros.resize(r->rows, r->zeros.front());
    Value numbers = numbersOf(f, *r), zero = op.getZero();
    auto scales = onnx::constantFromFloats(onnx::tensorOf({r->rows}, rewriter.getF32Type()), r->scales);
    if (llvm::any_of(r->zeros, [](int64_t z) { return z != 0; })) {
      auto zeros = onnx::constantFromIntegers(onnx::tensorOf({r->rows}, rewriter.getI32Type()), r->zeros);
      zero = onnx::makeConstant(rewriter, op.getLoc(), zeros);
    }
    Value scale = onnx::makeConstant(rewriter, op.getLoc(), scales);
    rewriter.modifyOpInPlace(op, [&] {
      op.getRMutable().assign(numbers), op.getScaleMutable().assign(scale), op.getZeroMutable().assign(zero);
      op.setDigits(formsOf(op).twoDigits ? 2 : 3);
    });
    return success();
  }

  bool isFaster(onnx::RecurrenceOp op) const {
    auto r = onnx::ranked(op.getR());
    int64_t hidden = r.getDimSize(1), bytes = r.getNumElements() * static_cast<int64_t>(sizeof(float));
    bool oneRow = onnx::sizeOf(onnx::ranked(op.getP()), 1).is(1) && hidden <= onnx::mostOfPairs;
    const StateProducts &states = formsOf(op).states;
    return bytes >= (oneRow ? states.ofOneRow : states.ofRows);
  }
};

} // namespace

void addRecurrentProducts(RewritePatternSet &patterns) { patterns.add<Product>(patterns.getContext()); }

void keepRecurrentWeights(func::FuncOp function) {
  function.walk([](onnx::RecurrenceOp op) {
    if (stateWeightsOf(op)) {
      onnx::keepDequantized(partOf(op.getR())->of.getDefiningOp());
    }
  });
}

void addRecurrences(RewritePatternSet &patterns, FormsOf formsOf) {
  patterns.add<Recurrence>(patterns.getContext(), formsOf);
}

} // namespace ingot::integer
