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

/// Finds how far each node is from the source, over edges with room; false: the sink is out of reach.
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

/// Fills one way that goes up by a level with each edge; 0: there is none left.
int64_t MinCut::fill() {
  std::vector<int> way; // edges of the way
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
      way.push_back(own[next[at]]);
      at = edges[way.back()].to;
    } else if (at == source) {
      return 0;
    } else { // this is a dead end: the way goes back, and not here again
      at = edges[way.back() ^ 1].to;
      way.pop_back();
      ++next[at];
    }
  }
  int64_t room = unlimited;
  for (int edge : way) {
    room = std::min(room, edges[edge].room);
  }
  for (int edge : way) {
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
  // At the sink is what can still reach it: everything else may as well be at the source.
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
