// Builds what all kinds of rows need: tasks, coordinates, the region, and statistics.
#include "compiler/lower/attention/Attention.h"
#include "compiler/lower/attention/AttentionParts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numeric>

using namespace mlir;

namespace ingot::lower {

using support::Size;

Attention::Attention(Build &build, const AttentionPlan &plan)
    : build(build), w(build.w), group(build.group), p(plan.problem), c(plan.cut), others(plan.others),
      lastKey(plan.lastKey), op(cast<onnx::AttendOp>(group.root)), element(w.b.getF32Type()),
      vector(w.vectorOf(element, c.lanes)), space(group.space(Group::typeOf(op.product()))),
      result(group.space(Group::typeOf(op.getY()))) {
  q = group.buffer(op.getQ()), k = group.buffer(op.getK()), v = group.buffer(op.getV());
  own = build.begin * Ix(c.bytes); // whoever runs items [begin, end) has the scratch of item `begin` to itself
  queries = piece(c.q), keyCopy = piece(c.k), scores = piece(c.s), sums = piece(c.sums);
  best = piece(c.best), total = piece(c.total), worth = piece(c.worth);
}

void Attention::run() {
  auto firstOf = [&](Ix item) { return c.tasks == c.items ? item : floorDiv(item * c.tasks, c.items); };
  if (c.tiles) {
    block.emplace(w, *c.tiles, /*ofBf16=*/true);
    block->configure(c.tiles->mostRowTiles * w.machine.tiles.rows);
  }
  Ix first = firstOf(build.begin);
  w.loop(first, firstOf(build.end), 1, [&](Ix task) { oneTask(task, first); });
  if (block) {
    block->release();
  }
}

Value Attention::expOfDifference(Value a, Value b) { return w.expOfNegative(arith::SubFOp::create(w.b, w.loc, a, b)); }

void Attention::oneTask(Ix task, Ix firstTask) {
  Ix heads = p.own ? Ix(p.batch[p.own - 1]) : Ix(1), head = remainder(task, heads);
  Ix block = remainder(floorDiv(task, heads), c.blocks), index = floorDiv(floorDiv(task, heads), c.blocks);
  outer.assign(p.own, head);
  for (size_t d = p.own - (p.own > 0); d-- > 0;) {
    outer[d] = d == 0 ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
  }
  baseQ = p.q.offset, baseK = p.k.offset, baseV = p.v.offset;
  for (size_t d = 0; d < p.own; ++d) {
    baseQ = baseQ + outer[d] * Ix(p.q.strides[d]);
    baseK = baseK + outer[d] * Ix(p.k.strides[d]);
    baseV = baseV + outer[d] * Ix(p.v.strides[d]);
  }
  otherRows = {};
  if (!heads.is(1)) {
    otherRows = arith::OrIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::eq, head, 0),
                                     w.compare(arith::CmpIPredicate::eq, task, firstTask));
  }
  if (c.vectors.isNumber()) {
    c.vectors.is(0) ? void() : rowBlock(block);
  } else {
    w.ifThen(w.compare(arith::CmpIPredicate::sgt, c.vectors, 0), [&] { rowBlock(block); });
  }
  if (!c.left.isNumber() || c.left.number() > 0) {
    Value some = w.compare(arith::CmpIPredicate::sgt, c.left, 0);
    Value last = w.compare(arith::CmpIPredicate::eq, block, c.blocks - Size(1));
    w.ifThen(arith::AndIOp::create(w.b, w.loc, some, last), [&] { rowByRow(); });
  }
}

Ixs Attention::rowAt(Ix row) { return attentionRowAt(p, row); }

Ix Attention::queryAt(Ix row) {
  Ix at = baseQ;
  for (auto [i, x] : llvm::enumerate(rowAt(row))) {
    at = at + x * Ix(p.q.strides[p.own + i]);
  }
  return at;
}

