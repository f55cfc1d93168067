#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/lower/core/Instructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

ByteProducts::ByteProducts(const target::MachineModel &machine, bool isInt16, int64_t int16Dots)
    : method(isInt16                                           ? Method::Int16Dot2
             : machine.has(Instruction::ByteDot4)              ? Method::ByteDot4
             : int16Dots && machine.has(Instruction::ByteDot2) ? Method::ByteDot2
             : machine.has(Instruction::Int16Dot2)             ? Method::WidenedDot2
                                                               : Method::Multiply),
      int16Dots(int16Dots) {}

uint32_t ByteProducts::word(const std::array<int8_t, mostBytes> &weights, int64_t row) const {
  auto part = [](int8_t v, int shift, uint32_t mask) { return (static_cast<uint32_t>(v) & mask) << shift; };
  switch (method) {
  case Method::Multiply:
    return static_cast<uint32_t>(weights[row]);
  case Method::WidenedDot2:
    return part(weights[row], 0, 0xffff) | part(weights[row + 2], 16, 0xffff);
  case Method::Int16Dot2:
    return part(weights[0], 0, 0xffff) | part(weights[1], 16, 0xffff);
  case Method::ByteDot4:
  case Method::ByteDot2:
    break;
  }
  const int8_t *own = weights.data() + row * dotBytes;
  return part(own[0], 0, 0xff) | part(own[1], 8, 0xff) | part(own[2], 16, 0xff) | part(own[3], 24, 0xff);
}

double ByteProducts::share() const {
  switch (method) {
  case Method::ByteDot4:
    return 0.25;
  case Method::ByteDot2:
    return int16Dots > 1 ? 0.4 : 0.5;
  case Method::Int16Dot2:
    return 0.5;
  case Method::WidenedDot2:
  case Method::Multiply:
    break;
  }
  return 0.85;
}

int64_t ByteProducts::heightOf(int64_t vectors, const target::MachineModel &machine) const {
  if (method == Method::ByteDot2) {
    return std::max<int64_t>(1, (machine.registers - 3 - vectors) / vectors);
  }
  int64_t others = method == Method::Int16Dot2 ? 2 : 4;
  return std::max<int64_t>(1, (machine.registers - others - rows() * vectors) / vectors);
}

Buffer ByteProducts::words(Writer &w, Buffer weights) {
  int64_t bytes = cast<MemRefType>(weights.memref.getType()).getNumElements();
  return w.scratch(weights, 0, w.b.getI32Type(), bytes / dotBytes);
}

static Value bitcast(Writer &w, Value v, Type element) {
  auto type = cast<VectorType>(v.getType());
  int64_t count = type.getNumElements() * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(w.b, w.loc, VectorType::get({count}, element), v);
}

static Value byteOf(Writer &w, Buffer from, Ix at) {
  return arith::ExtUIOp::create(w.b, w.loc, w.b.getI32Type(), w.load(from, at));
}

/// Returns bytes in a word, the first one lowest.
static Value wordOf(Writer &w, Buffer from, Ix at, int64_t count) {
  Type i32 = w.b.getI32Type();
  if (count >= ByteProducts::dotBytes) {
    Value bytes = bitcast(w, w.load(from, at, ByteProducts::dotBytes), i32);
    return vector::ExtractOp::create(w.b, w.loc, bytes, 0);
  }
  Value word = w.constant(0, i32);
  for (int64_t i = 0; i < count; ++i) {
    Value byte = byteOf(w, from, at + Ix(i));
    byte = arith::ShLIOp::create(w.b, w.loc, byte, w.constant(8 * i, i32));
    word = arith::OrIOp::create(w.b, w.loc, word, byte);
  }
  return word;
}

SmallVector<Value, ByteProducts::dotBytes> ByteProducts::elements(Writer &w, Buffer from, Ix at, int64_t lanes,
                                                                  int64_t count) const {
  SmallVector<Value, dotBytes> rows;
  if (method == Method::Int16Dot2) {
    Type i16 = w.b.getI16Type(), pairType = VectorType::get({2}, i16);
    Value pair = count > 1
                     ? w.load(from, at, 2)
                     : vector::InsertOp::create(w.b, w.loc, w.load(from, at), w.constant(0, pairType), 0).getResult();
    Value word = vector::ExtractOp::create(w.b, w.loc, bitcast(w, pair, w.b.getI32Type()), 0);
    return {bitcast(w, w.splat(word, lanes), i16)};
  }
  if (method == Method::ByteDot2) {
    for (int64_t first = 0; first < step(); first += dotBytes) {
      Type type = w.vectorOf(w.b.getI8Type(), lanes * dotBytes);
      rows.push_back(first < count
                         ? bitcast(w, w.splat(wordOf(w, from, at + Ix(first), count - first), lanes), w.b.getI8Type())
                         : w.constant(0, type));
    }
    return rows;
  }
  if (method == Method::Multiply) {
    for (int64_t i = 0; i < dotBytes; ++i) {
      rows.push_back(i < count ? w.splat(byteOf(w, from, at + Ix(i)), lanes)
                               : w.constant(0, w.vectorOf(w.b.getI32Type(), lanes)));
    }
    return rows;
  }
  Value all = w.splat(wordOf(w, from, at, count), lanes);
  if (method == Method::ByteDot4) {
    return {bitcast(w, all, w.b.getI8Type())};
  }
  Value numbers = bitcast(w, all, w.b.getI16Type());
  Value even = arith::AndIOp::create(w.b, w.loc, numbers, w.constant(0xff, numbers.getType()));
  return {even, arith::ShRUIOp::create(w.b, w.loc, numbers, w.constant(8, numbers.getType()))};
}

