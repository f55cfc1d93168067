// Builds blocks of rows whose products are in matrix registers (Tiles.h), of factors that are split into bfloat16s.
//
// Scores are products of keys and queries. Keys are left factors, split but otherwise as they lie; queries are right
// factors, in which two vectors of rows alternate in pairs of columns. Sums of V are products of weights, transposed
// from the scores, with pairs of V's rows. Both kinds have blocks of 32 rows by two tiles.
#include "compiler/lower/attention/Attention.h"

using namespace mlir;

namespace ingot::lower {

static constexpr int64_t rowsOfBlock = 32, bf16Bytes = 2; ///< rows of a block of products; bytes of a bfloat16

/// The second square begins `distance` elements behind the first one.
std::pair<SmallVector<Value>, SmallVector<Value>> Attention::squares(Buffer from, ArrayRef<Ix> rows, Ix distance) {
  auto square = [&](Ix at) {
    return transpose(w, llvm::map_to_vector(rows, [&](const Ix &row) { return w.load(from, row + at, c.lanes); }));
  };
  SmallVector<Value> first = square(0);
  return {first, square(distance)};
}

void Attention::splitQueries(Ix vectors) {
  const TileShape &shape = *c.tiles;
  Buffer to = bf16Scratch(c.splitQ);
  int64_t steps = p.width / elementsOfStep, tile = shape.rightBytes() / bf16Bytes;
  w.loop(0, vectors, 1, [&](Ix number) {
    SmallVector<Ix> from;
    for (int64_t i = 0; i < c.lanes; ++i) {
      from.push_back(queryAt(clamped(firstRow + number * c.lanes + Ix(i))));
    }
    Ix pair = floorDiv(number, 2), wide = min(vectors - pair * 2, 2);
    w.loop(0, steps, 1, [&](Ix step) {
      SmallVector<Ix> here = llvm::map_to_vector(from, [&](const Ix &at) { return at + step * elementsOfStep; });
      auto [low, high] = squares(q, here, c.lanes);
      Ix at = pair * (steps * shape.stepBytes(2) / bf16Bytes) + step * shape.parts * wide * tile +
              remainder(number, 2) * tile;
      for (int64_t i = 0; i < c.lanes; ++i) {
        storeSplit(w, {low[i], high[i]}, shape.parts, to, at + i * elementsOfStep, wide * tile);
      }
    });
  });
}

void Attention::splitKeys(Ix first, Ix count) {
  Buffer to = bf16Scratch(c.splitK);
  w.loop(0, count, 1, [&](Ix key) {
    Ix from = w.hidden(baseK + (first + key) * Ix(p.k.row())), own = w.hidden(key * (c.keyBytes / bf16Bytes));
    w.loop(0, p.width, elementsOfStep, [&](Ix d) {
      Value low = w.load(k, from + d, c.lanes), high = w.load(k, from + d + c.lanes, c.lanes);
      storeSplit(w, {low, high}, c.tiles->parts, to, own + d, p.width);
    });
  });
}

/// Behind the last key the factors are zeros, which are multiplied with weights of zero: memory that is no number must
/// not get into a sum.
void Attention::splitValues(Ix first, Ix count) {
  const TileShape &shape = *c.tiles;
  Buffer to = bf16Scratch(c.splitV);
  int64_t tile = shape.rightBytes() / bf16Bytes, steps = c.keysBlock / elementsOfStep;
  auto some = [&](Ix step, bool isWhole) {
    w.loop(0, c.lanes, 1, [&](Ix i) {
      for (int64_t n = 0; n < c.valueVectors; ++n) {
        auto load = [&](Ix key) {
          Value mask = isWhole ? Value() : w.maskFor(max(min(count - key, 1), 0) * c.lanes, c.lanes);
          return w.load(v, baseV + (first + key) * Ix(p.v.row()) + n * c.lanes, c.lanes, mask);
        };
        Ix key = step * elementsOfStep + i;
        int64_t pair = n / 2, wide = std::min<int64_t>(2, c.valueVectors - 2 * pair);
        Ix at = step * (shape.stepBytes(wide) / bf16Bytes) + i * elementsOfStep +
                (pair * steps * shape.stepBytes(2) / bf16Bytes + n % 2 * tile);
        storeSplit(w, {load(key), load(key + c.lanes)}, shape.parts, to, at, wide * tile);
      }
    });
  };
  Ix whole = floorDiv(count, elementsOfStep);
  w.loop(0, whole, 1, [&](Ix step) { some(step, true); });
  w.loop(whole, stepsOver(count), 1, [&](Ix step) { some(step, false); });
}

Ix Attention::stepsOver(Ix count) { return floorDiv(count + (elementsOfStep - 1), elementsOfStep); }

void Attention::scoreBlocks(Ix vectors, Ix first, Ix count) {
  const TileShape &shape = *c.tiles;
  Buffer left = bf16Scratch(c.splitK), right = bf16Scratch(c.splitQ);
  int64_t steps = p.width / elementsOfStep;
  auto columns = [&](Ix number, int64_t wide) {
    Ix panel = floorDiv(number, 2) * (steps * shape.stepBytes(2));
    w.loop(0, count, rowsOfBlock, [&](Ix key) {
      multiply(left, key * c.keyBytes, c.keyBytes, p.width * bf16Bytes, right, panel, wide, steps);
      w.loop(0, min(count - key, rowsOfBlock), 1, [&](Ix i) {
        for (int64_t n = 0; n < wide; ++n) {
          Ix row = (number + n) * c.lanes;
          Value score = scoreOf(block->sums(i, n, wide), c.lanes,
                                [&](const Other &other) { return alongRows(other, first + key + i, key + i, row); });
          w.store(score, scores, (key + i) * c.rowsBlock + row);
        }
      });
    });
  };
  Ix whole = vectors - remainder(vectors, 2);
  w.loop(0, whole, 2, [&](Ix number) { columns(number, 2); });
  w.loop(whole, vectors, 1, [&](Ix number) { columns(number, 1); });
}

/// All places and distances are in bytes. `partBytes` is the distance between the parts of a split row.
void Attention::multiply(Buffer left, Ix leftAt, int64_t rowBytes, int64_t partBytes, Buffer right, Ix rightAt,
                         int64_t wide, Ix steps) {
  block->clear(wide);
  w.loop(0, steps, 1, [&](Ix step) {
    Ix at = leftAt + step * c.tiles->depth;
    block->step({left, {at, at + block->second() * rowBytes}, rowBytes, partBytes}, right,
                rightAt + step * c.tiles->stepBytes(wide), wide, std::nullopt);
  });
  block->leave(wide);
}

void Attention::splitWeights(Ix vectors, Ix count) {
  Buffer to = bf16Scratch(c.splitWeights);
  Ix end = stepsOver(count) * elementsOfStep;
  w.loop(count, end, 1, [&](Ix key) {
    w.loop(0, vectors * c.lanes, c.lanes,
           [&](Ix row) { w.store(w.constant(0, vector), scores, key * c.rowsBlock + row); });
  });
  w.loop(0, vectors * c.lanes, c.lanes, [&](Ix row) {
    w.loop(0, end, elementsOfStep, [&](Ix key) {
      SmallVector<Ix> from;
      for (int64_t i = 0; i < c.lanes; ++i) {
        from.push_back((key + i) * c.rowsBlock + row);
      }
      auto [low, high] = squares(scores, from, c.lanes * c.rowsBlock);
      for (int64_t i = 0; i < c.lanes; ++i) {
        storeSplit(w, {low[i], high[i]}, c.tiles->parts, to, (row + i) * (c.weightBytes / bf16Bytes) + key,
                   c.keysBlock);
      }
    });
  });
}

void Attention::valueBlocks(Ix vectors, Ix count) {
  const TileShape &shape = *c.tiles;
  Buffer left = bf16Scratch(c.splitWeights), right = bf16Scratch(c.splitV);
  auto columns = [&](Ix pair, int64_t wide) {
    w.loop(0, vectors * c.lanes, rowsOfBlock, [&](Ix row) {
      multiply(left, row * c.weightBytes, c.weightBytes, c.keysBlock * bf16Bytes, right,
               pair * (c.keysBlock / elementsOfStep * shape.stepBytes(2)), wide, stepsOver(count));
      // Rows behind the last one are computed as well, and nobody reads them.
      w.loop(row, row + rowsOfBlock, 1, [&](Ix i) {
        Value factor = w.splat(w.load(worth, i), c.lanes);
        for (int64_t n = 0; n < wide; ++n) {
          Ix at = i * c.valueStride() + (pair * 2 + n) * c.lanes;
          Value before = w.load(sums, at, c.lanes);
          w.store(w.fma(before, factor, block->sums(i - row, n, wide)), sums, at);
        }
      });
    });
  };
  w.loop(0, c.valueVectors / 2, 1, [&](Ix pair) { columns(pair, 2); });
  if (c.valueVectors % 2) {
    columns(c.valueVectors / 2, 1);
  }
}

} // namespace ingot::lower
