// Dividing buffers among memories is a knapsack problem in which the room changes from step to step, with packing
// (ArenaPlanner.cpp) on top of it. What lives in a memory in one step may not be more than it has; that is quickly
// asked, and mostly enough. Whether the buffers have places then is asked of the arena planner, before a division is
// taken.
//
//   greedy   buffers go, in several orders, into the cheapest memory with room; where these have no places there, with
//            less of each memory
//   improve  a buffer moves to a cheaper memory, into free room or in exchange for one that costs less elsewhere
//   search   all divisions by branch and bound, those first that put what is used most into the cheapest memory. Where
//            it comes to its end, no division costs less for which the arena planner finds places.
//
// All of it is bounded by counted work, never by time, so that every machine finds the same division.
#include "compiler/memory/DivideBuffers.h"
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <utility>

namespace ingot::memory {
namespace {

/// How many times the search and the improvement may ask whether a buffer has room: some tenths of a second each.
constexpr int64_t kMostTries = 1 << 20;
/// How many tries it counts for to look for the places of a memory's buffers.
constexpr int64_t kTriesOfPlaces = 1 << 13;
/// How much work the arena planner may take for that.
constexpr int64_t kWorkOfPlaces = 1 << 19;

/// A buffer of more than 0 bytes. It lives in the steps `begin` to `end` (exclusive) of those in which some item
/// begins, and only these count: what lives in a step between them lived in the last one before it, too.
struct Item {
  size_t buffer;
  int64_t bytes; ///< rounded up to the alignment
  size_t begin, end;
  double traffic;
};

using Choice = std::vector<size_t>; ///< the memory of each item

class Divider {
public:
  Divider(std::span<const BufferLifetime> buffers, std::span<const int64_t> traffic,
          std::span<const MemorySize> memories)
      : buffers(buffers), memories(memories), byCost(memories.size()), room(memories.size()) {
    std::vector<int64_t> steps;
    for (const BufferLifetime &buffer : buffers) {
      steps.push_back(buffer.firstUse);
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    for (size_t i = 0; i < buffers.size(); ++i) {
      const BufferLifetime &buffer = buffers[i];
      int64_t bytes = (buffer.bytes + buffer.alignment - 1) & -buffer.alignment;
      auto begin = std::lower_bound(steps.begin(), steps.end(), buffer.firstUse);
      auto end = std::upper_bound(steps.begin(), steps.end(), buffer.lastUse);
      if (bytes > 0) {
        items.push_back({i, bytes, size_t(begin - steps.begin()), size_t(end - steps.begin()), double(traffic[i])});
      }
    }
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
      return std::pair(-a.traffic, a.buffer) < std::pair(-b.traffic, b.buffer);
    });
    std::iota(byCost.begin(), byCost.end(), 0);
    std::sort(byCost.begin(), byCost.end(),
              [&](size_t a, size_t b) { return std::pair(memories[a].cycles, a) < std::pair(memories[b].cycles, b); });
    largest = size_t(std::max_element(memories.begin(), memories.end(),
                                      [](const MemorySize &a, const MemorySize &b) { return a.bytes < b.bytes; }) -
                     memories.begin());
    stepCount = steps.size();
    empty(0);
  }

  std::optional<Division> divide() {
    for (const auto &order : orders()) {
      greedy(order);
    }
    improve();
    bool isSearched = search(), fits = !best.empty() || items.empty();
    std::optional<Division> division = placed(fits ? best : overflowing());
    if (division) {
      division->isBest = isSearched && fits;
    }
    return division;
  }

private:
  std::span<const BufferLifetime> buffers;
  std::span<const MemorySize> memories;
  std::vector<Item> items;    ///< those with most traffic first
  std::vector<size_t> byCost; ///< memories, the cheapest first
  size_t largest = 0;         ///< the memory with most bytes
  size_t stepCount = 0;
  std::vector<std::vector<int64_t>> room; ///< by memory and step, the bytes that are left
  Choice best;                            ///< empty: none is known that fits
  double bestCost = std::numeric_limits<double>::infinity();
  int64_t tries = 0; ///< that are left

  double costOf(const Item &item, size_t memory) const { return item.traffic * double(memories[memory].cycles); }
  double costOf(const Choice &choice) const {
    double cost = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      cost += costOf(items[i], choice[i]);
    }
    return cost;
  }

  // The room that is left