void Attention::findKeys(Ix rows) {
  keys = p.keys;
  bool isOneBlock = p.keys.isNumber() && p.keys.number() <= c.keysBlock;
  if (!lastKey || isOneBlock) {
    return;
  }
  auto lastOf = [&](Ix row) { return lastKeyAt(w, group, *lastKey, space, pointAt(rowAt(clamped(row)), 0, 1)); };
  Value last;
  if (lastKey->alongRows) {
    last = w.loop(0, rows, 1, w.constant(-1, w.b.getI64Type()), [&](Ix row, ValueRange carried) {
      return SmallVector<Value>{arith::MaxSIOp::create(w.b, w.loc, lastOf(firstRow + row), carried[0])};
    })[0];
  } else {
    last = lastOf(firstRow);
  }
  keys = w.hidden(keysUpTo(w, p, last));
}

/// A block has whole steps of the loops over keys, so that sums have the same order, and results the same bits, however
/// many keys the other rows look at. What is too much has weights of zero.
void Attention::eachBlockOfKeys(llvm::function_ref<void(Ix, Ix)> body) {
  constexpr int64_t mostUnrolled = 4; // in addedValues()
  const int64_t step = std::lcm(c.lanes * w.machine.tuning.unroll, mostUnrolled);
  w.loop(0, keys, c.keysBlock, [&](Ix first) {
    Ix steps = floorDiv(keys - first + Ix(step - 1), step) * step;
    Ix there = min(Ix(p.keys) - first, c.keysBlock);
    body(first, same(keys, p.keys) ? there : min(steps, there));
  });
}

Point Attention::pointAt(ArrayRef<Ix> row, Ix last, int64_t lanes, Value mask) {
  Point at{{outer.begin(), outer.end()}, lanes, mask};
  at.at.append(row.begin(), row.end());
  at.at.push_back(last);
  return at;
}

Value Attention::scoreOf(Value product, int64_t lanes, llvm::function_ref<Value(const Other &)> read) {
  return attentionScore(w, op, others, product, lanes, read);
}

Buffer Attention::packed(const Other &other) {
  return w.scratch(build.scratch, own + Ix(other.packed), other.element(), c.bytes);
}

Value Attention::alongRows(const Other &other, Ix key, Ix keyInBlock, Ix row) {
  if (other.alongRows) {
    return w.load(packed(other), (other.alongKeys ? keyInBlock : Ix(0)) * Ix(c.rowsBlock) + row, c.lanes);
  }
  Ixs anywhere(p.batch.size() - p.own + 1, 0);
  return w.splat(group.read(other.inRegion, space, pointAt(anywhere, key, 1)), c.lanes);
}

void Attention::packOthers(Ix vectors, Ix first, Ix count, bool alongKeys) {
  for (const Other &other : others) {
    if (!other.alongRows || other.alongKeys != alongKeys) {
      continue;
    }
    if (!otherRows || other.alongHeads) {
      pack(other, vectors, first, count);
      continue;
    }
    Value needed = otherRows;
    // Each block of keys overwrites the one before, so the vectors of the task before are only left if there is one
    // block.
    if (alongKeys) {
      Value several = w.compare(arith::CmpIPredicate::sgt, p.keys, c.keysBlock);
      needed = arith::OrIOp::create(w.b, w.loc, otherRows, several);
    }
    w.ifThen(needed, [&] { pack(other, vectors, first, count); });
  }
}

void Attention::pack(const Other &other, Ix vectors, Ix first, Ix count) {
  Buffer to = packed(other);
  auto one = [&](Ix row, Ix key) {
    Point at = pointAt(rowAt(clamped(firstRow + row)), first + key, 1);
    w.store(group.read(other.inRegion, space, at), to, key * Ix(c.rowsBlock) + row);
  };
  if (!other.alongKeys) {
    return w.loop(0, vectors * c.lanes, 1, [&](Ix row) { one(row, 0); });
  }
  Ix whole = count - remainder(count, c.lanes);
  w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) {
    w.loop(0, whole, c.lanes, [&](Ix key) { packSquare(other, to, row, first, key, {}); });
    if (w.machine.maskedAccess) {
      w.loop(whole, count, c.lanes,
             [&](Ix key) { packSquare(other, to, row, first, key, w.maskFor(count - key, c.lanes)); });
    } else {
      w.loop(whole, count, 1, [&](Ix key) { w.loop(0, c.lanes, 1, [&](Ix lane) { one(row + lane, key); }); });
    }
  });
}

