#include "compiler/lower/conv/BlockedConv.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

/// Returns how many tiles a segment has, which is what a work item computes of an image that is one row: one tile where
/// there are few, so that threads get equal parts.
static int64_t tilesOfSegment(const support::Size &row, int64_t pixels) {
  return row.isNumber() ? std::clamp<int64_t>(row.number() / (32 * pixels), 1, 8) : 8;
}

BlockedConv::BlockedConv(Build &build, const ConvGeometry &g, const BlockedSchedule &s, Access input, Space space)
    : build(build), w(build.w), g(g), s(s), input(std::move(input)), space(std::move(space)),
      source(this->input.buffer), bytes(s.bytes(build.w.machine)),
      beginsSums(s.isOfBytes() && build.group.beginSums(this->space)) {
  Operation *root = build.group.root;
  weights = build.group.buffer(root->getOperand(1));
  weights = s.isOfBytes() ? ByteProducts::words(w, weights) : weights;
  bias = isa<NoneType>(root->getOperand(2).getType()) ? Buffer() : build.group.buffer(root->getOperand(2));
  subConv = &g.subConvs.front();
  bool prefetches = !s.part && !s.pixelsOuter && g.subConvs.size() == 1 &&
                    4 * s.weightElements(g) >= w.machine.tuning.prefetchFromBytes;
  support::Size row = subConv->axes[2].out, rows = subConv->rows();
  if (prefetches && row.isNumber() && rows.isNumber()) {
    support::Size tiles = s.flat       ? ceilDiv(rows * row, s.pixels)
                          : s.partRows ? support::Size(s.partRows * s.partTiles)
                                       : rows * tilesOfRow(subConv->axes[2], s.pixels);
    tilesOfPanel = tiles.number();
  }
}

// A work item is (panel, image, unit) where panels are the outer loop, and (image, unit) where pixels are, or where an
// image is cut into parts. A unit is a row of pixels; of an image of one row a segment, some tiles of it; a part of the
// image; or the whole image where its tiles are static. With several sub-convolutions a unit is the same rows of each
// sub-convolution: the sub-convolutions read the same input rows while these are in a cache, and write neighbouring
// pixels.

/// Returns the most outputs of a sub-convolution along an axis.
static support::Size mostOf(const ConvGeometry &g, size_t axis) {
  support::Size most = 1;
  for (const SubConv &p : g.subConvs) {
    most = max(most, p.axes[axis].out);
  }
  return most;
}

/// Returns how many units there are along an axis with several sub-convolutions: slices of the longest sub-convolution
/// (axis 0), groups of `phaseRows` rows (1), or segments of a row if the image is one row (2).
support::Size BlockedConv::subConvUnits(const ConvGeometry &g, const BlockedSchedule &s, size_t axis) {
  support::Size most = mostOf(g, axis);
  if (axis < 2) {
    return axis == 1 ? ceilDiv(most, s.subConvRows) : most;
  }
  bool isRow = mostOf(g, 0).is(1) && mostOf(g, 1).is(1);
  return isRow ? ceilDiv(most, s.pixels * tilesOfSegment(most, s.pixels)) : support::Size(1);
}

support::Size BlockedConv::unitsOf(const ConvGeometry &g, const BlockedSchedule &s) {
  const SubConv &p = g.subConvs.front();
  if (g.subConvs.size() > 1) {
    return subConvUnits(g, s, 0) * subConvUnits(g, s, 1) * subConvUnits(g, s, 2);
  }
  if (s.flat) {
    return 1;
  }
  if (s.partRows) {
    return ceilDiv(p.rows(), s.partRows) * ceilDiv(support::Size(tilesOfRow(p.axes[2], s.pixels)), s.partTiles);
  }
  if (!p.rows().is(1)) {
    return p.rows();
  }
  const support::Size &row = p.axes[2].out;
  int64_t tiles = tilesOfSegment(row, s.pixels);
  if (!row.isNumber()) {
    return ceilDiv(row, s.pixels * tiles);
  }
  int64_t units = 0;
  for (auto [size, count] : balancedTiles(row.number(), s.pixels)) {
    units += llvm::divideCeil(count, tiles);
  }
  return units;
}

support::Size BlockedConv::items(const ConvGeometry &g, const BlockedSchedule &s) {
  return g.batch * unitsOf(g, s) * (s.pixelsOuter || s.partRows ? 1 : s.panelCount());
}