  /// Makes all memories empty, each without a part of its bytes, in 16ths.
  void empty(int64_t without) {
    for (size_t m = 0; m < memories.size(); ++m) {
      room[m].assign(stepCount, memories[m].bytes - memories[m].bytes / 16 * without);
    }
  }
  bool hasRoom(const Item &item, size_t memory) {
    --tries;
    const std::vector<int64_t> &left = room[memory];
    return std::all_of(left.begin() + item.begin, left.begin() + item.end,
                       [&](int64_t bytes) { return bytes >= item.bytes; });
  }
  void put(const Item &item, size_t memory) { change(item, memory, -item.bytes); }
  void take(const Item &item, size_t memory) { change(item, memory, item.bytes); }
  void change(const Item &item, size_t memory, int64_t bytes) {
    for (size_t step = item.begin; step < item.end; ++step) {
      room[memory][step] += bytes;
    }
  }

  // Places

  std::vector<BufferLifetime> buffersIn(const Choice &choice, size_t memory) const {
    std::vector<BufferLifetime> own;
    for (size_t i = 0; i < items.size(); ++i) {
      if (choice[i] == memory) {
        own.push_back(buffers[items[i].buffer]);
      }
    }
    return own;
  }
  bool havePlaces(const Choice &choice, size_t memory) {
    tries -= kTriesOfPlaces;
    std::optional<ArenaPlan> plan = planArena(buffersIn(choice, memory), {memories[memory].bytes, kWorkOfPlaces});
    return plan && plan->peakBytes <= memories[memory].bytes;
  }
  bool havePlaces(const Choice &choice) {
    return std::all_of(byCost.begin(), byCost.end(), [&](size_t memory) { return havePlaces(choice, memory); });
  }

  /// Returns the division with the places of all buffers: as tight as they can be, where that is not looser than the
  /// memory is large.
  std::optional<Division> placed(const Choice &choice) const {
    Division division{std::vector<size_t>(buffers.size(), byCost.front()), std::vector<int64_t>(buffers.size(), 0),
                      std::vector<int64_t>(memories.size(), 0)};
    for (size_t memory = 0; memory < memories.size(); ++memory) {
      std::vector<BufferLifetime> own = buffersIn(choice, memory);
      std::optional<ArenaPlan> plan = planArena(own);
      if (plan && plan->peakBytes > memories[memory].bytes) {
        plan = planArena(own, {memories[memory].bytes, kWorkOfPlaces});
      }
      if (!plan) {
        return std::nullopt;
      }
      division.peaks[memory] = plan->peakBytes;
      for (size_t i = 0, next = 0; i < items.size(); ++i) {
        if (choice[i] == memory) {
          division.memoryOf[items[i].buffer] = memory;
          division.offsets[items[i].buffer] = plan->offsets[next++];
        }
      }
    }
    return division;
  }

  /// Takes a division if it costs less than the best one. Returns false where it would, but has no places.
  bool takeIfBetter(const Choice &choice) {
    double cost = costOf(choice);
    if (cost < bestCost && !havePlaces(choice)) {
      return false;
    }
    if (cost < bestCost) {
      best = choice, bestCost = cost;
    }
    return true;
  }

  // Greedy

  /// Returns orders of items in which placing tends to go well: by traffic for each byte, by that for each byte and
  /// step, by size, and by size and life together.
  std::array<std::vector<size_t>, 4> orders() const {
    auto bytes = [&](size_t i) { return double(items[i].bytes); };
    auto area = [&](size_t i) { return bytes(i) * double(items[i].end - items[i].begin); };
    std::vector<size_t> all(items.size());
    std::iota(all.begin(), all.end(), 0);
    std::array<std::vector<size_t>, 4> orders = {all, all, all, all};
    auto sortDown = [](std::vector<size_t> &order, auto key) {
      std::sort(order.begin(), order.end(),
                [&](size_t a, size_t b) { return std::pair(-key(a), a) < std::pair(-key(b), b); });
    };
    sortDown(orders[0], [&](size_t i) { return items[i].traffic / bytes(i); });
    sortDown(orders[1], [&](size_t i) { return items[i].traffic / area(i); });
    sortDown(orders[2], bytes);
    sortDown(orders[3], area);
    return orders;
  }

  /// Returns the cheapest memory with room for the item, or the number of memories where none has any.
  size_t cheapestFor(const Item &item) {
    auto memory = std::find_if(byCost.begin(), byCost.end(), [&](size_t m) { return hasRoom(item, m); });
    return memory == byCost.end() ? memories.size() : *memory;
  }