void Attention::packSquare(const Other &other, Buffer to, Ix row, Ix first, Ix key, Value mask) {
  SmallVector<Value> square;
  bool bits = onnx::isBool(other.element());
  for (int64_t i = 0; i < c.lanes; ++i) {
    Point at = pointAt(rowAt(clamped(firstRow + row + Ix(i))), first + key, c.lanes, mask);
    Value x = group.read(other.inRegion, space, at);
    square.push_back(bits ? arith::ExtUIOp::create(w.b, w.loc, w.vectorOf(w.b.getI32Type(), c.lanes), x) : x);
  }
  square = transpose(w, square);
  for (auto [i, x] : llvm::enumerate(square)) {
    Value y = bits ? arith::TruncIOp::create(w.b, w.loc, w.vectorOf(w.b.getI1Type(), c.lanes), x) : x;
    w.store(y, to, (key + Ix(static_cast<int64_t>(i))) * Ix(c.rowsBlock) + row);
  }
}

void Attention::begin(Ix rows) {
  w.loop(0, rows, 1, [&](Ix row) {
    w.store(lowest(element), best, row);
    w.store(w.constant(0, element), total, row);
    w.loop(0, c.valueStride(), c.valueLanes, [&](Ix column) {
      w.store(w.constant(0, w.vectorOf(element, c.valueLanes)), sums, row * c.valueStride() + column);
    });
  });
}

Value Attention::reduceUnrolled(Ix count, Combine how, Type type, llvm::function_ref<Value(Ix, Value)> body) {
  const int64_t unroll = w.machine.tuning.unroll;
  SmallVector<Value> slots(unroll, neutral(w, how, type));
  Ix whole = count - remainder(count, unroll);
  slots = w.loop(0, whole, unroll, slots, [&](Ix i, ValueRange carried) {
    SmallVector<Value> next;
    for (int64_t u = 0; u < unroll; ++u) {
      next.push_back(body(i + Ix(u), carried[u]));
    }
    return next;
  });
  Value first = w.loop(whole, count, 1, slots[0],
                       [&](Ix i, ValueRange carried) { return SmallVector<Value>{body(i, carried[0])}; })[0];
  slots[0] = first;
  return tree(w, how, slots);
}

std::pair<Value, Value> Attention::newBest(Value before, Value now) {
  Value most = combine(w, Combine::Larger, now, before);
  Value none = compare(arith::CmpFPredicate::OEQ, most, lowest(most.getType()));
  return {most, select(none, w.constant(0, most.getType()), most)};
}

void Attention::endOf(Ix row) {
  SmallVector<Value> values;
  for (int64_t i = 0; i < c.valueVectors; ++i) {
    values.push_back(w.load(sums, sumAt(row, i), c.valueLanes));
  }
  end(row, w.load(total, row), values);
}

void Attention::end(Ix row, Value sum, ValueRange values) {
  Value share = arith::DivFOp::create(w.b, w.loc, w.constant(1, element), sum), nothing = isEmptyRow(w, op, p, sum);
  Ixs at = rowAt(firstRow + row);
  for (int64_t i = 0; i < c.valueVectors; ++i) {
    Value y = mul(values[i], w.splat(share, c.valueLanes));
    if (nothing) {
      y = select(w.splat(nothing, c.valueLanes), w.constant(0, y.getType()), y);
    }
    group.finish(y, result, attentionResultAt(op, pointAt(at, columnOf(i), c.valueLanes)));
  }
}

} // namespace ingot::lower
