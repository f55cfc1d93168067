// Writes biases of scores by how far a key stands from a query, in buckets as T5 has them, and rotary embeddings whose
// angles come from several streams of positions.
#include "compiler/onnx/ops/Positions.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Positions.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns the bucket of each distance: short ones have a bucket each, longer ones share by their logarithm, and all
/// from `most` on are in the last. They are computed in float32, as models are trained with it.
static SmallVector<int64_t> bucketsOf(int64_t buckets, int64_t most) {
  int64_t exact = buckets / 2;
  auto from = static_cast<float>(exact), all = static_cast<float>(buckets - exact);
  SmallVector<int64_t> found;
  for (int64_t distance = 0; distance <= most; ++distance) {
    float part = std::log(static_cast<float>(distance) / from) / std::log(static_cast<float>(most) / from);
    found.push_back(distance < exact ? distance : std::min(exact + static_cast<int64_t>(part * all), buckets - 1));
  }
  return found;
}

/// No model tells longer distances apart, so that buckets of all distances are a small table.
static constexpr int64_t mostDistance = 1 << 16;

/// Reads the table, which is [buckets, heads] by its type, though its numbers stand head by head.
LogicalResult RelativePositionBiasOp::upgrade(Node &node) {
  auto table = ranked(node.operand(0));
  if (failed(node.needs(3))) {
    return failure();
  }
  int64_t most = node.integer("max_distance", 0);
  bool both = node.integer("is_bidirectional", 0) != 0;
  if (!table || !table.hasStaticShape() || table.getRank() != 2) {
    return node.error("a table that is no matrix of known sizes is unsupported");
  }
  int64_t buckets = table.getDimSize(0), heads = table.getDimSize(1), own = both ? buckets / 2 : buckets;
  if (own < 2 || most <= own / 2 || most > mostDistance) {
    return node.error("a 'max_distance' of " + Twine(most) + " does not fit " + Twine(buckets) + " buckets");
  }
  Formula f(node.builder, node.loc);
  auto count = [&](unsigned i) { return f.countTo(f.reshape(node.operand(i), {})); };
  Value ahead = f.sub(count(2), unsqueeze(f, count(1), {1})), zero = f.scalar(0);
  Value distance = both ? f.abs(ahead) : f.op("Max", {f.op("Neg", {ahead}), zero});
  Value places = makeIntegers(f.b, f.loc, bucketsOf(own, most));
  Value bucket = f.op("Gather", {places, f.op("Min", {distance, f.scalar(most)})});
  if (both) {
    Value isAhead = f.op("Greater", {ahead, zero});
    bucket = f.add(bucket, f.op("Where", {isAhead, f.scalar(own), zero}));
  }
  Value byHead = f.reshape(node.operand(0), {heads, buckets});
  return give(node, unsqueeze(f, f.op("Gather", {byHead, bucket}, {f.integer("axis", 1)}), {0}));
}

/// Multiplies a bias by what each query says: two gates, each of which is the sigmoid of a sum of products.
LogicalResult GatedRelativePositionBiasOp::upgrade(Node &node) {
  if (failed(node.needs(6))) {
    return failure();
  }
  int64_t heads = node.integer("num_heads", 0);
  auto weights = ranked(node.operand(3));
  if (heads < 1 || !weights || !weights.hasStaticShape() || weights.getRank() != 2 || weights.getDimSize(1) % 2) {
    return node.error("needs a positive 'num_heads' and weights of known sizes with an even number of columns");
  }
  Formula f(node.builder, node.loc);
  Value query = f.add(node.operand(0), node.operand(1));
  int64_t width = weights.getDimSize(0), columns = weights.getDimSize(1);
  if (Value offsets = node.operand(6)) {
    query = restorePadding(f, query, offsets);
  }
  Value sizes = shapeOf(f, query, 0, 2);
  Value rows = f.transpose(reshapeBy(f, query, {sizes, makeIntegers(f.b, f.loc, {heads, width})}), {0, 2, 1, 3});
  Value products = f.add(f.op("MatMul", {rows, node.operand(3)}), node.operand(4));
  SmallVector<Value> gates;
  for (Value half : {slice(f, products, 3, 0, columns / 2), slice(f, products, 3, columns / 2, columns)}) {
    gates.push_back(f.op("Sigmoid", {f.reduce("ReduceSum", half, {3}, /*keepdims=*/true)}));
  }
  Value inner = f.sub(f.mul(gates[1], node.operand(5)), f.number(1, query));
  Value gate = f.add(f.mul(gates[0], inner), f.number(2, query));
  return give(node, f.mul(gate, node.operand(2)));
}

