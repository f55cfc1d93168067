#include "compiler/quantizer/Model.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/TensorData.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <functional>

namespace ingot::quantizer {
namespace {

using TensorAction = llvm::function_ref<void(pb::TensorProto &)>;

template <typename Nodes> void forTensors(Nodes &nodes, TensorAction action);

void forTensors(pb::GraphProto &graph, TensorAction action) {
  llvm::for_each(*graph.mutable_initializer(), action);
  for (pb::SparseTensorProto &sparse : *graph.mutable_sparse_initializer()) {
    action(*sparse.mutable_values());
    action(*sparse.mutable_indices());
  }
  forTensors(*graph.mutable_node(), action);
}

/// Calls `action` with all tensors in the attributes of nodes.
template <typename Nodes> void forTensors(Nodes &nodes, TensorAction action) {
  for (pb::NodeProto &node : nodes) {
    for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) {
        action(*attribute.mutable_t());
      }
      llvm::for_each(*attribute.mutable_tensors(), action);
      if (attribute.has_g()) {
        forTensors(*attribute.mutable_g(), action);
      }
      for (pb::GraphProto &graph : *attribute.mutable_graphs()) {
        forTensors(graph, action);
      }
    }
  }
}

void forAllTensors(pb::ModelProto &model, TensorAction action) {
  forTensors(*model.mutable_graph(), action);
  for (pb::FunctionProto &function : *model.mutable_functions()) {
    forTensors(*function.mutable_node(), action);
  }
}

/// Nodes in an order in which they can be computed; a cycle is left to the importer to complain of.
void order(pb::GraphProto &graph) {
  std::vector<int> cycle, numbers = importer::orderNodes(graph.node(), cycle);
  if (numbers.empty() || llvm::equal(numbers, llvm::seq<int>(0, graph.node_size()))) {
    return;
  }
  google::protobuf::RepeatedPtrField<pb::NodeProto> sorted;
  for (int number : numbers) {
    sorted.Add()->Swap(graph.mutable_node(number));
  }
  graph.mutable_node()->Swap(&sorted);
}

/// Nodes of which nobody can read a result.
void dropWithoutResults(pb::GraphProto &graph) {
  auto *nodes = graph.mutable_node();
  auto isUnnamed = [](const std::string &result) { return result.empty(); };
  nodes->erase(llvm::remove_if(*nodes, [&](const auto &node) { return llvm::all_of(node.output(), isUnnamed); }),
               nodes->end());
}

void addGraphs(pb::GraphProto &graph, std::vector<pb::GraphProto *> &graphs) {
  graphs.push_back(&graph);
  for (pb::NodeProto &node : *graph.mutable_node()) {
    for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) {
        addGraphs(*attribute.mutable_g(), graphs);
      }
      for (pb::GraphProto &body : *attribute.mutable_graphs()) {
        addGraphs(body, graphs);
      }
    }
  }
}

/// All names that the nodes of a graph, and those of the bodies in them, read.
void addReads(const pb::GraphProto &graph, llvm::StringSet<> &names) {
  for (const pb::NodeProto &node : graph.node()) {
    names.insert_range(node.input());
    for (const pb::GraphProto *body : importer::subgraphs(node)) {
      addReads(*body, names);
      for (const pb::ValueInfoProto &output : body->output()) {
        names.insert(output.name());
      }
    }
  }
}

constexpr int64_t kLargestFile = INT_MAX - (int64_t(1) << 20);
constexpr size_t kSmallestExternal = 1024, kExternalAlignment = 64;

llvm::Expected<int64_t> addProto(support::OutputFiles &files, const std::string &path, const pb::ModelProto &proto) {
  std::string content;
  if (!proto.SerializeToString(&content)) {
    return llvm::createStringError(path + ": error: cannot be written: it is too large for a protobuf file");
  }
  llvm::Error error = files.add(path, [&](llvm::raw_ostream &out) { out << content; });
  return error ? llvm::Expected<int64_t>(support::located(std::move(error))) : int64_t(content.size());
}

void refer(pb::TensorProto &tensor, const std::string &location, uint64_t offset, uint64_t bytes) {
  auto entry = [&](const char *key, const std::string &value) {
    pb::StringStringEntryProto &pair = *tensor.add_external_data();
    pair.set_key(key), pair.set_value(value);
  };
  entry("location", location), entry("offset", std::to_string(offset)), entry("length", std::to_string(bytes));
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  tensor.clear_raw_data();
}

} // namespace

