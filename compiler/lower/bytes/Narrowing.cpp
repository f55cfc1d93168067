#include "compiler/lower/bytes/Narrowing.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Concatenates vectors, whose number is a power of two.
Value concatenated(Writer &w, ArrayRef<Value> vectors) {
  if (vectors.size() == 1) {
    return vectors.front();
  }
  size_t half = vectors.size() / 2;
  Value first = concatenated(w, vectors.take_front(half)), second = concatenated(w, vectors.drop_front(half));
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  return vector::ShuffleOp::create(w.b, w.loc, first, second, llvm::to_vector(llvm::seq<int64_t>(2 * lanes)));
}

/// Returns the number that all lanes are, perhaps widened.
std::optional<int64_t> splatOf(Value v) {
  APInt number;
  if (auto widened = v.getDefiningOp<arith::ExtUIOp>()) {
    return matchPattern(widened.getIn(), m_ConstantInt(&number)) ? std::optional(number.getZExtValue()) : std::nullopt;
  }
  auto widened = v.getDefiningOp<arith::ExtSIOp>();
  return matchPattern(widened ? widened.getIn() : v, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                                             : std::nullopt;
}

/// Bytes, perhaps in int16, as what they were narrowed from: integers of 32 bits + `zero`, which saturate.
struct Narrowed {
  Value wide;
  int64_t zero;
  bool isSigned, inWords;
  /// Whether another one differs in the integers only.
  bool isLike(const Narrowed &other) const {
    return zero == other.zero && isSigned == other.isSigned && inWords == other.inWords;
  }
};
std::optional<Narrowed> narrowedOf(Value bytes) {
  auto widened = bytes.getDefiningOp<arith::ExtUIOp>();
  bool inWords = widened && onnx::isInt(getElementTypeOrSelf(bytes.getType()), 16);
  bytes = inWords ? widened.getIn() : bytes;
  auto cut = bytes.getDefiningOp<arith::TruncIOp>();
  auto below = cut ? cut.getIn().getDefiningOp<arith::MinSIOp>() : arith::MinSIOp();
  auto above = below ? below.getLhs().getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  if (!above || !onnx::isInt(getElementTypeOrSelf(above.getType()), 32)) {
    return std::nullopt;
  }
  std::optional<int64_t> least = splatOf(above.getRhs()), most = splatOf(below.getRhs());
  bool isSigned = least == INT8_MIN && most == INT8_MAX;
  if (!isSigned && (least != 0 || most != UINT8_MAX)) {
    return std::nullopt;
  }
  auto sum = above.getLhs().getDefiningOp<arith::AddIOp>();
  std::optional<int64_t> zero = sum ? splatOf(sum.getRhs()) : std::nullopt;
  bool isZeroPoint = zero && std::abs(*zero) <= UINT8_MAX;
  if (inWords && isSigned) {
    return std::nullopt;
  }
  return Narrowed{isZeroPoint ? sum.getLhs() : above.getLhs(), isZeroPoint ? *zero : 0, isSigned, inWords};
}

Value bitcast(Writer &w, Value v, int64_t count, Type element) {
  return vector::BitCastOp::create(w.b, w.loc, VectorType::get({count}, element), v);
}

/// Returns `count` lanes from `first` on.
Value lanesOf(Writer &w, Value v, int64_t first, int64_t count) {
  return vector::ExtractStridedSliceOp::create(w.b, w.loc, v, ArrayRef(first), ArrayRef(count), ArrayRef<int64_t>(1));
}

/// Returns in order what packing has put into each 128 bits of `count` vectors: `bits` bits of the first vector, then
/// of the second.
Value inOrder(Writer &w, Value packed, int64_t count, unsigned bits) {
  auto type = cast<VectorType>(packed.getType());
  int64_t parts = w.machine.lanes / 4, perPart = 128 / bits;
  Type piece = w.b.getIntegerType(bits);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count * parts; ++i) {
    order.push_back(i % parts * perPart + i / parts);
  }
  Value pieces = bitcast(w, packed, parts * perPart, piece);
  pieces = vector::ShuffleOp::create(w.b, w.loc, pieces, pieces, order);
  int64_t inPiece = type.getNumElements() / (parts * perPart);
  return bitcast(w, pieces, count * parts * inPiece, type.getElementType());
}

/// Packs two or four registers of int32, or of places on a curve.
Value packed(Writer &w, ArrayRef<Value> wide, const Narrowed &how, const std::optional<ByteCurve> &curve) {
  SmallVector<Value, 2> words;
  for (size_t i = 0; i < wide.size(); i += 2) {
    Value pair = instruction(w, Instruction::PackInt32, {wide[i], wide[i + 1]});
    if (curve) {
      pair = curve->bytes(w, pair);
    } else if (how.zero) {
      pair = LLVM::SAddSat::create(w.b, w.loc, pair, w.constant(how.zero, pair.getType()));
    }
    words.push_back(pair);
  }
  if (how.inWords) {
    Value bytes = arith::MaxSIOp::create(w.b, w.loc, words.front(), w.constant(0, words.front().getType()));
    bytes = arith::MinSIOp::create(w.b, w.loc, bytes, w.constant(UINT8_MAX, bytes.getType()));
    return inOrder(w, bytes, /*count=*/2, /*bits=*/64);
  }
  Value bytes =
      instruction(w, how.isSigned ? Instruction::PackInt16 : Instruction::PackUnsigned, {words.front(), words.back()});
  return inOrder(w, bytes, static_cast<int64_t>(wide.size()), /*bits=*/32);
}

} // namespace

Value concatenatedBytes(Writer &w, KnownSegments &known, ArrayRef<Value> vectors) {
  auto type = dyn_cast<VectorType>(vectors.front().getType());
  int64_t lanes = w.machine.lanes, registers = type ? type.getNumElements() / lanes : 0;
  size_t all = vectors.size() * registers;
  std::optional<Narrowed> first = narrowedOf(vectors.front());
  size_t most = first && first->inWords ? 2 : 4;
  if (!w.machine.has(Instruction::PackInt32) || !first || !llvm::isPowerOf2_64(all) || all > most) {
    return concatenated(w, vectors);
  }
  std::optional<ByteCurve> curve = ByteCurve::of(w, known, first->wide, first->zero, first->isSigned);
  if (all == 1 && !curve) {
    return vectors.front();
  }
  SmallVector<Value, 4> wide;
  for (Value v : vectors) {
    std::optional<Narrowed> n = narrowedOf(v);
    Value integers = n && curve ? curve->places(w, n->wide) : n ? n->wide : Value();
    if (!integers || !n->isLike(*first)) {
      return concatenated(w, vectors);
    }
    for (int64_t i = 0; i < registers; ++i) {
      wide.push_back(registers == 1 ? integers : lanesOf(w, integers, i * lanes, lanes));
    }
  }
  if (all == 1) { // a pair has been packed
    wide.push_back(wide.front());
  }
  Value bytes = packed(w, wide, *first, curve);
  return all == 1 ? lanesOf(w, bytes, 0, lanes) : bytes;
}

} // namespace ingot::lower
