// Writes operators of com.microsoft in terms of the standard's operators. Fusion makes one kernel of what ONNX Runtime
// has one operator for. Defaults are those of ONNX Runtime's schemas.
//
//   SkipLayerNormalization(x, skip, g, b)   LayerNormalization(x + skip, g, b); the sum is a result, too
//   QuickGelu(x)                            Swish(x), with alpha = 1.702
//   MatMulNBitsMlp(x, gate, up)             Swish(MatMulNBits(x, gate)) * MatMulNBits(x, up)
//   GatedAdd(x, y, z)                       x + y * z
#include "compiler/onnx/ops/Microsoft.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <algorithm>
#include <array>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Microsoft.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// These are functions of one number.

static Value gelu(Formula &f, Value x, bool byTanh) {
  return f.op("Gelu", {x}, {f.b.getNamedAttr("approximate", f.b.getStringAttr(byTanh ? "tanh" : "none"))});
}

LogicalResult MicrosoftGeluOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return give(node, gelu(f, node.operand(0), false));
}
/// Its bias may be left out, which sum() passes over.
LogicalResult FastGeluOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return give(node, gelu(f, sum(f, {node.operand(0), node.operand(1)}), true));
}
LogicalResult BiasGeluOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(2)) ? failure() : give(node, gelu(f, f.add(node.operand(0), node.operand(1)), false));
}
LogicalResult GemmFastGeluOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  return give(node, gelu(f, sum(f, {f.op("MatMul", {node.operand(0), node.operand(1)}), node.operand(2)}), true));
}
LogicalResult QuickGeluOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return give(node, f.op("Swish", {node.operand(0)}, {f.number("alpha", node.number("alpha", 1.702))}));
}

// These are normalisations. Mean and deviation, the results 1 and 2, are for training.

/// Whether a skip would make the sum larger than the input is, as far as sizes are known.
static bool isLarger(RankedTensorType skip, RankedTensorType x) {
  if (!skip || !x) {
    return false;
  }
  Sizes has = sizesOf(skip), axes = sizesOf(x);
  int64_t more = skip.getRank() - x.getRank();
  for (auto [i, d] : llvm::enumerate(has)) {
    int64_t axis = static_cast<int64_t>(i) - more;
    Size own = axis < 0 ? Size(1) : axes[axis];
    if (d.isNumber() && own.isNumber() && !d.is(1) && d.number() != own.number()) {
      return true;
    }
  }
  return false;
}

/// Returns the sum with a skip, which has the input's shape; a run in which the skip is larger is refused.
static Value skipped(Node &node, Formula &f, Value bias) {
  Value x = node.operand(0), skip = node.operand(1);
  if (isLarger(ranked(skip), ranked(x))) {
    emitError(node.loc) << "the skip of type " << skip.getType() << " is larger than the input of type " << x.getType();
    return {};
  }
  Value all = sum(f, {x, skip, bias});
  return all.getType() == x.getType() ? all : f.op("Reshape", {all, f.op("Shape", {x})}, {f.integer("allowzero", 1)});
}

/// The sum is a result, too, since the next layer adds to it.
LogicalResult SkipLayerNormalizationOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = skipped(node, f, node.operand(4));
  if (!x) {
    return failure();
  }
  Operation *y = createOp(f.b, f.loc, "onnx.LayerNormalization", {x, node.operand(2), node.operand(3)},
                          {f.number("epsilon", node.number("epsilon", 1e-12))}, 3);
  node.results = {y->getResult(0), y->getResult(1), y->getResult(2), x};
  return success();
}

/// Writes normalization without a mean, which the standard calls RMSNormalization.
static Value simplified(Node &node, Value x, Value scale, double epsilon) {
  Formula f(node.builder, node.loc);
  return f.op("RMSNormalization", {x, scale},
              {f.number("epsilon", node.number("epsilon", epsilon)), f.integer("axis", node.integer("axis", -1))});
}