void BlockedConv::run() {
  if (input.buffer.narrow && s.channels == BlockedSchedule::Blocks && w.machine.lanes > 1) {
    widened = w.local(w.b.getF32Type(), s.pixels * s.lanes);
  }
  if (s.chunkBlocks) {
    spilled.emplace(w, w.b.getF32Type(), s.lanes, (subConv->rows() * subConv->axes[2].out).number() * s.vectors);
  }
  Ix units = unitsOf(g, s);
  w.loop(build.begin, build.end, 1, [&](Ix item) {
    Ix u = remainder(item, units), rest = floorDiv(item, units), n = remainder(rest, g.batch);
    if (s.partRows) {
      return partOfImage(n, u);
    }
    if (s.pixelsOuter) {
      return unit(nullptr, n, u);
    }
    for (size_t i = 0; i < g.subConvs.size(); ++i) {
      subConv = &g.subConvs[i];
      panelAt(floorDiv(rest, g.batch), i,
              [&](const Panel &p) { eachPart(p, [&](const Panel &part) { unit(&part, n, u); }); });
    }
  });
}

static Value lessThan(Writer &w, Ix a, Ix b) { return w.compare(arith::CmpIPredicate::slt, a, b); }

/// Writes one of two bodies: `first` where i < limit, else `second` with i counted from there.
static void either(Writer &w, Ix i, int64_t limit, int64_t all, llvm::function_ref<void(Ix)> first,
                   llvm::function_ref<void(Ix)> second) {
  if (limit == all) {
    return first(i);
  }
  w.ifThen(lessThan(w, i, limit), [&] { first(i); });
  w.ifThen(lessThan(w, limit - 1, i), [&] { second(i - limit); });
}

BlockedConv::Panel BlockedConv::panel(Ix index, int64_t vectors, Ix block, size_t subConv) {
  Panel p{};
  p.vectors = vectors, p.width = vectors * s.lanes, p.block = block, p.subConv = &g.subConvs[subConv];
  int64_t rows = s.stepsOfPanel() * s.stepRows * static_cast<int64_t>(p.subConv->taps.size());
  p.weights = s.subConvBase(g, subConv) + block * (s.lanes * rows);
  if (g.groups > 1) {
    Ix out = block * s.lanes;
    p.first = floorDiv(floorDiv(out, g.outGroup()) * g.inGroup(), s.stepChannels) * s.stepChannels;
    p.last = (floorDiv(min(out + vectors * s.lanes, g.outChannels) - 1, g.outGroup()) + 1) * g.inGroup();
  } else {
    p.last = g.inChannels;
  }
  if (s.channels == BlockedSchedule::Blocks) {
    p.input = floorDiv(p.first, s.lanes) * channelStride();
  }
  return p;
}

void BlockedConv::panelAt(Ix t, size_t subConv, llvm::function_ref<void(const Panel &)> body) {
  auto [vectors, count] = s.panels[0];
  either(
      w, t, count, s.panelCount(), [&, v = vectors](Ix i) { body(panel(i, v, i * v, subConv)); },
      [&, v = s.panels.back().first, start = vectors * count](Ix i) { body(panel(i, v, start + i * v, subConv)); });
}

void BlockedConv::eachPanel(size_t subConv, llvm::function_ref<void(const Panel &)> body) {
  int64_t start = 0;
  for (auto [vectors, count] : s.panels) {
    w.loop(0, count, 1, [&, v = vectors](Ix i) { body(panel(i, v, start + i * v, subConv)); });
    start += vectors * count;
  }
}

/// Calls `body` with the parts of a panel whose tile is larger than this machine's registers. Each goes over all pixels
/// by itself, so that its weights stay in the first cache.
void BlockedConv::eachPart(const Panel &p, llvm::function_ref<void(const Panel &)> body) {
  int64_t size = s.part ? s.part : p.vectors;
  auto partAt = [&](Ix done, int64_t vectors) {
    Panel part = p;
    part.vectors = vectors, part.block = p.block + done, part.weights = p.weights + done * s.lanes;
    body(part);
  };
  bool alike = g.outChannels % s.lanes == 0; // lanesOf is the same in all of them
  int64_t whole = alike ? p.vectors / size * size : 0;
  w.loop(0, whole, size, [&](Ix done) { partAt(done, size); });
  for (int64_t done = whole; done < p.vectors; done += size) {
    partAt(done, std::min(size, p.vectors - done));
  }
}

void BlockedConv::unit(const Panel *fixed, Ix n, Ix u) {
  Ix middle = subConv->axes[1].out;
  if (s.flat) {
    flatImage(*fixed, n);
  } else if (g.subConvs.size() > 1) {
    subConvRows(*fixed, n, u);
  } else if (!subConv->rows().is(1)) {
    row(fixed, n, floorDiv(u, middle), remainder(u, middle), u);
  } else {
    rowSegment(fixed, n, u);
  }
}

