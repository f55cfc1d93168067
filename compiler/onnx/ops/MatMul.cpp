// MatMul, and Gemm, which is a MatMul with elementwise ops behind it: they become its epilogue again when kernels are
// formed.
//
//   Gemm(A, B, C)            alpha * MatMul(A, B) + beta * C
//   MatMulInteger(a, b)      Int8MatMul(a, b), of unsigned by signed bytes, with corrections for zero points
//   QLinearMatMul(a, b)      MatMulInteger(a, b) * (scaleA * scaleB / scaleY), rounded, + zeroY
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/quantization/Quantization.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/MatMul.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// The shape that an operand has for the product: last two axes swapped when read transposed.
static Sizes shapeRead(RankedTensorType type, bool transposed) {
  Sizes shape = sizesOf(type);
  if (transposed && shape.size() >= 2) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  }
  return shape;
}

/// A vector has one axis, which is the inner one on both sides; it adds no axis to the result.
LogicalResult inferProduct(Operation *op, Value x, Value y, bool transX, bool transY, Type element,
                           SmallVectorImpl<Type> &types) {
  auto ta = ranked(x), tb = ranked(y);
  if (!ta || !tb) {
    types.push_back(unrankedOf(element));
    return success();
  }
  if (ta.getRank() == 0 || tb.getRank() == 0) {
    return op->emitOpError("operands must have at least one dimension");
  }
  Sizes a = shapeRead(ta, transX), b = shapeRead(tb, transY);
  if (failed(require(op, a.back(), b.size() == 1 ? b[0] : b[b.size() - 2]))) {
    return op->emitOpError("inner dimensions differ: A is ") << ta << " and B is " << tb;
  }
  auto batch = broadcast(op, ArrayRef<Size>(a).drop_back(std::min<size_t>(2, a.size())),
                         ArrayRef<Size>(b).drop_back(std::min<size_t>(2, b.size())));
  if (!batch) {
    return op->emitOpError("batch dimensions do not broadcast: A is ") << ta << " and B is " << tb;
  }
  if (a.size() > 1) {
    batch->push_back(a[a.size() - 2]);
  }
  if (b.size() > 1) {
    batch->push_back(b.back());
  }
  types.push_back(sizedType(*batch, element));
  return success();
}

LogicalResult MatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  return inferProduct(*this, getA(), getB(), getTransA(), getTransB(), elementOf(getA()), types);
}

/// Above this many multiplications a product of constants is left to the machine.
static constexpr int64_t evaluateLimit = 1 << 22;

template <typename T>
static SmallVector<T> product(ArrayRef<T> a, ArrayRef<T> b, int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  SmallVector<T> y(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) {
        y[i * n + j] += a[ta ? p * m + i : i * k + p] * b[tb ? j * k + p : p * n + j];
      }
    }
  }
  return y;
}

/// Computes with float64 or int64; batches are left to the kernels.
LogicalResult MatMulOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  auto ta = ranked(getA()), tb = ranked(getB()), ty = ranked(getY());
  if (!operands[0] || !operands[1] || ta.getRank() > 2 || tb.getRank() > 2) {
    return failure();
  }
  Sizes a = shapeRead(ta, getTransA()), b = shapeRead(tb, getTransB());
  int64_t k = a.back().number(), m = a.size() == 1 ? 1 : a[0].number(), n = b.size() == 1 ? 1 : b[1].number();
  if (m * n * k > evaluateLimit) {
    return failure();
  }
  if (auto x = floatsOf(operands[0])) {
    results.push_back(
        constantFromFloats(ty, product<double>(*x, *floatsOf(operands[1]), m, n, k, getTransA(), getTransB())));
    return success();
  }
  auto x = integersOf(operands[0]), y = integersOf(operands[1]);
  if (!x || !y) {
    return failure();
  }
  results.push_back(constantFromIntegers(ty, product<int64_t>(*x, *y, m, n, k, getTransA(), getTransB())));
  return success();
}