/// Returns the elements of two vectors alternately.
static Value inTurn(Writer &w, Value a, Value b) {
  int64_t count = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    order.append({i, count + i});
  }
  return vector::ShuffleOp::create(w.b, w.loc, a, b, order);
}

Value ByteProducts::stacked(Writer &w, ArrayRef<Value> bytes) const {
  if (method == Method::ByteDot2) { // it goes in steps for which vectors of 128 bits have instructions
    auto pairs = [&](int64_t i) { return bitcast(w, inTurn(w, bytes[i], bytes[i + 1]), w.b.getI16Type()); };
    return bitcast(w, inTurn(w, pairs(0), pairs(2)), w.b.getI8Type());
  }
  int64_t lanes = cast<VectorType>(bytes.front().getType()).getNumElements(), count = bytes.size();
  SmallVector<Value> halves;
  SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(2 * lanes)), order;
  for (int64_t i = 0; count > 2 && i < count; i += 2) {
    halves.push_back(vector::ShuffleOp::create(w.b, w.loc, bytes[i], bytes[i + 1], behind));
  }
  for (int64_t i = 0; i < count * lanes; ++i) {
    order.push_back(i % count * lanes + i / count);
  }
  ArrayRef<Value> two = count > 2 ? ArrayRef<Value>(halves) : bytes;
  Value all = vector::ShuffleOp::create(w.b, w.loc, two[0], two[1], order);
  Type widened = w.vectorOf(w.b.getI16Type(), count * lanes);
  return perWord() == dotBytes ? all : arith::ExtUIOp::create(w.b, w.loc, widened, all).getResult();
}

uint32_t ByteProducts::stackedWord(ArrayRef<int8_t> weights) const {
  std::array<int8_t, mostBytes> spread{};
  for (auto [i, weight] : llvm::enumerate(weights)) {
    spread[i * rows()] = weight;
  }
  return word(spread, 0);
}

/// Writes an instruction on as many vectors of the machine's length as there are lanes. The first operand may be
/// missing.
static Value inParts(Writer &w, Instruction which, Value sums, Value x, Value y) {
  auto operand = cast<VectorType>(x.getType());
  int64_t lanes = operand.getNumElements() * operand.getElementTypeBitWidth() / 32, length = w.machine.lanes;
  auto part = [&](Value v, int64_t i) -> Value {
    int64_t count = cast<VectorType>(v.getType()).getNumElements() / lanes * length;
    return lanes == length ? v
                           : vector::ExtractStridedSliceOp::create(w.b, w.loc, v, ArrayRef<int64_t>(i * count),
                                                                   ArrayRef<int64_t>(count), ArrayRef<int64_t>(1));
  };
  Value all;
  for (int64_t i = 0; i * length < lanes; ++i) {
    SmallVector<Value> operands;
    if (sums) {
      operands.push_back(part(sums, i));
    }
    operands.append({part(x, i), part(y, i)});
    Value result = instruction(w, which, operands);
    if (lanes == length) {
      return result;
    }
    auto type = cast<VectorType>(result.getType());
    int64_t each = type.getNumElements();
    all = all ? all : w.constant(0, VectorType::get({lanes / length * each}, type.getElementType()));
    all = vector::InsertStridedSliceOp::create(w.b, w.loc, result, all, ArrayRef<int64_t>(i * each),
                                               ArrayRef<int64_t>(1));
  }
  return all;
}

static Value plus(Writer &w, Value a, Value b) { return arith::AddIOp::create(w.b, w.loc, a, b); }

Value ByteProducts::add(Writer &w, Value sums, ArrayRef<Value> elements, ArrayRef<Value> weights) const {
  Value pairs;
  for (auto [x, weight] : llvm::zip_equal(elements, weights)) {
    if (method == Method::ByteDot2) {
      pairs = addInt16(w, pairs, x, weight);
    } else {
      sums = addRow(w, sums, x, weight);
    }
  }
  return pairs ? addUp(w, sums, pairs) : sums;
}

Value ByteProducts::addRow(Writer &w, Value sums, Value elements, Value weights) const {
  if (method == Method::ByteDot4) {
    return inParts(w, Instruction::ByteDot4, sums, elements, bitcast(w, weights, w.b.getI8Type()));
  }
  return method == Method::Multiply ? plus(w, sums, arith::MulIOp::create(w.b, w.loc, elements, weights))
                                    : addPairs(w, sums, elements, weights);
}

Value ByteProducts::addInt16(Writer &w, Value pairs, Value elements, Value weights) {
  Value own = inParts(w, Instruction::ByteDot2, {}, elements, bitcast(w, weights, w.b.getI8Type()));
  return pairs ? plus(w, pairs, own) : own;
}

Value ByteProducts::addUp(Writer &w, Value sums, Value pairs) {
  return addPairs(w, sums, pairs, w.constant(1, pairs.getType()));
}

Value ByteProducts::addPairs(Writer &w, Value sums, Value x, Value weights) {
  Type i16 = w.b.getI16Type();
  return plus(w, sums, inParts(w, Instruction::Int16Dot2, {}, bitcast(w, x, i16), bitcast(w, weights, i16)));
}

Value ByteProducts::addProducts(Writer &w, Value sums, Value x, Value weights) {
  auto type = dyn_cast<VectorType>(sums.getType());
  if (!type || !w.machine.has(Instruction::Int16Dot2) || type.getNumElements() % w.machine.lanes) {
    return plus(w, sums, arith::MulIOp::create(w.b, w.loc, x, weights));
  }
  return addPairs(w, sums, x, weights); // the other number of each pair of x is zero
}

} // namespace ingot::lower
