// Writes one register tile of BlockedConv: the sums of some pixels and a panel of channels.
#include "compiler/lower/conv/BlockedConv.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

void BlockedConv::tile(const Panel *fixed, Ix base, ArrayRef<int64_t> offsets, Points points, Ix tileIndex) {
  if (fixed) {
    partTile(*fixed, base, offsets, points, tileIndex);
  } else {
    eachPanel(0, [&](const Panel &p) {
      eachPart(p, [&](const Panel &part) {
        // LLVM would broadcast what few channels of bytes there are ahead of the loop over panels, into more registers
        // than the machine has.
        Ix from = s.isOfBytes() ? w.hidden(base, part.block) : base;
        partTile(part, from, offsets, points, tileIndex);
      });
    });
  }
}

void BlockedConv::partTile(const Panel &p, Ix base, ArrayRef<int64_t> offsets, Points points, Ix tileIndex) {
  Vectors acc = start(p, offsets.size());
  if (s.channels == BlockedSchedule::Planes) {
    acc = planes(p, base + p.input, offsets, acc);
  } else if (s.channels == BlockedSchedule::Range) {
    acc = channelRange(p, base + p.input, offsets, acc);
  } else {
    int64_t whole = s.inputs / s.lanes, rest = s.inputs % s.lanes;
    Ix ahead = aheadOf(p, tileIndex, 0);
    acc = blocksOfPanel(p, base, offsets, acc, 0, whole, ahead);
    if (rest) {
      acc = block(p, base + p.input + whole * channelStride(), p.weights + whole * blockWeights(p), rest, offsets, acc,
                  ahead);
    }
  }
  finish(p, std::move(acc), points);
}

/// Returns the weights of a panel for a whole channel block of the input.
int64_t BlockedConv::blockWeights(const Panel &p) const {
  return static_cast<int64_t>(subConv->taps.size()) * s.stepsOf(s.lanes) * s.stepRows * p.width;
}

/// Returns the distance from what a tile reads to its share of what it fetches, which is as many blocks further on, or
/// (0) in the next panel.
Ix BlockedConv::aheadOf(const Panel &p, Ix tileIndex, int64_t blocks) const {
  int64_t lines = linesOfIteration(p.width), taps = subConv->taps.size();
  if (!tilesOfPanel) {
    return 0;
  }
  Ix line = tilesOfPanel > lines ? floorDiv(tileIndex * lines, tilesOfPanel)
                                 : tileIndex * static_cast<int64_t>(llvm::divideCeil(lines, tilesOfPanel));
  return line * lineElements() + (blocks ? blocks * blockWeights(p) : s.stepsOfPanel() * s.stepRows * taps * p.width);
}

/// Adds whole channel blocks [from, to).
BlockedConv::Vectors BlockedConv::blocksOfPanel(const Panel &p, Ix base, ArrayRef<int64_t> offsets, Vectors acc,
                                                Ix from, Ix to, Ix ahead) {
  return w.loop(from, to, 1, acc, [&](Ix i, ValueRange a) {
    return block(p, base + p.input + i * channelStride(), p.weights + i * blockWeights(p), s.lanes, offsets, Vectors(a),
                 ahead);
  });
}

void BlockedConv::finish(const Panel &p, Vectors acc, Points points) {
  for (Value &sum : acc) {
    sum = wholeBlock(sum);
  }
  Vectors biases;
  for (int64_t v = 0; bias && v < p.vectors; ++v) {
    biases.push_back(w.load(bias, (p.block + v) * s.lanes, s.lanes));
  }
  for (auto [i, sum] : llvm::enumerate(acc)) {
    sum = bias ? arith::AddFOp::create(w.b, w.loc, sum, biases[i % p.vectors]).getResult() : sum;
  }
  build.group.finishTile(acc, p.vectors, space, [&](Ix i, int64_t v) {
    Point at = points(i);
    at.at[1] = p.block + v;
    return at;
  });
}

/// Returns accumulators. The bias is added to the sums, not the products to the bias, since small sums round less.
BlockedConv::Vectors BlockedConv::start(const Panel &p, size_t pixels) {
  Type element = s.isOfBytes() ? Type(w.b.getI32Type()) : Type(w.b.getF32Type());
  Vectors first, acc;
  for (int64_t v = 0; v < p.vectors; ++v) {
    first.push_back(beginsSums ? build.group.firstSums(space, point(0, p.block + v, 0, 0, 0))
                               : w.constant(0, w.vectorOf(element, lanesOf(p, v))));
  }
  for (size_t i = 0; i < pixels; ++i) {
    llvm::append_range(acc, first);
  }
  return acc;
}

