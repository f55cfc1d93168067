// Short names for what the operators of Microsoft's and of ai.onnx.ml are written with when they are imported. Sizes
// may be open at that time, so lengths are read from the tensors with Shape, and folded later where they are known:
//
//   reshapeBy(f, x, {sizeAlong(f, x, 0), integers})  is  Reshape(x, Concat(Shape(x)[0:1], integers))
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/ElementTypes.h"

using namespace mlir;

namespace ingot::onnx {

LogicalResult give(Node &node, Value v) {
  node.results.push_back(v);
  return success(static_cast<bool>(v));
}

SmallVector<NamedAttribute> attributesOf(const Node &node, ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> found;
  for (StringRef name : names) {
    if (Attribute a = node.attributes.get(name)) {
      found.push_back(node.builder.getNamedAttr(name, a));
    }
  }
  return found;
}

Value sum(Formula &f, ArrayRef<Value> values) {
  Value all;
  for (Value v : values) {
    all = all && v ? f.add(all, v) : v ? v : all;
  }
  return all;
}

static Value castTo(Formula &f, Value v, Type element) { return f.cast(v, element, numberOfElement(element)); }
Value real(Formula &f, Value v) { return castTo(f, v, f.b.getF32Type()); }
Value integers(Formula &f, Value v) { return castTo(f, v, f.b.getI64Type()); }
Value like(Formula &f, Value v, Value of) { return castTo(f, v, elementOf(of)); }

Value integerLike(Formula &f, int64_t n, Value of) {
  return makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, elementOf(of)), {n}));
}

Value shapeOf(Formula &f, Value x, int64_t from, int64_t to) {
  return f.op("Shape", {x}, {f.integer("start", from), f.integer("end", to)});
}
Value sizeAlong(Formula &f, Value x, int64_t axis) { return shapeOf(f, x, axis, axis + 1); }
Value lengthOf(Formula &f, Value x, int64_t axis) { return f.reshape(sizeAlong(f, x, axis), {}); }

Value reshapeBy(Formula &f, Value x, ArrayRef<Value> sizes) {
  return f.op("Reshape", {x, concat(f, sizes, 0)}, {f.integer("allowzero", 1)});
}
Value unsqueeze(Formula &f, Value x, ArrayRef<int64_t> axes) {
  return f.op("Unsqueeze", {x, makeIntegers(f.b, f.loc, axes)});
}
Value concat(Formula &f, ArrayRef<Value> parts, int64_t axis) {
  return parts.size() == 1 ? parts.front() : f.op("Concat", parts, {f.integer("axis", axis)});
}

Value slice(Formula &f, Value x, int64_t axis, Value from, Value to) {
  return f.op("Slice", {x, from, to, makeIntegers(f.b, f.loc, {axis}), Value()});
}
Value slice(Formula &f, Value x, int64_t axis, int64_t from, int64_t to) {
  return slice(f, x, axis, makeIntegers(f.b, f.loc, {from}), makeIntegers(f.b, f.loc, {to}));
}

SmallVector<Value> split(Formula &f, Value x, int64_t axis, unsigned parts) {
  Operation *op = createOp(f.b, f.loc, "onnx.Split", {x, Value()},
                           {f.integer("axis", axis), f.integer("num_outputs", parts)}, parts);
  return SmallVector<Value>(op->getResults());
}

Value zerosBy(Formula &f, ArrayRef<Value> sizes, Value of) {
  auto one = tensorOf({1}, elementOf(of));
  auto zero = isa<FloatType>(one.getElementType()) ? constantFromFloats(one, {0.0}) : constantFromIntegers(one, {0});
  return f.op("ConstantOfShape", {concat(f, sizes, 0)}, {f.b.getNamedAttr("value", zero)});
}

/// `offsets` lists where the rows that are no padding stand, and then where the padding does: only its first entries,
/// as many as there are rows, are read.
Value restorePadding(Formula &f, Value rows, Value offsets) {
  Value all = f.reshape(offsets, {-1});
  Value places = slice(f, all, 0, makeIntegers(f.b, f.loc, {0}), sizeAlong(f, rows, 0));
  Value zeros = zerosBy(f, {sizeAlong(f, all, 0), sizeAlong(f, rows, 1)}, rows);
  Value padded = f.op("ScatterND", {zeros, unsqueeze(f, integers(f, places), {1}), rows});
  return reshapeBy(f, padded, {shapeOf(f, offsets, 0, 2), sizeAlong(f, rows, 1)});
}

/// The two transposes stand around `meaning`: [N, H, W, C] becomes [N, C, H, W] before it and is restored behind it.
Value withChannelsSecond(Formula &f, Value x, int64_t rank, bool last, llvm::function_ref<Value(Value)> meaning) {
  if (!last || rank < 3) {
    return meaning(x);
  }
  SmallVector<int64_t> in = {0, rank - 1}, out = {0};
  for (int64_t i = 1; i + 1 < rank; ++i) {
    in.push_back(i), out.push_back(i + 1);
  }
  out.push_back(1);
  return f.transpose(meaning(f.transpose(x, in)), out);
}

namespace {
/// An activation that a fused operator names, with its numbers in the order of their names here.
struct Activation {
  StringLiteral name;
  SmallVector<StringLiteral, 2> numbers;
};
} // namespace

FailureOr<int64_t> convolutionRank(const Node &node) {
  auto weights = ranked(node.operand(1));
  if (failed(node.needs(2))) {
    return failure();
  }
  if (!weights || weights.getRank() < 3) {
    return node.error("needs weights of known rank, three or more");
  }
  return weights.getRank();
}

/// Numbers are matched by their place; those that a model leaves out have the defaults of the activation itself.
Value activated(Node &node, Value y, ArrayRef<float> numbers) {
  static const Activation known[] = {{"Relu", {}},
                                     {"Tanh", {}},
                                     {"Sigmoid", {}},
                                     {"LeakyRelu", {"alpha"}},
                                     {"Elu", {"alpha"}},
                                     {"Softplus", {}},
                                     {"Softsign", {}},
                                     {"HardSigmoid", {"alpha", "beta"}},
                                     {"Selu", {"alpha", "gamma"}},
                                     {"HardSwish", {}},
                                     {"ThresholdedRelu", {"alpha"}}};
  StringRef name = node.text("activation", "");
  Formula f(node.builder, node.loc);
  if (name.empty()) {
    return y;
  }
  if (name == "Clip" && numbers.size() == 2) {
    return f.op("Clip", {y, f.number(numbers[0], y), f.number(numbers[1], y)});
  }
  for (const Activation &activation : known) {
    if (activation.name == name && numbers.size() <= activation.numbers.size()) {
      SmallVector<NamedAttribute> attributes;
      for (auto [number, parameter] : llvm::zip(numbers, activation.numbers)) {
        attributes.push_back(f.number(parameter, number));
      }
      return f.op(name, {y}, attributes);
    }
  }
  (void)node.error("activation '" + name + "' with " + Twine(numbers.size()) + " parameters is not known");
  return {};
}

} // namespace ingot::onnx
