// Makes each value that is a float of one of two types, wide as it was or narrow, and puts a Cast where a node reads it
// in the other type. A node is narrow unless the user keeps it, its operator is not defined for the narrow type or
// needs the range of float32, or it has bodies. Bodies are converted like the graph, with inputs and outputs in
// float32.
//
// Which values are floats follows from the inputs, weights and declared types by what each operator gives. Values of
// which this is not known stay as they are, and so do the nodes that read them.
#include "compiler/quantizer/NarrowFloats.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::quantizer {
namespace {

using importer::kFloat;

/// Operators whose results do not have the type of their first operand: the operand whose type they have; -1: they are
/// no floats.
const std::pair<llvm::StringLiteral, int> kTypeFrom[] = {
    {"And", -1},
    {"ArgMax", -1},
    {"ArgMin", -1},
    {"CastLike", 1},
    {"Equal", -1},
    {"Greater", -1},
    {"GreaterOrEqual", -1},
    {"IsInf", -1},
    {"IsNaN", -1},
    {"Less", -1},
    {"LessOrEqual", -1},
    {"Multinomial", -1},
    {"NonZero", -1},
    {"Not", -1},
    {"OneHot", 2},
    {"Or", -1},
    {"Shape", -1},
    {"Size", -1},
    {"Where", 1},
    {"Xor", -1},
    {"NonMaxSuppression", -1},
};
/// Operators of which only the first result has that type.
const llvm::StringLiteral kFirstOnly[] = {"Dropout", "MaxPool", "TopK", "Unique"};
/// An operator with an attribute that says the type of its results. `otherwise` is the type without it; kUndefined:
/// that of the operand.
struct Declared {
  llvm::StringLiteral op, attribute;
  int32_t otherwise;
};
const Declared kDeclared[] = {
    {"Bernoulli", "dtype", importer::kUndefined},
    {"BitCast", "to", importer::kUndefined},
    {"BlackmanWindow", "output_datatype", kFloat},
    {"Cast", "to", importer::kUndefined},
    {"EyeLike", "dtype", kFloat},
    {"HammingWindow", "output_datatype", kFloat},
    {"HannWindow", "output_datatype", kFloat},
    {"MelWeightMatrix", "output_datatype", kFloat},
    {"RandomNormal", "dtype", kFloat},
    {"RandomNormalLike", "dtype", importer::kUndefined},
    {"RandomUniform", "dtype", kFloat},
    {"RandomUniformLike", "dtype", importer::kUndefined},
    {"TfIdfVectorizer", "", kFloat},
};
/// Operators that stay wide: they are not defined for narrow floats, or those lose what they are for.
const llvm::StringLiteral kWide[] = {
    "Bernoulli",
    "BitCast",
    "BlackmanWindow",
    "CastLike",
    "ConstantOfShape",
    "CumSum",
    "DFT",
    "EyeLike",
    "HammingWindow",
    "HannWindow",
    "Loop",
    "MelWeightMatrix",
    "Range",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "STFT",
    "Scan",
    "If",
    "Multinomial",
    "NonMaxSuppression",
    "Constant",
    "SequenceMap",
};
/// The first opset whose version of an operator takes narrow floats; `never`: none has one.
constexpr int64_t never = std::numeric_limits<int64_t>::max();
struct Since {
  llvm::StringLiteral op;
  int64_t float16, bfloat16;
};
const Since kSince[] = {
    {"Celu", 28, 28},
    {"Compress", 1, 28},
    {"Einsum", 1, 28},
    {"IsInf", 20, 20},
    {"MeanVarianceNormalization", never, never}, // its definition by other operators is one of float32
    {"OneHot", 1, never},
    {"ReverseSequence", 1, 28},
    {"Shrink", 1, never},
    {"TfIdfVectorizer", never, never},
    {"TopK", 1, 24},
    {"Unique", 1, 28},
};
/// Operators with results that are float32 in a narrow node, too, from this one on.
const std::pair<llvm::StringLiteral, int> kWideResults[] = {{"LayerNormalization", 1}};
/// Operators with operands that are float32 in a narrow node, too.
const std::pair<llvm::StringLiteral, int> kWideOperands[] = {{"Resize", 1}, {"Resize", 2}, {"Upsample", 1}};

/// The type in which each float is made: float32 or the narrow type. Values that are no floats have none.
using FloatTypes = std::map<std::string, int32_t>;

class Converter {
public:
  Converter(Model &model, pb::GraphProto &graph, int32_t type, int32_t outputs, llvm::ArrayRef<std::string> keep,
            FloatTypes types, llvm::StringSet<> unknown, NarrowFacts &facts)
      : model(model), graph(graph), type(type), outputs(outputs), keep(keep), types(std::move(types)),
        unknown(std::move(unknown)), facts(facts), names(model.proto), index(model, graph), edits(graph) {}

