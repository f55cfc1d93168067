// log2(lanes) rounds of shuffles: the round of distance h swaps, in each pair of rows h apart, the off-diagonal squares
// of h by h.
#include "compiler/lower/Transpose.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

SmallVector<Value> transposed(Writer &w, ArrayRef<Value> rows) {
  int64_t n = rows.size();
  SmallVector<Value> v(rows);
  for (int64_t h = n / 2; h > 0; h /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < n; ++lane) {
      upper.push_back(lane & h ? n + lane - h : lane);
      lower.push_back(lane & h ? n + lane : lane + h);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & h) {
        continue;
      }
      Value a = v[i], b = v[i + h];
      v[i] = vector::ShuffleOp::create(w.b, w.loc, a, b, upper);
      v[i + h] = vector::ShuffleOp::create(w.b, w.loc, a, b, lower);
    }
  }
  return v;
}

} // namespace ingot::lower
