// Makes all of these operators ones of the standard between Dequantize and Quantize, or products of integers. Shapes
// follow from those. What is inferred here is the element type and how many axes there are, and the shape of results
// that may be floats: operators behind them may have to know it while a model is imported.
//
//   QLinearSigmoid(x)          Quantize(Sigmoid(Dequantize(x)))
//   QLinearMul(a, b)           Quantize((a - zeroA) * (b - zeroB) * (scaleA * scaleB))
//   QGemm(a, b, c)             (MatMulInteger(a, b) + c) * (scaleA * scaleB / scaleY), rounded, + zeroY
//   QuantizeWithOrder(x)       Transpose(Quantize(x)), read as a tensor of the shape of x
#include "compiler/onnx/ops/QuantizedContrib.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/QuantizedContrib.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Return a tensor dequantized, and one quantized, by one scale and one zero point for all of its elements. The zero
/// point may be null.
static Value dequantizedPerTensor(Formula &f, Value x, Value scale, Value zero) {
  return dequantize(f, x, alongEnd(f, scale, 0), present(zero) ? alongEnd(f, zero, 0) : Value());
}
static Value quantizedPerTensor(Formula &f, Value x, Value scale, Value zero, Type element) {
  return quantize(f, x, alongEnd(f, scale, 0), present(zero) ? alongEnd(f, zero, 0) : Value(), element);
}

/// Checks that the scale and the zero point of a tensor are one number each, and fit it.
static LogicalResult checkPerTensor(Operation *op, Value x, Value scale, Value zero, bool divides) {
  for (Value v : {scale, zero}) {
    auto type = present(v) ? ranked(v) : RankedTensorType();
    if (type && type.hasStaticShape() && type.getNumElements() != 1) {
      return op->emitOpError(v == scale ? "scale" : "zero point") << " of type " << type << ", expected one number";
    }
  }
  return checkOwn(op, x, scale, zero, divides);
}

/// Infers the type of an operator that is written as others once its operands have sizes.
static LogicalResult inferElement(Type element, SmallVectorImpl<Type> &types,
                                  std::optional<int64_t> rank = std::nullopt) {
  types.push_back(typeOfRank(rank, element));
  return success();
}

// These have one operand.

/// Returns the number of axes of the result: those of the operand, less those that are reduced.
template <typename Op> static std::optional<int64_t> resultRank(Op op) {
  std::optional<int64_t> rank = knownRank(op.getX());
  if constexpr (std::is_same_v<Op, MsQLinearReduceMeanOp>) {
    if (!op.getKeepdims() && !op.getAxes()) {
      return 0;
    }
    if (!op.getKeepdims() && rank) {
      return std::max<int64_t>(*rank - static_cast<int64_t>(op.getAxes()->size()), 0);
    }
  }
  return rank;
}

template <typename Op> static LogicalResult inferUnary(Op op, SmallVectorImpl<Type> &types) {
  if (failed(checkPerTensor(op, op.getX(), op.getXScale(), op.getXZero(), false)) ||
      failed(checkPerTensor(op, op.getX(), op.getYScale(), op.getYZero(), true))) {
    return failure();
  }
  return inferElement(elementOf(op.getX()), types, resultRank(op));
}

/// Dequantizes the operand, computes with floats, and quantizes the result: fusion makes one kernel of the three.
template <typename Op>
static LogicalResult decomposeUnary(Op op, PatternRewriter &rewriter,
                                    llvm::function_ref<Value(Formula &, Value)> meaning) {
  if (!isSized(op.getX())) {
    return failure();
  }
  Formula f(rewriter, op.getLoc());
  Value y = meaning(f, dequantizedPerTensor(f, op.getX(), op.getXScale(), op.getXZero()));
  rewriter.replaceOp(op, quantizedPerTensor(f, y, op.getYScale(), op.getYZero(), elementOf(op.getX())));
  return success();
}

#define UNARY(Name, formula)                                                                                           \
  LogicalResult Ms##Name##Op::inferTypes(SmallVectorImpl<Type> &types) { return inferUnary(*this, types); }            \
  LogicalResult Ms##Name##Op::decompose(PatternRewriter &rewriter) {                                                   \
    return decomposeUnary(*this, rewriter, [&](Formula &f, Value x) -> Value { return formula; });                     \
  }