/// Returns how many lanes of a block are computed: where it is several vectors of this machine (--levels), those of the
/// last block in which there is no channel are left out.
int64_t BlockedConv::lanesOf(const Panel &p, int64_t v) const {
  int64_t own = w.machine.lanes;
  if (own >= s.lanes || s.isOfBytes() || !p.block.known()) {
    return s.lanes;
  }
  int64_t channels = g.outChannels - (p.block.number() + v) * s.lanes;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(channels, 1)), own, s.lanes);
}

/// Returns a sum with zeros for what lanesOf left out.
Value BlockedConv::wholeBlock(Value sum) {
  auto type = cast<VectorType>(sum.getType());
  if (type.getNumElements() == s.lanes) {
    return sum;
  }
  auto places = llvm::to_vector(llvm::seq<int64_t>(0, s.lanes));
  for (int64_t &place : places) {
    place = std::min(place, type.getNumElements()); // the place of the first zero
  }
  return vector::ShuffleOp::create(w.b, w.loc, sum, w.constant(0, type), places);
}

/// Adds all taps over `count` channels of one block.
BlockedConv::Vectors BlockedConv::block(const Panel &p, Ix in, Ix wt, int64_t count, ArrayRef<int64_t> offsets,
                                        Vectors acc, Ix ahead) {
  const auto &a = subConv->axes;
  int64_t width = p.width;
  // Neighbouring taps of whole blocks lie behind each other: one loop over both.
  bool whole = count == s.lanes, widens = whole && widened;
  bool runs = (a[2].tapStep * stride(2)).is(s.lanes) && whole && !widens;
  int64_t tapWeights = s.stepsOf(count) * s.stepRows * width;
  return w.loop(outerTaps.first, outerTaps.second, 1, acc, [&](Ix d, ValueRange c0) {
    return w.loop(middleTaps.first, middleTaps.second, 1, c0, [&](Ix h, ValueRange c1) {
      Ix at = in + d * (a[0].tapStep * stride(0)) + rowOffset(h);
      Ix wr = wt + (d * a[1].taps + h) * (a[2].taps * tapWeights);
      if (runs) {
        auto [first, last] = innerTaps;
        return steps(p, at + first * s.lanes, wr + first * tapWeights, (last - first) * s.stepsOf(count), offsets,
                     Vectors(c1), ahead);
      }
      // A single step has real loops, as over planes.
      bool unroll = s.stepsOf(count) > 1 || !s.isOfBytes();
      auto tap = [&](Ix x, ValueRange c2) {
        Ix from = at + x * (a[2].tapStep * stride(2)), row = wr + x * tapWeights;
        return widens ? widenedSteps(p, from, row, offsets, Vectors(c2), ahead)
                      : steps(p, from, row, s.stepsOf(count), offsets, Vectors(c2), ahead);
      };
      return w.loop(innerTaps.first, innerTaps.second, 1, c1, tap, unroll);
    });
  });
}

/// Adds the steps over a whole block of narrow floats: they are widened as vectors into a small array, once for all
/// vectors of the tile, and not element by element as they are broadcast.
BlockedConv::Vectors BlockedConv::widenedSteps(const Panel &p, Ix in, Ix wt, ArrayRef<int64_t> offsets, Vectors acc,
                                               Ix ahead) {
  SmallVector<int64_t> places;
  for (auto [i, offset] : llvm::enumerate(offsets)) {
    places.push_back(static_cast<int64_t>(i) * s.lanes);
    w.store(w.load(input.buffer, in + offset, s.lanes), widened, places.back());
  }
  source = widened;
  acc = steps(p, 0, wt, s.stepsOf(s.lanes), places, std::move(acc), ahead);
  source = input.buffer;
  return acc;
}

/// Adds channels [first, last), wherever their blocks begin.
BlockedConv::Vectors BlockedConv::channelRange(const Panel &p, Ix in, ArrayRef<int64_t> offsets, Vectors acc) {
  const auto &a = subConv->axes;
  int64_t width = p.width;
  return w.loop(outerTaps.first, outerTaps.second, 1, acc, [&](Ix d, ValueRange c0) {
    return w.loop(middleTaps.first, middleTaps.second, 1, c0, [&](Ix h, ValueRange c1) {
      return w.loop(innerTaps.first, innerTaps.second, 1, c1, [&](Ix x, ValueRange c2) {
        Ix at = in + d * (a[0].tapStep * stride(0)) + rowOffset(h) + x * (a[2].tapStep * stride(2));
        Ix wr = p.weights + ((d * a[1].taps + h) * a[2].taps + x) * (s.stepsOfPanel() * s.stepRows * width);
        return w.loop(p.first, p.last, s.stepChannels, c2, [&](Ix c, ValueRange c3) {
          return step(p, at + floorDiv(c, s.lanes) * channelStride() + remainder(c, s.lanes),
                      wr + floorDiv(c - p.first, s.stepChannels) * (s.stepRows * width), 1, offsets, c3);
        });
      });
    });
  });
}

