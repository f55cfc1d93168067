// An ONNX file in memory to be changed: names, order, doc strings and metadata stay as they are. Every tensor has its
// data in raw_data while it is here, wherever the file had them.
#pragma once
#include "compiler/importer/Protobuf.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace ingot::support {
class OutputFiles;
} // namespace ingot::support

namespace ingot::quantizer {

namespace pb = importer::pb;

struct Model {
  std::string path;
  pb::ModelProto proto;
  bool isExternal = false; ///< its weights stood in files of their own
  int64_t bytes = 0;       ///< of the file, with these

  /// Nodes are brought into an order in which they can be computed. The error has the importer's messages.
  static llvm::Expected<Model> load(const std::string &path);
  /// Adds the file to what is written, and returns its bytes, with those of PATH.data, where weights go if they did so
  /// before, or if one file cannot hold them.
  llvm::Expected<int64_t> save(support::OutputFiles &files, const std::string &path) const;

  int64_t opset(llvm::StringRef domain = "") const; ///< 0: not imported
  void setOpset(llvm::StringRef domain, int64_t version);

  /// The graph and the bodies of its control flow, outer ones first.
  std::vector<pb::GraphProto *> graphs();
  /// Weights that nothing reads any more go.
  void dropUnused();
};

/// Every attribute that a node has, by name; null: none.
const pb::AttributeProto *attributeOf(const pb::NodeProto &node, llvm::StringRef name);
int64_t intOf(const pb::NodeProto &node, llvm::StringRef name, int64_t otherwise);
float floatOf(const pb::NodeProto &node, llvm::StringRef name, float otherwise);
void setInt(pb::NodeProto &node, llvm::StringRef name, int64_t value);
void setInts(pb::NodeProto &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values);
void setText(pb::NodeProto &node, llvm::StringRef name, llvm::StringRef value);
void dropAttribute(pb::NodeProto &node, llvm::StringRef name);

/// "node 'conv1' (Conv)"
std::string shown(const pb::NodeProto &node);
/// The node's name, or of one without a name that of its first result.
std::string nameOf(const pb::NodeProto &node);

llvm::ArrayRef<int64_t> dimsOf(const pb::TensorProto &tensor);
/// The values of a float32 tensor.
llvm::ArrayRef<float> floatsOf(const pb::TensorProto &tensor);
pb::TensorProto tensorOf(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
template <typename T>
pb::TensorProto tensorOf(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<T> values) {
  return tensorOf(name, type, dims,
                  llvm::StringRef(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
}

/// Names that a model does not have yet.
class Names {
public:
  explicit Names(pb::ModelProto &model);
  /// Long stems are cut: exporters make names of a thousand letters, which would be several times in the file.
  std::string fresh(llvm::StringRef stem);

private:
  llvm::StringSet<> taken;
};

/// Who makes and who reads the values of one graph. Valid until the graph changes.
class Index {
public:
  struct Use {
    int node, operand; ///< operand -1: a body in the node reads it
  };
  /// Of the graph's nodes; constants are those of all graphs, since bodies read the ones around them.
  Index(Model &model, pb::GraphProto &graph);

  int producer(llvm::StringRef value) const; ///< -1: none of the nodes
  llvm::ArrayRef<Use> uses(llvm::StringRef value) const;
  pb::TensorProto *constant(llvm::StringRef value) const;
  /// A constant of float32; null for others.
  pb::TensorProto *weight(llvm::StringRef value) const;
  bool isOutput(llvm::StringRef value) const { return outputs.contains(value); }

private:
  llvm::StringMap<int> producers;
  llvm::StringMap<std::vector<Use>> readers;
  llvm::StringMap<pb::TensorProto *> constants;
  llvm::StringSet<> outputs;
};

/// Nodes that are put between those of a graph. Numbers are those of the nodes before apply().
class Edits {
public:
  explicit Edits(pb::GraphProto &graph) : graph(graph) {}
  ~Edits() { apply(); }
  Edits(const Edits &) = delete;

  /// Of those put in the same place, the first stands first. Node -1: in front of all.
  pb::NodeProto &after(int node) { return before(node + 1); }
  pb::NodeProto &before(int node) { return added[node].emplace_back(); }
  void drop(int node) { dropped.push_back(node); }
  void apply();

private:
  pb::GraphProto &graph;
  std::map<int, std::vector<pb::NodeProto>> added;
  std::vector<int> dropped;
};

/// Fills in a node of the standard's domain.
pb::NodeProto &makeNode(pb::NodeProto &node, llvm::StringRef op, const std::string &name,
                        std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs);

} // namespace ingot::quantizer