/// There is neither mean nor deviation to give, so the results 1 and 2 stay empty.
LogicalResult SkipSimplifiedLayerNormalizationOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = skipped(node, f, node.operand(3));
  if (!x) {
    return failure();
  }
  node.results = {simplified(node, x, node.operand(2), 1e-12), Value(), Value(), x};
  return success();
}

LogicalResult SimplifiedLayerNormalizationOp::upgrade(Node &node) {
  return failed(node.needs(2)) ? failure() : give(node, simplified(node, node.operand(0), node.operand(1), 1e-5));
}

LogicalResult ScaleOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  Value x = node.operand(0);
  return give(node, f.mul(x, f.number(node.number("scale", 1), x)));
}

/// Makes a Slice, whose starts, ends and axes have become operands since.
LogicalResult DynamicSliceOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value axes = node.operand(3);
  return give(node, f.op("Slice", {node.operand(0), node.operand(1), node.operand(2), axes, Value()}));
}

/// Returns the operand of the products of a fused node: operand 0, with operand 1 added, normalized if there is a
/// scale. The second value is the sum.
static std::pair<Value, Value> normalizedSum(Node &node, Formula &f) {
  Value x = sum(f, {node.operand(0), node.operand(1)}), scale = node.operand(2);
  return {scale ? simplified(node, x, scale, 1e-5) : x, x};
}

/// Returns the product with the weights, scales and bias that begin at an operand.
static Value ofFewBits(Node &node, Formula &f, Value x, unsigned first, StringRef columns) {
  SmallVector<NamedAttribute> attributes = attributesOf(node, {"K", "bits", "block_size", "accuracy_level"});
  attributes.push_back(f.integer("N", node.integer(columns, 0)));
  return f.op("com.microsoft.MatMulNBits",
              {x, node.operand(first), node.operand(first + 1), Value(), Value(), node.operand(first + 2)}, attributes);
}

/// Fused nodes have so many inputs that one message names what all of them need.
static LogicalResult needAll(const Node &node, ArrayRef<unsigned> operands, ArrayRef<StringRef> attributes) {
  bool all = llvm::all_of(operands, [&](unsigned i) { return static_cast<bool>(node.operand(i)); }) &&
             llvm::all_of(attributes, [&](StringRef name) { return static_cast<bool>(node.attributes.get(name)); });
  return all ? success() : node.error("needs weights and scales of each product, and their sizes as attributes");
}

/// Two products of one operand: the first, through Swish, is the gate of the second.
LogicalResult MatMulNBitsMlpOp::upgrade(Node &node) {
  if (failed(needAll(node, {0, 3, 4, 6, 7}, {"K", "N", "block_size"}))) {
    return failure();
  }
  StringRef activation = node.text("activation", "silu");
  if (activation != "silu" && activation != "swish") {
    return node.error("activation '" + activation + "' is not known");
  }
  Formula f(node.builder, node.loc);
  auto [x, all] = normalizedSum(node, f);
  Value gate = ofFewBits(node, f, x, 3, "N");
  node.results = {f.mul(f.op("Swish", {gate}), ofFewBits(node, f, x, 6, "N")), all};
  return success();
}