/// Writes softmax, which goes over all axes from `axis` on before opset 13.
static Value softmax(Formula &f, Value x, int64_t axis, int64_t opset) {
  Sizes sizes = sizesOf(ranked(x));
  int64_t rank = ranked(x).getRank(), from = normalAxis(axis, rank).value_or(rank - 1);
  if (opset >= 13) {
    return f.op("Softmax", {x}, {f.integer("axis", from)});
  }
  ArrayRef<Size> all(sizes);
  Value flat = f.reshapeTo(x, {support::product(all.take_front(from)), support::product(all.drop_front(from))});
  return f.reshapeTo(f.op("Softmax", {flat}, {f.integer("axis", 1)}), sizes);
}

UNARY(QLinearSigmoid, f.op("Sigmoid", {x}))
UNARY(QLinearLeakyRelu, f.op("LeakyRelu", {x}, {f.number("alpha", getAlpha().convertToDouble())}))
UNARY(QLinearSoftmax, softmax(f, x, static_cast<int64_t>(getAxis()), static_cast<int64_t>(getOpset())))
UNARY(QLinearReduceMean, f.op("ReduceMean", {x, getAxes() ? makeIntegers(f.b, f.loc, *getAxes()) : Value()},
                              {f.integer("keepdims", static_cast<int64_t>(getKeepdims()))}))
UNARY(QLinearGlobalAveragePool, withChannelsSecond(f, x, ranked(x).getRank(), getChannelsLast() != 0,
                                                   [&](Value v) { return f.op("GlobalAveragePool", {v}); }))
UNARY(QLinearAveragePool, withChannelsSecond(f, x, ranked(x).getRank(), getChannelsLast() != 0, [&](Value v) {
        NamedAttrList kept((*this)->getAttrs());
        kept.erase("channels_last");
        return f.op("AveragePool", {v}, kept.getAttrs());
      }))
#undef UNARY

/// The orders of cuBLASLt that are supported, by the numbers that ONNX Runtime has for them.
enum MatrixOrder : int64_t {
  ByColumns = 0,
  ByRows = 1,
  By32Columns = 2, ///< in strips of 32 columns, each of which is stored by rows
};

/// In whichever order of the matrix the elements lie, each is computed by itself; the result has them in the same one.
LogicalResult MsQOrderedGeluOp::verify() {
  if (getOrder_X() && getOrder_Y() && *getOrder_X() != *getOrder_Y()) {
    return emitOpError("attributes 'order_X' and 'order_Y' are ")
           << *getOrder_X() << " and " << *getOrder_Y() << ", expected the same";
  }
  return success();
}
LogicalResult MsQOrderedGeluOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkPerTensor(*this, getX(), getXScale(), Value(), false)) ||
      failed(checkPerTensor(*this, getX(), getYScale(), Value(), true))) {
    return failure();
  }
  return inferElement(elementOf(getX()), types, knownRank(getX()));
}
LogicalResult MsQOrderedGeluOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value y = f.op("Gelu", {dequantizedPerTensor(f, getX(), getXScale(), Value())});
  rewriter.replaceOp(*this, quantizedPerTensor(f, y, getYScale(), Value(), elementOf(getX())));
  return success();
}

/// A row that is normalized has to be a row of the tensor, which it is where matrices are stored by rows.
LogicalResult MsQOrderedLayerNormalizationOp::verify() {
  auto x = static_cast<int64_t>(getOrder_X()), y = static_cast<int64_t>(getOrder_Y());
  if (x != ByRows || y != ByRows) {
    return emitOpError("attributes 'order_X' and 'order_Y' are ")
           << x << " and " << y << ", expected 1: matrices are stored by rows";
  }
  return success();
}
LogicalResult MsQOrderedLayerNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkPerTensor(*this, getX(), getXScale(), Value(), false)) ||
      failed(checkPerTensor(*this, getX(), getYScale(), Value(), true))) {
    return failure();
  }
  return inferElement(elementOf(getX()), types, knownRank(getX()));
}
LogicalResult MsQOrderedLayerNormalizationOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value x = dequantizedPerTensor(f, getX(), getXScale(), Value());
  Value beta = present(getBeta()) ? real(f, getBeta()) : Value();
  Value y =
      createOp(
          f.b, f.loc, "onnx.LayerNormalization", {x, real(f, getGamma()), beta},
          {f.integer("axis", static_cast<int64_t>(getAxis())), f.number("epsilon", getEpsilon().convertToDouble())}, 3)
          ->getResult(0);
  rewriter.replaceOp(*this, quantizedPerTensor(f, y, getYScale(), Value(), elementOf(getX())));
  return success();
}

