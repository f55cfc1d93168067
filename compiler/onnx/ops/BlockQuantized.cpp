// Products with weights of few bits as com.microsoft has them: blocks of a row's numbers share a scale and a zero point
// (MatMulNBits, GatherBlockQuantized), or numbers are indices into a table of 16 values (MatMulBnb4). With few rows of
// activations the weights stay as they are, and a kernel unpacks them while it multiplies (quantization/FewBits.h);
// with many, they are dequantized once when the model is compiled, and the product is one of floats.
#include "compiler/onnx/ops/BlockQuantized.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/BlockQuantized.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// Infers the type of a product. Weights of a few bits are [N, blocks, bytes of a block], and zero points [N, bytes of
// the blocks], with the low bits first.

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
  // A row has whole blocks, whatever K is.
  int64_t blocks = llvm::divideCeil(k, block), bytes = n * blocks * block * bits / 8;
  auto b = ranked(getB()), scales = ranked(getScales());
  if (b && b.hasStaticShape() && b.getNumElements() != bytes) {
    return emitOpError("weights of type ") << b << ", expected " << bytes << " bytes";
  }
  if (scales && scales.hasStaticShape() && scales.getNumElements() != n * blocks) {
    return emitOpError("scales of type ") << scales << ", expected " << n * blocks;
  }
  auto zeros = present(getZeros()) ? ranked(getZeros()) : RankedTensorType();
  // Zero points that are bytes hold several numbers each; those of other types are one for each block.
  int64_t zeroCount = zeros && isUint(zeros.getElementType(), 8) ? n * llvm::divideCeil(blocks * bits, 8) : n * blocks;
  if (zeros && zeros.hasStaticShape() && zeros.getNumElements() != zeroCount) {
    return emitOpError("zero points of type ") << zeros << ", expected " << zeroCount;
  }
  if (failed(checkOfFewBits(*this, getScales(), getZeros(), bits))) {
    return failure();
  }
  auto a = ranked(getA());
  if (!a || a.getRank() == 0) {
    return push(types, typeOfRank(std::nullopt, elementOf(getA())));
  }
  Sizes sizes = sizesOf(a);
  sizes.back() = n;
  types.push_back(sizedType(sizes, elementOf(getA())));
  return success();
}

/// Returns the zero points of a matrix of few bits, [rows, blocks], as uint8 or floats.
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

/// The levels count from 1: A is multiplied as float32, float16, bfloat16 or int8, whatever its type is. What rounds it
/// to bytes has a scale for each block, and only the last level is of use to a kernel here.
static bool letsABeBytes(MsMatMulNBitsOp op) { return op.getAccuracyLevel() == 4; }

/// Returns the product with weights that stay as they are; null: it does not apply.
static Value ofFewBits(Formula &f, MsMatMulNBitsOp op, ElementsAttr weights, ElementsAttr packedZeros) {
  ElementsAttr scales = constantOf(op.getScales());
  if (!isForFewBits(op.getA()) || !hasFewRows(op.getA()) || !scales) {
    return {};
  }
  FewBitsWeights w;
  w.bits = static_cast<int64_t>(op.getBits()), w.block = static_cast<int64_t>(op.getBlockSize());
  w.rows = static_cast<int64_t>(op.getN()), w.columns = static_cast<int64_t>(op.getK());
  w.zero = int64_t(1) << (w.bits - 1);
  w.bytesA = letsABeBytes(op);
  std::vector<char> storage;
  // A row has whole blocks in memory; numbers behind the last column fill the last block up.
  int64_t row = w.blocks() * w.block * w.bits / 8;
  w.numbers = unpacked(bytesOf(weights, storage), row, w.columns, w.bits);
  w.scales = reshaped(scales, tensorOf({w.rows, w.blocks()}, scales.getElementType()));
  if (packedZeros) {
    w.zeros = zerosOf(packedZeros, w.rows, w.blocks(), w.bits);
  }
  return productOfFewBits(f, op.getA(), w);
}

/// Without zero points the middle of the range is zero. Zero points that are floats are subtracted as floats.
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
  // All of this is folded when the model is compiled, since it is made of constants.
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
    if (letsABeBytes(*this)) {
      letFactorBeBytes(w.getDefiningOp());
    }
  }
  Type element = elementOf(getA());
  w = f.cast(w, element, numberOfElement(element));
  Value y = f.op("MatMul", {getA(), w}, {f.flag("transB")});
  rewriter.replaceOp(*this, present(getBias()) ? f.add(y, getBias()) : y);
  return success();
}

// Infers the type of a product whose numbers come from tables instead of zero points: FP4 and NF4 of bitsandbytes.

/// Blocks go over the whole matrix rather than along its rows, so a block may end in the middle of one.
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
    return push(types, typeOfRank(std::nullopt, elementOf(getA())));
  }
  Sizes sizes = sizesOf(a);
  if (failed(require(*this, sizes.back(), getTransB() ? k : n))) {
    return emitOpError("operand ") << a << " for weights of " << n << " by " << k;
  }
  sizes.back() = getTransB() ? n : k;
  types.push_back(sizedType(sizes, elementOf(getA())));
  return success();
}

/// Unpacks the weights, in which the high half of a byte comes first.
LogicalResult MsMatMulBnb4Op::decompose(PatternRewriter &rewriter) {
  // These are bitsandbytes' tables. FP4 has a sign in the highest bit. The values of NF4 are spaced such that equally
  // many numbers of a normal distribution are nearest to each of them.
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

// These write GatherBlockQuantized.

/// Checks that zero points are stored as the table is: they have its type, and are bytes of several numbers where it
/// is.
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

/// A table of uint8 has several numbers in a byte of the last axis; one of uint4 or int4 has the numbers as its
/// elements.
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
    return push(types, typeOfRank(std::nullopt, elementOf(getScales())));
  }
  Sizes places = sizesOf(indices), result(shape.begin(), shape.end());
  result.erase(result.begin() + *from);
  result.insert(result.begin() + *from, places.begin(), places.end());
  types.push_back(sizedType(result, elementOf(getScales())));
  return success();
}

/// Describes the table as a matrix whose rows are packed numbers with scales. Returns false where it is no such matrix:
/// it is not constant, has more than two axes, or has one number in each element.
static bool tableOfFewBits(MsGatherBlockQuantizedOp op, FewBitsWeights &table) {
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

/// Gathers numbers, scales and zero points, and dequantizes what was gathered. Where the gathered axis is the quantized
/// one, neighbours of a block are torn apart, and the whole table is dequantized first.
LogicalResult MsGatherBlockQuantizedOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getIndices())) {
    return failure();
  }
  bool packed = isUint(elementOf(getData()), 8);
  if (packed && (!constantOf(getData()) || (present(getZeros()) && !constantOf(getZeros())))) {
    return emitOpError("weights that are not constant are unsupported");
  }
  Formula f(rewriter, getLoc());
  if (FewBitsWeights table; tableOfFewBits(*this, table)) {
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
  // The axes of the indices take the place of the gathered one, so that an axis behind it has moved.
  along += along > from ? ranked(getIndices()).getRank() - 1 : 0;
  rewriter.replaceOp(*this, dequantize(f, q, whole(scale, q, along), whole(zero, q, along)));
  return success();
}

void registerBlockQuantized(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/BlockQuantized.cpp.inc"
      >();
}

} // namespace ingot::onnx
