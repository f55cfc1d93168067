#include "compiler/lower/core/AxisSplit.h"
#include "compiler/lower/core/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

/// Threads of a block that exchange values without memory.
static constexpr int64_t warp = 32;

/// The most elements of rows that are treated several at a time. To have them apart takes a shuffle for each vector and
/// each bit of their number, and to combine the lanes of a row one for each bit of the lanes.
static constexpr int64_t mostInShortRow = 8;

/// Returns the threads that a row is worth.
static int64_t teamOf(RankedTensorType in, ArrayRef<int64_t> axes, const target::MachineModel &machine) {
  bool isRow = llvm::is_contained(axes, in.getRank() - 1);
  support::Size count = 1;
  for (int64_t axis : axes) {
    count = count * onnx::sizeOf(in, axis);
  }
  return isRow && (!count.isNumber() || count.number() >= 2 * warp) ? machine.team : 1;
}

AxisSplit::AxisSplit(const Group &group, RankedTensorType inType, RankedTensorType outType, ArrayRef<int64_t> axes,
                     bool keeps)
    : in(group.space(inType)), out(group.space(outType)) {
  int64_t next = 0;
  for (int64_t i = 0; i < inType.getRank(); ++i) {
    bool isAlong = llvm::is_contained(axes, i);
    along.push_back(isAlong);
    outDim.push_back(isAlong && !keeps ? -1 : next++);
    count *= isAlong ? Ix(onnx::sizesOf(inType)[i]) : Ix(1);
  }
  finish(group, inType.getElementType());
  team = group.w.machine.itemsAreThreads && across ? teamOf(inType, axes, group.w.machine) : 1;
  if (axes.size() == 1 && axes[0] == inType.getRank() - 1 && across && team == 1 && lanes > 1 &&
      !group.w.machine.itemsAreThreads) {
    findRows();
  }
}

void AxisSplit::findRows() {
  Space rows = out;
  rows.collapse();
  Ix number = 1;
  for (Ix size : ArrayRef(in.sizes).drop_back()) {
    number *= size;
  }
  if (rows.sizes.size() > 1 || (number.known() && number.number() < lanes)) {
    return;
  }
  rowsOut = std::move(rows);
  Space all = in;
  all.collapse();
  int64_t length = count.known() ? count.number() : 0;
  if (length > 1 && length <= std::min(lanes, mostInShortRow) && all.sizes.size() == 1) {
    shortRowsIn = std::move(all);
  }
}

void AxisSplit::finish(const Group &group, Type element) {
  const Writer &w = group.w;
  // strict: the order of sums would depend on what else the kernel reads, which may not be walked as one
  if (!group.isStrict) {
    merge();
  }
  for (unsigned i = 0; i < along.size(); ++i) {
    if (along[i]) {
      inner.push_back(i);
    }
  }
  int64_t bytes = llvm::divideCeil(std::max(32u, valueType(element).getIntOrFloatBitWidth()), 8);
  lanes = in.block > 1 ? in.block : std::max<int64_t>(1, w.machine.lanes * 4 / bytes);
  across = in.block == 1 && !along.empty() && along.back();
}

void AxisSplit::share(KernelShape &shape, RankedTensorType in, ArrayRef<int64_t> axes,
                      const target::MachineModel &machine, bool teams) {
  if (!machine.itemsAreThreads) {
    shape.items = items(in, axes);
    return;
  }
  support::Size n = 1;
  for (int64_t i = 0; i < in.getRank(); ++i) {
    n = llvm::is_contained(axes, i) ? n : n * onnx::sizeOf(in, i);
  }
  shape.items = n.is(0) ? support::Size(1) : n;
  if (int64_t team = teams ? teamOf(in, axes, machine) : 1; team > 1) {
    shape.grid = Grid{{team, 1, 1}, team / warp * 8};
  }
}