// These change the order in which a matrix of bytes lies in memory. The shape of its tensor stays what it was.

/// Returns how many columns stand side by side in a strip; nothing where the order has no strips.
static std::optional<int64_t> stripWidth(int64_t order) {
  return order == ByRows ? std::nullopt : std::optional<int64_t>(order == ByColumns ? 1 : 32);
}

/// Checks the orders: the floats are stored by rows.
static LogicalResult checkOrders(Operation *op, StringRef ofFloats, StringRef ofBytes) {
  int64_t floats = op->getAttrOfType<IntegerAttr>(ofFloats).getInt();
  int64_t bytes = op->getAttrOfType<IntegerAttr>(ofBytes).getInt();
  if (floats != ByRows) {
    return op->emitOpError("attribute '") << ofFloats << "' is " << floats << ", expected 1: floats are stored by rows";
  }
  if (bytes < ByColumns || bytes > By32Columns) {
    return op->emitOpError("attribute '") << ofBytes << "' is " << bytes << ", expected 0, 1 or 2";
  }
  return success();
}

/// Infers the operand's shape for the result, and requires that its columns fill strips.
static LogicalResult inferOrdered(Operation *op, Value x, Value scale, int64_t order, Type element, bool divides,
                                  SmallVectorImpl<Type> &types) {
  if (failed(checkPerTensor(op, x, scale, Value(), divides))) {
    return failure();
  }
  auto type = ranked(x);
  std::optional<int64_t> width = stripWidth(order);
  if (type && type.getRank() > 0 && width && !equalPart(op, sizesOf(type).back(), *width)) {
    return op->emitOpError("matrices of ") << type << " cannot be stored in strips of " << *width << " columns";
  }
  types.push_back(type ? Type(sizedType(sizesOf(type), element)) : Type(unrankedOf(element)));
  return success();
}

/// Returns matrices, the last two axes of a tensor, stored in another order: by rows until now if `fromRows`, and by
/// rows from now on if not. With strips of w columns [rows, columns] are [columns / w, rows, w] in memory.
static Value reordered(Operation *op, Formula &f, Value x, int64_t order, bool fromRows) {
  Sizes sizes = sizesOf(ranked(x));
  std::optional<int64_t> width = stripWidth(order);
  if (!width || sizes.size() < 2) { // one row is the same in every order
    return x;
  }
  Size strips = *equalPart(op, sizes.back(), *width), rows = sizes[sizes.size() - 2];
  Sizes split(sizes.begin(), sizes.end() - 2);
  split.append(fromRows ? Sizes{rows, strips, *width} : Sizes{strips, rows, *width});
  auto swapped = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  std::swap(swapped[sizes.size() - 2], swapped[sizes.size() - 1]);
  return f.reshapeTo(f.transpose(f.reshapeTo(x, split), swapped), sizes);
}

LogicalResult MsQuantizeWithOrderOp::verify() { return checkOrders(*this, "order_input", "order_output"); }
LogicalResult MsQuantizeWithOrderOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type i8 = IntegerType::get(getContext(), 8);
  return inferOrdered(*this, getX(), getScale(), static_cast<int64_t>(getOrderOutput()), i8, /*divides=*/true, types);
}
LogicalResult MsQuantizeWithOrderOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value bytes = quantizedPerTensor(f, real(f, getX()), getScale(), Value(), rewriter.getI8Type());
  rewriter.replaceOp(*this, reordered(*this, f, bytes, static_cast<int64_t>(getOrderOutput()), /*fromRows=*/true));
  return success();
}

