// Arena planning is packing of rectangles (lifetime x size) whose place in time is given. That is NP-hard, but the
// networks that occur are easy. Buffers are placed one after the other, each into a gap between the buffers placed
// before that share a step with it. Several orders are tried (size, lifetime, area, start), each once with the tightest
// and once with the lowest gap.
//
// Where the best of these placements is more than 1 % above the bound, the orders are improved ("squeaky wheel"): a
// buffer that does not fit below the best peak is moved forward in the order, and everything behind its new position is
// placed again. The search is bounded by counted work, never by time, so that every machine finds the same plan.
#include "compiler/memory/ArenaPlanner.h"
#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace ingot::memory {
namespace {

/// Sums of sizes stay below this, so that no addition overflows.
constexpr int64_t kMaxBytes = int64_t(1) << 62;
/// The most entries of the lists of conflicts, two for each pair of items. Above it (only with thousands of long-lived
/// buffers) conflicts are found by scanning all placed items.
constexpr int64_t kMaxListedConflicts = 8 << 20;

/// How many positions a buffer is moved forward at most. Short moves keep most of the placement, which then need not be
/// computed again.
constexpr size_t kFarthestMove = 32;

/// Which of several gaps that are large enough an item gets: the one that leaves least room, or the one with the lowest
/// offset.
enum class Fit { Tightest, Lowest };

int64_t alignUp(int64_t value, int64_t alignment) { return (value + alignment - 1) & -alignment; }

/// A buffer of more than 0 bytes, which needs a place. `bytes` is rounded up to the unit, `first` and `last` are steps,
/// and `buffer` is its index in the input.
struct Item {
  int64_t bytes, alignment, first, last;
  size_t buffer;
};

/// The items and which of them conflict.
struct Problem {
  std::vector<Item> items;    ///< in the order of their first step
  std::vector<int> listBegin; ///< items that share a step with item i: list[listBegin[i]] to list[listBegin[i + 1]]
  std::vector<int> list;
  /// Whether the conflicts are in `list`; else they are found by scanning.
  bool listed = true;
  int64_t bound = 0;  ///< the largest sum of bytes that are live in one step
  int64_t enough = 0; ///< a peak that need not be improved
};

/// A place for every item.
struct Placement {
  std::vector<int64_t> offsets; ///< in bytes, by item; -1 for an item without a place
  int64_t peak = std::numeric_limits<int64_t>::max();
};

/// Makes the items and sorts them by their first step. Returns false when the sizes overflow.
bool collectItems(std::span<const BufferLifetime> buffers, std::vector<Item> &items) {
  int64_t unit = kMaxBytes;
  for (const BufferLifetime &buffer : buffers) {
    assert(buffer.alignment > 0 && (buffer.alignment & (buffer.alignment - 1)) == 0 && "not a power of two");
    assert(buffer.firstUse <= buffer.lastUse && buffer.bytes >= 0);
    if (buffer.bytes > 0) {
      unit = std::min(unit, buffer.alignment);
    }
  }
  int64_t left = kMaxBytes;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferLifetime &buffer = buffers[i];
    if (buffer.bytes == 0) {
      continue;
    }
    // In any placement the padding before and behind a buffer is below twice its alignment, so the arena is smaller
    // than `kMaxBytes`.
    if (buffer.alignment > left / 4 || buffer.bytes > left - 2 * buffer.alignment) {
      return false;
    }
    left -= buffer.bytes + 2 * buffer.alignment;
    items.push_back({alignUp(buffer.bytes, unit), buffer.alignment, buffer.firstUse, buffer.lastUse, i});
  }
  std::sort(items.begin(), items.end(),
            [](const Item &a, const Item &b) { return std::tie(a.first, a.buffer) < std::tie(b.first, b.buffer); });
  return true;
}

