#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/lower/core/Instructions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

WordProducts::WordProducts(const target::MachineModel &machine, Factor factor)
    : dots(machine.has(Instruction::WordDot2)), factor(factor) {}

void WordProducts::pack(ArrayRef<char> weights, char *to) const {
  constexpr std::array<size_t, 4> exchanged = {0, 2, 1, 3};
  for (size_t i = 0; i < weights.size(); ++i) {
    to[factor == Factor::Columns ? exchanged[i] : i] = weights[i];
  }
}

static Buffer viewed(Writer &w, Buffer bytes, Type element, int64_t count) {
  int64_t each = element.getIntOrFloatBitWidth() / 8;
  return w.scratch(bytes, 0, element, count / each);
}

Buffer WordProducts::weights(Writer &w, Buffer packed) const {
  return dots ? viewed(w, packed, w.b.getI32Type(), cast<MemRefType>(packed.memref.getType()).getNumElements())
              : packed;
}
Buffer WordProducts::numbers(Writer &w, Buffer scratch, int64_t bytes) const {
  return viewed(w, scratch, dots ? w.b.getI16Type() : w.b.getI8Type(), bytes);
}
Buffer WordProducts::words(Writer &w, Buffer scratch, int64_t bytes) const {
  return viewed(w, scratch, dots ? w.b.getI32Type() : w.b.getI8Type(), bytes);
}

void WordProducts::store(Writer &w, Value byte, Buffer numbers, Ix at) const {
  w.store(dots ? arith::ExtUIOp::create(w.b, w.loc, w.b.getI16Type(), byte).getResult() : byte, numbers, at);
}

static Value rotated(Writer &w, Value word) {
  Type i32 = w.b.getI32Type();
  Value low = arith::ShRUIOp::create(w.b, w.loc, word, w.constant(8, i32)),
        high = arith::ShLIOp::create(w.b, w.loc, word, w.constant(24, i32));
  return arith::OrIOp::create(w.b, w.loc, low, high);
}

WordProducts::Step WordProducts::widened(Writer &w, Value word) {
  return {instruction(w, Instruction::WidenBytes, word), instruction(w, Instruction::WidenBytes, rotated(w, word))};
}

WordProducts::Step WordProducts::widenedSigned(Writer &w, Value word) {
  return {instruction(w, Instruction::WidenSignedBytes, word),
          instruction(w, Instruction::WidenSignedBytes, rotated(w, word))};
}

Value WordProducts::wordAt(Writer &w, Buffer bytes, Ix at) {
  Value word = vector::BitCastOp::create(w.b, w.loc, VectorType::get({1}, w.b.getI32Type()), w.load(bytes, at, 4));
  return vector::ExtractOp::create(w.b, w.loc, word, 0);
}

WordProducts::Step WordProducts::column(Writer &w, Buffer words, Ix step) const {
  if (dots) {
    return {w.load(words, step * 2), w.load(words, step * 2 + 1)};
  }
  return {arith::ExtUIOp::create(w.b, w.loc, w.b.getI32Type(), w.load(words, step))};
}

WordProducts::Step WordProducts::bytes(Writer &w, Buffer from, Ix at, int64_t count) const {
  Type i32 = w.b.getI32Type();
  auto byte = [&](int64_t i) -> Value { return arith::ExtUIOp::create(w.b, w.loc, i32, w.load(from, at + Ix(i))); };
  if (!dots) {
    return {byte(0)};
  }
  if (count >= step()) {
    return widened(w, wordAt(w, from, at));
  }
  Value word = byte(0);
  for (int64_t i = 1; i < count; ++i) {
    Value placed = arith::ShLIOp::create(w.b, w.loc, byte(i), w.constant(8 * i, i32));
    word = arith::OrIOp::create(w.b, w.loc, word, placed);
  }
  return widened(w, word);
}

WordProducts::Step WordProducts::weight(Writer &w, Buffer weights, Ix at) const {
  Value word = w.load(weights, at);
  if (!dots) {
    return {arith::ExtSIOp::create(w.b, w.loc, w.b.getI32Type(), word)};
  }
  return widenedSigned(w, word);
}

Value WordProducts::add(Writer &w, Value sum, const Step &x, const Step &weights) const {
  if (!dots) {
    return arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, x[0], weights[0]));
  }
  for (auto [word, weight] : llvm::zip_equal(x, weights)) {
    sum = instruction(w, Instruction::WordDot2, {word, weight, sum});
  }
  return sum;
}

} // namespace ingot::lower
