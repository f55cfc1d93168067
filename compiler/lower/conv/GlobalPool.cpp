// Builds global pools. In blocked layout there is one vector for a channel block, which is folded over all pixels by
// several accumulators. In row-major layout a vector of neighbouring pixels is folded over the plane, and then its
// lanes.
#include "compiler/lower/conv/PoolWindow.h"
#include "compiler/lower/core/Vectors.h"

using namespace mlir;

namespace ingot::lower {

/// Folds elements at + i * step, for i in [0, count), into as many accumulators as `acc` has.
static SmallVector<Value> foldRow(Writer &w, const Pool &pool, Buffer x, Ix at, Ix step, Ix count, int64_t lanes,
                                  ValueRange acc) {
  const auto chains = static_cast<int64_t>(acc.size());
  Ix whole = count - remainder(count, chains);
  SmallVector<Value> next = w.loop(0, whole, chains, acc, [&](Ix i, ValueRange a) {
    SmallVector<Value> folded;
    for (int64_t k = 0; k < chains; ++k) {
      folded.push_back(poolFold(w, pool, a[k], w.load(x, at + (i + k) * step, lanes)));
    }
    return folded;
  });
  if (!count.known()) {
    return w.loop(whole, count, 1, next, [&](Ix i, ValueRange a) {
      SmallVector<Value> folded(a);
      folded[0] = poolFold(w, pool, a[0], w.load(x, at + i * step, lanes));
      return folded;
    });
  }
  for (int64_t i = whole.number(); i < count.number(); ++i) {
    Value &acc = next[i - whole.number()];
    acc = poolFold(w, pool, acc, w.load(x, at + Ix(i) * step, lanes));
  }
  return next;
}

/// Returns all accumulators in one.
static Value joinAll(Writer &w, const Pool &pool, ArrayRef<Value> acc) {
  Value sum = acc[0];
  for (Value v : acc.drop_front()) {
    sum = poolJoin(w, pool, sum, v);
  }
  return sum;
}

/// Writes one channel block of one image.
static void blockedItem(Build &build, const Pool &pool, const plan::Strides &in, const Space &space, Ix n, Ix block) {
  Writer &w = build.w;
  Buffer x = build.group.buffer(build.group.root->getOperand(0));
  Ixs sizes(in.sizes.begin(), in.sizes.end()), strides(in.strides.begin(), in.strides.end());
  while (sizes.size() < 5) {
    sizes.insert(sizes.begin() + 2, 1), strides.insert(strides.begin() + 2, 0);
  }
  // Rows that lie right behind each other are one row.
  for (size_t i = 4; i-- > 2;) {
    if (!sizes[i].is(1) && !same(strides[i], strides[4] * sizes[4])) {
      break;
    }
    sizes[4] *= sizes[i], sizes[i] = 1;
  }
  Type type = w.vectorOf(x.element, in.lanes);
  SmallVector<Value> acc(w.machine.tuning.chains, poolStart(w, pool, type));
  Ix base = in.offset + n * in.strides[0] + block * in.strides[1];
  acc = w.loop(0, sizes[2], 1, acc, [&](Ix d, ValueRange a) {
    return w.loop(0, sizes[3], 1, a, [&](Ix h, ValueRange b) {
      return foldRow(w, pool, x, base + d * strides[2] + h * strides[3], strides[4], sizes[4], in.lanes, b);
    });
  });
  Point at;
  at.at.assign(space.sizes.size(), 0);
  at.at[0] = n, at.at[1] = block, at.lanes = in.lanes;
  Ix pixels = support::product(ArrayRef(in.sizes).drop_front(2));
  build.group.finish(poolFinish(w, pool, joinAll(w, pool, acc), pixels), space, at);
}

/// Writes one channel of one image.
static void plainItem(Build &build, const Pool &pool, const plan::Strides &in, const Space &space, Ix n, Ix channel) {
  Writer &w = build.w;
  Buffer x = build.group.buffer(build.group.root->getOperand(0));
  int64_t lanes = w.machine.lanes;
  const int64_t chains = w.machine.tuning.chains;
  Ix pixels = in.strides[1], whole = pixels - remainder(pixels, lanes * chains);
  Ix base = n * in.strides[0] + channel * in.strides[1];
  SmallVector<Value> acc(chains, poolStart(w, pool, w.vectorOf(x.element, lanes)));
  acc = foldRow(w, pool, x, base, lanes, floorDiv(whole, lanes), lanes, acc);
  Value sum = joinAll(w, pool, acc);
  sum = across(w, pool.kind == Pool::Max ? Combine::Larger : Combine::Add, sum);
  sum = w.loop(whole, pixels, 1, ValueRange(sum),
               [&](Ix i, ValueRange a) { return SmallVector<Value>{poolFold(w, pool, a[0], w.load(x, base + i))}; })[0];
  Point at;
  at.at.assign(space.sizes.size(), 0);
  at.at[0] = n, at.at[1] = channel;
  build.group.finish(poolFinish(w, pool, sum, pixels), space, at);
}

void buildGlobalPool(Build &build, const Pool &pool) {
  Writer &w = build.w;
  plan::Strides in = plan::stridesOf(Group::typeOf(build.group.root->getOperand(0)));
  Space space = build.group.space(build.group.resultType());
  w.loop(build.begin, build.end, 1, [&](Ix item) {
    Ix n = floorDiv(item, in.sizes[1]), channel = remainder(item, in.sizes[1]);
    in.lanes > 1 ? blockedItem(build, pool, in, space, n, channel) : plainItem(build, pool, in, space, n, channel);
  });
}

} // namespace ingot::lower
