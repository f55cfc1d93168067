// Writes the arena plan as text, for `ingot inspect --memory`.
#include "compiler/memory/ArenaPlanner.h"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace ingot::memory {
namespace {

std::string row(const char *format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

} // namespace

std::string renderArenaPlan(std::span<const BufferLifetime> buffers, std::span<const std::string> names,
                            const ArenaPlan &plan) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(buffers[a].firstUse, a) < std::pair(buffers[b].firstUse, b); });
  std::string text = row("%14s %14s %8s %8s  %s\n", "offset", "bytes", "first", "last", "buffer");
  for (size_t i : order) {
    const BufferLifetime &buffer = buffers[i];
    text += row("%14lld %14lld %8lld %8lld  ", (long long)plan.offsets[i], (long long)buffer.bytes,
                (long long)buffer.firstUse, (long long)buffer.lastUse);
    text += (i < names.size() ? names[i] : "buffer " + std::to_string(i)) + "\n";
  }
  double percent = plan.lowerBound ? 100.0 * double(plan.peakBytes) / double(plan.lowerBound) : 100.0;
  text += row("peak %lld bytes, largest live set %lld bytes, %.1f %%\n", (long long)plan.peakBytes,
              (long long)plan.lowerBound, percent);
  return text;
}

} // namespace ingot::memory