  void convert();

private:
  bool readsUnknown(const pb::NodeProto &node) const;
  bool isWide(const pb::NodeProto &node) const;
  bool isOpaque(const pb::NodeProto &node) const;
  bool isFloatResult(const pb::NodeProto &node, int result) const;
  std::string asFloat(const std::string &value, int32_t floatType);
  void convertNode(pb::NodeProto &node);
  void convertBodies(pb::NodeProto &node);
  void nameResult(pb::NodeProto &node, int result, int32_t floatType);
  std::string narrowConstant(const pb::TensorProto &tensor);
  void note(const std::string &value, const std::string &narrow);

  Model &model;
  pb::GraphProto &graph;
  int32_t type, outputs; ///< the narrow type, and the type of the graph's own inputs and outputs
  llvm::ArrayRef<std::string> keep;
  FloatTypes types;
  llvm::StringSet<> unknown; ///< values of which it is not known whether they are floats
  NarrowFacts &facts;
  Names names;
  Index index;
  Edits edits;
  std::map<std::string, std::string> others; ///< each value in its other type
};

bool Converter::readsUnknown(const pb::NodeProto &node) const {
  return llvm::any_of(node.input(), [&](const std::string &value) { return unknown.contains(value); });
}

bool Converter::isWide(const pb::NodeProto &node) const {
  llvm::StringRef op = node.op_type();
  const Since *since = llvm::find_if(kSince, [&](const Since &row) { return row.op == op; });
  bool isEarly =
      since != std::end(kSince) && model.opset("") < (type == importer::kFloat16 ? since->float16 : since->bfloat16);
  return isEarly || llvm::is_contained(kWide, op) || llvm::is_contained(keep, nameOf(node)) ||
         !importer::plainDomain(node.domain()).empty() || !importer::subgraphs(node).empty() || readsUnknown(node);
}

/// Whether the types of a node's results are not known.
bool Converter::isOpaque(const pb::NodeProto &node) const {
  llvm::StringRef op = node.op_type();
  if (!importer::plainDomain(node.domain()).empty() || (op.contains("Sequence") && op != "ReverseSequence") ||
      op.contains("Optional") || (readsUnknown(node) && op != "Cast")) {
    return true;
  }
  std::vector<const pb::GraphProto *> bodies = importer::subgraphs(node);
  return !bodies.empty() && llvm::any_of(bodies.front()->output(), [](const pb::ValueInfoProto &output) {
    return output.type().tensor_type().elem_type() == importer::kUndefined;
  });
}

bool Converter::isFloatResult(const pb::NodeProto &node, int result) const {
  llvm::StringRef op = node.op_type();
  if (op == "ConstantOfShape" || op == "Constant") {
    const pb::AttributeProto *value = attributeOf(node, "value");
    return value ? value->t().data_type() == kFloat : op == "ConstantOfShape";
  }
  if (op == "If" || op == "Loop" || op == "Scan") { // a Loop's body has a condition in front of its results
    const pb::GraphProto &body = *importer::subgraphs(node).front();
    int output = result + (op == "Loop" ? 1 : 0);
    return output < body.output_size() && body.output(output).type().tensor_type().elem_type() == kFloat;
  }
  if (result > 0 && llvm::is_contained(kFirstOnly, op)) {
    return false;
  }
  const auto *declared = llvm::find_if(kDeclared, [&](const Declared &row) { return row.op == op; });
  if (declared != std::end(kDeclared)) {
    if (int64_t said = intOf(node, declared->attribute, declared->otherwise); said != importer::kUndefined) {
      return said == kFloat;
    }
  }
  const auto *row = llvm::find_if(kTypeFrom, [&](const auto &entry) { return entry.first == op; });
  int from = row == std::end(kTypeFrom) ? 0 : row->second;
  return from >= 0 && from < node.input_size() && types.count(node.input(from)) != 0;
}

std::string Converter::narrowConstant(const pb::TensorProto &tensor) {
  const support::FloatFormat &format = support::elementType(type).format;
  std::vector<uint16_t> codes;
  for (float value : floatsOf(tensor)) {
    // A mask with the lowest float32 would become minus infinity, and differences of two such masks would be no
    // numbers.
    double bounded = std::isfinite(value) ? std::clamp<double>(value, -format.largest(), format.largest()) : value;
    codes.push_back(uint16_t(format.encode(bounded)));
  }
  std::string name = names.fresh(tensor.name() + (type == importer::kFloat16 ? "_fp16" : "_bf16"));
  std::vector<int64_t> dims(dimsOf(tensor));
  *graph.add_initializer() = tensorOf<uint16_t>(name, type, dims, codes);
  return name;
}

void Converter::note(const std::string &value, const std::string &narrow) {
  if (&graph == &model.proto.graph()) {
    facts.values.push_back({value, narrow});
  }
}

std::string Converter::asFloat(const std::string &value, int32_t floatType) {
  auto own = types.find(value);
  if (own == types.end() || own->second == floatType) {
    return value;
  }
  std::string &other = others[value];
  if (other.empty()) {
    const pb::TensorProto *constant = floatType == type ? index.weight(value) : nullptr;
    if (constant) {
      return other = narrowConstant(*constant);
    }
    other = names.fresh(value + (floatType == kFloat ? "_float" : type == importer::kFloat16 ? "_fp16" : "_bf16"));
    setInt(makeNode(edits.after(index.producer(value)), "Cast", names.fresh(other + "_Cast"), {value}, {other}), "to",
           floatType);
    if (floatType == type) {
      note(value, other);
    }
  }
  return other;
}

void Converter::convertBodies(pb::NodeProto &node) {
  for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) {
      Converter(model, *attribute.mutable_g(), type, kFloat, keep, types, unknown, facts).convert();
    }
  }
}