/// The values of a tensor as raw data, from wherever they are.
static llvm::Error makeRaw(pb::TensorProto &tensor, importer::ModelFile &file) {
  llvm::Expected<importer::TensorHeader> header = importer::readHeader(tensor);
  if (!header) {
    return header.takeError();
  }
  if (header->type == importer::kString) {
    return llvm::Error::success();
  }
  if (tensor.data_location() == pb::TensorProto::EXTERNAL) {
    llvm::Expected<importer::TensorData> data = importer::readTensor(tensor, file);
    if (!data) {
      return data.takeError();
    }
    tensor.set_raw_data(data->data.data(), data->data.size());
    tensor.clear_external_data(), tensor.clear_data_location();
  } else if (!tensor.has_raw_data()) {
    llvm::Expected<std::vector<char>> bytes = importer::typedBytes(tensor, *header);
    if (!bytes) {
      return bytes.takeError();
    }
    tensor.set_raw_data(bytes->data(), bytes->size());
    tensor.clear_float_data(), tensor.clear_double_data(), tensor.clear_int32_data(), tensor.clear_int64_data();
    tensor.clear_uint64_data();
  }
  bool fits = int64_t(tensor.raw_data().size()) == header->bytes;
  return fits ? llvm::Error::success()
              : llvm::createStringError("needs " + llvm::Twine(header->bytes) + " bytes, but raw_data holds " +
                                        llvm::Twine(tensor.raw_data().size()));
}

llvm::Expected<Model> Model::load(const std::string &path) {
  support::Problems problems(path);
  // The importer looks for damage first; it leaves out doc strings and metadata, so the whole file is parsed here.
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(path, problems);
  Model model;
  model.path = path;
  if (file) {
    auto whole = importer::MappedFile::open(path);
    if (!whole || !model.proto.ParseFromArray((*whole)->bytes().data(), int((*whole)->bytes().size()))) {
      return llvm::joinErrors(whole.takeError(), llvm::createStringError(path + ": error: cannot be read again"));
    }
    forAllTensors(model.proto, [&](pb::TensorProto &tensor) {
      model.isExternal |= tensor.data_location() == pb::TensorProto::EXTERNAL;
      if (llvm::Error error = makeRaw(tensor, *file)) {
        problems.add("tensor " + support::quoted(tensor.name()) + " " + llvm::toString(std::move(error)));
      }
    });
  }
  if (!problems.empty()) {
    return llvm::createStringError(llvm::StringRef(problems.text()).rtrim());
  }
  model.bytes = int64_t(model.proto.ByteSizeLong());
  for (size_t i = 0; i < model.graphs().size(); ++i) { // with a node go its bodies, which are further on
    dropWithoutResults(*model.graphs()[i]);
  }
  for (pb::GraphProto *graph : model.graphs()) {
    order(*graph);
  }
  return model;
}

llvm::Expected<int64_t> Model::save(support::OutputFiles &files, const std::string &path) const {
  if (!isExternal && int64_t(proto.ByteSizeLong()) < kLargestFile) {
    return addProto(files, path, proto);
  }
  pb::ModelProto slim = proto;
  std::string dataPath = path + ".data", location = llvm::sys::path::filename(dataPath).str();
  int64_t bytes = 0;
  llvm::Error error = files.add(dataPath, [&](llvm::raw_ostream &out) {
    forAllTensors(slim, [&](pb::TensorProto &tensor) {
      if (size_t own = tensor.raw_data().size(); own >= kSmallestExternal) {
        out.write_zeros((kExternalAlignment - out.tell() % kExternalAlignment) % kExternalAlignment);
        uint64_t offset = out.tell();
        out << tensor.raw_data();
        refer(tensor, location, offset, own);
      }
    });
    bytes = int64_t(out.tell());
  });
  if (error) {
    return support::located(std::move(error));
  }
  llvm::Expected<int64_t> own = addProto(files, path, slim);
  return own ? llvm::Expected<int64_t>(*own + bytes) : own.takeError();
}

int64_t Model::opset(llvm::StringRef domain) const {
  int64_t version = 0;
  for (const pb::OperatorSetIdProto &opset : proto.opset_import()) {
    version = importer::plainDomain(opset.domain()) == domain ? opset.version() : version;
  }
  return version;
}

