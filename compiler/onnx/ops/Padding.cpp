// Writes operators on tokens without padding, which are rows, one behind the other. A list of offsets [batch, steps]
// says where each of them stands among the rows of the padded batch: first those of the tokens, then those of the
// padding. Attention puts the padding back, so that each sentence looks at its own keys alone, and takes it away again.
#include "compiler/onnx/ops/Padding.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "runtime_support/include/ingot.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Padding.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns the rows of the tokens, of which there are as many as `like` has rows.
static Value tokensOf(Formula &f, Value padded, Value offsets, Value like) {
  Value all = f.reshape(offsets, {-1});
  Value rows = reshapeBy(f, padded, {sizeAlong(f, all, 0), sizeAlong(f, padded, 2)});
  Value places = slice(f, all, 0, makeIntegers(f.b, f.loc, {0}), sizeAlong(f, like, 0));
  return f.op("Gather", {rows, places}, {f.integer("axis", 0)});
}

/// For two sentences of 2 and 1 tokens in 2 x 2 places the rows are 0, 1, 2 and the padding is row 3: the offsets are 0
/// 1 2 3. If the sentences have 1 and 2 tokens, they are 0 2 3 1.
LogicalResult RemovePaddingOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), counts = node.operand(1), zero = makeIntegers(f.b, f.loc, {0});
  auto i32 = [&](Value v) { return f.cast(v, f.b.getI32Type(), INGOT_INT32); };
  auto sumsOf = [&](Value v) { return f.op("CumSum", {v, f.scalar(0)}); };
  Value steps = f.countTo(lengthOf(f, x, 1));
  Value isToken = f.reshape(f.op("Less", {steps, unsqueeze(f, integers(f, counts), {1})}), {-1});
  Value rows = reshapeBy(f, x, {sizeAlong(f, isToken, 0), sizeAlong(f, x, 2)});
  // A token's place among the offsets is the number of tokens in front of it; padding follows behind all tokens.
  Value tokens = sumsOf(integers(f, isToken)), others = sumsOf(integers(f, f.op("Not", {isToken})));
  Value total = f.reduce("ReduceSum", integers(f, counts), {0}, /*keepdims=*/false);
  Value place = f.op("Where", {isToken, tokens, f.add(others, total)});
  Value row = f.countTo(lengthOf(f, isToken, 0));
  Value offsets = f.op("ScatterElements", {row, f.sub(place, f.scalar(1)), row}, {f.integer("axis", 0)});
  node.results = {f.op("Compress", {rows, isToken}, {f.integer("axis", 0)}),
                  i32(reshapeBy(f, offsets, {shapeOf(f, x, 0, 2)})),
                  i32(concat(f, {zero, sumsOf(integers(f, counts))}, 0)),
                  i32(f.reduce("ReduceMax", integers(f, counts), {0}, /*keepdims=*/true))};
  return success();
}

LogicalResult RestorePaddingOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(2)) ? failure() : give(node, restorePadding(f, node.operand(0), node.operand(1)));
}

/// Returns attention of rows [tokens, width]; `sums` says behind which token each sentence ends, the first number being
/// 0. Keys behind the end of a sentence get `mask_filter_value` added to their scores, rather than infinity, as the
/// operator says.
static Value packedAttention(Node &node, Formula &f, ArrayRef<Value> rows, Value offsets, Value sums, Value bias) {
  SmallVector<Value> padded;
  for (Value v : rows) {
    padded.push_back(restorePadding(f, v, offsets));
  }
  Value one = makeIntegers(f.b, f.loc, {1}), batches = sizeAlong(f, offsets, 0);
  Value ends = slice(f, sums, 0, one, f.add(batches, one));
  Value lengths = f.sub(ends, slice(f, sums, 0, makeIntegers(f.b, f.loc, {0}), batches));
  Value own = unsqueeze(f, integers(f, lengths), {1, 2, 3});
  Value isKey = f.op("Less", {f.countTo(lengthOf(f, offsets, 1)), own});
  Value filter = f.number(node.number("mask_filter_value", -10000), rows[0]);
  Value mask = f.op("Where", {isKey, f.number(0, rows[0]), filter});
  int64_t heads = node.integer("num_heads", 0);
  SmallVector<NamedAttribute> attributes = {f.integer("q_num_heads", heads), f.integer("kv_num_heads", heads)};
  if (double scale = node.number("scale", 0)) {
    attributes.push_back(f.number("scale", scale));
  }
  Operation *y =
      createOp(f.b, f.loc, "onnx.Attention",
               {padded[0], padded[1], padded[2], sum(f, {mask, bias}), Value(), Value(), Value()}, attributes, 4);
  return tokensOf(f, y->getResult(0), offsets, rows[0]);
}

LogicalResult PackedAttentionOp::upgrade(Node &node) {
  if (failed(node.needs(5))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  auto widths = dyn_cast_or_null<DenseI64ArrayAttr>(node.attributes.get("qkv_hidden_sizes"));
  if (widths && widths.size() != 3) {
    return node.error("attribute 'qkv_hidden_sizes' has " + Twine(widths.size()) + " numbers, expected three");
  }
  if (node.integer("num_heads", 0) < 1) {
    return node.error("needs a positive 'num_heads'");
  }
  Value all = f.add(f.op("MatMul", {node.operand(0), node.operand(1)}), node.operand(2));
  SmallVector<Value> parts;
  if (widths) {
    int64_t from = 0;
    for (int64_t width : widths.asArrayRef()) {
      parts.push_back(slice(f, all, 1, from, from + width));
      from += width;
    }
  } else {
    parts = split(f, all, 1, 3);
  }
  return give(node, packedAttention(node, f, parts, node.operand(3), node.operand(4), node.operand(5)));
}

/// Takes queries, keys and values of a head apart where they are one operand, [tokens, heads, 3, width].
LogicalResult PackedMultiHeadAttentionOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  Value q = node.operand(0), k = node.operand(1), v = node.operand(2), bias = node.operand(3);
  if (!q || !node.operand(4) || !node.operand(5) || static_cast<bool>(k) != static_cast<bool>(v)) {
    return node.error("needs a query, key and value together or neither, and the tokens' offsets and numbers");
  }
  if (node.integer("num_heads", 0) < 1) {
    return node.error("needs a positive 'num_heads'");
  }
  SmallVector<Value> rows = {q, k, v};
  if (!k) {
    Value width = f.mul(sizeAlong(f, q, 1), sizeAlong(f, q, 3));
    rows = split(f, q, 2, 3);
    for (Value &part : rows) {
      part = reshapeBy(f, part, {sizeAlong(f, q, 0), width});
    }
  }
  if (bias) {
    Value from = makeIntegers(f.b, f.loc, {0});
    for (Value &part : rows) {
      Value to = f.add(from, sizeAlong(f, part, 1));
      part = f.add(part, slice(f, bias, 0, from, to));
      from = to;
    }
  }
  return give(node, packedAttention(node, f, rows, node.operand(4), node.operand(5), node.operand(6)));
}

void registerPadding(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Padding.cpp.inc"
      >();
}

} // namespace ingot::onnx