LogicalResult GemmOp::upgrade(Node &node) {
  node.attributes.erase("broadcast"); // opset 6 and before: said that C may be smaller, which is always allowed now
  return success();
}

/// C must broadcast to the product, and never widens it.
LogicalResult GemmOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto ta = ranked(getA()), tb = ranked(getB());
  if (!ta || !tb) {
    types.push_back(tensorOf({ShapedType::kDynamic, ShapedType::kDynamic}, elementOf(getA())));
    return success();
  }
  if (ta.getRank() != 2 || tb.getRank() != 2) {
    return emitOpError("A and B must be matrices, not ") << ta << " and " << tb;
  }
  Sizes a = shapeRead(ta, getTransA() != 0), b = shapeRead(tb, getTransB() != 0);
  if (failed(require(*this, a[1], b[0]))) {
    return emitOpError("inner dimensions differ: A' has ")
           << a[1].text() << " columns, B' has " << b[0].text() << " rows";
  }
  Sizes y = {a[0], b[1]};
  types.push_back(sizedType(y, ta.getElementType()));
  if (auto tc = present(getC()) ? ranked(getC()) : RankedTensorType()) {
    auto both = broadcast(*this, sizesOf(tc), y);
    if (!both || both->size() != 2 || !llvm::all_of(llvm::zip_equal(*both, y), [&](auto p) {
          const auto &[wide, own] = p;
          return succeeded(require(*this, wide, own));
        })) {
      return emitOpError("C of type ") << tc << " does not broadcast to " << textOf(y);
    }
  }
  return success();
}

/// Factors of 1 are left out, and C whose factor is 0 with them, even if it holds NaN.
LogicalResult GemmOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getResult()) || (present(getC()) && !isSized(getC()))) {
    return failure(); // whether C's sizes are those of the product is asked below
  }
  Formula f(rewriter, getLoc());
  // Fractional factors of integer matrices are applied in float64, as the standard's reference implementation does.
  Type element = elementOf(getA()), f64 = rewriter.getF64Type();
  double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  bool isWhole = Number(alpha).integer() && (!present(getC()) || Number(beta).integer());
  bool throughFloats = !isa<FloatType>(element) && !isWhole;
  auto scaled = [&](Value v, double factor) {
    v = throughFloats ? f.cast(v, f64, numberOfElement(f64)) : v;
    return factor == 1.0 ? v : f.mul(v, f.number(factor, v));
  };
  SmallVector<NamedAttribute> attributes;
  if (getTransA()) {
    attributes.push_back(f.flag("transA"));
  }
  if (getTransB()) {
    attributes.push_back(f.flag("transB"));
  }
  Value y = scaled(f.op("MatMul", {getA(), getB()}, attributes), alpha);
  if (present(getC()) && !getBeta().isZero()) {
    Sizes shape = sizesOf(ranked(y));
    y = f.add(y, scaled(getC(), beta));
    if (sizesOf(ranked(y)) != shape) { // C does not make it larger
      y = f.reshapeTo(y, shape);
    }
  }
  rewriter.replaceOp(*this, f.cast(y, element, numberOfElement(element)));
  return success();
}

// Products of bytes.

/// How many rows an operand has; nothing: it is not known to have any.
static std::optional<Size> rowsOf(Value v) {
  auto type = ranked(v);
  return type && type.getRank() > 1 ? std::optional(sizeOf(type, type.getRank() - 2)) : std::nullopt;
}

/// A zero point of A is one number, or one for each of its rows; a zero point of B is one for each column.
LogicalResult MatMulIntegerOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkZero(*this, getA(), {}, getAZeroPoint())) || failed(checkZero(*this, getB(), {}, getBZeroPoint()))) {
    return failure();
  }
  Value zero = getAZeroPoint();
  bool ofRows = present(zero) && ranked(zero) && ranked(zero).getRank() < 2;
  if ((ofRows && failed(checkPlaces(*this, zero, "zero points of A", rowsOf(getA())))) ||
      failed(checkColumns(*this, getB(), {}, getBZeroPoint()))) {
    return failure();
  }
  return inferProduct(*this, getA(), getB(), false, false, IntegerType::get(getContext(), 32), types);
}

