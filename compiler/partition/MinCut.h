// Finds a cheapest cut of a network by Dinic's algorithm: as long as there is a way from the source to the sink, all
// shortest ways are filled at once. Of several cheapest cuts it is the one that leaves most nodes at the source.
#pragma once
#include <cstdint>
#include <vector>

namespace ingot::partition {

class MinCut {
public:
  static constexpr int64_t unlimited = INT64_MAX / 4;

  /// Makes a network of `nodes` nodes, a source and a sink.
  explicit MinCut(int nodes) : source(nodes), sink(nodes + 1), edgesOf(nodes + 2) {}

  int addNode();
  /// Adds a cost for cuts in which `from` is at the source and `to` is not.
  void addEdge(int from, int to, int64_t cost);
  /// Add a cost for cuts in which `node` is not at the source, or in which it is.
  void addCostAtSink(int node, int64_t cost) { addEdge(source, node, cost); }
  void addCostAtSource(int node, int64_t cost) { addEdge(node, sink, cost); }

  /// Returns whether each node is at the source.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    int64_t room; ///< what may still flow; the edge back is the next one or the one before
  };
  int source, sink;
  std::vector<Edge> edges;
  std::vector<std::vector<int>> edgesOf;
  std::vector<int> level, next;

  bool findLevels();
  int64_t fill();
};

} // namespace ingot::partition
