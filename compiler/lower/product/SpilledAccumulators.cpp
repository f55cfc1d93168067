#include "compiler/lower/product/SpilledAccumulators.h"

using namespace mlir;

namespace ingot::lower {

SpilledAccumulators::SpilledAccumulators(Writer &w, Type element, int64_t lanes, int64_t count)
    : w(w), element(element), lanes(lanes), buffer(w.local(element, count * lanes)) {}

void SpilledAccumulators::clear(Ix count) {
  Value zero = w.constant(0, w.vectorOf(element, lanes));
  w.loop(0, count, 1, [&](Ix i) { w.store(zero, buffer, i * lanes); });
}

SmallVector<Value> SpilledAccumulators::load(Ix first, int64_t count) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < count; ++i) {
    sums.push_back(w.load(buffer, (first + i) * lanes, lanes));
  }
  return sums;
}

void SpilledAccumulators::store(ArrayRef<Value> sums, Ix first) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    w.store(sum, buffer, (first + static_cast<int64_t>(i)) * lanes);
  }
}

} // namespace ingot::lower