/// Returns the stream (0, 1, 2) from which each column of half the width takes its angle. For sections [3, 1, 1] they
/// are 0 0 0 1 2, and interleaved 0 1 2 0 0.
static SmallVector<int64_t> streamsOf(ArrayRef<int64_t> section, bool interleaved) {
  SmallVector<int64_t> streams;
  for (int64_t stream = 0; stream < 3; ++stream) {
    streams.append(section[stream], interleaved ? 0 : stream);
  }
  for (int64_t stream = 1; interleaved && stream < 3; ++stream) {
    for (int64_t i = stream; i < std::min<int64_t>(3 * section[stream], streams.size()); i += 3) {
      streams[i] = stream;
    }
  }
  return streams;
}

/// The angles of the chosen streams become the tables of a RotaryEmbedding that has no positions of its own.
LogicalResult MRotaryEmbeddingOp::upgrade(Node &node) {
  if (failed(node.needs(4))) {
    return failure();
  }
  auto section = dyn_cast_or_null<DenseI64ArrayAttr>(node.attributes.get("mrope_section"));
  if (!section || section.size() != 3 || llvm::any_of(section.asArrayRef(), [](int64_t n) { return n < 0; })) {
    return node.error("needs three numbers in 'mrope_section'");
  }
  if (node.integer("is_packed_batching", 0) || node.number("scale", 1) != 1) {
    return node.error("is_packed_batching and a scale are unsupported");
  }
  auto x = ranked(node.operand(0));
  if (!x || (x.getRank() != 3 && x.getRank() != 4)) {
    return node.error("needs an input of three or four dimensions");
  }
  Formula f(node.builder, node.loc);
  SmallVector<int64_t> streams = streamsOf(section.asArrayRef(), node.integer("mrope_layout", 0) != 0);
  auto half = static_cast<int64_t>(streams.size());
  Value of = makeIntegers(f.b, f.loc, streams);
  // The angles are [3, batch, steps, half] of a table, and each column takes one stream.
  auto angles = [&](unsigned table) {
    Value all = f.op("Gather", {node.operand(table), node.operand(1)}, {f.integer("axis", 0)}), chosen;
    SmallVector<Value> each = split(f, all, 0, 3);
    for (int64_t stream = 0; stream < 3; ++stream) {
      Value one = f.op("Squeeze", {each[stream], makeIntegers(f.b, f.loc, {0})});
      chosen = chosen ? f.op("Where", {f.op("Equal", {of, f.scalar(stream)}), one, chosen}) : one;
    }
    return chosen;
  };
  SmallVector<NamedAttribute> attributes = attributesOf(node, {"interleaved", "rotary_embedding_dim"});
  int64_t heads = node.integer("num_heads", 0);
  if (x.getRank() == 3) {
    if (heads == 0 && !x.isDynamicDim(2)) {
      heads = x.getDimSize(2) / std::max<int64_t>(2 * half, 1);
    }
    if (heads < 1) {
      return node.error("needs a positive 'num_heads'");
    }
    attributes.push_back(f.integer("num_heads", heads));
  }
  return give(node, f.op("RotaryEmbedding", {node.operand(0), angles(2), angles(3), Value()}, attributes));
}

/// x cos(a) + rotated(x) sin(a), where the model gives both x and what is rotated, for queries and for keys.
LogicalResult GemmaRotaryEmbeddingOp::upgrade(Node &node) {
  if (failed(node.needs(5))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  auto rotated = [&](unsigned i) {
    Value x = node.operand(i);
    auto angle = [&](StringRef function) { return unsqueeze(f, like(f, f.op(function, {node.operand(0)}), x), {1}); };
    return f.add(f.mul(x, angle("Cos")), f.mul(node.operand(i + 1), angle("Sin")));
  };
  node.results = {rotated(1), rotated(3)};
  return success();
}

void registerPositions(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Positions.cpp.inc"
      >();
}

} // namespace ingot::onnx
