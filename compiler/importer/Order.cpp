// Orders nodes topologically. ONNX wants nodes sorted, so the usual case is one scan that finds them so. Otherwise it
// is Kahn's algorithm with the file's order among those that are ready, which makes the result independent of hash
// tables; nodes that cannot be ordered contain a cycle, which is found by walking backwards from any node that is left.
#include "compiler/importer/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <queue>

namespace ingot::importer {

std::vector<const pb::GraphProto *> subgraphs(const pb::NodeProto &node) {
  std::vector<const pb::GraphProto *> found;
  for (const pb::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g()) {
      found.push_back(&attribute.g());
    }
    for (const pb::GraphProto &graph : attribute.graphs()) {
      found.push_back(&graph);
    }
  }
  return found;
}

bool isConstant(const pb::NodeProto &node) {
  return node.op_type() == "Constant" && plainDomain(node.domain()).empty() && node.output_size() == 1;
}

/// Adds the names that a graph uses and does not define. The recursion is shallow: the loader bounds how deep subgraphs
/// nest.
static void addCaptured(const pb::GraphProto &graph, llvm::StringSet<> &captured) {
  llvm::StringSet<> used, defined;
  for (const pb::ValueInfoProto &input : graph.input()) {
    defined.insert(input.name());
  }
  for (const pb::TensorProto &tensor : graph.initializer()) {
    defined.insert(tensor.name());
  }
  for (const pb::NodeProto &node : graph.node()) {
    used.insert(node.input().begin(), node.input().end());
    defined.insert(node.output().begin(), node.output().end());
    for (const pb::GraphProto *inner : subgraphs(node)) {
      addCaptured(*inner, used);
    }
  }
  for (const pb::ValueInfoProto &output : graph.output()) {
    used.insert(output.name());
  }
  for (const auto &name : used) {
    if (!defined.contains(name.getKey())) {
      captured.insert(name.getKey());
    }
  }
}

namespace {
/// The nodes that must come before others.
struct Edges {
  std::vector<std::vector<int>> producers; ///< the makers of each node's inputs, within the list
  std::vector<bool> unused;                ///< Constant nodes whose value a later one defines again
  bool sorted = true;

  explicit Edges(const NodeList &nodes) : producers(nodes.size()), unused(nodes.size()) {
    llvm::StringMap<int> producer;
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string &output : nodes[i].output()) {
        auto [entry, isNew] = producer.try_emplace(output, i);
        if (!isNew && isConstant(nodes[i])) {
          unused[entry->second] = isConstant(nodes[entry->second]);
          entry->second = i;
        }
      }
    }
    for (int i = 0; i < nodes.size(); ++i) {
      auto use = [&](llvm::StringRef name) {
        auto found = producer.find(name);
        if (!name.empty() && found != producer.end()) {
          producers[i].push_back(found->second);
          sorted &= found->second < i;
        }
      };
      std::for_each(nodes[i].input().begin(), nodes[i].input().end(), use);
      llvm::StringSet<> captured;
      for (const pb::GraphProto *graph : subgraphs(nodes[i])) {
        addCaptured(*graph, captured);
      }
      for (const auto &name : captured) {
        use(name.getKey());
      }
    }
  }
};
} // namespace

/// `waiting` counts the producers that a node still waits for; a node that waits for ever has one that does, too.
static std::vector<int> findCycle(const Edges &edges, const std::vector<int> &waiting) {
  auto stuck = [&](int node) { return waiting[node] > 0; };
  int node = 0;
  while (!stuck(node)) {
    ++node;
  }
  std::vector<int> path, position(waiting.size(), -1);
  while (position[node] < 0) {
    position[node] = int(path.size());
    path.push_back(node);
    node = *llvm::find_if(edges.producers[node], stuck);
  }
  path.erase(path.begin(), path.begin() + position[node]);
  std::reverse(path.begin(), path.end()); // the path goes from producer to consumer
  return path;
}

std::vector<int> orderNodes(const NodeList &nodes, std::vector<int> &cycle) {
  Edges edges(nodes);
  std::vector<int> order;
  order.reserve(nodes.size());
  if (edges.sorted) {
    for (int i = 0; i < nodes.size(); ++i) {
      if (!edges.unused[i]) {
        order.push_back(i);
      }
    }
    return order;
  }
  std::vector<std::vector<int>> consumers(nodes.size());
  std::vector<int> waiting(nodes.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    waiting[i] = int(edges.producers[i].size());
    for (int producer : edges.producers[i]) {
      consumers[producer].push_back(i);
    }
    if (waiting[i] == 0) {
      ready.push(i);
    }
  }
  int done = 0;
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    ++done;
    if (!edges.unused[node]) {
      order.push_back(node);
    }
    for (int consumer : consumers[node]) {
      if (--waiting[consumer] == 0) {
        ready.push(consumer);
      }
    }
  }
  if (done == nodes.size()) {
    return order;
  }
  cycle = findCycle(edges, waiting);
  return {};
}

} // namespace ingot::importer
