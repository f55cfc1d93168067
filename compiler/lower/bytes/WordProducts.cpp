#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/lower/core/Group.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cstring>

using namespace mlir;

namespace ingot::lower {

/// Vectors multiply signed numbers, so a byte of the left factor is this much more than the number in a vector.
constexpr int64_t above = 128;
constexpr int64_t sumBytes = sizeof(int32_t);

WordProducts::WordProducts(const target::MachineModel &machine, Factor factor)
    : dots(target::platformOf(machine).dotBytes ? Dots::Vectors
           : machine.has(Instruction::WordDot2) ? Dots::Words
                                                : Dots::Single),
      factor(factor), numbersOfStep(pick<int64_t>(1, 4, target::platformOf(machine).dotBytes)) {}

std::string WordProducts::key() const {
  return pick<const char *>("bytes", factor == Factor::Columns ? "exchanged words" : "words", "vectors");
}

int64_t WordProducts::packedBytes(const Packing &p) const {
  return p.tiles * p.outputs * (p.steps * step() + (hasVectors() ? sumBytes : 0));
}

void WordProducts::pack(
    const Packing &p, MutableArrayRef<char> to,
    llvm::function_ref<SmallVector<char>(int64_t tile, int64_t output, int64_t number)> take) const {
  constexpr std::array<size_t, 4> exchanged = {0, 2, 1, 3};
  bool exchanges = hasWords() && factor == Factor::Columns;
  std::vector<int32_t> sums(p.tiles * p.outputs);
  char *at = to.data();
  for (int64_t tile = 0; tile < p.tiles; ++tile) {
    for (int64_t k = 0; k < p.steps; ++k) {
      for (int64_t output = 0; output < p.outputs; ++output, at += step()) {
        for (auto [i, weight] : llvm::enumerate(take(tile, output, k * step()))) {
          at[exchanges ? exchanged[i] : i] = weight;
          sums[tile * p.outputs + output] += above * static_cast<int8_t>(weight);
        }
      }
    }
  }
  if (hasVectors()) {
    std::memcpy(at, sums.data(), sums.size() * sumBytes);
  }
}

static Buffer viewed(Writer &w, Buffer bytes, Type element, int64_t count) {
  int64_t each = element.getIntOrFloatBitWidth() / 8;
  return w.scratch(bytes, 0, element, count / each);
}

Buffer WordProducts::weights(Writer &w, Buffer packed) const {
  return hasWords() ? viewed(w, packed, w.b.getI32Type(), cast<MemRefType>(packed.memref.getType()).getNumElements())
                    : packed;
}

Value WordProducts::lacking(Writer &w, Buffer packed, const Packing &p, Ix output, int64_t count) const {
  if (!hasVectors()) {
    return {};
  }
  int64_t outputs = p.tiles * p.outputs;
  return w.load(w.scratch(packed, outputs * p.steps * step(), w.b.getI32Type(), outputs), output, count);
}

Buffer WordProducts::numbers(Writer &w, Buffer scratch, int64_t bytes) const {
  return viewed(w, scratch, hasWords() ? w.b.getI16Type() : w.b.getI8Type(), bytes);
}
Buffer WordProducts::words(Writer &w, Buffer scratch, int64_t bytes) const {
  return viewed(w, scratch, hasWords() ? w.b.getI32Type() : w.b.getI8Type(), bytes);
}

Value WordProducts::less128(Writer &w, Value bytes) {
  return arith::XOrIOp::create(w.b, w.loc, bytes, w.constant(INT8_MIN, bytes.getType()));
}

void WordProducts::store(Writer &w, Value byte, Buffer numbers, Ix at) const {
  Value number = hasVectors() ? less128(w, byte)
                 : hasWords() ? arith::ExtUIOp::create(w.b, w.loc, w.b.getI16Type(), byte).getResult()
                              : byte;
  w.store(number, numbers, at);
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

WordProducts::Step WordProducts::column(Writer &w, Buffer words, Ix step, Ix first) const {
  if (hasVectors()) {
    return {w.load(words, first + step * numbersOfStep, numbersOfStep)};
  }
  if (hasWords()) {
    return {w.load(words, first + step * 2), w.load(words, first + step * 2 + 1)};
  }
  return {arith::ExtUIOp::create(w.b, w.loc, w.b.getI32Type(), w.load(words, first + step))};
}

WordProducts::Step WordProducts::bytes(Writer &w, Buffer from, Ix at, int64_t count) const {
  if (hasVectors()) {
    return {less128(w, w.load(from, at, step(), count < step() ? w.maskFor(count, step()) : Value()))};
  }
  Type i32 = w.b.getI32Type();
  auto byte = [&](int64_t i) -> Value { return arith::ExtUIOp::create(w.b, w.loc, i32, w.load(from, at + Ix(i))); };
  if (!hasWords()) {
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
  if (hasVectors()) {
    return {w.load(weights, at * step(), step())};
  }
  Value word = w.load(weights, at);
  if (!hasWords()) {
    return {arith::ExtSIOp::create(w.b, w.loc, w.b.getI32Type(), word)};
  }
  return widenedSigned(w, word);
}

/// Returns the sum of all lanes' products. LLVM knows this form, and makes one instruction of it and the addition that
/// follows.
static Value dot(Writer &w, Value x, Value weights) {
  Type wide = cast<VectorType>(x.getType()).clone(w.b.getI32Type());
  Value product = arith::MulIOp::create(w.b, w.loc, arith::ExtSIOp::create(w.b, w.loc, wide, x),
                                        arith::ExtSIOp::create(w.b, w.loc, wide, weights));
  return vector::ReductionOp::create(w.b, w.loc, vector::CombiningKind::ADD, product);
}

Value WordProducts::add(Writer &w, Value sum, const Step &x, const Step &weights) const {
  if (!hasWords()) {
    Value more =
        hasVectors() ? dot(w, x[0], weights[0]) : arith::MulIOp::create(w.b, w.loc, x[0], weights[0]).getResult();
    return arith::AddIOp::create(w.b, w.loc, sum, more);
  }
  for (auto [word, weight] : llvm::zip_equal(x, weights)) {
    sum = instruction(w, Instruction::WordDot2, {word, weight, sum});
  }
  return sum;
}

/// Returns whether an op is computed without a comparison of floats.
static bool comparesNoFloats(Operation &op) {
  if (auto quantize = dyn_cast<onnx::QuantizeOp>(op)) {
    return quantize.getBounded();
  }
  if (auto cast = dyn_cast<onnx::CastOp>(op)) {
    return onnx::isInt(onnx::elementOf(cast.getX()), 32) && onnx::elementOf(cast.getResult()).isF32();
  }
  return isa<onnx::AddOp, onnx::SubOp, onnx::MulOp, onnx::DequantizeOp, onnx::ConstantOp, onnx::NoneOp, plan::YieldOp>(
      op);
}

void WordProducts::finish(const Group &group, Value sums, const Space &space, const Point &first, int64_t count) {
  auto vectors = [&](Operation &op) { return &op == group.root || comparesNoFloats(op); };
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements();
  Point point = first;
  if (llvm::all_of(group.kernel.getBody().front(), vectors)) {
    point.lanes = lanes, point.mask = count < lanes ? group.w.maskFor(count, lanes) : Value();
    return group.finish(sums, space, point);
  }
  for (int64_t i = 0; i < count; ++i) {
    point.at.back() = first.at.back() + i;
    group.finish(vector::ExtractOp::create(group.w.b, group.w.loc, sums, i), space, point);
  }
}

} // namespace ingot::lower
