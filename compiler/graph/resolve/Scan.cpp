// Makes a Scan a Loop over the axis that it goes along; its first definition, with a batch axis, becomes a Loop of such
// Loops.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/rewriting/Formula.h"

using namespace mlir;

namespace ingot::graph {

struct Resolver::Scan {
  explicit Scan(const Node &node) : node(node) {}
  const Node &node;
  const Subgraph *body = nullptr;
  unsigned states = 0, inputs = 0;
  SmallVector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections; ///< empty: all are 0
  unsigned outputs() const { return body->outputs.size() - states; }
};

bool Resolver::scanAttributes(const Node &node, Scan &scan) {
  for (NamedAttribute attribute : node.attributes) {
    llvm::StringRef name = attribute.getName();
    SmallVector<int64_t> *list = name == "scan_input_axes"                                 ? &scan.inputAxes
                                 : name == "scan_input_directions" || name == "directions" ? &scan.inputDirections
                                 : name == "scan_output_axes"                              ? &scan.outputAxes
                                 : name == "scan_output_directions"                        ? &scan.outputDirections
                                                                                           : nullptr;
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()); list && numbers) {
      list->assign(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
    } else if (name == "num_scan_inputs") {
      scan.inputs = std::clamp<int64_t>(node.integer(name, 0), 0, node.inputs.size());
    } else {
      problems->add(node.where(), "has the unknown attribute " + quoted(name));
      return false;
    }
  }
  return true;
}

Resolver::Values Resolver::makeScan(const Node &node) {
  auto inputs = inputsOf(node);
  Scan scan(node);
  if (!inputs || !areTensors(node, *inputs) || !scanAttributes(node, scan)) {
    return {};
  }
  bool batches = node.opset < 9;
  Value lengths = batches && !inputs->empty() ? inputs->front() : Value();
  if (batches && !inputs->empty()) {
    inputs->erase(inputs->begin());
  }
  if (lengths || scan.inputs == 0 || scan.inputs > inputs->size() ||
      !llvm::all_of(*inputs, [](Value v) { return bool(v); })) {
    problems->add(node.where(), lengths ? "sequence lengths are unsupported" : "needs all states and scan inputs");
    return {};
  }
  scan.states = inputs->size() - scan.inputs;
  scan.body = subgraphOf(node, "body", inputs->size());
  if (!scan.body) {
    return {};
  }
  auto fits = [](llvm::ArrayRef<int64_t> list, size_t size) { return list.empty() || list.size() == size; };
  if (scan.body->outputs.size() < std::max(1u, scan.states) || !fits(scan.inputAxes, scan.inputs) ||
      !fits(scan.inputDirections, scan.inputs) || !fits(scan.outputAxes, scan.outputs()) ||
      !fits(scan.outputDirections, scan.outputs())) {
    problems->add(node.where(), "has axes, directions or outputs that do not fit its body");
    return {};
  }
  llvm::ArrayRef<Value> all = *inputs;
  return batches ? scanBatches(scan, all) : scanOnce(scan, all.take_front(scan.states), all.drop_front(scan.states));
}

static Value sizeAlong(OpBuilder &b, Location loc, Value x, int64_t axis) {
  onnx::Formula f(b, loc);
  return f.op("Shape", {x}, {f.integer("start", axis), f.integer("end", axis + 1)});
}
static Value elementAlong(OpBuilder &b, Location loc, Value x, Value index, int64_t axis) {
  onnx::Formula f(b, loc);
  return f.op("Gather", {x, index}, {f.integer("axis", axis)});
}

Resolver::Values Resolver::scanBatches(Scan &scan, llvm::ArrayRef<Value> inputs) {
  Location loc = scan.node.loc;
  Value batches = sizeAlong(builder, loc, inputs.front(), 0);
  return loop(scan.node, batches, {}, {}, scan.body->outputs.size(), 0, [&](Block &block) {
    Values own;
    for (Value v : inputs) {
      own.push_back(elementAlong(builder, loc, v, block.getArgument(0), 0));
    }
    llvm::ArrayRef<Value> all = own;
    Values results = scanOnce(scan, all.take_front(scan.states), all.drop_front(scan.states));
    if (!results.empty()) {
      results.insert(results.begin(), block.getArgument(1));
    }
    return results;
  });
}

/// Returns the value of a scan output: slices that are stacked along an axis of their own, in either direction.
static Value placed(OpBuilder &b, Location loc, Value stacked, int64_t axis, bool reverse) {
  onnx::Formula f(b, loc);
  if (reverse) {
    auto list = [&](int64_t v) { return onnx::makeIntegers(b, loc, {v}); };
    stacked = f.op("Slice", {stacked, list(-1), list(std::numeric_limits<int64_t>::min()), list(0), list(-1)});
  }
  if (axis == 0) {
    return stacked;
  }
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(1, onnx::ranked(stacked).getRank()));
  perm.insert(perm.begin() + axis, 0);
  return f.op("Transpose", {stacked}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm))});
}

Resolver::Values Resolver::scanOnce(Scan &scan, llvm::ArrayRef<Value> initial, llvm::ArrayRef<Value> inputs) {
  Location loc = scan.node.loc;
  onnx::Formula f(builder, loc);
  auto numberAt = [](llvm::ArrayRef<int64_t> list, unsigned i) { return list.empty() ? 0 : list[i]; };
  SmallVector<int64_t> axes;
  for (auto [i, x] : llvm::enumerate(inputs)) {
    auto type = onnx::ranked(x);
    auto axis = type ? onnx::normalAxis(numberAt(scan.inputAxes, i), type.getRank()) : std::nullopt;
    if (!axis || (i > 0 && onnx::isStatic(x) && onnx::isStatic(inputs[0]) &&
                  type.getDimSize(*axis) != onnx::ranked(inputs[0]).getDimSize(axes[0]))) {
      problems->add(scan.node.where(),
                    axis ? "has scan inputs of lengths that differ" : "has an axis outside of a scan input");
      return {};
    }
    axes.push_back(*axis);
  }
  Value trips = sizeAlong(builder, loc, inputs[0], axes[0]);
  Value one = onnx::makeInteger(builder, loc, 1);
  Value last = f.sub(f.op("Squeeze", {trips, onnx::makeIntegers(builder, loc, {0})}), one);
  Values results = loop(scan.node, trips, {}, initial, scan.body->outputs.size(), 0, [&](Block &block) {
    Values arguments(block.getArguments().drop_front(2));
    for (auto [i, x] : llvm::enumerate(inputs)) {
      Value number = block.getArgument(0);
      Value index = numberAt(scan.inputDirections, i) ? f.sub(last, number) : number;
      arguments.push_back(elementAlong(builder, loc, x, index, axes[i]));
    }
    Values yields = subgraph(*scan.body, arguments).value_or(Values());
    if (!yields.empty()) {
      yields.insert(yields.begin(), block.getArgument(1));
    }
    return yields;
  });
  for (unsigned i = scan.states; i < results.size(); ++i) {
    auto type = onnx::ranked(results[i]);
    int64_t wanted = numberAt(scan.outputAxes, i - scan.states);
    auto axis = type ? onnx::normalAxis(wanted, type.getRank()) : std::nullopt;
    if (!axis && wanted != 0) {
      problems->add(scan.node.where(), "has an axis outside of a scan output");
      return {};
    }
    results[i] = placed(builder, loc, results[i], axis.value_or(0), numberAt(scan.outputDirections, i - scan.states));
  }
  return results;
}

} // namespace ingot::graph