void Model::setOpset(llvm::StringRef domain, int64_t version) {
  for (pb::OperatorSetIdProto &opset : *proto.mutable_opset_import()) {
    if (importer::plainDomain(opset.domain()) == domain) {
      opset.set_version(version);
      return;
    }
  }
  pb::OperatorSetIdProto &opset = *proto.add_opset_import();
  opset.set_domain(domain.str()), opset.set_version(version);
}

std::vector<pb::GraphProto *> Model::graphs() {
  std::vector<pb::GraphProto *> all;
  addGraphs(*proto.mutable_graph(), all);
  return all;
}

void Model::mergeConstants() {
  constexpr size_t kLeast = 1024; // bytes that are worth it that a constant loses its name
  llvm::StringSet<> fixed;        // names that a caller or a body's end refers to
  for (const pb::ValueInfoProto &input : proto.graph().input()) {
    fixed.insert(input.name());
  }
  for (pb::GraphProto *graph : graphs()) {
    for (const pb::ValueInfoProto &output : graph->output()) {
      fixed.insert(output.name());
    }
  }
  std::map<std::pair<size_t, int32_t>, std::vector<const pb::TensorProto *>> known;
  llvm::StringMap<std::string> renamed;
  for (const pb::TensorProto &tensor : proto.graph().initializer()) {
    if (tensor.raw_data().size() < kLeast || fixed.contains(tensor.name())) {
      continue;
    }
    auto &alike = known[{std::hash<std::string>()(tensor.raw_data()), tensor.data_type()}];
    auto same = llvm::find_if(alike, [&](const pb::TensorProto *other) {
      return dimsOf(*other) == dimsOf(tensor) && other->raw_data() == tensor.raw_data();
    });
    if (same == alike.end()) {
      alike.push_back(&tensor);
    } else {
      renamed[tensor.name()] = (*same)->name();
    }
  }
  for (pb::GraphProto *graph : graphs()) {
    for (pb::NodeProto &node : *graph->mutable_node()) {
      for (std::string &input : *node.mutable_input()) {
        if (auto found = renamed.find(input); found != renamed.end()) {
          input = found->second;
        }
      }
    }
  }
  dropUnused();
}

void Model::dropUnused() {
  llvm::StringSet<> read;
  addReads(proto.graph(), read);
  for (const pb::ValueInfoProto &output : proto.graph().output()) {
    read.insert(output.name());
  }
  for (pb::GraphProto *graph : graphs()) {
    auto *constants = graph->mutable_initializer();
    constants->erase(llvm::remove_if(*constants, [&](const auto &tensor) { return !read.contains(tensor.name()); }),
                     constants->end());
  }
}

const pb::AttributeProto *attributeOf(const pb::NodeProto &node, llvm::StringRef name) {
  for (const pb::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == name) {
      return &attribute;
    }
  }
  return nullptr;
}

int64_t intOf(const pb::NodeProto &node, llvm::StringRef name, int64_t otherwise) {
  const pb::AttributeProto *attribute = attributeOf(node, name);
  return attribute ? attribute->i() : otherwise;
}

float floatOf(const pb::NodeProto &node, llvm::StringRef name, float otherwise) {
  const pb::AttributeProto *attribute = attributeOf(node, name);
  return attribute ? attribute->f() : otherwise;
}

static pb::AttributeProto &newAttribute(pb::NodeProto &node, llvm::StringRef name) {
  dropAttribute(node, name);
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  return attribute;
}

void setInt(pb::NodeProto &node, llvm::StringRef name, int64_t value) {
  pb::AttributeProto &attribute = newAttribute(node, name);
  attribute.set_type(pb::AttributeProto::INT), attribute.set_i(value);
}

void setInts(pb::NodeProto &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  pb::AttributeProto &attribute = newAttribute(node, name);
  attribute.set_type(pb::AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
}

void setText(pb::NodeProto &node, llvm::StringRef name, llvm::StringRef value) {
  pb::AttributeProto &attribute = newAttribute(node, name);
  attribute.set_type(pb::AttributeProto::STRING), attribute.set_s(value.str());
}

void dropAttribute(pb::NodeProto &node, llvm::StringRef name) {
  auto *all = node.mutable_attribute();
  all->erase(llvm::remove_if(*all, [&](const auto &attribute) { return attribute.name() == name; }), all->end());
}

std::string nameOf(const pb::NodeProto &node) {
  return !node.name().empty() || node.output().empty() ? node.name() : node.output(0);
}

std::string shown(const pb::NodeProto &node) {
  return "node " + support::quoted(nameOf(node)) + " (" + node.op_type() + ")";
}

llvm::ArrayRef<int64_t> dimsOf(const pb::TensorProto &tensor) {
  return {tensor.dims().data(), size_t(tensor.dims_size())};
}

llvm::ArrayRef<float> floatsOf(const pb::TensorProto &tensor) {
  const std::string &bytes = tensor.raw_data(); // std::string allocates with alignment for any scalar
  return {reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float)};
}