LogicalResult MsDequantizeWithOrderOp::verify() {
  Type element = elementOfNumber(static_cast<int64_t>(getTo()), getContext());
  if (!element || !(element.isF32() || element.isF16())) {
    return emitOpError("attribute 'to' is ") << getTo() << ", expected the number of float32 or float16";
  }
  return checkOrders(*this, "order_output", "order_input");
}
LogicalResult MsDequantizeWithOrderOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOfNumber(static_cast<int64_t>(getTo()), getContext());
  return inferOrdered(*this, getX(), getScale(), static_cast<int64_t>(getOrderInput()), element, /*divides=*/false,
                      types);
}
LogicalResult MsDequantizeWithOrderOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value bytes = reordered(*this, f, getX(), static_cast<int64_t>(getOrderInput()), /*fromRows=*/false);
  Value floats = dequantizedPerTensor(f, bytes, getScale(), Value());
  rewriter.replaceOp(*this, f.cast(floats, elementOf(getY()), static_cast<int64_t>(getTo())));
  return success();
}

/// The largest byte is that of the largest number, so nothing is dequantized.
LogicalResult MsNhwcMaxPoolOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  auto kernel = dyn_cast_or_null<DenseI64ArrayAttr>(node.attributes.get("kernel_shape"));
  if (!kernel) {
    return node.error("attribute 'kernel_shape' is missing");
  }
  node.results.push_back(withChannelsSecond(f, node.operand(0), kernel.size() + 2, true, [&](Value x) {
    return createOp(f.b, f.loc, "onnx.MaxPool", {x}, node.attributes.getAttrs(), 2)->getResult(0);
  }));
  return success();
}

/// Differs from the standard's operator in that channels may come last.
LogicalResult MsQLinearConvOp::upgrade(Node &node) {
  if (failed(node.needs(8))) {
    return failure();
  }
  auto weights = ranked(node.operand(3));
  bool last = node.integer("channels_last", 0) != 0;
  if (last && !weights) {
    return node.error("weights of unknown rank are unsupported");
  }
  Formula f(node.builder, node.loc);
  node.attributes.erase("channels_last");
  SmallVector<Value> operands(node.operands);
  operands.resize(9);
  node.results.push_back(withChannelsSecond(f, operands[0], last ? weights.getRank() : 0, last, [&](Value x) {
    operands[0] = x;
    return f.op("QLinearConv", operands, node.attributes.getAttrs());
  }));
  return success();
}

// These have two operands.

template <typename Op> static LogicalResult inferBinary(Op op, SmallVectorImpl<Type> &types) {
  if (failed(checkPerTensor(op, op.getA(), op.getAScale(), op.getAZero(), false)) ||
      failed(checkPerTensor(op, op.getB(), op.getBScale(), op.getBZero(), false)) ||
      failed(checkPerTensor(op, op.getA(), op.getCScale(), op.getCZero(), true))) {
    return failure();
  }
  std::optional<int64_t> rank = 0; // the rank of the operand that has the most axes
  for (Value v : op->getOperands()) {
    bool isTensor = v == op.getA() || v == op.getB() || (present(v) && isBool(elementOf(v)));
    if (isTensor) {
      rank = rank && knownRank(v) ? std::max(rank, knownRank(v)) : std::nullopt;
    }
  }
  return inferElement(elementOf(op.getA()), types, rank);
}

template <typename Op>
static LogicalResult decomposeBinary(Op op, PatternRewriter &rewriter,
                                     llvm::function_ref<Value(Formula &, Value, Value)> meaning) {
  if (!isSized(op.getA()) || !isSized(op.getB())) {
    return failure();
  }
  Formula f(rewriter, op.getLoc());
  Value y = meaning(f, dequantizedPerTensor(f, op.getA(), op.getAScale(), op.getAZero()),
                    dequantizedPerTensor(f, op.getB(), op.getBScale(), op.getBZero()));
  rewriter.replaceOp(op, quantizedPerTensor(f, y, op.getCScale(), op.getCZero(), elementOf(op.getA())));
  return success();
}

#define BINARY(Name, formula)                                                                                          \
  LogicalResult Ms##Name##Op::inferTypes(SmallVectorImpl<Type> &types) { return inferBinary(*this, types); }           \
  LogicalResult Ms##Name##Op::decompose(PatternRewriter &rewriter) {                                                   \
    return decomposeBinary(*this, rewriter, [&](Formula &f, Value a, Value b) -> Value { return formula; });           \
  }
