#include "compiler/lower/core/Columns.h"

using namespace mlir;

namespace ingot::lower {

void Strip::vectors(Writer &w, VectorBody body) const {
  w.lanes(width, [&](Ix place, int64_t lanes, Value mask) {
    SmallVector<Ix> at(position);
    at.back() = first + place;
    body(at, place, lanes, mask);
  });
}

void Strip::down(Writer &w, int64_t together, llvm::function_ref<void(Ix, int64_t)> body) const {
  Ix whole = split.count - remainder(split.count, together);
  w.loop(0, whole, together, [&](Ix row) { body(row, together); });
  if (!split.count.known()) {
    w.loop(whole, split.count, 1, [&](Ix row) { body(row, 1); });
  } else if (int64_t rest = split.count.number() - whole.number()) {
    body(whole, rest);
  }
}

SmallVector<Ix> Strip::below(ArrayRef<Ix> at, Ix row) const {
  SmallVector<Ix> to(at);
  to[split.inner.front()] = row;
  return to;
}

bool hasWideColumns(const Writer &w, const AxisSplit &split) {
  // Fewer rows are walked down in registers, and rows of fewer vectors are read at once by all that walk down.
  constexpr int64_t leastVectors = 16, leastRows = 16;
  if (split.across || split.in.block > 1 || split.team > 1 || split.lanes == 1 || w.machine.itemsAreThreads ||
      split.inner.size() != 1 || split.inner.front() + 2 != split.in.sizes.size()) {
    return false;
  }
  Ix row = split.in.sizes.back();
  return row.known() && row.number() >= leastVectors * split.lanes &&
         (!split.count.known() || split.count.number() >= leastRows);
}

Buffer arrayForColumns(Writer &w, const AxisSplit &split, Type element, int64_t columns) {
  return w.local(element, llvm::divideCeil(columns, split.lanes) * split.lanes);
}

int64_t widthOfStrips(const AxisSplit &split, int64_t most) { return std::min(split.in.sizes.back().number(), most); }

void eachStrip(Writer &w, const AxisSplit &split, Ix begin, Ix end, int64_t width,
               llvm::function_ref<void(const Strip &)> body) {
  int64_t row = split.in.sizes.back().number(), whole = row / width * width;
  w.loop(begin, end, 1, [&](Ix item) {
    SmallVector<Ix> at = split.positionOf(item);
    w.loop(0, whole, width, [&](Ix first) { body({split, at, first, width}); });
    if (row > whole) {
      body({split, at, whole, row - whole});
    }
  });
}

} // namespace ingot::lower