void Converter::convertNode(pb::NodeProto &node) {
  llvm::StringRef op = node.op_type();
  bool reads = llvm::any_of(node.input(), [&](const std::string &value) { return types.count(value) != 0; });
  bool isCast = node.op_type() == "Cast" && intOf(node, "to", 0) == kFloat && !isWide(node);
  bool narrow = isCast || (reads && !isWide(node) && op != "Cast");
  bool computes = reads && op != "Cast";
  (narrow ? facts.converted : facts.kept) += computes ? 1 : 0;
  std::vector<bool> floats(size_t(node.output_size()));
  for (size_t i = 0; i < floats.size(); ++i) {
    floats[i] = isFloatResult(node, int(i));
  }
  for (int i = 0; i < node.input_size() && op != "Cast"; ++i) {
    bool wide = llvm::any_of(kWideOperands, [&](const auto &entry) { return entry.first == op && entry.second == i; });
    node.set_input(i, asFloat(node.input(i), narrow && !wide ? type : kFloat));
  }
  if (isCast) {
    setInt(node, "to", type);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (isOpaque(node) && !node.output(i).empty()) {
      unknown.insert(node.output(i));
    } else if (floats[size_t(i)]) {
      bool wide = llvm::any_of(kWideResults, [&](const auto &row) { return row.first == op && i >= row.second; });
      nameResult(node, i, narrow && !wide ? type : kFloat);
    }
  }
  convertBodies(node);
}

/// Names a result in the type in which the node makes it. Where the graph's caller wants the other type, that gets the
/// value's name.
void Converter::nameResult(pb::NodeProto &node, int result, int32_t floatType) {
  std::string value = node.output(result);
  if (value.empty()) { // the result is left out
    return;
  }
  types[value] = floatType;
  bool isCast = index.isOutput(value) && floatType != outputs;
  std::string made = isCast ? names.fresh(value + "_made") : value;
  if (floatType == type) {
    note(value, made);
  }
  if (!isCast) {
    return;
  }
  node.set_output(result, made);
  setInt(makeNode(edits.after(index.producer(value)), "Cast", names.fresh(value + "_Cast"), {made}, {value}), "to",
         outputs);
  types[value] = outputs, types[made] = floatType, others[value] = made;
}

void Converter::convert() {
  auto isFloat = [](const pb::ValueInfoProto &value) { return value.type().tensor_type().elem_type() == kFloat; };
  for (pb::ValueInfoProto &input : *graph.mutable_input()) {
    if (isFloat(input)) {
      types[input.name()] = outputs;
      input.mutable_type()->mutable_tensor_type()->set_elem_type(outputs);
    } else if (input.type().tensor_type().elem_type() == importer::kUndefined) { // bodies may leave out types
      unknown.insert(input.name());
    }
  }
  for (const pb::TensorProto &tensor : graph.initializer()) {
    if (tensor.data_type() == kFloat) {
      types[tensor.name()] = kFloat;
    }
  }
  for (pb::NodeProto &node : *graph.mutable_node()) {
    convertNode(node);
  }
  for (pb::ValueInfoProto &output : *graph.mutable_output()) {
    if (auto own = types.find(output.name()); own != types.end() && isFloat(output)) {
      output.mutable_type()->mutable_tensor_type()->set_elem_type(own->second);
    }
  }
  graph.clear_value_info(); // the types in there are the old ones
}

} // namespace

NarrowFacts writeNarrowFloats(Model &model, int32_t type, llvm::ArrayRef<std::string> keep, bool keepIo) {
  NarrowFacts facts;
  Converter(model, *model.proto.mutable_graph(), type, keepIo ? kFloat : type, keep, {}, {}, facts).convert();
  model.dropUnused();
  return facts;
}

} // namespace ingot::quantizer