pb::TensorProto tensorOf(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes) {
  pb::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor;
}

Names::Names(pb::ModelProto &model) {
  std::vector<pb::GraphProto *> graphs;
  addGraphs(*model.mutable_graph(), graphs);
  for (const pb::GraphProto *graph : graphs) {
    for (const pb::NodeProto &node : graph->node()) {
      taken.insert(node.name());
      taken.insert_range(node.output());
      taken.insert_range(node.input());
    }
    for (const auto *values : {&graph->input(), &graph->output(), &graph->value_info()}) {
      for (const pb::ValueInfoProto &value : *values) {
        taken.insert(value.name());
      }
    }
    for (const pb::TensorProto &tensor : graph->initializer()) {
      taken.insert(tensor.name());
    }
  }
}

std::string Names::fresh(llvm::StringRef given) {
  constexpr size_t kLongest = 64;
  std::string stem = given.size() <= kLongest ? given.str() : (given.take_front(8) + ".." + given.take_back(54)).str();
  std::string name = stem;
  for (int number = 1; !taken.insert(name).second; ++number) {
    name = stem + "_" + std::to_string(number);
  }
  return name;
}

Index::Index(Model &model, pb::GraphProto &graph) {
  for (pb::GraphProto *other : model.graphs()) {
    for (pb::TensorProto &tensor : *other->mutable_initializer()) {
      constants[tensor.name()] = &tensor;
    }
  }
  for (pb::TensorProto &tensor : *graph.mutable_initializer()) {
    constants[tensor.name()] = &tensor;
  }
  for (const pb::ValueInfoProto &output : graph.output()) {
    outputs.insert(output.name());
  }
  for (auto [number, node] : llvm::enumerate(graph.node())) {
    for (const std::string &output : node.output()) {
      producers[output] = int(number);
    }
    for (auto [operand, input] : llvm::enumerate(node.input())) {
      readers[input].push_back({int(number), int(operand)});
    }
    llvm::StringSet<> captured;
    for (const pb::GraphProto *body : importer::subgraphs(node)) {
      addReads(*body, captured);
      for (const pb::ValueInfoProto &output : body->output()) {
        captured.insert(output.name());
      }
    }
    for (const auto &name : captured) {
      readers[name.getKey()].push_back({int(number), -1});
    }
  }
}

int Index::producer(llvm::StringRef value) const {
  auto found = producers.find(value);
  return found == producers.end() ? -1 : found->second;
}

llvm::ArrayRef<Index::Use> Index::uses(llvm::StringRef value) const {
  auto found = readers.find(value);
  return found == readers.end() ? llvm::ArrayRef<Use>() : llvm::ArrayRef(found->second);
}

pb::TensorProto *Index::constant(llvm::StringRef value) const { return constants.lookup(value); }

pb::TensorProto *Index::weight(llvm::StringRef value) const {
  pb::TensorProto *tensor = constant(value);
  return tensor && tensor->data_type() == importer::kFloat ? tensor : nullptr;
}

void Edits::apply() {
  if (added.empty() && dropped.empty()) {
    return;
  }
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
  for (int number = 0; number <= graph.node_size(); ++number) {
    for (pb::NodeProto &node : added[number]) {
      nodes.Add()->Swap(&node);
    }
    if (number < graph.node_size() && !llvm::is_contained(dropped, number)) {
      nodes.Add()->Swap(graph.mutable_node(number));
    }
  }
  graph.mutable_node()->Swap(&nodes);
  added.clear(), dropped.clear();
}

pb::NodeProto &makeNode(pb::NodeProto &node, llvm::StringRef op, const std::string &name,
                        std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs) {
  node.set_op_type(op.str());
  node.set_name(name);
  node.mutable_input()->Add(inputs.begin(), inputs.end());
  node.mutable_output()->Add(outputs.begin(), outputs.end());
  return node;
}

} // namespace ingot::quantizer
