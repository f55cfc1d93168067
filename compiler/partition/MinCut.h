// Finds a minimum cut of a directed network by Dinic's maximum-flow algorithm: as long as a path of edges with room
// leads from the source to the sink, it saturates all shortest paths at once. A cut divides the nodes into those at the
// source's side and those at the sink's side. It costs the sum of the edges that lead from the first to the second. Of
// several minimum cuts the result is the one with the most nodes at the source's side.
#pragma once
#include <cstdint>
#include <vector>

namespace ingot::partition {

/// A network and its minimum cut.
class MinCut {
public:
  /// The cost of an edge that no cut of finite cost contains. Larger costs count as this one.
  static constexpr int64_t unlimited = INT64_MAX / 4;

  /// Makes a network of the nodes [0, nodes), a source and a sink, without edges.
  explicit MinCut(int nodes) : source(nodes), sink(nodes + 1), edgesOf(nodes + 2) {}

  /// Adds a node and returns its number.
  int addNode();
  /// Adds a cost for cuts in which `from` is at the source and `to` is at the sink. A cost of 0 or less adds nothing.
  void addEdge(int from, int to, int64_t cost);
  /// Adds a cost for cuts in which `node` is at the sink.
  void addCostAtSink(int node, int64_t cost) { addEdge(source, node, cost); }
  /// Adds a cost for cuts in which `node` is at the source.
  void addCostAtSource(int node, int64_t cost) { addEdge(node, sink, cost); }

  /// Returns for each node, by its number, whether the minimum cut has it at the source. It uses the network up.
  std::vector<bool> solve();

private:
  /// A direction of an edge. Both directions are neighbours in `edges`: the reverse of edge e is edge e ^ 1.
  struct Edge {
    int to;
    int64_t room; ///< how much more may flow in this direction
  };
  int source, sink;
  std::vector<Edge> edges;
  std::vector<std::vector<int>> edgesOf; ///< for each node, the indices in `edges` of those that begin at it
  /// For each node, its distance from the source in edges with room (-1: out of reach), and the first of its edges that
  /// fill() has not found to be a dead end.
  std::vector<int> level, next;

  bool findLevels();
  int64_t fill();
};

} // namespace ingot::partition
