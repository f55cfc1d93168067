#include "compiler/partition/MinCut.h"
#include <algorithm>

namespace ingot::partition {

int MinCut::addNode() {
  edgesOf.emplace_back();
  return static_cast<int>(edgesOf.size()) - 1;
}

void MinCut::addEdge(int from, int to, int64_t cost) {
  if (cost > 0) {
    edgesOf[from].push_back(static_cast<int>(edges.size()));
    edges.push_back({to, std::min(cost, unlimited)});
    edgesOf[to].push_back(static_cast<int>(edges.size()));
    edges.push_back({from, 0});
  }
}

/// Computes `level` by a breadth-first search. Returns whether the sink is in reach.
bool MinCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::vector<int> reached = {source};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (int edge : edgesOf[reached[i]]) {
      auto [to, room] = edges[edge];
      if (room > 0 && level[to] < 0) {
        level[to] = level[reached[i]] + 1;
        reached.push_back(to);
      }
    }
  }
  return level[sink] >= 0;
}

/// Saturates one shortest path from the source to the sink, found by a depth-first search: each edge of it leads to the
/// next level. Returns how much it lets flow; 0 if no such path is left.
int64_t MinCut::fill() {
  std::vector<int> path; // indices in `edges`
  int at = source;
  while (at != sink) {
    std::vector<int> &own = edgesOf[at];
    while (next[at] < static_cast<int>(own.size())) {
      const Edge &edge = edges[own[next[at]]];
      if (edge.room > 0 && level[edge.to] == level[at] + 1) {
        break;
      }
      ++next[at];
    }
    if (next[at] < static_cast<int>(own.size())) {
      path.push_back(own[next[at]]);
      at = edges[path.back()].to;
    } else if (at == source) {
      return 0;
    } else { // this node is a dead end: the search goes back by one edge, and does not take that edge again
      at = edges[path.back() ^ 1].to;
      path.pop_back();
      ++next[at];
    }
  }
  int64_t room = unlimited;
  for (int edge : path) {
    room = std::min(room, edges[edge].room);
  }
  for (int edge : path) {
    edges[edge].room -= room;
    edges[edge ^ 1].room += room;
  }
  return room;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (fill() > 0) {
    }
  }
  // A node has to be at the sink if a path with room still leads from it to the sink. All others may be at the source.
  std::vector<bool> atSource(edgesOf.size(), true);
  std::vector<int> reached = {sink};
  atSource[sink] = false;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (int edge : edgesOf[reached[i]]) {
      int from = edges[edge].to;
      if (edges[edge ^ 1].room > 0 && atSource[from]) {
        atSource[from] = false;
        reached.push_back(from);
      }
    }
  }
  return atSource;
}

} // namespace ingot::partition
