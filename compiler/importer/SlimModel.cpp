// A table says, for each kind of message, which fields hold messages to enter, which are dropped (texts for humans,
// training, device placement) and which are cut out; all others are copied. Lengths of entered messages are not known
// until they are done, so each gets a five-byte varint that is filled in afterwards; protobuf reads padded varints like
// any other. The walk bounds what a hostile file can cost: how deep messages nest (recursion here, in protobuf and in
// everything after) and how many parts there are (memory).
#include "compiler/importer/SlimModel.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/WireReader.h"
#include "llvm/Support/Endian.h"
#include <climits>

namespace ingot::importer {

namespace {

enum class Kind : uint8_t {
  Model,
  Graph,
  Function,
  Node,
  Attribute,
  Tensor,
  SparseTensor,
  ValueInfo,
  Type,
  Element,
  MapType,
  Drop,
  Cut
};

struct Rule {
  Kind message;
  uint32_t field;
  Kind action;
};

// Protobuf itself stops at 100; the innermost messages (shapes and their dimensions) are not entered here.
constexpr int kMaxDepth = 96;

/// Returns how many messages and texts a file may have: each takes memory, in a model of its size hardly more than
/// this.
constexpr size_t mostParts(size_t bytes) { return 4'000'000 + bytes / 16; }

constexpr Rule kRules[] = {
    {Kind::Model, 6, Kind::Drop},              // doc_string
    {Kind::Model, 7, Kind::Graph},             // graph
    {Kind::Model, 14, Kind::Drop},             // metadata_props
    {Kind::Model, 20, Kind::Drop},             // training_info
    {Kind::Model, 25, Kind::Function},         // functions
    {Kind::Model, 26, Kind::Drop},             // configuration
    {Kind::Graph, 1, Kind::Node},              // node
    {Kind::Graph, 5, Kind::Tensor},            // initializer
    {Kind::Graph, 10, Kind::Drop},             // doc_string
    {Kind::Graph, 11, Kind::ValueInfo},        // input
    {Kind::Graph, 12, Kind::ValueInfo},        // output
    {Kind::Graph, 13, Kind::Drop},             // value_info: inference knows better
    {Kind::Graph, 14, Kind::Drop},             // quantization_annotation
    {Kind::Graph, 15, Kind::SparseTensor},     // sparse_initializer
    {Kind::Graph, 16, Kind::Drop},             // metadata_props
    {Kind::Function, 7, Kind::Node},           // node
    {Kind::Function, 8, Kind::Drop},           // doc_string
    {Kind::Function, 11, Kind::Attribute},     // attribute_proto
    {Kind::Function, 12, Kind::Drop},          // value_info
    {Kind::Function, 14, Kind::Drop},          // metadata_props
    {Kind::Node, 5, Kind::Attribute},          // attribute
    {Kind::Node, 6, Kind::Drop},               // doc_string
    {Kind::Node, 9, Kind::Drop},               // metadata_props
    {Kind::Node, 10, Kind::Drop},              // device_configurations
    {Kind::Attribute, 5, Kind::Tensor},        // t
    {Kind::Attribute, 6, Kind::Graph},         // g
    {Kind::Attribute, 10, Kind::Tensor},       // tensors
    {Kind::Attribute, 11, Kind::Graph},        // graphs
    {Kind::Attribute, 13, Kind::Drop},         // doc_string
    {Kind::Attribute, 14, Kind::Type},         // tp
    {Kind::Attribute, 15, Kind::Type},         // type_protos
    {Kind::Attribute, 22, Kind::SparseTensor}, // sparse_tensor
    {Kind::Attribute, 23, Kind::SparseTensor}, // sparse_tensors
    {Kind::Tensor, 9, Kind::Cut},              // raw_data
    {Kind::Tensor, 12, Kind::Drop},            // doc_string
    {Kind::Tensor, 16, Kind::Drop},            // metadata_props
    {Kind::SparseTensor, 1, Kind::Tensor},     // values
    {Kind::SparseTensor, 2, Kind::Tensor},     // indices
    {Kind::ValueInfo, 2, Kind::Type},          // type
    {Kind::ValueInfo, 3, Kind::Drop},          // doc_string
    {Kind::ValueInfo, 4, Kind::Drop},          // metadata_props
    {Kind::Type, 4, Kind::Element},            // sequence_type
    {Kind::Type, 5, Kind::MapType},            // map_type
    {Kind::Type, 9, Kind::Element},            // optional_type
    {Kind::Element, 1, Kind::Type},            // elem_type
    {Kind::MapType, 2, Kind::Type},            // value_type
};

class Slimmer {
public:
  explicit Slimmer(llvm::StringRef file) : file(file) {}

