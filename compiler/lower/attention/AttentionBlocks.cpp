// Builds blocks of rows: scores of tiles of keys times vectors of rows, their exponentials, and sums of V.
#include "compiler/lower/attention/Attention.h"
#include "compiler/lower/core/CopyElements.h"

using namespace mlir;

namespace ingot::lower {

void Attention::rowBlock(Ix block) {
  // A block begins at a whole tile of scores. Vectors that fill no tile run at half the speed, so only the last block
  // has such vectors.
  Ix tiles = floorDiv(Ix(c.vectors) + Ix(c.rowVectors - 1), c.rowVectors);
  auto beginOf = [&](Ix at) { return min(floorDiv(at * tiles, c.blocks) * c.rowVectors, c.vectors); };
  Ix from = beginOf(block), vectors = w.hidden(beginOf(block + 1) - from);
  firstRow = from * c.lanes;
  Ix rows = min(Ix(p.rows) - firstRow, vectors * c.lanes);
  c.tiles ? splitQueries(vectors) : packQueries(vectors);
  packOthers(vectors, 0, 1, /*alongKeys=*/false);
  begin(vectors * c.lanes);
  findKeys(rows);
  eachBlockOfKeys([&](Ix first, Ix count) {
    packOthers(vectors, first, count, /*alongKeys=*/true);
    auto weighAll = [&] { w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) { weigh(row, count); }); };
    if (c.tiles) {
      splitKeys(first, count);
      scoreBlocks(vectors, first, count);
      weighAll();
      splitWeights(vectors, count);
      splitValues(first, count);
      return valueBlocks(vectors, count);
    }
    scoreBlock(vectors, first, count);
    weighAll();
    valueTiles(rows, first, count);
  });
  w.loop(0, rows, 1, [&](Ix row) { endOf(row); });
}

void Attention::packQueries(Ix vectors) {
  Ix step = p.q.column();
  int64_t whole = step.is(1) ? p.width - p.width % c.lanes : 0;
  w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) {
    SmallVector<Ix> from;
    for (int64_t i = 0; i < c.lanes; ++i) {
      from.push_back(queryAt(clamped(firstRow + row + Ix(i))));
    }
    w.loop(0, whole, c.lanes, [&](Ix d) {
      SmallVector<Value> square;
      for (const Ix &at : from) {
        square.push_back(w.load(q, at + d, c.lanes));
      }
      square = transpose(w, square);
      for (auto [i, x] : llvm::enumerate(square)) {
        w.store(x, queries, (d + Ix(static_cast<int64_t>(i))) * c.rowsBlock + row);
      }
    });
    w.loop(whole, p.width, 1, [&](Ix d) {
      for (auto [i, at] : llvm::enumerate(from)) {
        w.store(w.load(q, at + d * step), queries, d * c.rowsBlock + row + Ix(static_cast<int64_t>(i)));
      }
    });
  });
}

void Attention::copyKeys(Ix first, Ix count) {
  w.loop(0, p.width, 1,
         [&](Ix d) { copyElements(w, k, baseK + first + d * Ix(p.k.column()), keyCopy, d * c.keyStride(), count); });
}

void Attention::scoreBlock(Ix vectors, Ix first, Ix count) {
  if (c.copiesKeys) {
    copyKeys(first, count);
  }
  Ix whole = vectors - remainder(vectors, c.rowVectors);
  w.loop(0, count, c.keyTile, [&](Ix key) {
    w.loop(0, whole, c.rowVectors, [&](Ix vector) { scoreTile(vector * c.lanes, c.rowVectors, first, key); });
    w.loop(whole, vectors, 1, [&](Ix vector) { scoreTile(vector * c.lanes, 1, first, key); });
  });
}