/// Returns the lower bound of the peak: the largest sum of bytes that are live in one step.
int64_t largestLiveSum(const std::vector<Item> &items) {
  std::vector<std::pair<int64_t, int64_t>> ends; // last step, bytes
  ends.reserve(items.size());
  for (const Item &item : items) {
    ends.push_back({item.last, item.bytes});
  }
  std::sort(ends.begin(), ends.end());
  int64_t live = 0, largest = 0;
  size_t ended = 0;
  for (const Item &item : items) {
    for (; ended < ends.size() && ends[ended].first < item.first; ++ended) {
      live -= ends[ended].second;
    }
    live += item.bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

/// Lists for each item those that share a step with it, if these are not too many.
void listConflicts(Problem &problem) {
  // Items are sorted by their first step, so those that begin during item i are i + 1 to endOf[i].
  const std::vector<Item> &items = problem.items;
  int count = items.size();
  std::vector<int> endOf(count);
  int64_t pairs = 0;
  for (int i = 0; i < count; ++i) {
    auto after = std::upper_bound(items.begin() + i, items.end(), items[i].last,
                                  [](int64_t last, const Item &item) { return last < item.first; });
    endOf[i] = after - items.begin();
    pairs += endOf[i] - i - 1;
  }
  problem.listed = pairs * 2 <= kMaxListedConflicts;
  if (!problem.listed) {
    return;
  }
  std::vector<int> &begin = problem.listBegin;
  begin.assign(count + 1, 0);
  for (int i = 0; i < count; ++i) {
    begin[i + 1] += endOf[i] - i - 1;
    for (int j = i + 1; j < endOf[i]; ++j) {
      ++begin[j + 1];
    }
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  problem.list.resize(pairs * 2);
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < endOf[i]; ++j) {
      problem.list[next[i]++] = j;
      problem.list[next[j]++] = i;
    }
  }
}

/// Places items in a given order. The object keeps its storage between calls.
class Placer {
public:
  explicit Placer(const Problem &problem) : problem(problem) {}

  /// Places all items so that none ends above `limit`. Returns the index in `order` of the first that does not fit, or
  /// the order's size.
  size_t place(const std::vector<int> &order, Fit fit, int64_t limit, Placement &out) {
    out.offsets.assign(problem.items.size(), -1);
    placed.clear();
    return resume(order, 0, fit, limit, out);
  }

  /// Continues where the first `from` items of the order have their places in `out` and the others have none.
  size_t resume(const std::vector<int> &order, size_t from, Fit fit, int64_t limit, Placement &out) {
    for (size_t i = from; i < order.size(); ++i) {
      const Item &item = problem.items[order[i]];
      gatherConflicts(order[i], out);
      int64_t offset = findGap(item, fit), end = offset + item.bytes;
      if (end > limit) {
        return i;
      }
      out.offsets[order[i]] = offset;
      if (!problem.listed) {
        Range range{offset, end, item.first, item.last};
        placed.insert(std::upper_bound(placed.begin(), placed.end(), range), range);
      }
    }
    out.peak = 0;
    for (size_t i = 0; i < problem.items.size(); ++i) {
      out.peak = std::max(out.peak, out.offsets[i] + problem.items[i].bytes);
    }
    return order.size();
  }

  /// How many conflicts have been looked at so far, by which the search is bounded.
  int64_t work = 0;

private:
  /// The bytes [begin, end) that a placed item takes from step `first` to step `last`.
  struct Range {
    int64_t begin, end, first, last;
    bool operator<(const Range &other) const { return begin < other.begin; }
  };

  /// Fills `ranges` with the placed items that share a step with item `index`, in the order of their offsets.
  void gatherConflicts(int index, const Placement &out) {
    ranges.clear();
    if (!problem.listed) {
      const Item &item = problem.items[index];
      std::copy_if(placed.begin(), placed.end(), std::back_inserter(ranges),
                   [&](const Range &range) { return range.first <= item.last && item.first <= range.last; });
      return;
    }
    int begin = problem.listBegin[index], end = problem.listBegin[index + 1];
    for (int i = begin; i < end; ++i) {
      int other = problem.list[i];
      if (int64_t offset = out.offsets[other]; offset >= 0) {
        const Item &item = problem.items[other];
        ranges.push_back({offset, offset + item.bytes, item.first, item.last});
      }
    }
    work += end - begin + 8;
    std::sort(ranges.begin(), ranges.end());
  }

  /// Returns the offset of the gap between `ranges` that `fit` chooses, or the end of the last range where no gap is
  /// large enough.
  int64_t findGap(const Item &item, Fit fit) const {
    int64_t end = 0, best = -1, bestSlack = std::numeric_limits<int64_t>::max();
    for (const Range &range : ranges) {
      int64_t offset = alignUp(end, item.alignment);
      int64_t slack = range.begin - offset - item.bytes;
      if (slack >= 0 && slack < bestSlack) {
        best = offset;
        bestSlack = slack;
        if (fit == Fit::Lowest || slack == 0) {
          return best;
        }
      }
      end = std::max(end, range.end);
    }
    return best >= 0 ? best : alignUp(end, item.alignment);
  }

  const Problem &problem;
  std::vector<Range> ranges, placed; ///< `placed` is kept only where conflicts are not listed
};

/// Returns orders in which placing tends to go well: by size, by lifetime, by area and by start. Ties are broken by
/// start, so that the result is the same everywhere.
std::vector<std::vector<int>> greedyOrders(const std::vector<Item> &items) {
  auto length = [&](int i) { return double(items[i].last - items[i].first + 1); };
  auto size = [&](int i) { return double(items[i].bytes); };
  std::vector<int> byStart(items.size());
  std::iota(byStart.begin(), byStart.end(), 0);
  std::vector<std::vector<int>> orders(4, byStart);
  auto sortDown = [](std::vector<int> &order, auto key) {
    std::sort(order.begin(), order.end(), [&](int a, int b) { return std::pair(-key(a), a) < std::pair(-key(b), b); });
  };
  sortDown(orders[0], size);
  sortDown(orders[1], length);
  sortDown(orders[2], [&](int i) { return size(i) * length(i); });
  return orders;
}

/// Moves the item that does not fit below the best peak forward in the order, again and again, until all fit or `work`
/// is spent. Each placement below the best peak becomes the new `best`.
void improve(const Problem &problem, Placer &placer, std::vector<int> order, Fit fit, int64_t work, Placement &best) {
  std::minstd_rand random(1);
  Placement trial;
  int64_t end = placer.work + work;
  size_t failed = placer.place(order, fit, best.peak - 1, trial);
  while (placer.work < end && best.peak > problem.enough && failed > 0) {
    if (failed == order.size()) {
      best = trial;
      failed = placer.place(order, fit, best.peak - 1, trial);
      continue;
    }
    // Items before the new position keep their places, so only those from it on lose theirs.
    size_t to = failed - 1 - random() % std::min<size_t>(failed, kFarthestMove);
    std::rotate(order.begin() + to, order.begin() + failed, order.begin() + failed + 1);
    for (size_t i = to; i <= failed; ++i) {
      trial.offsets[order[i]] = -1;
    }
    failed = placer.resume(order, to, fit, best.peak - 1, trial);
  }
}

/// Returns the best placement of all orders.
Placement solve(const Problem &problem, const ArenaSearch &search) {
  Placer placer(problem);
  Placement best, trial;
  std::vector<std::vector<int>> orders = greedyOrders(problem.items);
  auto eachStart = [&](auto attempt) {
    for (Fit fit : {Fit::Tightest, Fit::Lowest}) {
      for (const std::vector<int> &order : orders) {
        attempt(order, fit);
      }
    }
  };
  eachStart([&](const std::vector<int> &order, Fit fit) {
    // Without lists every placement is a scan over all others, so only the first kind of gap is tried.
    int64_t enough = search.enough ? problem.enough : problem.bound;
    bool worthwhile = best.peak > enough && (problem.listed || fit == Fit::Tightest);
    if (worthwhile && placer.place(order, fit, best.peak - 1, trial) == order.size()) {
      std::swap(best, trial);
    }
  });
  if (problem.listed) {
    eachStart(
        [&](const std::vector<int> &order, Fit fit) { improve(problem, placer, order, fit, search.work / 8, best); });
  }
  return best;
}

} // namespace

std::optional<int64_t> lowerBoundOf(std::span<const BufferLifetime> buffers) {
  std::vector<Item> items;
  return collectItems(buffers, items) ? std::optional(largestLiveSum(items)) : std::nullopt;
}

std::optional<ArenaPlan> planArena(std::span<const BufferLifetime> buffers, const ArenaSearch &search) {
  Problem problem;
  if (!collectItems(buffers, problem.items)) {
    return std::nullopt;
  }
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  if (problem.items.empty()) {
    return plan;
  }
  problem.bound = plan.lowerBound = largestLiveSum(problem.items);
  int64_t enough = search.enough ? std::min(*search.enough, kMaxBytes) : problem.bound + problem.bound / 100;
  problem.enough = std::max(problem.bound, enough);
  listConflicts(problem);
  Placement placement = solve(problem, search);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    plan.offsets[problem.items[i].buffer] = placement.offsets[i];
  }
  plan.peakBytes = placement.peak;
  return plan;
}

} // namespace ingot::memory