/// Returns a right operand with one axis as a column.
static Value asMatrix(Formula &f, Value v) {
  auto type = ranked(v);
  if (type.getRank() != 1) {
    return v;
  }
  return type.hasStaticShape() ? shaped(f, v, {type.getDimSize(0), 1}) : f.reshapeTo(v, {sizeOf(type, 0), 1});
}

/// With the zero points z and u, and k terms in each sum,
///
///   sum (a - z)(b - u) = sum a b - z (sum b - k u) - u sum a
///
/// so that the kernel knows no zero points. The sum of b along K is folded where weights are constant.
LogicalResult MatMulIntegerOp::decompose(PatternRewriter &rewriter) {
  auto ta = ranked(getA());
  if (!isSized(getA()) || !isSized(getB()) || !isSized(getY())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Type i32 = rewriter.getI32Type();
  Quantized a = withSign(f, getA(), alongEnd(f, getAZeroPoint(), 1), /*isSigned=*/false),
            b = withSign(f, asMatrix(f, getB()), alongEnd(f, getBZeroPoint(), 0), /*isSigned=*/true);
  Value y = formats::make(f, "Int8MatMul", {a.values, b.values});
  if (a.zero) {
    Value columns = sumAlong(f, b.values, {ranked(b.values).getRank() - 2});
    if (b.zero) {
      Value k = f.cast(f.scalar(sizeOf(ta, ta.getRank() - 1)), i32, numberOfElement(i32));
      columns = f.sub(columns, f.mul(k, b.zero));
    }
    y = f.sub(y, f.mul(a.zero, columns));
  }
  if (b.zero) {
    y = f.sub(y, f.mul(b.zero, sumAlong(f, a.values, {ta.getRank() - 1})));
  }
  rewriter.replaceOp(*this, f.reshapeTo(y, sizesOf(ranked(getY()))));
  return success();
}

LogicalResult QLinearMatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkOwn(*this, getA(), getAScale(), getAZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getB(), getBScale(), getBZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getYZeroPoint(), getYScale(), getYZeroPoint(), /*divides=*/true))) {
    return failure();
  }
  auto rows = rowsOf(getA());
  for (const auto &[v, what, places] : {std::tuple(getAScale(), "scales of A", rows),
                                        {getAZeroPoint(), "zero points of A", rows},
                                        {getYScale(), "scales of Y", rows},
                                        {getYZeroPoint(), "zero points of Y", rows}}) {
    if (ranked(v) && ranked(v).getRank() < 2 && failed(checkPlaces(*this, v, what, places))) {
      return failure();
    }
  }
  return failed(checkColumns(*this, getB(), getBScale(), getBZeroPoint()))
             ? failure()
             : inferProduct(*this, getA(), getB(), false, false, elementOf(getYZeroPoint()), types);
}

/// The factor of the sums is scaleA * scaleB / scaleY, where A and Y may have one scale for each row and B one for each
/// column.
LogicalResult QLinearMatMulOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value sums = f.op("MatMulInteger", {getA(), getB(), getAZeroPoint(), getBZeroPoint()});
  Value factor = f.div(f.mul(alongEnd(f, getAScale(), 1), alongEnd(f, getBScale(), 0)), alongEnd(f, getYScale(), 1));
  rewriter.replaceOp(*this, requantize(f, sums, factor, alongEnd(f, getYZeroPoint(), 1), elementOf(getY())));
  return success();
}

void registerMatMul(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/MatMul.cpp.inc"
      >();
}

} // namespace ingot::onnx
