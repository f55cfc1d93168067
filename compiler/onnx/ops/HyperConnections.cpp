// Writes operators on streams, which are [..., branches, width], or stand one behind the other along the last axis. All
// of it is computed in f32.
#include "compiler/onnx/ops/HyperConnections.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/HyperConnections.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// Streams by branches.
struct Streams {
  Value x;        ///< [..., branches, width] in f32
  int64_t prefix; ///< how many axes stand in front of the last two
  int64_t branches, width;
  bool flat; ///< whether the node has them along the last axis
};

} // namespace

/// Returns the streams; nothing, with a message, where sizes do not fit.
static std::optional<Streams> streamsOf(Node &node, Formula &f) {
  auto type = ranked(node.operand(0));
  int64_t given = node.integer("num_branches", 0), rank = type ? type.getRank() : 0;
  bool flat = given != 0;
  if (rank < (flat ? 1 : 2) || type.isDynamicDim(rank - 1) || given < 0 || (!flat && type.isDynamicDim(rank - 2)) ||
      (flat && type.getDimSize(rank - 1) % given)) {
    (void)node.error("needs streams of known width, and a number of branches that divides it");
    return std::nullopt;
  }
  Streams s{real(f, node.operand(0)), flat ? rank - 1 : rank - 2, flat ? given : type.getDimSize(rank - 2),
            flat ? type.getDimSize(rank - 1) / given : type.getDimSize(rank - 1), flat};
  if (flat) {
    s.x = reshapeBy(f, s.x, {shapeOf(f, s.x, 0, s.prefix), makeIntegers(f.b, f.loc, {s.branches, s.width})});
  }
  return s;
}

/// Returns [..., branches, width] in the form of the node's streams.
static Value asGiven(Node &node, Formula &f, const Streams &s, Value v) {
  Value x = node.operand(0);
  v = like(f, v, x);
  return s.flat ? f.op("Reshape", {v, f.op("Shape", {x})}, {f.integer("allowzero", 1)}) : v;
}

/// Returns a gate of branches, or of their columns, as [..., branches, 1 or width]; null, with a message, where it is
/// neither.
static Value gateOf(Node &node, Formula &f, const Streams &s, unsigned operand) {
  auto type = ranked(node.operand(operand));
  Value gate = real(f, node.operand(operand));
  if (type && type.getRank() == s.prefix + 2) {
    return gate;
  }
  bool known = type && type.getRank() == s.prefix + 1 && !type.isDynamicDim(s.prefix);
  if (known && type.getDimSize(s.prefix) == s.branches) {
    return unsqueeze(f, gate, {-1});
  }
  if (known && s.flat && type.getDimSize(s.prefix) == s.branches * s.width) {
    return reshapeBy(f, gate, {shapeOf(f, gate, 0, s.prefix), makeIntegers(f.b, f.loc, {s.branches, s.width})});
  }
  (void)node.error("a gate of type " + (type ? textOf(sizesOf(type)) : "unknown rank") + " does not fit " +
                   Twine(s.branches) + " branches of " + Twine(s.width));
  return {};
}

/// Returns rows divided by their root mean square.
static Value normalized(Formula &f, Value x, int64_t width, double epsilon) {
  auto ones = constantFromFloats(tensorOf({width}, f.b.getF32Type()), SmallVector<double>(width, 1.0));
  return f.op("RMSNormalization", {x, makeConstant(f.b, f.loc, ones)},
              {f.number("epsilon", epsilon), f.integer("axis", -1)});
}

/// A scale is shared by all branches, or each has its own.
LogicalResult BranchwiseRMSNormOp::upgrade(Node &node) {
  if (failed(node.needs(1))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  std::optional<Streams> s = streamsOf(node, f);
  if (!s) {
    return failure();
  }
  Value y = normalized(f, s->x, s->width, node.number("epsilon", 1e-5));
  if (Value scale = node.operand(1)) {
    if (!isStatic(scale)) {
      return node.error("needs a scale of known sizes");
    }
    bool own = ranked(scale).getNumElements() != s->width;
    y = f.mul(y, own ? f.reshape(real(f, scale), {s->branches, s->width}) : f.reshape(real(f, scale), {s->width}));
  }
  return give(node, asGiven(node, f, *s, y));
}

/// The branches, each times its gate, are added up to one.
LogicalResult HyperConnectionPreMixOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  std::optional<Streams> s = streamsOf(node, f);
  Value gate = s ? gateOf(node, f, *s, 1) : Value();
  if (!gate) {
    return failure();
  }
  Value y = f.reduce("ReduceSum", f.mul(s->x, gate), {-2}, /*keepdims=*/false);
  return give(node, like(f, f.mul(y, f.number(node.number("reduction_scale", 1), y)), node.operand(0)));
}

