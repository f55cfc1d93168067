// All of them become operators of the standard between Dequantize and Quantize, or products of integers. Shapes follow
// from those; what is inferred of these here is the element type and how many axes there are, and the shape of what may
// be floats: operators behind it may have to know it while a model is imported.
#include "compiler/onnx/ops/QuantizedContrib.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Forms.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/QuantizedContrib.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// A tensor with the one scale and zero point (which may be none) that all of it has.
static Value dequantizedWhole(Formula &f, Value x, Value scale, Value zero) {
  return dequantize(f, x, alongEnd(f, scale, 0), present(zero) ? alongEnd(f, zero, 0) : Value());
}
static Value quantizedWhole(Formula &f, Value x, Value scale, Value zero, Type element) {
  return quantize(f, x, alongEnd(f, scale, 0), present(zero) ? alongEnd(f, zero, 0) : Value(), element);
}

/// Checks a tensor's own scale and zero point.
static LogicalResult checkWhole(Operation *op, Value x, Value scale, Value zero, bool divides) {
  for (Value v : {scale, zero}) {
    auto type = present(v) ? ranked(v) : RankedTensorType();
    if (type && type.hasStaticShape() && type.getNumElements() != 1) {
      return op->emitOpError(v == scale ? "scale" : "zero point") << " of type " << type << ", expected one number";
    }
  }
  return checkOwn(op, x, scale, zero, divides);
}

/// The type of what is written as other operators once its operands have sizes.
static LogicalResult inferElement(Type element, SmallVectorImpl<Type> &types,
                                  std::optional<int64_t> rank = std::nullopt) {
  types.push_back(typeOfRank(rank, element));
  return success();
}

// One operand.

/// The axes of the result: those of the operand, less those that are reduced.
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
  if (failed(checkWhole(op, op.getX(), op.getXScale(), op.getXZero(), false)) ||
      failed(checkWhole(op, op.getX(), op.getYScale(), op.getYZero(), true))) {
    return failure();
  }
  return inferElement(elementOf(op.getX()), types, resultRank(op));
}

template <typename Op>
static LogicalResult decomposeUnary(Op op, PatternRewriter &rewriter,
                                    llvm::function_ref<Value(Formula &, Value)> meaning) {
  if (!isSized(op.getX())) {
    return failure();
  }
  Formula f(rewriter, op.getLoc());
  Value y = meaning(f, dequantizedWhole(f, op.getX(), op.getXScale(), op.getXZero()));
  rewriter.replaceOp(op, quantizedWhole(f, y, op.getYScale(), op.getYZero(), elementOf(op.getX())));
  return success();
}

#define UNARY(Name, formula)                                                                                           \
  LogicalResult Ms##Name##Op::inferTypes(SmallVectorImpl<Type> &types) { return inferUnary(*this, types); }            \
  LogicalResult Ms##Name##Op::decompose(PatternRewriter &rewriter) {                                                   \
    return decomposeUnary(*this, rewriter, [&](Formula &f, Value x) -> Value { return formula; });                     \
  }

/// Before opset 13 softmax is over all axes from `axis` on.
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

// Two operands.

template <typename Op> static LogicalResult inferBinary(Op op, SmallVectorImpl<Type> &types) {
  if (failed(checkWhole(op, op.getA(), op.getAScale(), op.getAZero(), false)) ||
      failed(checkWhole(op, op.getB(), op.getBScale(), op.getBZero(), false)) ||
      failed(checkWhole(op, op.getA(), op.getCScale(), op.getCZero(), true))) {
    return failure();
  }
  std::optional<int64_t> rank = 0; // of the operand that has the most axes
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
  Value y = meaning(f, dequantizedWhole(f, op.getA(), op.getAScale(), op.getAZero()),
                    dequantizedWhole(f, op.getB(), op.getBScale(), op.getBZero()));
  rewriter.replaceOp(op, quantizedWhole(f, y, op.getCScale(), op.getCZero(), elementOf(op.getA())));
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
/// Bytes are multiplied before they are scaled: a mask as low as float32 goes, quantized, is beyond it, and infinity
/// times zero would be no number.
LogicalResult MsQLinearMulOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto own = [&](Value x, Value zero) { return dequantizedWhole(f, x, f.number(1.0, getAScale()), zero); };
  Value scale = f.mul(alongEnd(f, getAScale(), 0), alongEnd(f, getBScale(), 0));
  Value y = f.mul(f.mul(own(getA(), getAZero()), own(getB(), getBZero())), scale);
  rewriter.replaceOp(*this, quantizedWhole(f, y, getCScale(), getCZero(), elementOf(getA())));
  return success();
}

