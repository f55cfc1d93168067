// Builds rows that fill no vector, one by one: with blocks of keys, or, where one vector holds all keys (a decode step
// of a small model, or its first ones), with all that a row needs in registers. Scores are stored and loaded in whole
// vectors, because a load gets what a store has just written without a wait only where the store covers it.
#include "compiler/lower/attention/Attention.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

void Attention::rowByRow() {
  firstRow = c.vectors * Size(c.lanes);
  w.loop(0, c.left, 1, [&](Ix row) { copyQuery(row); });
  auto few = [&] { w.loop(0, c.left, 1, [&](Ix row) { oneVectorOfKeys(row); }); };
  if (!w.machine.maskedAccess || p.keys.atLeast(c.lanes + 1)) {
    return blocksOfKeys();
  }
  if (p.keys.isNumber()) {
    return few();
  }
  w.ifThen(w.compare(arith::CmpIPredicate::sle, p.keys, c.lanes), few);
  w.ifThen(w.compare(arith::CmpIPredicate::sgt, p.keys, c.lanes), [&] { blocksOfKeys(); });
}

void Attention::oneVectorOfKeys(Ix row) {
  Value mask = p.keys.is(c.lanes) ? Value() : w.maskFor(p.keys, c.lanes), product;
  if (p.k.column().is(1)) {
    dots(row, 0, p.keys);
    product = w.load(scores, 0, c.lanes);
  } else {
    product = columnProducts(row, 0, 1, c.lanes, mask).front();
  }
  Value score = liveScore(row, 0, c.lanes, mask, product);
  Value off = newBest(lowest(element), across(w, Combine::Larger, score)).second;
  Value weights = expOfDifference(score, w.splat(off, c.lanes));
  w.store(weights, scores, 0);
  SmallVector<Value> values;
  eachValueVectors([&](int64_t from, int64_t vectors) {
    SmallVector<Value> none(vectors, w.constant(0, w.vectorOf(element, c.valueLanes)));
    values.append(addedValues(from, none, 0, p.keys));
  });
  end(row, across(w, Combine::Add, weights), values);
}

void Attention::blocksOfKeys() {
  begin(c.left);
  findKeys(c.left);
  eachBlockOfKeys([&](Ix first, Ix count) {
    w.loop(0, c.left, 1, [&](Ix row) {
      p.k.column().is(1) ? dots(row, first, count) : columns(row, first, count);
      scoreRow(row, first, count);
      weighRow(row, count);
      addValues(row, first, count);
    });
  });
  w.loop(0, c.left, 1, [&](Ix row) { endOf(row); });
}

void Attention::copyQuery(Ix row) {
  Ix from = queryAt(firstRow + row), to = row * queryStride();
  w.loop(0, p.width, 1, [&](Ix d) { w.store(w.load(q, from + d * Ix(p.q.column())), queries, to + d); });
  if (p.k.column().is(1) && dotRest()) {
    w.loop(0, dotRest(), 1, [&](Ix i) {
      Ix last = to + Ix(p.width - dotRest());
      w.store(w.load(queries, last + Ix(dotRest() - 1) - i), queries, last + Ix(c.dotLanes - 1) - i);
    });
    w.loop(0, c.dotLanes - dotRest(), 1,
           [&](Ix i) { w.store(w.constant(0, element), queries, to + Ix(p.width - dotRest()) + i); });
  }
}

void Attention::dots(Ix row, Ix first, Ix count) {
  w.loop(0, count, c.dotLanes, [&](Ix key) {
    SmallVector<Ix> from;
    for (int64_t i = 0; i < c.dotLanes; ++i) {
      from.push_back(baseK + min(first + key + Ix(i), Ix(p.keys) - Ix(1)) * Ix(p.k.row()));
    }
    SmallVector<Value> products(c.dotLanes, w.constant(0, w.vectorOf(element, c.dotLanes)));
    auto step = [&](Ix d, Ix inKey, Value live, ValueRange carried) {
      SmallVector<Value> next;
      Value x = w.load(queries, row * queryStride() + d, c.dotLanes);
      for (int64_t i = 0; i < c.dotLanes; ++i) {
        Value y = w.load(k, from[i] + inKey, c.dotLanes);
        y = live ? select(live, y, w.constant(0, y.getType())) : y;
        next.push_back(w.fma(x, y, carried[i]));
      }
      return next;
    };
    int64_t whole = p.width - dotRest();
    products = w.loop(0, whole, c.dotLanes, products, [&](Ix d, ValueRange now) { return step(d, d, {}, now); });
    if (dotRest()) {
      SmallVector<bool> live(c.dotLanes, true);
      std::fill_n(live.begin(), c.dotLanes - dotRest(), false);
      auto type = VectorType::get({c.dotLanes}, w.b.getI1Type());
      Value mask = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, ArrayRef<bool>(live)));
      products = step(whole, p.width - c.dotLanes, mask, products);
    }
    w.store(acrossEach(w, Combine::Add, products), scores, key);
  });
}

SmallVector<Value> Attention::columnProducts(Ix row, Ix key, int64_t vectors, int64_t lanes, Value mask) {
  SmallVector<Value> products(vectors, w.constant(0, w.vectorOf(element, lanes)));
  return w.loop(0, p.width, 1, products, [&](Ix d, ValueRange carried) {
    SmallVector<Value> next;
    Value x = w.splat(w.load(queries, row * queryStride() + d), lanes);
    Ix at = baseK + d * Ix(p.k.column()) + key;
    for (int64_t i = 0; i < vectors; ++i) {
      next.push_back(w.fma(x, w.load(k, at + Ix(i * lanes), lanes, mask), carried[i]));
    }
    return next;
  });
}