BINARY(QLinearAdd, f.add(a, b))
BINARY(QLinearWhere, f.op("Where", {getCondition(), a, b}))
#undef BINARY

LogicalResult MsQLinearMulOp::inferTypes(SmallVectorImpl<Type> &types) { return inferBinary(*this, types); }
/// Multiplies bytes before they are scaled: a mask as low as float32 goes is beyond it once it is quantized, and
/// infinity times zero would be no number.
LogicalResult MsQLinearMulOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto own = [&](Value x, Value zero) { return dequantizedPerTensor(f, x, f.number(1.0, getAScale()), zero); };
  Value scale = f.mul(alongEnd(f, getAScale(), 0), alongEnd(f, getBScale(), 0));
  Value y = f.mul(f.mul(own(getA(), getAZero()), own(getB(), getBZero())), scale);
  rewriter.replaceOp(*this, quantizedPerTensor(f, y, getCScale(), getCZero(), elementOf(getA())));
  return success();
}

// These have several operands.

static constexpr unsigned partOperands = 3; ///< each part is a tensor, its scale and its zero point

LogicalResult MsQLinearConcatOp::verify() {
  unsigned count = getParts().size();
  return count >= 2 + partOperands && (count - 2) % partOperands == 0
             ? success()
             : emitOpError("has ") << count << " inputs, expected a scale, a zero point and three for each part";
}
LogicalResult MsQLinearConcatOp::inferTypes(SmallVectorImpl<Type> &types) {
  OperandRange parts = getParts();
  bool good = succeeded(checkPerTensor(*this, parts[1], parts[0], parts[1], true));
  for (unsigned i = 2; good && i < parts.size(); i += partOperands) {
    good = succeeded(checkPerTensor(*this, parts[i], parts[i + 1], parts[i + 2], false));
  }
  std::optional<int64_t> rank;
  for (unsigned i = 2; good && i < parts.size(); i += partOperands) {
    // All parts have the same rank, which one of them may have in its type.
    rank = rank ? rank : knownRank(parts[i]);
  }
  return good ? inferElement(elementOf(parts[1]), types, rank) : failure();
}
/// Joins bytes where parts have the result's scale and zero point, since they need no other numbers.
LogicalResult MsQLinearConcatOp::decompose(PatternRewriter &rewriter) {
  OperandRange parts = getParts();
  Formula f(rewriter, getLoc());
  SmallVector<Value> floats, bytes;
  bool alike = true;
  for (unsigned i = 2; i < parts.size(); i += partOperands) {
    if (!isSized(parts[i])) {
      return failure();
    }
    alike &= splatNumber(parts[i + 1]) && splatNumber(parts[i + 1]) == splatNumber(parts[0]) &&
             splatNumber(parts[i + 2]) && splatNumber(parts[i + 2]) == splatNumber(parts[1]);
  }
  for (unsigned i = 2; i < parts.size(); i += partOperands) {
    bytes.push_back(parts[i]);
    if (!alike) {
      floats.push_back(dequantizedPerTensor(f, parts[i], parts[i + 1], parts[i + 2]));
    }
  }
  NamedAttribute axis = f.integer("axis", static_cast<int64_t>(getAxis()));
  rewriter.replaceOp(
      *this, alike ? f.op("Concat", bytes, {axis})
                   : quantizedPerTensor(f, f.op("Concat", floats, {axis}), parts[0], parts[1], elementOf(parts[1])));
  return success();
}

// These are products.