// Several.

static constexpr unsigned partOperands = 3; ///< tensor, scale, zero point

LogicalResult MsQLinearConcatOp::verify() {
  unsigned count = getParts().size();
  return count >= 2 + partOperands && (count - 2) % partOperands == 0
             ? success()
             : emitOpError("has ") << count << " inputs, expected a scale, a zero point and three for each part";
}
LogicalResult MsQLinearConcatOp::inferTypes(SmallVectorImpl<Type> &types) {
  OperandRange parts = getParts();
  bool good = succeeded(checkWhole(*this, parts[1], parts[0], parts[1], true));
  for (unsigned i = 2; good && i < parts.size(); i += partOperands) {
    good = succeeded(checkWhole(*this, parts[i], parts[i + 1], parts[i + 2], false));
  }
  std::optional<int64_t> rank;
  for (unsigned i = 2; good && i < parts.size(); i += partOperands) {
    rank = rank ? rank : knownRank(parts[i]);
  }
  return good ? inferElement(elementOf(parts[1]), types, rank) : failure();
}
/// Parts that have the result's scale and zero point need no other numbers.
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
      floats.push_back(dequantizedWhole(f, parts[i], parts[i + 1], parts[i + 2]));
    }
  }
  NamedAttribute axis = f.integer("axis", static_cast<int64_t>(getAxis()));
  rewriter.replaceOp(
      *this, alike ? f.op("Concat", bytes, {axis})
                   : quantizedWhole(f, f.op("Concat", floats, {axis}), parts[0], parts[1], elementOf(parts[1])));
  return success();
}

// Products.

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

// Weights of a few bits: [N, blocks, bytes of a block], and zero points [N, bytes of the blocks], low bits first.

LogicalResult MsMatMulNBitsOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto bits = static_cast<int64_t>(getBits()), block = static_cast<int64_t>(getBlockSize()),
       k = static_cast<int64_t>(getK()), n = static_cast<int64_t>(getN());
  if (bits != 2 && bits != 4 && bits != 8) {
    return emitOpError("attribute 'bits' is ") << bits << ", expected 2, 4 or 8";
  }
  if (block < 16 || (block & (block - 1)) || k < 1 || n < 1) {
    return emitOpError("attributes 'K', 'N' and 'block_size' are ")
           << k << ", " << n << " and " << block << ", expected positive numbers and a power of two, at least 16";
  }
  if (present(getGIdx()) || getWeightPrepacked()) {
    return emitOpError("weights in an order of their own are unsupported");
  }
  int64_t blocks = llvm::divideCeil(k, block), bytes = n * blocks * block * bits / 8;
  auto b = ranked(getB()), scales = ranked(getScales());
  if (b && b.hasStaticShape() && b.getNumElements() != bytes) {
    return emitOpError("weights of type ") << b << ", expected " << bytes << " bytes";
  }
  if (scales && scales.hasStaticShape() && scales.getNumElements() != n * blocks) {
    return emitOpError("scales of type ") << scales << ", expected " << n * blocks;
  }
  auto zeros = present(getZeros()) ? ranked(getZeros()) : RankedTensorType();
  int64_t zeroCount = zeros && isUint(zeros.getElementType(), 8) ? n * llvm::divideCeil(blocks * bits, 8) : n * blocks;
  if (zeros && zeros.hasStaticShape() && zeros.getNumElements() != zeroCount) {
    return emitOpError("zero points of type ") << zeros << ", expected " << zeroCount;
  }
  if (failed(checkOfFewBits(*this, getScales(), getZeros(), bits))) {
    return failure();
  }
  auto a = ranked(getA());
  if (!a || a.getRank() == 0) {
    return inferElement(elementOf(getA()), types);
  }
  Sizes sizes = sizesOf(a);
  sizes.back() = n;
  types.push_back(sizedType(sizes, elementOf(getA())));
  return success();
}

/// The zero points of a matrix of few bits, [rows, blocks], as uint8 or floats.
static ElementsAttr zerosOf(ElementsAttr packed, int64_t rows, int64_t blocks, int64_t bits) {
  Type element = packed.getElementType();
  if (!isUint(element, 8)) {
    return reshaped(packed, tensorOf({rows, blocks}, element));
  }
  std::vector<char> storage;
  return constantFromBytes(
      tensorOf({rows, blocks}, element),
      unpacked(bytesOf(packed, storage), static_cast<int64_t>(llvm::divideCeil(blocks * bits, 8)), blocks, bits));
}