Value AxisSplit::whole(Writer &w, Combine how, Value v) const {
  v = lower::across(w, how, v);
  if (team == 1) {
    return v;
  }
  for (int64_t distance = warp / 2; distance; distance /= 2) {
    v = combine(w, how, v, exchange(w, v, distance));
  }
  if (team == warp) {
    return v;
  }
  Type type = v.getType();
  Buffer parts = w.scratch(sharedMemory(w), 0, type, team / warp);
  Ix thread = threadNumber(w);
  barrier(w); // for those that still read an earlier result
  w.ifThen(w.compare(arith::CmpIPredicate::eq, remainder(thread, warp), 0),
           [&] { w.store(v, parts, floorDiv(thread, warp)); });
  barrier(w);
  SmallVector<Value> all;
  for (int64_t i = 0; i < team / warp; ++i) {
    all.push_back(w.load(parts, i));
  }
  return tree(w, how, all);
}

void AxisSplit::once(Writer &w, llvm::function_ref<void()> body) const {
  team == 1 ? body() : w.ifThen(w.compare(arith::CmpIPredicate::eq, threadNumber(w), 0), body);
}

int64_t AxisSplit::lastAxis(RankedTensorType type) {
  int64_t last = type.getRank();
  while (--last > 0 && type.getDimSize(last) == 1) {
  }
  return last;
}

/// Returns the space with the dimensions `axes` of a row-major one, in this order. The lanes run along the last of
/// them; whether an operand repeats along it may be known to the run alone.
static Space permuted(Space space, ArrayRef<int64_t> axes) {
  auto pick = [&](const Ixs &from) { return Ixs(llvm::map_range(axes, [&](int64_t axis) { return from[axis]; })); };
  auto permute = [&](Access &a) {
    a.strides = pick(a.strides);
    bool moves = axes.empty() || (a.strides.back().known() && !a.strides.back().is(0));
    a.laneStride = moves ? 1 : a.strides.back();
  };
  space.sizes = pick(space.sizes);
  for (auto &[value, access] : space.accesses) {
    permute(access);
  }
  llvm::for_each(space.results, permute);
  return space;
}

AxisSplit::AxisSplit(const Group &group, RankedTensorType inType, RankedTensorType outType, bool isAcross)
    : in(group.space(inType)), out(group.space(outType)) {
  int64_t rank = inType.getRank(), last = lastAxis(inType);
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != last) {
      kept.push_back(axis);
    }
  }
  SmallVector<int64_t> axes = kept;
  llvm::append_range(axes, llvm::seq<int64_t>(0, rank));
  along.assign(kept.size(), false);
  along.append(rank, true);
  if (!isAcross) {
    kept.push_back(last), axes.push_back(last), along.push_back(false);
  }
  in = permuted(std::move(in), axes), out = permuted(std::move(out), kept);
  onnx::Sizes from = onnx::sizesOf(inType), to = onnx::sizesOf(outType);
  int64_t next = 0;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    support::Size one = floorDiv(from[axis], max(to[axis], 1));
    in.sizes[i] = along[i] ? Ix(one) : Ix(to[axis]);
    count *= along[i] ? in.sizes[i] : Ix(1);
    outDim.push_back(along[i] ? -1 : next++);
  }
  finish(group, inType.getElementType());
}

RankedTensorType AxisSplit::shaped(plan::KernelOp kernel, Value v) {
  RankedTensorType type = Group::typeOf(v);
  auto layout = plan::blockedOf(kernel.getResult(0).getType());
  if (!layout && !plan::blockedOf(type)) {
    return type;
  }
  return plan::withLayout(type, layout ? plan::blockedBy(layout.getContext(), layout.getLanes()) : layout);
}

/// Merges neighbouring dimensions that are both worked along, or both not, where all accesses of both spaces walk them
/// as one.
void AxisSplit::merge() {
  for (size_t i = along.size(); i-- > 1;) {
    bool mapped = outDim[i] >= 0;
    if (along[i] != along[i - 1] || !in.mergeable(i) || (mapped && !out.mergeable(outDim[i]))) {
      continue;
    }
    in.merge(i);
    if (mapped) {
      out.merge(outDim[i]);
      for (size_t j = i; j < outDim.size(); ++j) {
        outDim[j] -= outDim[j] >= 0;
      }
    }
    along.erase(along.begin() + i);
    outDim.erase(outDim.begin() + i);
  }
}