/// Without a scale of the result, the result is floats.
LogicalResult MsQGemmOp::inferTypes(SmallVectorImpl<Type> &types) {
  bool bytes = present(getYScale());
  if (failed(checkZero(*this, getA(), getAScale(), getAZero())) ||
      failed(checkZero(*this, getB(), getBScale(), getBZero())) || failed(checkPositive(*this, getAScale(), false)) ||
      failed(checkPositive(*this, getBScale(), false)) || (bytes && failed(checkPositive(*this, getYScale(), true))) ||
      failed(checkColumns(*this, getB(), getBScale(), getBZero(), getTransB() != 0))) {
    return failure();
  }
  Type element = !bytes ? elementOf(getAScale()) : present(getYZero()) ? elementOf(getYZero()) : elementOf(getA());
  return inferProduct(*this, getA(), getB(), getTransA() != 0, getTransB() != 0, element, types);
}
/// The bias C is in units of aScale * bScale, so it is added to the sums of integers.
LogicalResult MsQGemmOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB()) || ranked(getA()).getRank() != 2 || ranked(getB()).getRank() != 2) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value a = getTransA() ? f.transpose(getA(), {1, 0}) : getA(), b = getTransB() ? f.transpose(getB(), {1, 0}) : getB();
  Value sums = f.op("MatMulInteger", {a, b, getAZero(), getBZero()});
  if (present(getC())) {
    sums = f.add(sums, getC());
  }
  Value factor = f.mul(alongEnd(f, getAScale(), 0), alongEnd(f, getBScale(), 0));
  factor = f.mul(factor, f.number(getAlpha().convertToDouble(), factor));
  Type f32 = rewriter.getF32Type();
  if (!present(getYScale())) {
    rewriter.replaceOp(*this, f.mul(f.cast(sums, f32, numberOfElement(f32)), factor));
    return success();
  }
  Value zero = present(getYZero()) ? alongEnd(f, getYZero(), 0) : Value();
  rewriter.replaceOp(*this, requantize(f, sums, f.div(factor, alongEnd(f, getYScale(), 0)), zero, elementOf(getY())));
  return success();
}

LogicalResult MsMatMulIntegerToFloatOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkZero(*this, getA(), getAScale(), getAZero())) ||
      failed(checkZero(*this, getB(), getBScale(), getBZero())) ||
      failed(checkColumns(*this, getB(), getBScale(), getBZero()))) {
    return failure();
  }
  return inferProduct(*this, getA(), getB(), false, false, elementOf(getAScale()), types);
}
LogicalResult MsMatMulIntegerToFloatOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  rewriter.replaceOp(*this,
                     scaledProduct(f, getA(), getAScale(), getAZero(), getB(), getBScale(), getBZero(), getBias()));
  return success();
}

LogicalResult MsDynamicQuantizeMatMulOp::inferTypes(SmallVectorImpl<Type> &types) {
  bool fits = succeeded(checkZero(*this, getB(), getBScale(), getBZero())) &&
              succeeded(checkColumns(*this, getB(), getBScale(), getBZero()));
  return fits ? inferProduct(*this, getA(), getB(), false, false, elementOf(getA()), types) : failure();
}
LogicalResult MsDynamicQuantizeMatMulOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Operation *a = createOp(rewriter, getLoc(), "onnx.DynamicQuantizeLinear", {getA()}, {}, 3);
  rewriter.replaceOp(*this, scaledProduct(f, a->getResult(0), a->getResult(1), a->getResult(2), getB(), getBScale(),
                                          getBZero(), getBias()));
  return success();
}

// These are older names.

static LogicalResult inferLike(Value x, Type element, SmallVectorImpl<Type> &types) {
  auto type = ranked(x);
  types.push_back(type ? Type(sizedType(sizesOf(type), element)) : Type(unrankedOf(element)));
  return success();
}

LogicalResult MsQuantizeLinearOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = present(getZero()) ? elementOf(getZero()) : IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  return inferLike(getX(), element, types);
}
LogicalResult MsQuantizeLinearOp::decompose(PatternRewriter &rewriter) {
  Formula f(rewriter, getLoc());
  rewriter.replaceOp(*this, f.op("QuantizeLinear", {getX(), getScale(), getZero()}, (*this)->getAttrs()));
  return success();
}
LogicalResult MsDequantizeLinearOp::inferTypes(SmallVectorImpl<Type> &types) {
  return inferLike(getX(), elementOf(getScale()), types);
}
LogicalResult MsDequantizeLinearOp::decompose(PatternRewriter &rewriter) {
  Formula f(rewriter, getLoc());
  rewriter.replaceOp(*this, f.op("DequantizeLinear", {getX(), getScale(), getZero()}, (*this)->getAttrs()));
  return success();
}

void registerQuantizedContrib(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/QuantizedContrib.cpp.inc"
      >();
}

} // namespace ingot::onnx