  /// Puts items into the cheapest memory with room. Returns whether all have one.
  bool fill(const std::vector<size_t> &order, Choice &choice) {
    for (size_t i : order) {
      choice[i] = cheapestFor(items[i]);
      if (choice[i] == memories.size()) {
        return false;
      }
      put(items[i], choice[i]);
    }
    return true;
  }

  void greedy(const std::vector<size_t> &order) {
    Choice choice(items.size());
    for (int64_t without : {0, 1, 2, 4, 8}) {
      empty(without);
      if (!fill(order, choice) || takeIfBetter(choice)) {
        return; // less of each memory has no more room, and costs no less
      }
    }
  }

  /// Returns a division in which the largest memory has all for which no other one has room.
  Choice overflowing() {
    Choice choice(items.size());
    empty(0);
    const std::vector<size_t> order = orders().front();
    for (size_t i : order) {
      size_t memory = cheapestFor(items[i]);
      choice[i] = memory == memories.size() ? largest : memory;
      put(items[i], choice[i]);
    }
    return choice;
  }

  // Improvement

  void improve() {
    if (best.empty()) {
      return;
    }
    empty(0);
    for (size_t i = 0; i < items.size(); ++i) {
      put(items[i], best[i]);
    }
    tries = kMostTries;
    for (bool isBetter = true; isBetter && tries > 0;) {
      isBetter = false;
      for (size_t i = 0; i < items.size(); ++i) {
        isBetter |= improve(i);
      }
    }
  }

  /// Moves an item to a cheaper memory, if one has room or an item that may go in exchange.
  bool improve(size_t i) {
    for (size_t to : byCost) {
      if (tries <= 0 || costOf(items[i], to) >= costOf(items[i], best[i])) {
        return false;
      }
      if (move({{i, to}})) {
        return true;
      }
      for (size_t j = 0; j < items.size() && tries > 0; ++j) {
        double more = costOf(items[j], best[i]) - costOf(items[j], to);
        bool pays = best[j] == to && more < costOf(items[i], best[i]) - costOf(items[i], to);
        if (pays && move({{i, to}, {j, best[i]}})) {
          return true;
        }
      }
    }
    return false;
  }

  /// Moves items to these memories, each to another one, if they have room and places there.
  bool move(std::initializer_list<std::pair<size_t, size_t>> moves) {
    Choice changed = best;
    for (auto [i, to] : moves) {
      take(items[i], best[i]);
      changed[i] = to;
    }
    bool fits = true;
    for (auto [i, to] : moves) {
      fits = fits && hasRoom(items[i], to);
      put(items[i], to);
    }
    if (fits && std::all_of(moves.begin(), moves.end(), [&](auto move) { return havePlaces(changed, move.second); })) {
      best = std::move(changed), bestCost = costOf(best);
      return true;
    }
    for (auto [i, to] : moves) {
      take(items[i], to);
      put(items[i], best[i]);
    }
    return false;
  }

  // Search

  /// Looks at all divisions that may cost less than the best one. Returns whether it came to its end.
  bool search() {
    constexpr size_t mostItems = 64; // of more it never comes to its end
    if (items.size() > mostItems) {
      return false;
    }
    std::vector<double> least(items.size() + 1, 0); // of the items from each on, were they alone
    for (size_t i = items.size(); i-- > 0;) {
      auto memory =
          std::find_if(byCost.begin(), byCost.end(), [&](size_t m) { return items[i].bytes <= memories[m].bytes; });
      if (memory == byCost.end()) {
        return true; // it fits nowhere
      }
      least[i] = least[i + 1] + costOf(items[i], *memory);
    }
    empty(0);
    tries = kMostTries;
    Choice choice(items.size());
    choose(0, 0, least, choice);
    return tries > 0;
  }

  /// Chooses the memories of the items from `i` on, those before having cost so much.
  void choose(size_t i, double cost, const std::vector<double> &least, Choice &choice) {
    if (tries <= 0 || cost + least[i] >= bestCost) {
      return;
    }
    if (i == items.size()) {
      (void)takeIfBetter(choice);
      return;
    }
    for (size_t memory : byCost) {
      if (hasRoom(items[i], memory)) {
        choice[i] = memory;
        put(items[i], memory);
        choose(i + 1, cost + costOf(items[i], memory), least, choice);
        take(items[i], memory);
      }
    }
  }
};

} // namespace

std::optional<Division> divideBuffers(std::span<const BufferLifetime> buffers, std::span<const int64_t> traffic,
                                      std::span<const MemorySize> memories) {
  return Divider(buffers, traffic, memories).divide();
}

} // namespace ingot::memory