/// The product with weights that stay as they are; null: it does not apply.
static Value ofFewBits(Formula &f, MsMatMulNBitsOp op, ElementsAttr weights, ElementsAttr packedZeros) {
  ElementsAttr scales = constantOf(op.getScales());
  if (!isForFewBits(op.getA()) || !hasFewRows(op.getA()) || !scales) {
    return {};
  }
  FewBits w;
  w.bits = static_cast<int64_t>(op.getBits()), w.block = static_cast<int64_t>(op.getBlockSize());
  w.rows = static_cast<int64_t>(op.getN()), w.columns = static_cast<int64_t>(op.getK());
  w.zero = int64_t(1) << (w.bits - 1);
  std::vector<char> storage;
  int64_t row = w.blocks() * w.block * w.bits / 8;
  w.numbers = unpacked(bytesOf(weights, storage), row, w.columns, w.bits);
  w.scales = reshaped(scales, tensorOf({w.rows, w.blocks()}, scales.getElementType()));
  if (packedZeros) {
    w.zeros = zerosOf(packedZeros, w.rows, w.blocks(), w.bits);
  }
  return productOfFewBits(f, op.getA(), w);
}

LogicalResult MsMatMulNBitsOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getA()) || !isStatic(getB())) {
    return failure();
  }
  ElementsAttr weights = constantOf(getB()),
               packedZeros = present(getZeros()) ? constantOf(getZeros()) : ElementsAttr();
  if (!weights || (present(getZeros()) && !packedZeros)) {
    return emitOpError("weights that are not constant are unsupported");
  }
  Formula f(rewriter, getLoc());
  if (Value y = ofFewBits(f, *this, weights, packedZeros)) {
    rewriter.replaceOp(*this, present(getBias()) ? f.add(y, getBias()) : y);
    return success();
  }
  auto bits = static_cast<int64_t>(getBits()), block = static_cast<int64_t>(getBlockSize()),
       k = static_cast<int64_t>(getK()), n = static_cast<int64_t>(getN()), blocks = int64_t(llvm::divideCeil(k, block));
  std::vector<char> storage;
  auto numbers = [&](std::vector<char> bytes, ArrayRef<int64_t> shape) {
    Type element = rewriter.getIntegerType(bits, /*isSigned=*/false);
    return makeConstant(rewriter, getLoc(), constantFromBytes(tensorOf(shape, element), std::move(bytes)));
  };
  Value q = numbers(unpacked(bytesOf(weights, storage), blocks * block * bits / 8, k, bits), {n, k}),
        scale = f.reshape(getScales(), {n, blocks}), w;
  SmallVector<NamedAttribute> along = {f.integer("axis", 1), f.integer("block_size", block)};
  if (packedZeros && !isUint(packedZeros.getElementType(), 8)) {
    Type element = elementOf(scale);
    Value zero = f.cast(f.reshape(getZeros(), {n, blocks}), element, numberOfElement(element));
    auto wide = [&](Value v) { return alongAxis(f, v, q, 1, block); };
    w = f.mul(f.sub(f.cast(q, element, numberOfElement(element)), wide(zero)), wide(scale));
  } else {
    std::vector<char> zeros(n * blocks, static_cast<char>(1 << (bits - 1)));
    if (packedZeros) {
      auto row = static_cast<int64_t>(llvm::divideCeil(blocks * bits, 8));
      zeros = unpacked(bytesOf(packedZeros, storage), row, blocks, bits);
    }
    w = f.op("DequantizeLinear", {q, scale, numbers(std::move(zeros), {n, blocks})}, along);
  }
  Type element = elementOf(getA());
  w = f.cast(w, element, numberOfElement(element));
  Value y = f.op("MatMul", {getA(), w}, {f.flag("transB")});
  rewriter.replaceOp(*this, present(getBias()) ? f.add(y, getBias()) : y);
  return success();
}

// Tables of numbers, in place of zero points: FP4 and NF4 of bitsandbytes.