/// Three products of one operand: queries, keys and values.
LogicalResult MatMulNBitsQkvOp::upgrade(Node &node) {
  if (failed(needAll(node, {0, 2, 3, 4, 6, 7, 9, 10}, {"K", "Nq", "Nkv", "block_size"}))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  auto [x, all] = normalizedSum(node, f);
  node.results = {ofFewBits(node, f, x, 3, "Nq"), ofFewBits(node, f, x, 6, "Nkv"), ofFewBits(node, f, x, 9, "Nkv"),
                  all};
  return success();
}

/// Adds up rows of tables for tokens, positions and segments, and normalises the sum; counts how many tokens of each
/// sentence the mask lets in. Positions that a node does not give count up.
LogicalResult EmbedLayerNormalizationOp::upgrade(Node &node) {
  Value ids = node.operand(0), segments = node.operand(1), mask = node.operand(7), places = node.operand(8);
  for (unsigned i : {0, 2, 3, 5}) {
    if (!node.operand(i)) {
      return node.error("has too few inputs: input " + Twine(i) + " is missing");
    }
  }
  Formula f(node.builder, node.loc);
  auto list = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
  auto sizeOfAxis = [&](int64_t axis) {
    return f.op("Shape", {ids}, {f.integer("start", axis), f.integer("end", axis + 1)});
  };
  Value position = places ? f.op("Gather", {node.operand(3), places})
                          : f.op("Slice", {node.operand(3), list(0), sizeOfAxis(1), list(0), Value()});
  Value segment = segments && node.operand(4) ? f.op("Gather", {node.operand(4), segments}) : Value();
  Value x = sum(f, {f.op("Gather", {node.operand(2), ids}), position, segment});
  Value y = createOp(f.b, f.loc, "onnx.LayerNormalization", {x, node.operand(5), node.operand(6)},
                     {f.number("epsilon", node.number("epsilon", 1e-12))}, 3)
                ->getResult(0);
  Type i32 = f.b.getI32Type();
  Value zero = makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, i32), {0}));
  Value lengths =
      mask ? f.reduce("ReduceSum", f.cast(mask, i32, 6), {1}, false) : f.op("Expand", {zero, sizeOfAxis(0)});
  node.results = {y, lengths, x};
  return success();
}

/// Writes this embedding with tables, weights and bias in bytes: each has a scale and, five inputs behind it, a zero
/// point.
LogicalResult QEmbedLayerNormalizationOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  // Inputs 2 to 6 are the tables of words, positions and segments, the scale and the bias of the normalization.
  static constexpr unsigned firstTable = 2, lastTable = 6, firstScale = 8, firstZero = 13;
  for (unsigned i = firstTable; i <= lastTable; ++i) {
    unsigned place = i - firstTable;
    Value scale = node.operand(firstScale + place), zero = node.operand(firstZero + place);
    if (Value table = node.operand(i)) {
      if (!scale || !zero) {
        return node.error("input " + Twine(i) + " has no scale or no zero point");
      }
      node.operands[i] = f.op("DequantizeLinear", {table, f.reshape(scale, {}), f.reshape(zero, {})});
    }
  }
  node.operands.resize(std::min<size_t>(node.operands.size(), firstScale));
  return EmbedLayerNormalizationOp::upgrade(node);
}

// Makes an op that the standard has got since.

LogicalResult ExpandDimsOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  // A known axis is a constant from the beginning: nodes that read the result ask for its sizes as they are resolved.
  auto known = integersOf(node.operand(1));
  Value axis = known ? makeIntegers(f.b, f.loc, *known)
                     : f.cast(f.reshape(node.operand(1), {1}), f.b.getI64Type(), numberOfElement(f.b.getI64Type()));
  return give(node, f.op("Unsqueeze", {node.operand(0), axis}));
}
/// Lets the step be left out, which the standard does not.
LogicalResult MicrosoftRangeOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value delta = node.operand(2);
  if (!delta) {
    auto one = tensorOf({}, elementOf(node.operand(0)));
    delta = makeConstant(f.b, f.loc,
                         isa<FloatType>(one.getElementType()) ? constantFromFloats(one, {1.0})
                                                              : constantFromIntegers(one, {1}));
  }
  auto number = [&](Value v) { return f.reshape(v, {}); };
  return give(node, f.op("Range", {number(node.operand(0)), number(node.operand(1)), number(delta)}));
}
LogicalResult MicrosoftTriluOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return give(node, f.op("Trilu", {node.operand(0), node.operand(1)}, attributesOf(node, {"upper"})));
}
LogicalResult MicrosoftPadOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  if (failed(node.needs(2))) {
    return failure();
  }
  Value pads = f.reshape(node.operand(1), {-1}); // [2n] or [1, 2n]
  return give(node, f.op("Pad", {node.operand(0), pads, node.operand(2), Value()}, attributesOf(node, {"mode"})));
}
LogicalResult MicrosoftGatherNDOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(2)) ? failure() : give(node, f.op("GatherND", {node.operand(0), node.operand(1)}));
}
/// Translates the names of modes, which the standard changed in opset 20.
LogicalResult MicrosoftGridSampleOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  if (failed(node.needs(2))) {
    return failure();
  }
  StringRef mode = node.text("mode", "bilinear");
  SmallVector<NamedAttribute> attributes = attributesOf(node, {"align_corners", "padding_mode"});
  StringRef name = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  attributes.push_back(f.b.getNamedAttr("mode", f.b.getStringAttr(name)));
  return give(node, f.op("GridSample", {node.operand(0), node.operand(1)}, attributes));
}