/// Writes the unit's rows of one sub-convolution, which may have fewer than the longest.
void BlockedConv::subConvRows(const Panel &p, Ix n, Ix u) {
  const auto &a = subConv->axes;
  Ix segments = subConvUnits(g, s, 2), blocks = subConvUnits(g, s, 1);
  Ix segment = remainder(u, segments), rest = floorDiv(u, segments);
  Ix slice = floorDiv(rest, blocks), from = remainder(rest, blocks) * s.subConvRows;
  w.loop(slice, min(slice + 1, a[0].out), 1, [&](Ix d) {
    w.loop(from, min(from + s.subConvRows, a[1].out), 1, [&](Ix h) {
      if (segments.is(1)) {
        return row(&p, n, d, h, 0);
      }
      int64_t tiles = tilesOfSegment(mostOf(g, 2), s.pixels), pixels = tiles * s.pixels;
      if (a[2].out.isNumber()) {
        return rowTiles(&p, n, d, h, segment * tiles, min(segment * tiles + tiles, tilesOfRow(a[2], s.pixels)), 0);
      }
      innerTaps = allTaps();
      openRow(&p, n, d, h, segment * pixels, min(segment * pixels + pixels, a[2].out));
    });
  });
}

/// Writes all panels over some tiles of some rows, which are slices of the image where there are three axes.
void BlockedConv::partOfImage(Ix n, Ix u) {
  int64_t middle = subConv->axes[1].out.number(), rows = subConv->rows().number();
  int64_t inRow = tilesOfRow(subConv->axes[2], s.pixels);
  int64_t across = llvm::divideCeil(inRow, s.partTiles);
  Ix fromRow = floorDiv(u, across) * s.partRows, toRow = min(fromRow + s.partRows, rows);
  Ix fromTile = remainder(u, across) * s.partTiles, toTile = min(fromTile + s.partTiles, inRow);
  eachPanel(0, [&](const Panel &p) {
    eachPart(p, [&](const Panel &part) {
      w.loop(fromRow, toRow, 1, [&](Ix r) {
        rowTiles(&part, n, floorDiv(r, middle), remainder(r, middle), fromTile, toTile, (r - fromRow) * s.partTiles);
      });
    });
  });
}

void BlockedConv::rows(Ix n, Ix outer, Ix from, Ix to) {
  w.loop(from, to, 1, [&](Ix middle) { row(nullptr, n, outer, middle, 0); });
}

// These write pixels.

/// Returns the place of the first tap of the first pixel of a row.
Ix BlockedConv::rowBase(Ix n, Ix outer, Ix middle) const {
  const auto &a = subConv->axes;
  bool inRing = input.buffer.ring.rows; // rowOffset adds the row then
  return input.offset + n * input.strides[0] + (outer * a[0].inStep + a[0].inStart) * stride(0) +
         (inRing ? Ix(0) : (middle * a[1].inStep + a[1].inStart) * stride(1)) + a[2].inStart * stride(2);
}

Point BlockedConv::point(Ix n, Ix block, Ix outer, Ix middle, Ix inner) const {
  Point p;
  p.at.assign(space.sizes.size(), 0);
  p.at[0] = n, p.at[1] = block, p.lanes = s.lanes;
  std::array<Ix, 3> at{outer, middle, inner};
  for (auto [axis, i] : llvm::zip_equal(subConv->axes, at)) {
    if (axis.dim >= 0) {
      p.at[axis.dim] = axis.outStart + i * axis.outStep;
    }
  }
  return p;
}

void BlockedConv::row(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix rowIndex) {
  const support::Size &out = subConv->axes[2].out;
  if (!out.isNumber()) {
    return openRow(fixed, n, outer, middle, 0, out);
  }
  int64_t inRow = tilesOfRow(subConv->axes[2], s.pixels);
  rowTiles(fixed, n, outer, middle, 0, inRow, rowIndex * inRow);
}

/// Writes tiles [from, to) of a row whose length is known. `indexOfFirst` is the number of the tile `from`, for the
/// prefetch.
void BlockedConv::rowTiles(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix from, Ix to, Ix indexOfFirst) {
  int64_t done = 0;
  for (const TileRun &run : tileRuns(subConv->axes[2], s.pixels)) {
    Ix first = max(from - done, 0), last = min(to - done, run.count);
    innerTaps = run.taps;
    w.loop(first, last, 1, [&](Ix i) {
      rowTile(fixed, n, outer, middle, run.start + i * run.size, run.size, indexOfFirst + (done + i - from));
    });
    done += run.count;
  }
}

