// Counts what accesses of warps cost: the sectors of 32 bytes that each touches in the device's memory, and the
// conflicts that it has in the 32 banks of the block's memory. An image tells of accesses thread by thread. Those of
// one warp that come from the same place in the code for the same number of times are one access of the warp: where
// threads leave a loop at different times, the last turns of those that stay count as accesses of few threads.
#include "Emulator.h"
#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace ingot::emulator {
namespace {

constexpr uintptr_t sectorBytes = 32, wordBytes = 4, banks = 32;
constexpr uint32_t lanes = 32;

struct Part {
  uint32_t lane;
  uintptr_t at;
  int32_t bytes;
};
using Site = const void *;
std::map<std::tuple<uint32_t, Site, int64_t>, std::vector<Part>> pending; // by warp, place in the code, and turn
std::map<std::pair<uint32_t, Site>, int64_t> turns;                       // of each thread

/// Returns the units of so many bytes that are touched.
std::set<uintptr_t> unitsOf(const std::vector<Part> &parts, uintptr_t unit) {
  std::set<uintptr_t> units;
  for (const Part &part : parts) {
    for (uintptr_t at = part.at / unit; at <= (part.at + uintptr_t(part.bytes) - 1) / unit; ++at) {
      units.insert(at);
    }
  }
  return units;
}

void countDevices(const std::vector<Part> &parts, Traffic &traffic) {
  ++traffic.accesses;
  traffic.wide += std::all_of(parts.begin(), parts.end(), [](const Part &part) { return part.bytes == 16; });
  traffic.sectors += int64_t(unitsOf(parts, sectorBytes).size());
  traffic.fewest += int64_t((unitsOf(parts, 1).size() + sectorBytes - 1) / sectorBytes);
}

/// Threads with 8 or 16 bytes each go through the banks in two or four groups of neighbours.
void countShared(const std::vector<Part> &parts, Traffic &traffic) {
  ++traffic.shared;
  uint32_t together = lanes * 4 / uint32_t(std::clamp(parts.front().bytes, 4, 16));
  for (uint32_t first = 0; first < lanes; first += together) {
    std::vector<Part> group;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(group),
                 [&](const Part &part) { return part.lane / together == first / together; });
    std::array<int64_t, banks> words = {};
    for (uintptr_t word : unitsOf(group, wordBytes)) {
      ++words[word % banks];
    }
    traffic.conflicts += std::max<int64_t>(0, *std::max_element(words.begin(), words.end()) - 1);
  }
}

void count(const std::vector<Part> &parts, Traffic &traffic) {
  const auto *at = reinterpret_cast<const char *>(parts.front().at);
  auto offset = at - sharedOfThread();
  if (offset >= 0 && offset < int64_t(launchOfThread().sharedBytes)) {
    countShared(parts, traffic);
  } else if (device().memory.isReserved(at)) { // else it is a thread's own
    countDevices(parts, traffic);
  }
}

} // namespace

void countAccess(Site site, const void *at, int32_t bytes) {
  if (!device().settings.traffic || bytes <= 0) {
    return;
  }
  uint32_t thread = numberOfThread(), warp = thread / lanes;
  std::vector<Part> &parts = pending[{warp, site, turns[{thread, site}]++}];
  parts.push_back({thread % lanes, reinterpret_cast<uintptr_t>(at), bytes});
}

void countMatrix(const void *const *rows) {
  static const char site = 0;
  uint32_t warp = numberOfThread() / lanes;
  if (!device().settings.traffic) {
    return;
  }
  std::vector<Part> &parts = pending[{warp, &site, turns[{warp * lanes, &site}]++}];
  for (uint32_t row = 0; row < 8; ++row) {
    parts.push_back({row, reinterpret_cast<uintptr_t>(rows[row]), 16});
  }
}

void endTraffic(Traffic &traffic) {
  for (const auto &[key, parts] : pending) {
    count(parts, traffic);
  }
  pending.clear();
  turns.clear();
}

} // namespace ingot::emulator