/// The standard's operator of this name, which came later, has one axis and none of these attributes.
LogicalResult MicrosoftCausalConvWithStateOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  if (node.integer("ndim", 1) != 1 || node.integer("dilation", 1) != 1 || node.integer("channels_last", 0) ||
      node.integer("state_window", 0)) {
    return node.error("more than one axis, dilations, channels_last and a window of states are unsupported");
  }
  Operation *y = createOp(node.builder, node.loc, "onnx.CausalConvWithState",
                          {node.operand(0), node.operand(1), node.operand(2), node.operand(3)},
                          attributesOf(node, {"activation"}), 2);
  node.results.append(y->result_begin(), y->result_end());
  return success();
}
LogicalResult MicrosoftLinearAttentionOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  if (node.integer("state_window", 0) || !node.attributes.get("q_num_heads") || !node.attributes.get("kv_num_heads")) {
    return node.error("needs 'q_num_heads' and 'kv_num_heads'; a window of states is unsupported");
  }
  Operation *y =
      createOp(node.builder, node.loc, "onnx.LinearAttention",
               {node.operand(0), node.operand(1), node.operand(2), node.operand(3), node.operand(4), node.operand(5)},
               attributesOf(node, {"kv_num_heads", "q_num_heads", "scale", "update_rule"}), 2);
  node.results.append(y->result_begin(), y->result_end());
  return success();
}

// These are gates.

/// Computes decay = decay_scale * Softplus(a + dt_bias), in f32, and beta = Sigmoid(b).
LogicalResult LinearAttentionGateOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value a = node.operand(0);
  Value decay = f.mul(node.operand(2), f.op("Softplus", {f.add(real(f, a), node.operand(1))}));
  node.results = {castLike(f, decay, a), node.operand(3) ? f.op("Sigmoid", {node.operand(3)}) : Value()};
  return success();
}
LogicalResult GatedAddOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(3)) ? failure()
                               : give(node, f.add(node.operand(0), f.mul(node.operand(1), node.operand(2))));
}
LogicalResult ScaledSiLUOp::upgrade(Node &node) {
  if (failed(node.needs(1))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), scale = node.operand(1);
  scale = scale ? castLike(f, f.reshape(scale, {}), x) : f.number(node.number("alpha", 1), x);
  Value scaled = f.mul(x, scale);
  return give(node, f.mul(scaled, f.op("Sigmoid", {scaled})));
}