/// Adds row-major channels, in real loops, since broadcasts that unrolled taps have in common would be kept in
/// registers that are not there.
BlockedConv::Vectors BlockedConv::planes(const Panel &p, Ix in, ArrayRef<int64_t> offsets, Vectors acc) {
  const auto &a = subConv->axes;
  int64_t width = p.width, taps = subConv->taps.size();
  return w.loop(0, s.inputs, 1, acc, [&](Ix c, ValueRange c0) {
    return w.loop(outerTaps.first, outerTaps.second, 1, c0, [&](Ix d, ValueRange c1) {
      return w.loop(middleTaps.first, middleTaps.second, 1, c1, [&](Ix h, ValueRange c2) {
        Ix at = in + c * channelStride() + d * (a[0].tapStep * stride(0)) + h * (a[1].tapStep * stride(1));
        Ix wr = p.weights + c * (taps * width) + (d * a[1].taps + h) * (a[2].taps * width);
        return w.loop(
            innerTaps.first, innerTaps.second, 1, c2,
            [&](Ix x, ValueRange c3) {
              return step(p, at + x * (a[2].tapStep * stride(2)), wr + x * width, 1, offsets, c3);
            },
            /*unroll=*/false);
      });
    });
  });
}

/// Adds `extent` steps over neighbouring input elements, each with its row (or rows) of weights.
BlockedConv::Vectors BlockedConv::steps(const Panel &p, Ix in, Ix wt, int64_t extent, ArrayRef<int64_t> offsets,
                                        Vectors acc, Ix ahead) {
  int64_t unrolled = unroll(), whole = extent / unrolled * unrolled;
  int64_t rows = s.stepRows * p.width, lines = linesOfIteration(p.width);
  acc = w.loop(
      0, whole, unrolled, acc,
      [&](Ix q, ValueRange a) {
        for (int64_t i = 0; tilesOfPanel && i < std::max<int64_t>(1, llvm::divideCeil(lines, tilesOfPanel)); ++i) {
          w.prefetch(weights, wt + q * rows + ahead + i * lineElements());
        }
        return step(p, in + q * s.stepChannels, wt + q * rows, unrolled, offsets, a);
      },
      /*unroll=*/!byOne());
  return whole == extent ? acc : step(p, in + whole * s.stepChannels, wt + whole * rows, extent - whole, offsets, acc);
}

BlockedConv::Vectors BlockedConv::step(const Panel &p, Ix in, Ix wt, int64_t unroll, ArrayRef<int64_t> offsets,
                                       ValueRange acc) {
  if (s.isOfBytes()) {
    return byteStep(p, in, wt, unroll, offsets, acc);
  }
  Vectors next(acc);
  for (int64_t u = 0; u < unroll; ++u) {
    Vectors row;
    for (int64_t v = 0; v < p.vectors; ++v) {
      row.push_back(w.load(weights, wt + (u * p.width + v * s.lanes), lanesOf(p, v)));
    }
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      Value x = w.load(source, in + (offset + u)), whole = w.splat(x, s.lanes);
      for (int64_t v = 0; v < p.vectors; ++v) {
        Value factor = lanesOf(p, v) == s.lanes ? whole : w.splat(x, lanesOf(p, v));
        next[i * p.vectors + v] = w.fma(factor, row[v], next[i * p.vectors + v]);
      }
    }
  }
  return next;
}

BlockedConv::Vectors BlockedConv::byteStep(const Panel &p, Ix in, Ix wt, int64_t unroll, ArrayRef<int64_t> offsets,
                                           ValueRange acc) {
  Vectors next(acc);
  for (int64_t u = 0; u < unroll; ++u) {
    Vectors rows; // rows of one vector, behind each other
    for (int64_t v = 0; v < p.vectors; ++v) {
      for (int64_t row = 0; row < s.stepRows; ++row) {
        rows.push_back(w.load(weights, wt + ((u * s.stepRows + row) * p.width + v * s.lanes), s.lanes));
      }
    }
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      auto x = bytes.elements(w, input.buffer, in + (offset + u * s.stepChannels), s.lanes);
      for (int64_t v = 0; v < p.vectors; ++v) {
        Value &sum = next[i * p.vectors + v];
        sum = bytes.add(w, sum, x, ArrayRef(rows).slice(v * s.stepRows, s.stepRows));
      }
    }
  }
  return next;
}

} // namespace ingot::lower