/// y[i] = sum over j of mix[j, i] x[j] + gate[i] * value, where a mix that is left out keeps each branch.
LogicalResult HyperConnectionPostMixOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  std::optional<Streams> s = streamsOf(node, f);
  Value gate = s ? gateOf(node, f, *s, 2) : Value();
  if (!gate) {
    return failure();
  }
  Value mixed = s->x;
  if (Value mix = node.operand(3)) {
    mixed = f.op("MatMul", {real(f, mix), mixed}, {f.flag("transA")});
  }
  Value injected = f.mul(gate, unsqueeze(f, real(f, node.operand(1)), {-2}));
  return give(node, asGiven(node, f, *s, f.add(mixed, injected)));
}

/// Writes a gate: how well keys and queries fit, by branches, is how much of a value that all share goes into each
/// branch.
LogicalResult EngramGateOp::upgrade(Node &node) {
  auto keys = ranked(node.operand(0));
  if (failed(node.needs(5))) {
    return failure();
  }
  if (!keys || keys.getRank() != 4 || keys.isDynamicDim(3)) {
    return node.error("needs keys of four axes, the last of them known");
  }
  Formula f(node.builder, node.loc);
  int64_t width = keys.getDimSize(3);
  double epsilon = node.number("epsilon", 1e-5);
  auto scaled = [&](Value x, unsigned scale) {
    return f.mul(normalized(f, real(f, x), width, epsilon), real(f, node.operand(scale)));
  };
  Value dot = f.reduce("ReduceSum", f.mul(scaled(node.operand(0), 3), scaled(node.operand(1), 4)), {3}, true);
  dot = f.div(dot, f.number(std::sqrt(static_cast<double>(width)), dot));
  Value root = f.sqrt(f.op("Max", {f.abs(dot), f.number(1e-6, dot)}));
  Value gate = f.op("Sigmoid", {f.mul(f.op("Sign", {dot}), root)});
  Value y = f.mul(gate, unsqueeze(f, real(f, node.operand(2)), {2}));
  node.results = {like(f, y, node.operand(0)), node.operand(5) ? like(f, scaled(y, 5), node.operand(0)) : Value()};
  return success();
}

/// Writes the hash of each n-gram that ends at a token, for each head: products with a multiplier for each distance
/// back, combined bit by bit, modulo what the head can hold. Tokens of calls before stand in front of the tokens.
LogicalResult NGramHashMappingOp::upgrade(Node &node) {
  int64_t longest = node.integer("max_ngram_size", 0), heads = node.integer("n_head_per_ngram", 0);
  if (failed(node.needs(3))) {
    return failure();
  }
  if (longest < 2 || heads < 1 || node.operand(5) || node.operand(6) || node.integer("reset_on_eos", 0)) {
    return node.error(
        "needs a 'max_ngram_size' of two or more and a positive 'n_head_per_ngram'; ends of sequences and "
        "segments are unsupported");
  }
  Formula f(node.builder, node.loc);
  Value ids = node.operand(0), past = node.operand(3);
  int64_t before = longest - 1;
  Value count = makeIntegers(f.b, f.loc, {before}), steps = sizeAlong(f, ids, 1);
  past = past ? past
              : f.op("Expand",
                     {integerLike(f, node.integer("pad_id", 0), ids), concat(f, {sizeAlong(f, ids, 0), count}, 0)});
  Value all = concat(f, {past, ids}, 1), sizes = f.reshape(node.operand(2), {before * heads}), mix;
  SmallVector<Value> hashes;
  for (int64_t back = 0; back < longest; ++back) {
    Value from = makeIntegers(f.b, f.loc, {before - back});
    Value product = f.mul(slice(f, all, 1, from, f.add(from, steps)), slice(f, node.operand(1), 0, back, back + 1));
    mix = mix ? f.op("BitwiseXor", {mix, product}) : product;
    if (back > 0) {
      Value most = slice(f, sizes, 0, (back - 1) * heads, back * heads);
      hashes.push_back(f.op("Mod", {unsqueeze(f, mix, {2}), most}));
    }
  }
  node.results = {sum(f, {concat(f, hashes, 2), node.operand(4)}), slice(f, all, 1, steps, f.add(steps, count))};
  return success();
}

void registerHyperConnections(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/HyperConnections.cpp.inc"
      >();
}

} // namespace ingot::onnx
