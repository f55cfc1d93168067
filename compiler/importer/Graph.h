// Describes a model's graph between the file and the IR: checked, in an order in which it can be computed, and flat
// (calls of the model's own functions replaced by their bodies). Attributes still point into the parsed model.
#pragma once
#include "compiler/importer/Protobuf.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot::importer {

using support::Problems;
using support::quoted;
using support::Where;

class ModelFile;

/// The versions of operator sets by domain; "ai.onnx" is kept as "".
using Opsets = std::map<std::string, int64_t, std::less<>>;

struct NodeAttribute {
  std::string name;
  const pb::AttributeProto *value = nullptr; ///< its own name differs where a function's parameter was filled in
};

struct Subgraph;

struct Node {
  /// The name as written, or the first output's name; nodes of function bodies and of subgraphs carry the call's or the
  /// control node's name before theirs.
  std::string name;
  std::string op, domain;
  int64_t opset = 0;
  std::vector<std::string> inputs, outputs; ///< empty names: optional ones that are left out
  std::vector<NodeAttribute> attributes;
  std::vector<Subgraph> subgraphs;

  Where where() const;
};

/// A graph that is an attribute. Its values have names that no other value of the model has; what it reads from around
/// it goes by the name it has there.
struct Subgraph {
  std::string attribute; ///< "body"
  const pb::GraphProto *proto = nullptr;
  std::vector<std::string> inputs, outputs, initializers; ///< `initializers`: dense ones, then sparse ones
  std::vector<Node> nodes;
};

struct Graph {
  const pb::GraphProto *proto = nullptr; ///< inputs, outputs and initializers
  std::vector<Node> nodes;
  std::deque<pb::AttributeProto> defaults; ///< attribute defaults of functions, which `nodes` point to
};

/// Returns why the compiler cannot take an op, or "" if it can; it is asked for every node, those of subgraphs and
/// functions included.
using OpQuestion = llvm::function_ref<std::string(llvm::StringRef domain, llvm::StringRef op, int64_t opset)>;

/// Checks a whole model: versions, names (each defined once, each use defined), cycles, functions, ops. Returns true if
/// the graph is sound, though it may have ops that `question` refused: more can be said about the others then.
bool checkModel(const pb::ModelProto &model, OpQuestion question, Problems &problems);

/// Returns the flat graph of a model that checkModel accepted. Nothing: inlining would not end or explode.
std::unique_ptr<Graph> flattenModel(const pb::ModelProto &model, Problems &problems);

// These are what both of them need.

using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;

/// Returns the domain; "ai.onnx" and "" are the same one.
llvm::StringRef plainDomain(llvm::StringRef domain);

/// Reads the imports of a model or of a function.
Opsets readOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &imports);

/// Returns the version of a domain that is imported, or holds without an import.
std::optional<int64_t> versionIn(const Opsets &opsets, llvm::StringRef domain);

/// Returns who a node is, for messages.
Where whereIs(const pb::NodeProto &node, const Opsets &opsets);

/// The model's functions, by domain, name and overload.
class FunctionTable {
public:
  explicit FunctionTable(const pb::ModelProto &model);
  const pb::FunctionProto *find(const pb::NodeProto &node) const;
  const std::vector<std::string> &duplicates() const { return twice; }

private:
  llvm::StringMap<const pb::FunctionProto *> functions;
  std::vector<std::string> twice;
};

/// Whether a node is a Constant. The same value may be defined by several of them, and the last one counts: files that
/// real exporters wrote do that, and other runtimes read them so.
bool isConstant(const pb::NodeProto &node);

/// Returns an order of the nodes in which every value is computed before it is used (their own order if that is one),
/// names captured by subgraphs included; Constant nodes that do not count are left out. Empty, with `cycle` set to the
/// nodes of a cycle, if there is none.
std::vector<int> orderNodes(const NodeList &nodes, std::vector<int> &cycle);

/// Returns the subgraphs that a node holds.
std::vector<const pb::GraphProto *> subgraphs(const pb::NodeProto &node);

} // namespace ingot::importer
