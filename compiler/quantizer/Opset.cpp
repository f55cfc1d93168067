// Has a table with a row for each operator and version that changed how something is written: attributes that became
// operands, defaults that changed, operators that got another name. Rows are applied in the order of their versions.
// Operators without a row mean in the newer version what they meant in the older.
#include "compiler/quantizer/Opset.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace ingot::quantizer {
namespace {

constexpr int64_t kOldest = 7, kNewest = 25;

struct Place {
  pb::GraphProto &graph;
  Names &names;
  Edits &edits;
  int number; ///< the node's number in the graph
};

std::string addInts(Place &at, pb::NodeProto &node, llvm::StringRef stem, llvm::ArrayRef<int64_t> values, bool scalar) {
  std::string name = at.names.fresh(nameOf(node) + "_" + stem.str());
  std::vector<int64_t> dims(scalar ? 0 : 1, int64_t(values.size()));
  *at.graph.add_initializer() = tensorOf<int64_t>(name, importer::kInt64, dims, values);
  return name;
}

std::string addFloats(Place &at, pb::NodeProto &node, llvm::StringRef stem, llvm::ArrayRef<float> values, bool scalar) {
  std::string name = at.names.fresh(nameOf(node) + "_" + stem.str());
  std::vector<int64_t> dims(scalar ? 0 : 1, int64_t(values.size()));
  *at.graph.add_initializer() = tensorOf<float>(name, importer::kFloat, dims, values);
  return name;
}

/// Sets operand `index`, and adds absent ones in front of it.
void setInput(pb::NodeProto &node, int index, const std::string &name) {
  while (node.input_size() <= index) {
    node.add_input();
  }
  node.set_input(index, name);
}

/// Makes an attribute that is a list of integers an operand.
void intsToInput(Place &at, pb::NodeProto &node, llvm::StringRef attribute, int index) {
  if (const pb::AttributeProto *given = attributeOf(node, attribute)) {
    setInput(node, index, addInts(at, node, attribute, {given->ints().data(), size_t(given->ints_size())}, false));
    dropAttribute(node, attribute);
  }
}

/// Makes an attribute that is a number an operand.
void floatToInput(Place &at, pb::NodeProto &node, llvm::StringRef attribute, int index) {
  if (const pb::AttributeProto *given = attributeOf(node, attribute)) {
    setInput(node, index, addFloats(at, node, attribute, given->f(), true));
    dropAttribute(node, attribute);
  }
}

void axes(Place &at, pb::NodeProto &node) { intsToInput(at, node, "axes", 1); }
void split(Place &at, pb::NodeProto &node) { intsToInput(at, node, "split", 1); }
void dropSpatial(Place &, pb::NodeProto &node) {
  if (intOf(node, "spatial", 1) == 1) { // the other value has no newer definition, and the importer will say so
    dropAttribute(node, "spatial");
  }
}

void slice(Place &at, pb::NodeProto &node) {
  intsToInput(at, node, "starts", 1), intsToInput(at, node, "ends", 2), intsToInput(at, node, "axes", 3);
}

void topK(Place &at, pb::NodeProto &node) {
  setInput(node, 1, addInts(at, node, "k", intOf(node, "k", 1), false));
  dropAttribute(node, "k");
}

void clip(Place &at, pb::NodeProto &node) { floatToInput(at, node, "min", 1), floatToInput(at, node, "max", 2); }

void pad(Place &at, pb::NodeProto &node) { intsToInput(at, node, "pads", 1), floatToInput(at, node, "value", 2); }

/// Drops the ratio, which is for training alone: inference drops nothing.
void dropout(Place &, pb::NodeProto &node) { dropAttribute(node, "ratio"); }

void rename(Place &, pb::NodeProto &node) { node.set_op_type("ScatterElements"); }

/// Rewrites the older Resize, whose scales were the second operand, and whose pixels lay asymmetrically.
void resize(Place &, pb::NodeProto &node) {
  std::string scales = node.input_size() > 1 ? node.input(1) : "";
  setInput(node, 1, ""), setInput(node, 2, scales);
  setText(node, "coordinate_transformation_mode", "asymmetric");
  setText(node, "nearest_mode", "floor");
}

void upsampleScales(Place &at, pb::NodeProto &node) {
  if (const pb::AttributeProto *scales = attributeOf(node, "scales")) {
    setInput(node, 1, addFloats(at, node, "scales", {scales->floats().data(), size_t(scales->floats_size())}, false));
    dropAttribute(node, "scales");
  }
}

/// Renames Upsample to Resize of opset 10, which has a row of its own.
void upsample(Place &, pb::NodeProto &node) { node.set_op_type("Resize"); }

/// Rewrites the older Softmax, which worked on all axes from `axis` on at once: they become one axis in front of it,
/// and are taken apart behind it.
void softmax(Place &at, pb::NodeProto &node) {
  int64_t axis = intOf(node, "axis", 1);
  if (axis == -1) {
    return;
  }
  std::string name = nameOf(node), x = node.input(0), y = node.output(0);
  std::string shape = at.names.fresh(y + "_shape"), flat = at.names.fresh(y + "_flat"),
              result = at.names.fresh(y + "_flat_result");
  makeNode(at.edits.before(at.number), "Shape", at.names.fresh(name + "_shape"), {x}, {shape});
  setInt(makeNode(at.edits.before(at.number), "Flatten", at.names.fresh(name + "_flatten"), {x}, {flat}), "axis", axis);
  setInt(node, "axis", -1);
  node.set_input(0, flat), node.set_output(0, result);
  makeNode(at.edits.after(at.number), "Reshape", at.names.fresh(name + "_reshape"), {result, shape}, {y});
}

void roiAlign(Place &, pb::NodeProto &node) {
  if (!attributeOf(node, "coordinate_transformation_mode")) {
    setText(node, "coordinate_transformation_mode", "output_half_pixel");
  }
}

void splitEqually(Place &, pb::NodeProto &node) {
  if (node.input_size() < 2) {
    setInt(node, "num_outputs", node.output_size());
  }
}

void gridSample(Place &, pb::NodeProto &node) {
  const pb::AttributeProto *mode = attributeOf(node, "mode");
  std::string old = mode ? mode->s() : "bilinear";
  setText(node, "mode", old == "bilinear" ? "linear" : old == "bicubic" ? "cubic" : old);
}

void dft(Place &at, pb::NodeProto &node) {
  setInput(node, 2, addInts(at, node, "axis", intOf(node, "axis", 1), true));
  dropAttribute(node, "axis");
}

struct Row {
  llvm::StringLiteral op;
  int64_t since;
  void (*change)(Place &, pb::NodeProto &); ///< null: there is no newer definition
};

const Row kRows[] = {
    {"BatchNormalization", 9, dropSpatial},
    {"Upsample", 9, upsampleScales},
    {"Scan", 9, nullptr},
    {"Slice", 10, slice},
    {"TopK", 10, topK},
    {"Upsample", 10, upsample},
    {"Clip", 11, clip},
    {"Pad", 11, pad},
    {"Resize", 11, resize},
    {"Scatter", 11, rename},
    {"Dropout", 12, dropout},
    {"Hardmax", 13, softmax},
    {"LogSoftmax", 13, softmax},
    {"ReduceSum", 13, axes},
    {"Softmax", 13, softmax},
    {"Split", 13, split},
    {"Squeeze", 13, axes},
    {"Unsqueeze", 13, axes},
    {"RoiAlign", 16, roiAlign},
    {"ReduceL1", 18, axes},
    {"ReduceL2", 18, axes},
    {"ReduceLogSum", 18, axes},
    {"ReduceLogSumExp", 18, axes},
    {"ReduceMax", 18, axes},
    {"ReduceMean", 18, axes},
    {"ReduceMin", 18, axes},
    {"ReduceProd", 18, axes},
    {"ReduceSumSquare", 18, axes},
    {"Split", 18, splitEqually},
    {"DFT", 20, dft},
    {"GridSample", 20, gridSample},
    {"GroupNormalization", 21, nullptr},
};

llvm::Error raiseNode(Place &at, pb::NodeProto &node, int64_t from, int64_t to) {
  for (const Row &row : kRows) {
    if (row.op != node.op_type() || row.since <= from || row.since > to ||
        !importer::plainDomain(node.domain()).empty()) {
      continue;
    }
    if (!row.change) {
      return llvm::createStringError(shown(node) + ": has no definition of opset " + llvm::Twine(to) +
                                     ", which the quantized model needs");
    }
    row.change(at, node);
  }
  return llvm::Error::success();
}

/// Drops inputs that are initializers, as older versions asked for: they would be operands that the caller may replace.
void dropConstantInputs(pb::GraphProto &graph) {
  llvm::StringSet<> constants;
  for (const pb::TensorProto &tensor : graph.initializer()) {
    constants.insert(tensor.name());
  }
  auto *inputs = graph.mutable_input();
  inputs->erase(llvm::remove_if(*inputs, [&](const auto &input) { return constants.contains(input.name()); }),
                inputs->end());
}

} // namespace