support::Size AxisSplit::items(RankedTensorType in, ArrayRef<int64_t> axes) {
  support::Sizes sizes = onnx::sizesOf(in);
  if (auto layout = plan::blockedOf(in)) {
    sizes[1] = ceilDiv(sizes[1], layout.getLanes());
  }
  support::Size n = 1;
  for (int64_t i = 0; i < in.getRank() && !llvm::is_contained(axes, i); ++i) {
    n = n * sizes[i];
  }
  return n.is(0) ? support::Size(1) : n;
}

SmallVector<Ix> AxisSplit::outAt(ArrayRef<Ix> at) const {
  SmallVector<Ix> result(out.sizes.size(), 0);
  for (size_t i = 0; i < at.size(); ++i) {
    if (outDim[i] >= 0) {
      result[outDim[i]] = at[i];
    }
  }
  return result;
}

void AxisSplit::positions(Writer &w, Ix begin, Ix end, int64_t most, Body body) const {
  SmallVector<Ix> at(in.sizes.size(), 0);
  size_t first = inner.empty() ? at.size() : inner.front();
  bool empty = llvm::any_of(llvm::enumerate(in.sizes), [&](auto d) { return !along[d.index()] && d.value().is(0); });
  if (empty) {
    return;
  }
  if (w.machine.itemsAreThreads) {
    return eachItem(w, begin, end, body);
  }
  w.loop(begin, end, 1, [&](Ix item) {
    at = positionOf(item);
    keptLoops(w, at, first, most, body);
  });
}

SmallVector<Ix> AxisSplit::positionOf(Ix item) const {
  SmallVector<Ix> at(in.sizes.size(), 0);
  for (size_t d = inner.empty() ? at.size() : inner.front(); d-- > 0;) {
    at[d] = d == 0 ? item : remainder(item, in.sizes[d]);
    item = floorDiv(item, in.sizes[d]);
  }
  return at;
}

/// Runs the body for the positions that are items, of which neighbours differ in the last axis.
void AxisSplit::eachItem(Writer &w, Ix begin, Ix end, Body body) const {
  w.loop(begin, end, 1, [&](Ix item) {
    SmallVector<Ix> at(in.sizes.size(), 0);
    for (size_t d = at.size(); d-- > 0;) {
      if (!along[d]) {
        at[d] = remainder(item, in.sizes[d]);
        item = floorDiv(item, in.sizes[d]);
      }
    }
    body(at, 1, 1, {});
  });
}

Ix AxisSplit::shortRows(Writer &w, const Group &group, Value data, Ix begin, Ix end, RowsBody body) const {
  if (!shortRowsIn) {
    return begin;
  }
  Ix whole = end - remainder(end - begin, lanes);
  w.loop(begin, whole, lanes, [&](Ix row) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < count.number(); ++i) {
      vectors.push_back(group.read(data, *shortRowsIn, Point{{row * count + Ix(i * lanes)}, lanes, {}}));
    }
    body(row, deinterleave(w, vectors));
  });
  return whole;
}

void AxisSplit::keptLoops(Writer &w, SmallVector<Ix> &at, size_t d, int64_t most, Body body) const {
  if (d == at.size()) {
    return body(at, 1, across ? 1 : lanes, {});
  }
  if (along[d]) {
    return keptLoops(w, at, d + 1, most, body);
  }
  if (in.block == 1 && d + 1 == at.size()) {
    int64_t wide = most * lanes;
    Ix whole = in.sizes[d] - remainder(in.sizes[d], wide);
    auto run = [&](Ix start, int64_t vectors, int64_t l, Value mask) {
      at[d] = start;
      body(at, vectors, l, mask);
    };
    w.loop(0, whole, wide, [&](Ix i) { run(i, most, lanes, {}); });
    Ix rest = in.sizes[d] - whole, full = floorDiv(rest, lanes), tail = remainder(rest, lanes),
       behind = in.sizes[d] - tail;
    if (full.known() && !full.is(0)) {
      run(whole, full.number(), lanes, {});
    } else {
      w.loop(whole, behind, lanes, [&](Ix i) { run(i, 1, lanes, {}); });
    }
    if (!tail.is(0) && w.machine.maskedAccess) {
      w.loop(behind, in.sizes[d], lanes, [&](Ix i) { run(i, 1, lanes, w.maskFor(tail, lanes)); });
    } else {
      w.loop(behind, in.sizes[d], 1, [&](Ix i) { run(i, 1, 1, {}); });
    }
    at[d] = 0;
    return;
  }
  w.loop(0, in.sizes[d], 1, [&](Ix i) {
    at[d] = i;
    keptLoops(w, at, d + 1, most, body);
  });
  at[d] = 0;
}