LogicalResult MsMatMulBnb4Op::inferTypes(SmallVectorImpl<Type> &types) {
  auto k = static_cast<int64_t>(getK()), n = static_cast<int64_t>(getN()), block = static_cast<int64_t>(getBlockSize());
  if (k < 1 || n < 1 || block < 16 || (block & (block - 1)) || (getQuantType() != 0 && getQuantType() != 1)) {
    return emitOpError("attributes 'K', 'N', 'block_size' and 'quant_type' are ")
           << k << ", " << n << ", " << block << " and " << static_cast<int64_t>(getQuantType())
           << ", expected positive numbers, a power of two, at least 16, and 0 or 1";
  }
  auto b = ranked(getB()), factors = ranked(getAbsmax());
  int64_t bytes = llvm::divideCeil(k * n, 2), blocks = llvm::divideCeil(k * n, block);
  if ((b && b.hasStaticShape() && b.getNumElements() != bytes) ||
      (factors && factors.hasStaticShape() && factors.getNumElements() != blocks)) {
    return emitOpError("weights ") << b << " with factors " << factors << ", expected " << bytes << " bytes and "
                                   << blocks << " factors";
  }
  auto a = ranked(getA());
  if (!a || a.getRank() == 0) {
    return inferElement(elementOf(getA()), types);
  }
  Sizes sizes = sizesOf(a);
  if (failed(require(*this, sizes.back(), getTransB() ? k : n))) {
    return emitOpError("operand ") << a << " for weights of " << n << " by " << k;
  }
  sizes.back() = getTransB() ? n : k;
  types.push_back(sizedType(sizes, elementOf(getA())));
  return success();
}

/// The high half of a byte comes first.
LogicalResult MsMatMulBnb4Op::decompose(PatternRewriter &rewriter) {
  static constexpr double tables[2][16] = {
      {0, 5.208333333e-03, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25, 0, -5.208333333e-03, -0.66666667, -1,
       -0.33333333, -0.5, -0.16666667, -0.25},
      {-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1}};
  if (!isSized(getA())) {
    return failure();
  }
  ElementsAttr packed = constantOf(getB());
  auto factors = floatsOf(getAbsmax());
  if (!packed || !factors) {
    return emitOpError("weights that are not constant are unsupported");
  }
  auto k = static_cast<int64_t>(getK()), n = static_cast<int64_t>(getN()), block = static_cast<int64_t>(getBlockSize());
  auto table = tables[getQuantType()];
  Type element = elementOf(getA());
  FloatCodec codec(element);
  std::vector<char> storage, weights(k * n * codec.bytes());
  ArrayRef<char> bytes = bytesOf(packed, storage);
  for (int64_t i = 0; i < k * n; ++i) {
    auto byte = static_cast<unsigned char>(bytes[i / 2]);
    codec.write(table[i % 2 ? byte & 15 : byte >> 4] * (*factors)[i / block], &weights[i * codec.bytes()]);
  }
  Formula f(rewriter, getLoc());
  Value w = makeConstant(rewriter, getLoc(), constantFromBytes(tensorOf({n, k}, element), std::move(weights)));
  rewriter.replaceOp(*this, f.op("MatMul", {getA(), getTransB() ? f.transpose(w, {1, 0}) : w}));
  return success();
}

// GatherBlockQuantized.

/// Zero points are as the table is: of its type, and bytes where it has bytes of several numbers.
static LogicalResult checkZerosOfTable(MsGatherBlockQuantizedOp op, bool packed) {
  auto zeros = present(op.getZeros()) ? ranked(op.getZeros()) : RankedTensorType();
  if (!zeros || !zeros.hasStaticShape() || (zeros.getRank() == 0 && !packed)) {
    return success();
  }
  SmallVector<int64_t> wanted(ranked(op.getScales()).getShape());
  if (packed) {
    wanted.back() = static_cast<int64_t>(llvm::divideCeil(wanted.back() * static_cast<int64_t>(op.getBits()), 8));
  }
  auto expected = tensorOf(wanted, elementOf(op.getData()));
  return zeros == expected ? success() : op.emitOpError("zero points of type ") << zeros << ", expected " << expected;
}

LogicalResult MsGatherBlockQuantizedOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto bits = static_cast<int64_t>(getBits()), block = static_cast<int64_t>(getBlockSize());
  auto data = ranked(getData()), scales = ranked(getScales());
  if ((bits != 2 && bits != 4 && bits != 8) || block < 16 || (block & (block - 1))) {
    return emitOpError("attributes 'bits' and 'block_size' are ")
           << bits << " and " << block << ", expected 2, 4 or 8, and a power of two, at least 16";
  }
  bool integers = isa<IntegerType>(elementOf(getData())), packed = isUint(elementOf(getData()), 8);
  if (!integers || !data || !data.hasStaticShape() || !scales || !scales.hasStaticShape()) {
    return emitOpError("a table of type ")
           << getData().getType() << " with scales " << getScales().getType() << " is unsupported";
  }
  auto from = normalAxis(static_cast<int64_t>(getGatherAxis()), data.getRank()),
       along = normalAxis(static_cast<int64_t>(getQuantizeAxis()), data.getRank());
  SmallVector<int64_t> shape(data.getShape());
  bool good = from && along && scales.getRank() == data.getRank() && (!packed || (*from == 0 && *along != 0));
  if (good) {
    shape.back() *= packed ? 8 / bits : 1;
    SmallVector<int64_t> wanted(shape);
    wanted[*along] = llvm::divideCeil(shape[*along], block);
    good = scales.getShape() == ArrayRef<int64_t>(wanted);
  }
  if (!good) {
    return emitOpError("a table of type ") << data << " with scales " << scales << " along axis "
                                           << static_cast<int64_t>(getQuantizeAxis()) << " does not fit";
  }
  if (failed(checkOfFewBits(*this, getScales(), getZeros(), bits)) || failed(checkZerosOfTable(*this, packed))) {
    return failure();
  }
  auto indices = ranked(getIndices());
  if (!indices) {
    return inferElement(elementOf(getScales()), types);
  }
  Sizes places = sizesOf(indices), result(shape.begin(), shape.end());
  result.erase(result.begin() + *from);
  result.insert(result.begin() + *from, places.begin(), places.end());
  types.push_back(sizedType(result, elementOf(getScales())));
  return success();
}

/// The table as rows of few bits; false: its rows are not quantized along themselves.
static bool tableOfFewBits(MsGatherBlockQuantizedOp op, FewBits &table) {
  auto data = ranked(op.getData());
  ElementsAttr numbers = constantOf(op.getData()), scales = constantOf(op.getScales()),
               zeros = present(op.getZeros()) ? constantOf(op.getZeros()) : ElementsAttr();
  bool packed = isUint(elementOf(op.getData()), 8);
  if (data.getRank() != 2 || !packed || !numbers || !scales || (present(op.getZeros()) && !zeros)) {
    return false;
  }
  table.bits = static_cast<int64_t>(op.getBits()), table.block = static_cast<int64_t>(op.getBlockSize());
  table.rows = data.getDimSize(0), table.columns = data.getDimSize(1) * 8 / table.bits;
  table.zero = int64_t(1) << (table.bits - 1);
  std::vector<char> storage;
  table.numbers = unpacked(bytesOf(numbers, storage), data.getDimSize(1), table.columns, table.bits);
  table.scales = scales;
  table.zeros = zeros ? zerosOf(zeros, table.rows, table.blocks(), table.bits) : zeros;
  return true;
}

/// What was gathered is dequantized; where rows along the quantized axis are gathered, the table is.
LogicalResult MsGatherBlockQuantizedOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getIndices())) {
    return failure();
  }
  bool packed = isUint(elementOf(getData()), 8);
  if (packed && (!constantOf(getData()) || (present(getZeros()) && !constantOf(getZeros())))) {
    return emitOpError("weights that are not constant are unsupported");
  }
  Formula f(rewriter, getLoc());
  if (FewBits table; tableOfFewBits(*this, table)) {
    rewriter.replaceOp(*this, rowsOfFewBits(f, table, getIndices()));
    return success();
  }
  auto bits = static_cast<int64_t>(getBits()), block = static_cast<int64_t>(getBlockSize());
  auto data = ranked(getData());
  int64_t rank = data.getRank(), from = *normalAxis(static_cast<int64_t>(getGatherAxis()), rank),
          along = *normalAxis(static_cast<int64_t>(getQuantizeAxis()), rank);
  Value q = getData(), scale = getScales(), zero = present(getZeros()) ? getZeros() : Value();
  if (packed) {
    q = unpackedLast(f, q, bits, data.getShape().back() * (8 / bits));
    zero = zero ? unpackedLast(f, zero, bits, ranked(scale).getShape().back())
                : makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, elementOf(q)), {1 << (bits - 1)}));
  }
  auto gathered = [&](Value v) { return f.op("Gather", {v, getIndices()}, {f.integer("axis", from)}); };
  auto whole = [&](Value v, Value of, int64_t axis) {
    return v && ranked(v).getRank() ? alongAxis(f, v, of, axis, block) : v;
  };
  if (from == along) {
    rewriter.replaceOp(*this, gathered(dequantize(f, q, whole(scale, q, along), whole(zero, q, along))));
    return success();
  }
  q = gathered(q), scale = gathered(scale);
  zero = zero && ranked(zero).getRank() ? gathered(zero) : zero;
  along += along > from ? ranked(getIndices()).getRank() - 1 : 0;
  rewriter.replaceOp(*this, dequantize(f, q, whole(scale, q, along), whole(zero, q, along)));
  return success();
}

// Older names.

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