llvm::Error raiseOpset(Model &model, int64_t version) {
  int64_t from = model.opset();
  dropConstantInputs(*model.proto.mutable_graph());
  bool hasNone = from == 0; // all operators of the model are of other domains
  if (from < version && !hasNone) {
    if (from < kOldest || version > kNewest) {
      return llvm::createStringError("the model has opset " + llvm::Twine(from) + ", the quantized model needs " +
                                     llvm::Twine(version) + ", and it can be raised from " + llvm::Twine(kOldest) +
                                     " on");
    }
    if (model.proto.functions_size() > 0) {
      return llvm::createStringError("the model has opset " + llvm::Twine(from) + ", the quantized model needs " +
                                     llvm::Twine(version) + ", and one with functions of its own cannot be raised");
    }
    Names names(model.proto);
    for (pb::GraphProto *graph : model.graphs()) {
      Edits edits(*graph);
      for (auto [number, node] : llvm::enumerate(*graph->mutable_node())) {
        Place at{*graph, names, edits, int(number)};
        if (llvm::Error error = raiseNode(at, node, from, version)) {
          return error;
        }
      }
    }
    model.setOpset("", version);
  }
  int64_t opset = std::max(from, version);
  // As the table in ONNX's docs/Versioning.md says.
  int64_t needed = opset >= 28   ? 14
                   : opset >= 25 ? 13
                   : opset >= 23 ? opset - 12
                   : opset >= 21 ? 10
                   : opset >= 19 ? 9
                   : opset >= 15 ? 8
                                 : 7;
  if (model.proto.ir_version() < needed) {
    model.proto.set_ir_version(needed);
  }
  return llvm::Error::success();
}

} // namespace ingot::quantizer