namespace {
/// The recursion of sweep() over the dimensions that are worked along.
struct Sweep {
  const AxisSplit &split;
  Writer &w;
  SmallVector<Ix> at;
  int64_t lanes;
  Value mask;
  int64_t unroll;
  AxisSplit::StepBody body;

  SmallVector<Value> run(size_t k, ValueRange carried) {
    unsigned d = split.inner[k];
    if (k + 1 == split.inner.size()) {
      return innermost(d, carried);
    }
    return w.loop(0, split.in.sizes[d], 1, carried, [&](Ix i, ValueRange c) {
      at[d] = i;
      return run(k + 1, c);
    });
  }

  SmallVector<Value> innermost(unsigned d, ValueRange carried) {
    int64_t width = split.across ? split.lanes : 1, round = width * unroll;
    Ix extent = split.in.sizes[d], whole = extent - remainder(extent, round), full = floorDiv(extent - whole, width),
       tail = remainder(extent, width), behind = extent - tail;
    auto step = [&](Ix i, int64_t stepLanes, Value stepMask, int64_t slot, ValueRange c) {
      at[d] = i;
      return body({at, stepLanes, stepMask, slot}, c);
    };
    int64_t stepLanes = split.across ? split.lanes : lanes;
    auto several = [&](Ix i, int64_t n, ValueRange c) {
      SmallVector<Value> values(c);
      for (int64_t u = 0; u < n; ++u) {
        values = step(i + Ix(u * width), stepLanes, mask, u, values);
      }
      return values;
    };
    SmallVector<Value> values =
        w.loop(0, whole, round, carried, [&](Ix i, ValueRange c) { return several(i, unroll, c); });
    if (full.known()) {
      values = several(whole, full.number(), values);
    } else {
      values = w.loop(whole, behind, width, values, [&](Ix i, ValueRange c) { return several(i, 1, c); });
    }
    if (!tail.is(0) && w.machine.maskedAccess) {
      values = w.loop(behind, extent, width, values,
                      [&](Ix i, ValueRange c) { return step(i, stepLanes, w.maskFor(tail, stepLanes), 0, c); });
    } else if (!tail.is(0)) {
      values = w.loop(behind, extent, 1, values, [&](Ix i, ValueRange c) { return step(i, 1, {}, unroll, c); });
    }
    return values;
  }
};
} // namespace

SmallVector<Value> AxisSplit::sweep(Writer &w, ArrayRef<Ix> position, int64_t positionLanes, Value positionMask,
                                    int64_t unroll, ValueRange carried, StepBody body) const {
  if (team > 1) {
    return w.loop(threadNumber(w) * lanes, count, team * lanes, carried, [&](Ix step, ValueRange c) {
      SmallVector<Ix> at(position);
      for (unsigned d : llvm::reverse(inner)) {
        at[d] = d == inner.front() ? step : remainder(step, in.sizes[d]);
        step = floorDiv(step, in.sizes[d]);
      }
      return body({at, lanes, {}, 0}, c);
    });
  }
  Sweep s{*this, w, SmallVector<Ix>(position), positionLanes, positionMask, unroll, body};
  if (inner.empty()) {
    return body({s.at, positionLanes, positionMask, 0}, carried);
  }
  return s.run(0, carried);
}

} // namespace ingot::lower