/// Normalises rows that are as long as the scale; the last axis may hold several of them.
LogicalResult GatedRMSNormOp::upgrade(Node &node) {
  if (failed(node.needs(3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), scale = node.operand(1), gate = real(f, node.operand(2));
  StringRef activation = node.text("activation", "silu");
  if (!isStatic(scale) || ranked(scale).getRank() != 1) {
    return node.error("a scale that is no vector of known length is unsupported");
  }
  if (!llvm::is_contained({"silu", "swish", "sigmoid"}, activation)) {
    return node.error("activation '" + activation + "' is not known");
  }
  Value rows = f.reshape(real(f, x), {-1, ranked(scale).getDimSize(0)});
  Value y = f.op("RMSNormalization", {rows, real(f, scale)},
                 {f.number("epsilon", node.number("epsilon", 1e-5)), f.integer("axis", -1)});
  y = f.op("Reshape", {y, f.op("Shape", {x})}, {f.integer("allowzero", 1)});
  Value open = f.op("Sigmoid", {gate});
  return give(node, castLike(f, f.mul(y, activation == "sigmoid" ? open : f.mul(gate, open)), x));
}

// These are the others.

/// Makes each word's embedding: the embeddings of its characters, all windows of some of them as products with filters,
/// and the largest product of each filter. A word that is shorter than a window counts as one window; a word without
/// characters is zeros.
LogicalResult WordConvEmbeddingOp::upgrade(Node &node) {
  if (failed(node.needs(4))) {
    return failure();
  }
  Value words = node.operand(0), filters = node.operand(1), characters = node.operand(3);
  auto w = ranked(words), c = ranked(filters), e = ranked(characters);
  if (!w || w.getRank() != 2 || !c || c.getRank() != 4 || !e || e.getRank() != 2) {
    return node.error("needs words [n, characters], filters [m, 1, window, size] and characters [n, size]");
  }
  for (auto [name, type, axis] :
       {std::tuple("embedding_size", c, 0), {"conv_window_size", c, 2}, {"char_embedding_size", e, 1}}) {
    int64_t declared = node.integer(name, -1), size = type.getDimSize(axis);
    if (declared != -1 && !type.isDynamicDim(axis) && declared != size) {
      return node.error(Twine(name) + " " + Twine(declared) + " does not fit " + Twine(size));
    }
  }
  Size window = sizeOf(c, 2), least = sizeOf(w, 1);
  if (window.isNumber() && least.isNumber() && least.number() < window.number()) {
    return node.error("words of " + least.text() + " characters are shorter than a window of " + window.text());
  }
  Formula f(node.builder, node.loc);
  Type i64 = f.b.getI64Type();
  Value ids = f.op("Max", {f.cast(words, i64, 7), f.scalar(0)}); // short words are filled up with zeros
  Value isThere = f.cast(f.op("Greater", {ids, f.scalar(0)}), i64, 7);
  Value length = f.reduce("ReduceSum", isThere, {1}, /*keepdims=*/true);
  // A word whose first character is missing has none.
  length = f.mul(length, f.op("Gather", {isThere, makeIntegers(f.b, f.loc, {0})}, {f.integer("axis", 1)}));
  Value channels = f.transpose(f.op("Gather", {characters, ids}), {0, 2, 1});
  Value weights = f.transpose(f.op("Squeeze", {filters, makeIntegers(f.b, f.loc, {1})}), {0, 2, 1});
  Value products = f.op("Conv", {channels, weights, node.operand(2)});
  // This is the number of the last window.
  Value windows = f.sub(f.op("Max", {length, f.scalar(window)}), f.scalar(window));
  Value numbers = f.countTo(f.scalar(least - window + Size(1)));
  Value isWindow = f.op("Unsqueeze", {f.op("LessOrEqual", {numbers, windows}), makeIntegers(f.b, f.loc, {1})});
  Value lowest = f.number(-std::numeric_limits<float>::infinity(), products);
  Value largest = f.reduce("ReduceMax", f.op("Where", {isWindow, products, lowest}), {2}, /*keepdims=*/false);
  Value y = f.op("Where", {f.op("Greater", {length, f.scalar(0)}), f.op("Tanh", {largest}), f.number(0, products)});
  return give(node, y);
}

/// Computes the distance of each row of one matrix from each row of the other.
LogicalResult CDistOp::upgrade(Node &node) {
  StringRef metric = node.text("metric", "sqeuclidean");
  if (failed(node.needs(2))) {
    return failure();
  }
  if (metric != "sqeuclidean" && metric != "euclidean") {
    return node.error("metric '" + metric + "' is unsupported, expected 'sqeuclidean' or 'euclidean'");
  }
  for (Value v : {node.operand(0), node.operand(1)}) {
    if (ranked(v) && ranked(v).getRank() != 2) {
      return node.error("needs two matrices");
    }
  }
  Formula f(node.builder, node.loc);
  auto unsqueezed = [&](unsigned i) { return f.op("Unsqueeze", {node.operand(i), makeIntegers(f.b, f.loc, {1 - i})}); };
  // The shorter |a|^2 - 2 a b + |b|^2 would cancel for rows that are near each other.
  Value difference = f.sub(unsqueezed(0), unsqueezed(1));
  Value squares = f.reduce("ReduceSum", f.mul(difference, difference), {2}, /*keepdims=*/false);
  return give(node, metric == "euclidean" ? f.sqrt(squares) : squares);
}

LogicalResult SampleOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return give(node, f.op("Identity", {node.operand(0)}));
}

/// Makes the standard's Unique in the order of occurrence, without the first places.
LogicalResult MicrosoftUniqueOp::upgrade(Node &node) {
  Value x = node.operand(0);
  if (ranked(x) && ranked(x).getRank() != 1) {
    return node.error("needs a vector");
  }
  NamedAttribute unsorted = Formula(node.builder, node.loc).integer("sorted", 0);
  if (x && isString(elementOf(x))) {
    node.attributes.append(unsorted);
    if (failed(UniqueOp::upgrade(node))) {
      return failure();
    }
    node.results.erase(node.results.begin() + 1);
    return success();
  }
  Operation *y = createOp(node.builder, node.loc, UniqueOp::getOperationName(), {x}, {unsorted}, 5);
  node.results = {y->getResult(0), y->getResult(2), y->getResult(3)};
  return success();
}

/// Returns the axis, and how many slices there are; failure, with a message, where there can be none.
static FailureOr<std::pair<int64_t, Size>> slicesOf(UnfoldTensorOp op) {
  auto x = ranked(op.getX());
  auto size = static_cast<int64_t>(op.getSize()), step = static_cast<int64_t>(op.getStep());
  auto axis = normalAxis(op.getDim(), x.getRank());
  if (!axis || size < 1 || step < 1 || (!x.isDynamicDim(*axis) && x.getDimSize(*axis) < size)) {
    return op.emitOpError("cannot take slices of ")
           << size << " places, " << step << " apart, along axis " << static_cast<int64_t>(op.getDim()) << " of " << x;
  }
  return std::pair(*axis, floorDiv(sizeOf(x, *axis) - Size(size), step) + Size(1));
}
LogicalResult UnfoldTensorOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto rank = knownRank(getX());
  types.push_back(typeOfRank(rank ? std::optional(*rank + 1) : rank, elementOf(getX())));
  if (!isSized(getX())) {
    return success();
  }
  auto slices = slicesOf(*this);
  if (failed(slices)) {
    return failure();
  }
  Sizes sizes = sizesOf(ranked(getX()));
  sizes[slices->first] = slices->second;
  sizes.push_back(static_cast<int64_t>(getSize()));
  types[0] = sizedType(sizes, elementOf(getX()));
  return success();
}
/// Slice i has the places i * step, i * step + 1, ...: a table [slices, size] by which one Gather takes all of them.
/// Then the axis of a slice is moved behind all others.
LogicalResult UnfoldTensorOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  auto slices = slicesOf(*this);
  if (failed(slices)) {
    return failure();
  }
  auto [axis, count] = *slices;
  Formula f(rewriter, getLoc());
  auto size = static_cast<int64_t>(getSize()), rank = ranked(getX()).getRank();
  Value first = f.mul(f.countTo(f.scalar(count)), f.scalar(static_cast<int64_t>(getStep())));
  Value places = f.add(f.reshapeTo(first, {count, 1}), f.countTo(f.scalar(size)));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  order.erase(order.begin() + axis + 1);
  order.push_back(axis + 1);
  rewriter.replaceOp(*this, f.transpose(f.op("Gather", {getX(), places}, {f.integer("axis", axis)}), order));
  return success();
}

void registerMicrosoft(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Microsoft.cpp.inc"
      >();
}

} // namespace ingot::onnx