void Attention::scoreTile(Ix row, int64_t width, Ix first, Ix key) {
  const int64_t unroll = w.machine.tuning.unroll;
  SmallVector<Ix> keys, from;
  for (int64_t i = 0; i < c.keyTile; ++i) {
    keys.push_back(min(first + key + Ix(i), Ix(p.keys) - Ix(1)));
    from.push_back(w.hidden(c.copiesKeys ? keys.back() - first : baseK + keys.back() * Ix(p.k.row())));
  }
  const Buffer &keyBuffer = c.copiesKeys ? keyCopy : k;
  Ix column = c.copiesKeys ? Ix(c.keyStride()) : Ix(p.k.column());
  auto step = [&](Ix d, int64_t count, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t u = 0; u < count; ++u) {
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < width; ++i) {
        vectors.push_back(w.load(queries, (d + Ix(u)) * c.rowsBlock + row + Ix(i * c.lanes), c.lanes));
      }
      for (int64_t i = 0; i < c.keyTile; ++i) {
        Value x = w.splat(w.load(keyBuffer, from[i] + (d + Ix(u)) * column), c.lanes);
        for (int64_t j = 0; j < width; ++j) {
          next[i * width + j] = w.fma(x, vectors[j], next[i * width + j]);
        }
      }
    }
    return next;
  };
  int64_t whole = p.width - p.width % unroll;
  SmallVector<Value> products(c.keyTile * width, w.constant(0, vector));
  products = w.loop(0, whole, unroll, products, [&](Ix d, ValueRange carried) { return step(d, unroll, carried); });
  products = step(whole, p.width - whole, products);
  for (int64_t i = 0; i < c.keyTile; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      Ix at = row + Ix(j * c.lanes);
      Value score = scoreOf(products[i * width + j], c.lanes,
                            [&](const Other &other) { return alongRows(other, keys[i], key + Ix(i), at); });
      w.store(score, scores, (key + Ix(i)) * c.rowsBlock + at);
    }
  }
}

void Attention::weigh(Ix row, Ix count) {
  auto at = [&](Ix key) { return key * c.rowsBlock + row; };
  Value most = reduceUnrolled(count, Combine::Larger, vector, [&](Ix key, Value m) {
    return combine(w, Combine::Larger, w.load(scores, at(key), c.lanes), m);
  });
  Value before = w.load(best, row, c.lanes);
  auto [after, off] = newBest(before, most);
  Value factor = expOfDifference(before, off);
  Value sum = reduceUnrolled(count, Combine::Add, vector, [&, off = off](Ix key, Value s) {
    Value e = expOfDifference(w.load(scores, at(key), c.lanes), off);
    w.store(e, scores, at(key));
    return add(s, e);
  });
  w.store(after, best, row);
  w.store(factor, worth, row);
  w.store(w.fma(w.load(total, row, c.lanes), factor, sum), total, row);
}

void Attention::valueTiles(Ix rows, Ix first, Ix count) {
  Ix tiles = floorDiv(rows + Ix(c.valueTile - 1), c.valueTile);
  for (int64_t from = 0; from < c.valueVectors; from += c.panel) {
    int64_t vectors = std::min(c.panel, c.valueVectors - from);
    w.loop(0, tiles, 1, [&](Ix tile) { valueTile(tile * c.valueTile, from, vectors, first, count); });
  }
}

void Attention::valueTile(Ix row, int64_t from, int64_t vectors, Ix first, Ix count) {
  const int64_t unroll = w.machine.tuning.unroll;
  SmallVector<Value> carried;
  for (int64_t i = 0; i < c.valueTile; ++i) {
    Value factor = w.splat(w.load(worth, row + Ix(i)), c.valueLanes);
    for (int64_t j = 0; j < vectors; ++j) {
      carried.push_back(mul(w.load(sums, sumAt(row + Ix(i), from + j), c.valueLanes), factor));
    }
  }
  auto step = [&](Ix key, ValueRange now) {
    SmallVector<Value> next(now), columns;
    for (int64_t j = 0; j < vectors; ++j) {
      columns.push_back(loadV(first + key, from + j));
    }
    for (int64_t i = 0; i < c.valueTile; ++i) {
      Value weight = w.splat(w.load(scores, key * c.rowsBlock + row + Ix(i)), c.valueLanes);
      for (int64_t j = 0; j < vectors; ++j) {
        next[i * vectors + j] = w.fma(weight, columns[j], next[i * vectors + j]);
      }
    }
    return next;
  };
  Ix whole = count - remainder(count, unroll);
  carried = w.loop(0, whole, unroll, carried, [&](Ix key, ValueRange now) {
    SmallVector<Value> next(now);
    for (int64_t u = 0; u < unroll; ++u) {
      next = step(key + Ix(u), next);
    }
    return next;
  });
  carried = w.loop(whole, count, 1, carried, [&](Ix key, ValueRange now) { return step(key, now); });
  for (int64_t i = 0; i < c.valueTile; ++i) {
    for (int64_t j = 0; j < vectors; ++j) {
      w.store(carried[i * vectors + j], sums, sumAt(row + Ix(i), from + j));
    }
  }
}

} // namespace ingot::lower
