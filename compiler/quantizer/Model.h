// Holds an ONNX file in memory to be changed: names, order, doc strings and metadata stay as they are. Every tensor has
// its data in raw_data while it is here, wherever the file has them.
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
  bool isExternal = false; ///< whether its weights are in files of their own
  bool isAsRead = false;   ///< whether its nodes are those of the file, apart from constants
  int64_t bytes = 0;       ///< the size of the file and of those with its weights

  /// Loads a model, whose nodes are brought into an order in which they can be computed. The error has the importer's
  /// messages.
  static llvm::Expected<Model> load(const std::string &path);
  /// Adds the file to what is written, and returns its bytes, with those of PATH.data. Weights go there if they were in
  /// a file of their own before, or if one file cannot hold them.
  llvm::Expected<int64_t> save(support::OutputFiles &files, const std::string &path) const;

  int64_t opset(llvm::StringRef domain = "") const; ///< 0: the model does not import the domain
  void setOpset(llvm::StringRef domain, int64_t version);

  /// Returns the graph and the bodies of its control flow, outer ones first.
  std::vector<pb::GraphProto *> graphs();
  /// Makes one constant of those of the model's own graph that are the same.
  void mergeConstants();
  /// Removes weights that nothing reads any more.
  void dropUnused();
};

/// Returns the attribute of a node with a name; null: it has none.
const pb::AttributeProto *attributeOf(const pb::NodeProto &node, llvm::StringRef name);
int64_t intOf(const pb::NodeProto &node, llvm::StringRef name, int64_t otherwise);
float floatOf(const pb::NodeProto &node, llvm::StringRef name, float otherwise);
void setInt(pb::NodeProto &node, llvm::StringRef name, int64_t value);
void setInts(pb::NodeProto &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values);
void setText(pb::NodeProto &node, llvm::StringRef name, llvm::StringRef value);
void dropAttribute(pb::NodeProto &node, llvm::StringRef name);

/// Returns a node as a message names it, "node 'conv1' (Conv)".
std::string shown(const pb::NodeProto &node);
/// Returns the node's name; without one, that of its first result.
std::string nameOf(const pb::NodeProto &node);

llvm::ArrayRef<int64_t> dimsOf(const pb::TensorProto &tensor);
/// Returns the values of a float32 tensor.
llvm::ArrayRef<float> floatsOf(const pb::TensorProto &tensor);
pb::TensorProto tensorOf(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
template <typename T>
pb::TensorProto tensorOf(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<T> values) {
  return tensorOf(name, type, dims,
                  llvm::StringRef(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
}

/// Makes names that a model does not have yet.
class Names {
public:
  explicit Names(pb::ModelProto &model);
  /// Returns a new name that begins with the stem. Long stems are cut, since exporters make names of a thousand
  /// letters, which would be in the file several times.
  std::string fresh(llvm::StringRef stem);

private:
  llvm::StringSet<> taken;
};

/// Tells who makes and who reads the values of one graph. It is valid until the graph changes.
class Index {
public:
  struct Use {
    int node, operand; ///< `operand` is -1 where a body in the node reads the value
  };
  /// Collects the graph's nodes, and the constants of all graphs, since bodies read those around them.
  Index(Model &model, pb::GraphProto &graph);

  int producer(llvm::StringRef value) const; ///< -1: no node makes it
  llvm::ArrayRef<Use> uses(llvm::StringRef value) const;
  pb::TensorProto *constant(llvm::StringRef value) const;
  /// Returns a constant of float32; null where the value is none.
  pb::TensorProto *weight(llvm::StringRef value) const;
  bool isOutput(llvm::StringRef value) const { return outputs.contains(value); }

private:
  llvm::StringMap<int> producers;
  llvm::StringMap<std::vector<Use>> readers;
  llvm::StringMap<pb::TensorProto *> constants;
  llvm::StringSet<> outputs;
};

/// Puts nodes between those of a graph. Numbers are those that nodes have before apply().
class Edits {
public:
  explicit Edits(pb::GraphProto &graph) : graph(graph) {}
  ~Edits() { apply(); }
  Edits(const Edits &) = delete;

  /// Adds a node behind another; -1 puts it in front of all. The first one that is put in a place stands first there.
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