void Attention::columns(Ix row, Ix first, Ix count) {
  constexpr int64_t vectors = 4;
  auto some = [&](Ix key, int64_t vectors, int64_t lanes, Value mask) {
    for (auto [i, product] : llvm::enumerate(columnProducts(row, first + key, vectors, lanes, mask))) {
      w.store(product, scores, key + Ix(static_cast<int64_t>(i) * lanes));
    }
  };
  Ix whole = count - remainder(count, vectors * c.lanes);
  w.loop(0, whole, vectors * c.lanes, [&](Ix key) { some(key, vectors, c.lanes, {}); });
  w.lanes(count - whole, [&](Ix key, int64_t lanes, Value mask) { some(whole + key, 1, lanes, mask); });
}

Value Attention::liveScore(Ix row, Ix key, int64_t lanes, Value mask, Value product) {
  Ixs at = rowAt(firstRow + row);
  Value score = scoreOf(product, lanes, [&](const Other &other) {
    return group.read(other.inRegion, space, pointAt(at, key, lanes, mask));
  });
  return mask ? select(mask, score, w.splat(lowest(element), lanes)) : score;
}

void Attention::scoreRow(Ix row, Ix first, Ix count) {
  w.lanes(count, [&](Ix key, int64_t lanes, Value mask) {
    w.store(liveScore(row, first + key, lanes, mask, w.load(scores, key, lanes)), scores, key);
  });
  if (!w.machine.maskedAccess) {
    Ix padded = floorDiv(count + Ix(c.lanes - 1), c.lanes) * c.lanes;
    w.loop(count, padded, 1, [&](Ix key) { w.store(lowest(element), scores, key); });
  }
}

void Attention::weighRow(Ix row, Ix count) {
  Ix vectors = floorDiv(count + Ix(c.lanes - 1), c.lanes);
  Value most = across(w, Combine::Larger, reduceUnrolled(vectors, Combine::Larger, vector, [&](Ix i, Value m) {
                        return combine(w, Combine::Larger, w.load(scores, i * c.lanes, c.lanes), m);
                      }));
  Value before = w.load(best, row);
  auto [after, off] = newBest(before, most);
  Value factor = expOfDifference(before, off), less = w.splat(off, c.lanes);
  Value sum = across(w, Combine::Add, reduceUnrolled(vectors, Combine::Add, vector, [&](Ix i, Value s) {
                       Value e = expOfDifference(w.load(scores, i * c.lanes, c.lanes), less);
                       w.store(e, scores, i * c.lanes);
                       return add(s, e);
                     }));
  w.store(after, best, row);
  w.store(factor, worth, row);
  w.store(w.fma(w.load(total, row), factor, sum), total, row);
}

void Attention::eachValueVectors(llvm::function_ref<void(int64_t, int64_t)> body) {
  constexpr int64_t most = 8; ///< vectors of sums at a time
  for (int64_t from = 0; from < c.valueVectors; from += most) {
    body(from, std::min(most, c.valueVectors - from));
  }
}

void Attention::addValues(Ix row, Ix first, Ix count) {
  eachValueVectors([&](int64_t from, int64_t vectors) {
    SmallVector<Value> before;
    Value factor = w.splat(w.load(worth, row), c.valueLanes);
    for (int64_t j = 0; j < vectors; ++j) {
      before.push_back(mul(w.load(sums, sumAt(row, from + j), c.valueLanes), factor));
    }
    for (auto [j, sum] : llvm::enumerate(addedValues(from, before, first, count))) {
      w.store(sum, sums, sumAt(row, from + static_cast<int64_t>(j)));
    }
  });
}

SmallVector<Value> Attention::addedValues(int64_t from, ValueRange before, Ix first, Ix count) {
  int64_t vectors = static_cast<int64_t>(before.size()), unroll = std::clamp<int64_t>(8 / vectors, 1, 4);
  SmallVector<Value> carried(before);
  carried.resize(unroll * vectors, w.constant(0, w.vectorOf(element, c.valueLanes)));
  auto step = [&](Ix key, int64_t copy, SmallVector<Value> &now) {
    Value weight = w.splat(w.load(scores, key), c.valueLanes);
    for (int64_t j = 0; j < vectors; ++j) {
      now[copy * vectors + j] = w.fma(weight, loadV(first + key, from + j), now[copy * vectors + j]);
    }
  };
  Ix whole = count - remainder(count, unroll);
  carried = w.loop(0, whole, unroll, carried, [&](Ix key, ValueRange now) {
    SmallVector<Value> next(now);
    for (int64_t copy = 0; copy < unroll; ++copy) {
      step(key + Ix(copy), copy, next);
    }
    return next;
  });
  carried = w.loop(whole, count, 1, carried, [&](Ix key, ValueRange now) {
    SmallVector<Value> next(now);
    step(key, 0, next);
    return next;
  });
  SmallVector<Value> after;
  for (int64_t j = 0; j < vectors; ++j) {
    SmallVector<Value> parts;
    for (int64_t copy = 0; copy < unroll; ++copy) {
      parts.push_back(carried[copy * vectors + j]);
    }
    after.push_back(tree(w, Combine::Add, parts));
  }
  return after;
}

} // namespace ingot::lower
