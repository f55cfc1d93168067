// Operators of com.microsoft on integers: products, sums and differences of narrow integers, which are computed as
// 32-bit ones and wrap around there, and a hash.
#include "compiler/onnx/ops/MicrosoftIntegers.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "runtime_support/include/ingot.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/MicrosoftIntegers.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static Value asInt32(Formula &f, Value v) { return f.cast(v, f.b.getI32Type(), INGOT_INT32); }
static Value asUint32(Formula &f, Value v) {
  return f.cast(v, f.b.getIntegerType(32, /*isSigned=*/false), INGOT_UINT32);
}

LogicalResult MatMulInteger16Op::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value a = node.operand(0), b = node.operand(1);
  bool both = elementOf(a).isUnsignedInteger() && elementOf(b).isUnsignedInteger();
  auto wide = both ? asUint32 : asInt32;
  return give(node, f.op("MatMul", {wide(f, a), wide(f, b)}));
}

/// (a - zero of a) * (b - zero of b), where the zero points stand behind their operands.
LogicalResult MulIntegerOp::upgrade(Node &node) {
  if (!node.operand(0) || !node.operand(2)) {
    return node.error("needs two operands");
  }
  Formula f(node.builder, node.loc);
  auto factor = [&](unsigned i) {
    Value x = asInt32(f, node.operand(i)), zero = node.operand(i + 1);
    return zero ? f.sub(x, asInt32(f, zero)) : x;
  };
  return give(node, f.mul(factor(0), factor(2)));
}

LogicalResult ReduceSumIntegerOp::upgrade(Node &node) {
  auto axes = dyn_cast_or_null<DenseI64ArrayAttr>(node.attributes.get("axes"));
  if (failed(node.needs(1))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), over = axes ? makeIntegers(f.b, f.loc, axes.asArrayRef()) : Value();
  x = elementOf(x).isUnsignedInteger() ? asUint32(f, x) : asInt32(f, x);
  return give(node, f.op("ReduceSum", {x, over}, {f.integer("keepdims", node.integer("keepdims", 1))}));
}

// Computes MurmurHash3 of numbers in its form of 32 bits; their bytes are words of four.

namespace {
struct Murmur {
  Formula &f;
  Value word; ///< a word, whose element type all others have

  Value number(uint32_t n) { return integerLike(f, n, word); }
  Value shifted(Value x, uint32_t bits, StringRef direction) {
    return f.op("BitShift", {x, number(bits)}, {f.b.getNamedAttr("direction", f.b.getStringAttr(direction))});
  }
  Value rotated(Value x, uint32_t bits) {
    return f.op("BitwiseOr", {shifted(x, bits, "LEFT"), shifted(x, 32 - bits, "RIGHT")});
  }
  Value exclusive(Value x, Value y) { return f.op("BitwiseXor", {x, y}); }

  /// The step of the algorithm for one word, whose constants are those of its author.
  Value taken(Value hash, Value next) {
    next = f.mul(rotated(f.mul(next, number(0xcc9e2d51)), 15), number(0x1b873593));
    return f.add(f.mul(rotated(exclusive(hash, next), 13), number(5)), number(0xe6546b64));
  }
  /// The end of the algorithm, which mixes the length in and lets each bit of the hash depend on all others.
  Value finished(Value hash, uint32_t bytes) {
    hash = exclusive(hash, number(bytes));
    hash = f.mul(exclusive(hash, shifted(hash, 16, "RIGHT")), number(0x85ebca6b));
    hash = f.mul(exclusive(hash, shifted(hash, 13, "RIGHT")), number(0xc2b2ae35));
    return exclusive(hash, shifted(hash, 16, "RIGHT"));
  }
};
} // namespace

/// Returns the words of each element, the low one first.
static SmallVector<Value> wordsOf(Formula &f, Value x) {
  auto bits = elementOf(x).getIntOrFloatBitWidth();
  if (bits == 32) {
    return {f.op("BitCast", {x}, {f.integer("to", INGOT_UINT32)})};
  }
  Value whole = f.op("BitCast", {x}, {f.integer("to", INGOT_UINT64)});
  Value high =
      f.op("BitShift", {whole, integerLike(f, 32, whole)}, {f.b.getNamedAttr("direction", f.b.getStringAttr("RIGHT"))});
  return {asUint32(f, f.op("BitwiseAnd", {whole, integerLike(f, 0xffffffff, whole)})), asUint32(f, high)};
}

LogicalResult MurmurHash3Op::upgrade(Node &node) {
  if (failed(node.needs(1))) {
    return failure();
  }
  Type element = elementOf(node.operand(0));
  if (isString(element) || (element.getIntOrFloatBitWidth() != 32 && element.getIntOrFloatBitWidth() != 64)) {
    return node.error("keys that are no numbers of 32 or 64 bits are unsupported");
  }
  Formula f(node.builder, node.loc);
  SmallVector<Value> words = wordsOf(f, node.operand(0));
  Murmur murmur{f, words[0]};
  Value hash = murmur.number(static_cast<uint32_t>(node.integer("seed", 0)));
  for (Value word : words) {
    hash = murmur.taken(hash, word);
  }
  hash = murmur.finished(hash, static_cast<uint32_t>(words.size() * 4));
  return give(node, node.integer("positive", 1) ? hash : f.op("BitCast", {hash}, {f.integer("to", INGOT_INT32)}));
}

void registerMicrosoftIntegers(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/MicrosoftIntegers.cpp.inc"
      >();
}

} // namespace ingot::onnx
