// Resolves SplitToSequence: slices, where it is known into which parts a tensor is split.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/support/Sequences.h"

using namespace mlir;

namespace ingot::graph {

static bool isList(Value split) { return split && onnx::ranked(split) && onnx::ranked(split).getRank() == 1; }

/// Returns how long the parts of SplitToSequence are, where that is known.
static std::optional<SmallVector<int64_t>> partsOf(Resolver &r, const Node &node, Value x, int64_t axis) {
  onnx::Size size = onnx::sizesOf(onnx::ranked(x))[axis];
  Value split = node.hasInput(1) ? r.value(node.inputs[1]) : Value();
  std::optional<SmallVector<int64_t>> sizes = split ? onnx::integersOf(split) : SmallVector<int64_t>{1};
  if (sizes && isList(split)) {
    if (llvm::none_of(*sizes, [](int64_t part) { return part < 0; })) {
      return sizes;
    }
    r.fail(node, "splits into a part of a negative length");
    return std::nullopt;
  }
  int64_t part = sizes->empty() ? 0 : sizes->front(), rest = size.number();
  if (part > 0 && rest / part >= support::kMostTensors) {
    r.fail(node, "makes a sequence of more than " + llvm::Twine(support::kMostTensors) + " tensors");
    return std::nullopt;
  }
  SmallVector<int64_t> parts;
  for (; part > 0 && rest > 0; rest -= part) {
    parts.push_back(std::min(part, rest));
  }
  if (part <= 0) {
    r.fail(node, "splits into parts of " + llvm::Twine(part));
    return std::nullopt;
  }
  return parts;
}

static std::optional<Sequence> splitSequence(Resolver &r, const Node &node) {
  Value x = r.names(node, 0) ? r.value(node.inputs.front()) : Value();
  auto type = x ? onnx::ranked(x) : RankedTensorType();
  if (!type) {
    if (x) {
      r.fail(node, "splits a tensor of an unknown number of axes");
    }
    return std::nullopt;
  }
  auto axis = onnx::normalAxis(node.integer("axis", 0), type.getRank());
  if (!axis) {
    r.fail(node, "has an axis outside of its input");
    return std::nullopt;
  }
  bool isSplit = node.hasInput(1);
  Value split = isSplit ? r.value(node.inputs[1]) : Value();
  if (isSplit && (!split || !onnx::elementOf(split).isInteger())) {
    if (split) {
      r.fail(node, "needs integers for what it splits into");
    }
    return std::nullopt;
  }
  onnx::Size size = onnx::sizesOf(type)[*axis];
  bool keepsAxis = isSplit || node.integer("keepdims", 1) != 0;
  if ((split && !onnx::integersOf(split)) || (!isList(split) && !size.isNumber())) {
    return SequenceFormula(r.builder, node.loc).split(x, *axis, split, isList(split), keepsAxis);
  }
  std::optional<SmallVector<int64_t>> parts = partsOf(r, node, x, *axis);
  if (!parts) {
    return std::nullopt;
  }
  onnx::Formula f(r.builder, node.loc);
  if (size.isNumber() && std::accumulate(parts->begin(), parts->end(), int64_t(0)) != size.number()) {
    r.fail(node, "splits into parts that do not add up to the " + llvm::Twine(size.number()) + " of axis " +
                     llvm::Twine(*axis));
    return std::nullopt;
  }
  Sequence s;
  s.element = onnx::elementOf(x);
  Values &items = s.items;
  int64_t begin = 0;
  for (int64_t part : *parts) {
    auto list = [&](int64_t v) { return onnx::makeIntegers(r.builder, f.loc, {v}); };
    items.push_back(f.op("Slice", {x, list(begin), list(begin + part), list(*axis), list(1)}));
    begin += part;
    if (!keepsAxis) {
      items.back() = f.op("Squeeze", {items.back(), list(*axis)});
    }
  }
  return s;
}

void addSplitToSequence(Rules &rules) { rules.add<onnx::SplitToSequenceOp>(givesSequence(splitSequence)); }

} // namespace ingot::graph