void BlockedConv::rowSegment(const Panel *fixed, Ix n, Ix u) {
  const support::Size &out = subConv->axes[2].out;
  int64_t most = tilesOfSegment(out, s.pixels);
  innerTaps = allTaps();
  if (!out.isNumber()) {
    int64_t segment = s.pixels * most;
    return openRow(fixed, n, 0, 0, u * segment, min(u * segment + segment, out));
  }
  auto tiles = balancedTiles(out.number(), s.pixels);
  auto segment = [&](Ix unit, int64_t start, int64_t size, int64_t count, int64_t before) {
    w.loop(unit * most, min(unit * most + most, count), 1,
           [&](Ix i) { rowTile(fixed, n, 0, 0, start + i * size, size, before + i); });
  };
  auto [size, count] = tiles[0];
  int64_t units = llvm::divideCeil(count, most);
  either(
      w, u, units, unitsOf(g, s).number(), [&, size = size, count = count](Ix i) { segment(i, 0, size, count, 0); },
      [&, size = size, count = count](Ix i) {
        segment(i, size * count, tiles.back().first, tiles.back().second, count);
      });
}

/// Writes pixels [from, to) of a row whose length the run determines. An image of one row has few tiles, and each reads
/// all weights.
void BlockedConv::openRow(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix from, Ix to) {
  innerTaps = allTaps();
  w.balanced(
      from, to, s.pixels, [&](Ix x, int64_t size) { rowTile(fixed, n, outer, middle, x, size, 0); },
      /*exact=*/subConv->rows().is(1));
}

/// Writes pixels [x, x + size) of a row.
void BlockedConv::rowTile(const Panel *fixed, Ix n, Ix outer, Ix middle, Ix x, int64_t size, Ix tileIndex) {
  outerTaps = subConv->axes[0].tapsOf(outer), middleTaps = subConv->axes[1].tapsOf(middle);
  firstRow = input.buffer.ring.rows ? middle * subConv->axes[1].inStep + subConv->axes[1].inStart : Ix(0);
  SmallVector<int64_t> offsets;
  for (int64_t p = 0; p < size; ++p) {
    offsets.push_back(p * pixelStride());
  }
  // Without hidden() LLVM computes the addresses of all taps and pixels before the loops, and spills them to the stack.
  Ix base = rowBase(n, outer, middle) + x * pixelStride();
  tile(fixed, w.hidden(base), offsets, [&](Ix p) { return point(n, 0, outer, middle, x + p); }, tileIndex);
}

/// Writes all pixels of a small image in one list, cut into tiles at fixed places.
void BlockedConv::flatImage(const Panel &p, Ix n) {
  const auto &a = subConv->axes;
  outerTaps = {0, a[0].taps}, middleTaps = {0, a[1].taps}, innerTaps = allTaps();
  int64_t width = a[2].out.number(), height = a[1].out.number(), pixels = subConv->rows().number() * width;
  Ix base = rowBase(n, 0, 0);
  auto eachTile = [&](llvm::function_ref<void(int64_t first, ArrayRef<int64_t> offsets, int64_t index)> body) {
    int64_t next = 0, index = 0;
    for (auto [size, count] : balancedTiles(pixels, s.pixels)) {
      for (int64_t t = 0; t < count; ++t, ++index, next += size) {
        SmallVector<int64_t> offsets;
        for (int64_t i = next; i < next + size; ++i) {
          int64_t x = i % width, y = i / width % height, z = i / width / height;
          offsets.push_back(z * a[0].inStep * stride(0).number() + y * a[1].inStep * stride(1).number() +
                            x * pixelStride());
        }
        body(next, offsets, index);
      }
    }
  };
  auto pointsFrom = [&](int64_t first) {
    return [&, first](Ix i) {
      Ix at = first + i, line = floorDiv(at, width);
      return point(n, 0, floorDiv(line, height), remainder(line, height), remainder(at, width));
    };
  };
  if (!s.chunkBlocks) {
    return eachTile([&](int64_t first, ArrayRef<int64_t> offsets, int64_t index) {
      tile(&p, base, offsets, pointsFrom(first), index);
    });
  }
  spilled->clear(pixels * p.vectors);
  auto load = [&](int64_t first, ArrayRef<int64_t> offsets) {
    return spilled->load(first * p.vectors, static_cast<int64_t>(offsets.size()) * p.vectors);
  };
  w.loop(0, s.inputs / s.lanes, s.chunkBlocks, [&](Ix from) {
    eachTile([&](int64_t first, ArrayRef<int64_t> offsets, int64_t index) {
      Ix ahead = aheadOf(p, index, s.chunkBlocks);
      spilled->store(blocksOfPanel(p, base, offsets, load(first, offsets), from, from + s.chunkBlocks, ahead),
                     first * p.vectors);
    });
  });
  eachTile([&](int64_t first, ArrayRef<int64_t> offsets, int64_t index) {
    finish(p, load(first, offsets), pointsFrom(first));
  });
}

} // namespace ingot::lower