  bool message(llvm::StringRef bytes, Kind kind, int depth);
  llvm::Error error() const { return llvm::createStringError(text); }
  SlimModel result;

private:
  bool fail(const char *at, const llvm::Twine &what) {
    text = ("not an ONNX model, or a damaged one: malformed at byte " + llvm::Twine(at - file.begin()) + ": " + what)
               .str();
    return false;
  }
  bool tooMuch(const llvm::Twine &what) {
    text = what.str();
    return false;
  }
  bool field(const WireField &field, const Rule *rule, int depth);
  void header(uint32_t number, size_t length);
  void cut(llvm::StringRef bytes);

  llvm::StringRef file;
  std::string text;
  size_t parts = 0;
};

} // namespace

static const Rule *findRule(Kind kind, uint32_t number) {
  for (const Rule &rule : kRules) {
    if (rule.message == kind && rule.field == number) {
      return &rule;
    }
  }
  return nullptr;
}

/// Returns the field that holds all of a tensor's data as packed little-endian values, just as raw data would, or 0.
/// Old exporters write float_data; protobuf would copy it.
static uint32_t packedDataField(llvm::StringRef tensor) {
  WireReader reader(tensor);
  WireField field;
  uint64_t type = 0;
  unsigned chunks[2] = {0, 0};
  while (!reader.atEnd() && reader.next(field)) {
    if (field.number == 2) {
      type = field.value;
    } else if (field.number == 9 || ((field.number == 4 || field.number == 10) && field.type != WireType::Bytes)) {
      return 0;
    } else if (field.number == 4 || field.number == 10) {
      ++chunks[field.number == 10];
    }
  }
  if (chunks[0] + chunks[1] != 1) {
    return 0;
  }
  return chunks[0] && type == kFloat ? 4 : chunks[1] && type == kDouble ? 10 : 0;
}

void Slimmer::header(uint32_t number, size_t length) {
  uint64_t values[2] = {uint64_t(number) << 3 | uint64_t(WireType::Bytes), length};
  for (uint64_t value : values) {
    for (; value > 0x7f; value >>= 7) {
      result.bytes.push_back(char(value | 0x80));
    }
    result.bytes.push_back(char(value));
  }
}

void Slimmer::cut(llvm::StringRef bytes) {
  char number[4];
  llvm::support::endian::write32le(number, uint32_t(result.slices.size()));
  header(9, sizeof(number));
  result.bytes.append(number, sizeof(number));
  result.slices.push_back(bytes);
}

bool Slimmer::field(const WireField &field, const Rule *rule, int depth) {
  if (field.type == WireType::Bytes && ++parts > mostParts(file.size())) {
    return tooMuch("has more than " + llvm::Twine(mostParts(file.size())) + " parts, which is too much for a file of " +
                   llvm::Twine(file.size()) + " bytes");
  }
  if (!rule) {
    result.bytes += field.whole;
    return true;
  }
  if (rule->action == Kind::Drop) {
    return true;
  }
  if (field.type != WireType::Bytes) {
    return fail(field.whole.begin(), "field " + llvm::Twine(field.number) + " has the wrong wire type");
  }
  if (rule->action == Kind::Cut) {
    cut(field.payload);
    return true;
  }
  header(field.number, 0);
  result.bytes.append(4, '\0'); // with the byte that header wrote for the zero these are five
  size_t start = result.bytes.size();
  if (!message(field.payload, rule->action, depth + 1)) {
    return false;
  }
  size_t length = result.bytes.size() - start;
  for (int i = 0; i < 5; ++i) {
    result.bytes[start - 5 + i] = char((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  }
  return true;
}

bool Slimmer::message(llvm::StringRef bytes, Kind kind, int depth) {
  if (depth > kMaxDepth) {
    return tooMuch("nests messages more than " + llvm::Twine(kMaxDepth) +
                   " deep, in subgraphs of subgraphs (each takes three) or types of types");
  }
  uint32_t packed = kind == Kind::Tensor ? packedDataField(bytes) : 0;
  WireReader reader(bytes);
  while (!reader.atEnd()) {
    WireField next;
    const char *at = reader.position();
    if (!reader.next(next)) {
      return fail(at, reader.error());
    }
    if (packed && next.number == packed) {
      cut(next.payload);
    } else if (!field(next, findRule(kind, next.number), depth)) {
      return false;
    }
    if (result.bytes.size() > INT_MAX) {
      return tooMuch("has more than 2 GiB beside the weights");
    }
  }
  return true;
}

llvm::Expected<SlimModel> slimModel(llvm::StringRef file) {
  Slimmer slimmer(file);
  if (!slimmer.message(file, Kind::Model, 0)) {
    return slimmer.error();
  }
  return std::move(slimmer.result);
}

std::optional<uint32_t> sliceIndex(llvm::StringRef rawData) {
  if (rawData.size() != 4) {
    return std::nullopt;
  }
  return llvm::support::endian::read32le(rawData.data());
}

} // namespace ingot::importer
