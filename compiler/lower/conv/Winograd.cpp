#include "compiler/lower/conv/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using Vectors = SmallVector<Value>;

/// Returns how many words of inputs one iteration of the innermost loop takes. This is a block, so that no loop of a
/// few iterations is inside another. For long blocks it is a part, since LLVM moves the loads of a whole block ahead
/// and has no registers for them (which is half as fast). For pairs it is one word (ByteProducts).
int64_t unrolledOf(int64_t words, const WinogradSchedule &s, const ByteProducts &bytes) {
  return s.isOfBytes() && bytes.takesTwoInstructions() ? 1 : words > 8 ? 4 : words;
}

/// Returns v / divisor where that is a whole number, although v is known modulo 2^32 only: v is multiplied by the
/// inverse of the divisor's odd part.
Value quotient(Writer &w, Value v, int64_t divisor) {
  int shift = llvm::countr_zero(static_cast<uint64_t>(divisor));
  // The inverse is right in three bits at first, and each iteration doubles them.
  uint32_t odd = static_cast<uint32_t>(divisor >> shift), inverse = odd;
  for (int bits = 3; bits < 32; bits *= 2) {
    inverse *= 2 - odd * inverse;
  }
  if (odd != 1) {
    v = arith::MulIOp::create(w.b, w.loc, v, w.constant(static_cast<int32_t>(inverse), v.getType()));
  }
  return shift ? arith::ShRSIOp::create(w.b, w.loc, v, w.constant(shift, v.getType())).getResult() : v;
}

/// Builds the loops of one kernel.
class Winograd {
public:
  Winograd(Build &build, const WinogradSchedule &s);
  void run();

private:
  /// A part of the list of tiles.
  struct Strip {
    Ix image;
    Ix firstRegisterTile, lastRegisterTile; ///< its register tiles, [firstRegisterTile, lastRegisterTile)
    Ix first, last;                         ///< its tiles, [first, last)
    Ix firstRow, lastRow;                   ///< its rows of tiles, where only the run knows how many tiles a row has
  };
  using Range = std::pair<Ix, Ix>;
  /// A panel of output channels.
  struct Panel {
    int64_t vectors;
    Ix block, group;
    int64_t width(const BlockedSchedule &p) const { return vectors * p.lanes; }
  };

  Build &build;
  Writer &w;
  const WinogradSchedule &s;
  const WinogradSchedule::Tiles &rows, &columns;
  const BlockedSchedule &p;
  int64_t lanes, words; ///< outputs of a block, and words of inputs of a block
  int64_t unroll;       ///< words of one iteration of the innermost loop
  Type word;            ///< f32, or i32 for bytes
  Access input;
  Space space;
  Buffer weights, bias, scratch;

  const ConvAxis &axis(size_t i) const { return s.g.subConvs[0].axes[i]; }
  const Ix &stride(size_t i) const { return input.strides[2 + i]; }
  /// Return where component `c` of V, and of M, is in scratch.
  Ix inputAt(Ix c) const { return c * s.inputStride(); }
  Ix productAt(Ix c) const { return s.components() * s.inputStride() + c * s.productStride(); }

  Ix firstUnit(Ix item) const;
  Ix firstTile(Ix registerTile) const;
  Strip strip(Ix unit) const;
  void eachTile(const Strip &strip, llvm::function_ref<void(Ix tile, Ix y, Ix x)> body);
  Ix origin(const WinogradSchedule::Tiles &tiles, Ix tile) const;
  Ixs inputsOf(const WinogradSchedule::Tiles &tiles, Ix tile, const Ix &stride) const;
  void transformInputs(const Strip &strip);
  void transformInput(Ix from, const Ixs &down, const Ixs &across, Ix to);
  Value loadInput(Ix at);
  void storeInput(Value transformed, Ix at);
  void panels(const Strip &strip, Ix share);
  void products(const Strip &strip, const Panel &panel);
  void registerTile(const Panel &panel, Ix component, Ix tile, Ix index, int64_t tiles);
  void part(const Panel &panel, int64_t first, int64_t vectors, Ix component, Ix tile, int64_t tiles, Ix ahead);
  Vectors channels(const Panel &panel, Ix in, Ix wt, int64_t count, int64_t vectors, int64_t tiles, ValueRange acc,
                   Ix ahead);
  void transformOutputs(const Strip &strip, const Panel &panel);
  void eachPart(const WinogradSchedule::Tiles &tiles, Ix tile, llvm::function_ref<void(int64_t from, int64_t to)> body);
  Range newOutputs(const WinogradSchedule::Tiles &tiles, Ix tile) const;
  void store(ArrayRef<Vectors> sums, Ix image, Ix block, Ix ty, Ix tx);
};

Winograd::Winograd(Build &build, const WinogradSchedule &s)
    : build(build), w(build.w), s(s), rows(s.rows), columns(s.columns), p(s.product), lanes(p.lanes),
      words(s.blockWords()), unroll(unrolledOf(words, s, ByteProducts(w.machine))),
      word(s.isOfBytes() ? Type(w.b.getI32Type()) : Type(w.b.getF32Type())), input(blockedInput(build, s.g)),
      space(build.group.space(build.group.resultType())) {
  Operation *root = build.group.root;
  weights = build.group.buffer(root->getOperand(1));
  weights = s.isOfBytes() ? ByteProducts::words(w, weights) : weights;
  bias = isa<NoneType>(root->getOperand(2).getType()) ? Buffer() : build.group.buffer(root->getOperand(2));
}

// Work items are some units (image, strip, share of the panels) each, one behind the other. A range of items works in
// the scratch memory of its first one, and transforms the inputs of a strip once.

Ix Winograd::firstUnit(Ix item) const {
  support::Size units = s.units(), items = s.items();
  return units == items ? item : floorDiv(item * units, max(items, 1)); // without images there are no items
}

void Winograd::run() {
  scratch = w.scratch(build.scratch, build.begin * (4 * s.scratchWords()), word, s.scratchWords());
  Ix first = firstUnit(build.begin);
  w.loop(first, firstUnit(build.end), 1, [&](Ix unit) {
    Ix share = remainder(unit, s.shares);
    Strip piece = strip(floorDiv(unit, s.shares));
    if (s.shares == 1) {
      transformInputs(piece);
    } else {
      Value isFirst = w.compare(arith::CmpIPredicate::eq, unit, first);
      Value isNew = w.compare(arith::CmpIPredicate::eq, share, 0);
      w.ifThen(arith::OrIOp::create(w.b, w.loc, isFirst, isNew), [&] { transformInputs(piece); });
    }
    panels(piece, share);
  });
}

/// Returns the first tile of a register tile. The larger register tiles come first.
Ix Winograd::firstTile(Ix registerTile) const {
  if (s.isOpen()) {
    return registerTile * s.largestRegisterTile();
  }
  auto registerTiles = s.registerTiles();
  auto [size, count] = registerTiles.front();
  return registerTiles.size() == 1 ? registerTile * size
                                   : registerTile * registerTiles.back().first + min(registerTile, count);
}

Winograd::Strip Winograd::strip(Ix unit) const {
  Strip piece;
  Ix i = remainder(unit, s.strips);
  piece.image = floorDiv(unit, s.strips);
  piece.firstRegisterTile = floorDiv(i * s.registerTileCount(), s.strips),
  piece.lastRegisterTile = floorDiv((i + 1) * s.registerTileCount(), s.strips);
  piece.first = firstTile(piece.firstRegisterTile), piece.last = firstTile(piece.lastRegisterTile);
  if (s.isOpen()) {
    piece.last = min(piece.last, s.tiles());
  }
  if (columns.isOpen()) {
    piece.firstRow = floorDiv(piece.first, columns.count), piece.lastRow = floorDiv(piece.last - 1, columns.count) + 1;
  }
  return piece;
}

/// Writes a loop over the tiles of a strip, with their places in the image. Where only the run knows how many tiles a
/// row has, it goes row by row: a division for each tile would cost as much as its transform.
void Winograd::eachTile(const Strip &strip, llvm::function_ref<void(Ix tile, Ix y, Ix x)> body) {
  Ix inRow = columns.count;
  if (!columns.isOpen()) {
    return w.loop(strip.first, strip.last, 1,
                  [&](Ix tile) { body(tile, floorDiv(tile, inRow), remainder(tile, inRow)); });
  }
  w.loop(strip.firstRow, strip.lastRow, 1, [&](Ix y) {
    Ix before = y * inRow;
    w.loop(max(strip.first - before, 0), min(strip.last - before, inRow), 1, [&](Ix x) { body(before + x, y, x); });
  });
}

/// Returns the first output of a tile. The last tile ends where the image does.
Ix Winograd::origin(const WinogradSchedule::Tiles &tiles, Ix tile) const {
  Ix group = floorDiv(tile, tiles.step) * tiles.reach();
  if (tiles.old || tiles.isOpen()) {
    group = min(group, max(Ix(tiles.outputs) - tiles.reach(), 0));
  }
  return group + remainder(tile, tiles.step);
}

/// Returns where the inputs of a tile are, from its first one on. In an image that may be smaller than a tile none is
/// behind the last input that an output reads.
Ixs Winograd::inputsOf(const WinogradSchedule::Tiles &tiles, Ix tile, const Ix &stride) const {
  bool mayBeShort = tiles.isOpen() && !(tiles.outputs - tiles.reach()).atLeast(0);
  Ix last = Ix(tiles.outputs - 1 + (tiles.filtering.taps() - 1) * tiles.step) - remainder(tile, tiles.step);
  Ixs places = {0};
  for (int64_t i = 1; i < tiles.filtering.inputs(); ++i) {
    places.push_back(mayBeShort ? min(i * tiles.step, last) * stride : i * (tiles.step * stride));
  }
  return places;
}

// Inputs

void Winograd::transformInputs(const Strip &strip) {
  Ix image = input.offset + strip.image * input.strides[0] + axis(1).inStart * stride(1) + axis(2).inStart * stride(2);
  w.loop(0, s.inputBlocks(), 1, [&](Ix block) {
    eachTile(strip, [&](Ix tile, Ix y, Ix x) {
      transformInput(image + block * input.strides[1] + origin(rows, y) * stride(1) + origin(columns, x) * stride(2),
                     inputsOf(rows, y, stride(1)), inputsOf(columns, x, stride(2)),
                     (block * s.stripTiles() + tile - strip.first) * words);
    });
  });
}

/// Loads a vector of the image; bytes are widened to int16.
Value Winograd::loadInput(Ix at) {
  Value v = w.load(input.buffer, at, lanes);
  return s.isOfBytes() && !s.g.isInt16
             ? arith::ExtUIOp::create(w.b, w.loc, w.vectorOf(w.b.getI16Type(), lanes), v).getResult()
             : v;
}

void Winograd::storeInput(Value transformed, Ix at) {
  if (s.isOfBytes()) {
    transformed = vector::BitCastOp::create(w.b, w.loc, VectorType::get({words}, word), transformed);
  }
  w.store(transformed, scratch, at);
}

/// Transforms the inputs of a tile. `down` and `across` are their places, from the first one on.
void Winograd::transformInput(Ix from, const Ixs &down, const Ixs &across, Ix to) {
  int64_t high = rows.filtering.inputs(), wide = columns.filtering.inputs();
  SmallVector<Vectors> upright;
  for (int64_t x = 0; x < wide; ++x) {
    Vectors d;
    for (int64_t y = 0; y < high; ++y) {
      d.push_back(loadInput(from + down[y] + across[x]));
    }
    upright.push_back(rows.filtering.input(w, d));
  }
  for (int64_t y = 0; y < high; ++y) {
    Vectors row = llvm::map_to_vector(upright, [&](const Vectors &column) { return column[y]; });
    for (auto [x, v] : llvm::enumerate(columns.filtering.input(w, row))) {
      storeInput(v, inputAt(y * wide + static_cast<int64_t>(x)) + to);
    }
  }
}

// Products

void Winograd::panels(const Strip &strip, Ix share) {
  int64_t all = s.panelCount(), start = 0, block = 0;
  Ix from = floorDiv(share * all, s.shares), to = floorDiv((share + 1) * all, s.shares);
  for (auto [vectors, count] : p.panels) { // the panels of one width, of all groups
    auto body = [&, vectors = vectors, count = count](Ix i) {
      Ix group = floorDiv(i - start, count);
      Panel panel{vectors, group * p.blocks + block + remainder(i - start, count) * vectors, group};
      products(strip, panel);
      transformOutputs(strip, panel);
    };
    int64_t end = start + count * s.g.groups;
    w.loop(max(from, start), min(to, end), 1, body);
    start = end, block += vectors * count;
  }
}

void Winograd::products(const Strip &strip, const Panel &panel) {
  if (s.isOpen()) {
    return w.loop(0, s.components(), 1, [&](Ix component) {
      w.balanced(strip.first, strip.last, s.largestRegisterTile(), [&](Ix tile, int64_t tiles) {
        Ix first = tile - strip.first;
        registerTile(panel, component, first, floorDiv(first, s.largestRegisterTile()), tiles);
      });
    });
  }
  auto registerTiles = s.registerTiles();
  int64_t large = registerTiles.front().second;
  w.loop(0, s.components(), 1, [&](Ix component) {
    auto body = [&](int64_t tiles) {
      return [&, tiles](Ix i) {
        registerTile(panel, component, firstTile(i) - strip.first, i - strip.firstRegisterTile, tiles);
      };
    };
    bool one = registerTiles.size() == 1;
    w.loop(strip.firstRegisterTile, one ? strip.lastRegisterTile : min(strip.lastRegisterTile, large), 1,
           body(registerTiles.front().first));
    if (!one) {
      w.loop(max(strip.firstRegisterTile, large), strip.lastRegisterTile, 1, body(registerTiles.back().first));
    }
  });
}

/// Computes one register tile of a component, the `index`-th of a strip. Each tile prefetches its share of the weights
/// of the next component.
void Winograd::registerTile(const Panel &panel, Ix component, Ix tile, Ix index, int64_t tiles) {
  int64_t width = panel.width(p), lines = llvm::divideCeil(unroll * width, s.line * s.stripRegisterTiles);
  Ix ahead = s.inputWords() * width + index * (lines * s.line);
  int64_t step = p.part ? p.part : panel.vectors;
  for (int64_t first = 0; first < panel.vectors; first += step) {
    part(panel, first, std::min(step, panel.vectors - first), component, tile, tiles, ahead);
  }
}

void Winograd::part(const Panel &panel, int64_t first, int64_t vectors, Ix component, Ix tile, int64_t tiles,
                    Ix ahead) {
  int64_t width = panel.width(p), all = s.inputWords();
  int64_t whole = all / words, rest = all % words, blockStride = s.stripTiles() * words;
  Ix in = inputAt(component) + tile * words + panel.group * (whole * blockStride); // a group has whole blocks
  Ix wt = panel.block * (lanes * all * s.components()) + component * (all * width) + first * lanes;
  Vectors acc(tiles * vectors, w.constant(0, w.vectorOf(word, lanes)));
  acc = w.loop(0, whole, 1, acc, [&](Ix block, ValueRange a) {
    return channels(panel, in + block * blockStride, wt + block * (words * width), words, vectors, tiles, a, ahead);
  });
  if (rest) {
    acc = channels(panel, in + whole * blockStride, wt + whole * words * width, rest, vectors, tiles, acc, ahead);
  }
  for (int64_t v = 0; v < vectors; ++v) {
    for (int64_t t = 0; t < tiles; ++t) {
      w.store(acc[t * vectors + v], scratch, productAt(component) + (tile + (first + v) * s.stripTiles() + t) * lanes);
    }
  }
}

/// Multiplies the first `count` words of a block.
Vectors Winograd::channels(const Panel &panel, Ix in, Ix wt, int64_t count, int64_t vectors, int64_t tiles,
                           ValueRange acc, Ix ahead) {
  int64_t width = panel.width(p), unrolled = std::min(unroll, count), whole = count / unrolled * unrolled;
  int64_t lines = llvm::divideCeil(unrolled * width, s.line * s.stripRegisterTiles);
  auto step = [&](Ix q, int64_t unroll, ValueRange a) {
    Vectors next(a);
    for (int64_t i = 0; i < lines; ++i) {
      w.prefetch(weights, wt + q * width + ahead + i * s.line);
    }
    for (int64_t u = 0; u < unroll; ++u) {
      Vectors row;
      for (int64_t v = 0; v < vectors; ++v) {
        row.push_back(w.load(weights, wt + (q + u) * width + v * lanes, lanes));
      }
      for (int64_t t = 0; t < tiles; ++t) {
        Value x = w.splat(w.load(scratch, in + q + (t * words + u)), lanes);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = next[t * vectors + v];
          sum = s.isOfBytes() ? ByteProducts::addPairs(w, sum, x, row[v]) : w.fma(x, row[v], sum);
        }
      }
    }
    return next;
  };
  Vectors sums = w.loop(
      0, whole, unrolled, acc, [&](Ix q, ValueRange a) { return step(q, unrolled, a); }, /*unroll=*/unrolled > 1);
  return whole == count ? sums : step(whole, count - whole, sums);
}

// Outputs

void Winograd::transformOutputs(const Strip &strip, const Panel &panel) {
  w.loop(0, panel.vectors, 1, [&](Ix v) {
    Value biases = bias ? w.load(bias, (panel.block + v) * lanes, lanes) : Value();
    eachTile(strip, [&](Ix tile, Ix y, Ix x) {
      Ix at = (v * s.stripTiles() + tile - strip.first) * lanes;
      SmallVector<Vectors> upright, sums;
      for (int64_t j = 0; j < columns.filtering.inputs(); ++j) {
        Vectors products;
        for (int64_t i = 0; i < rows.filtering.inputs(); ++i) {
          products.push_back(w.load(scratch, productAt(i * columns.filtering.inputs() + j) + at, lanes));
        }
        upright.push_back(rows.filtering.output(w, products));
      }
      for (int64_t i = 0; i < rows.filtering.outputs(); ++i) {
        auto row = llvm::map_to_vector(upright, [&](const Vectors &column) { return column[i]; });
        sums.push_back(columns.filtering.output(w, row));
        for (auto [j, sum] : llvm::enumerate(sums.back())) {
          sum = bias ? arith::AddFOp::create(w.b, w.loc, sum, biases).getResult()
                     : quotient(w, sum, rows.filtering.multiple(i) * columns.filtering.multiple(j));
        }
      }
      store(sums, strip.image, panel.block + v, y, x);
    });
  });
}

/// Runs `body` on those outputs of a tile that the tile before does not store. The last tiles begin earlier where the
/// image ends, and leave out the first `old` outputs from there on.
void Winograd::eachPart(const WinogradSchedule::Tiles &tiles, Ix tile,
                        llvm::function_ref<void(int64_t from, int64_t to)> body) {
  int64_t all = tiles.old / tiles.step, some = tiles.old % tiles.step, always = all + (some ? 1 : 0);
  auto isBefore = [&] {
    return w.compare(arith::CmpIPredicate::ne, floorDiv(tile, tiles.step), tiles.count.number() / tiles.step - 1);
  };
  body(always, tiles.filtering.outputs());
  if (some) {
    Value isNew = w.compare(arith::CmpIPredicate::sge, remainder(tile, tiles.step), some);
    w.ifThen(arith::OrIOp::create(w.b, w.loc, isBefore(), isNew), [&] { body(all, always); });
  }
  if (all) {
    w.ifThen(isBefore(), [&] { body(0, all); });
  }
}

/// Returns the outputs of a tile that no tile before it stores, as [first, last), where only the run knows the size.
Winograd::Range Winograd::newOutputs(const WinogradSchedule::Tiles &tiles, Ix tile) const {
  if (!tiles.isOpen() && !tiles.old) {
    return {0, tiles.filtering.outputs()};
  }
  auto upTo = [&](Ix output) { // returns how many outputs of the tile are before `output`
    return floorDiv(max(output - origin(tiles, tile), 0) + (tiles.step - 1), tiles.step);
  };
  return {upTo(floorDiv(tile, tiles.step) * tiles.reach()), min(upTo(tiles.outputs), tiles.filtering.outputs())};
}

void Winograd::store(ArrayRef<Vectors> sums, Ix image, Ix block, Ix ty, Ix tx) {
  Ix y0 = origin(rows, ty), x0 = origin(columns, tx);
  auto pointAt = [&](Ix y, Ix x) {
    Point point;
    point.at.assign(space.sizes.size(), 0);
    point.at[0] = image, point.at[1] = block, point.lanes = lanes;
    std::array<Ix, 2> at{y0 + y * rows.step, x0 + x * columns.step};
    for (size_t i : {0, 1}) {
      if (axis(i + 1).dim >= 0) {
        point.at[axis(i + 1).dim] = at[i];
      }
    }
    return point;
  };
  if (s.isOpen()) {
    Range down = newOutputs(rows, ty), across = newOutputs(columns, tx);
    int64_t high = rows.filtering.outputs(), wide = columns.filtering.outputs();
    Ix count = (down.second - down.first) * (across.second - across.first);
    Vectors all;
    for (const Vectors &row : sums) {
      llvm::append_range(all, row);
    }
    return w.ifElse(
        w.compare(arith::CmpIPredicate::eq, count, high * wide),
        [&] { build.group.finishTile(all, wide, space, pointAt); },
        [&] { build.group.finishPart(all, wide, down, across, space, pointAt); });
  }
  eachPart(rows, ty, [&](int64_t fromRow, int64_t toRow) {
    eachPart(columns, tx, [&](int64_t fromColumn, int64_t toColumn) {
      Vectors part;
      for (const Vectors &row : sums.slice(fromRow, toRow - fromRow)) {
        llvm::append_range(part, ArrayRef(row).slice(fromColumn, toColumn - fromColumn));
      }
      int64_t width = toColumn - fromColumn;
      build.group.finishTile(part, 1, space, [&](Ix i, int64_t) {
        return pointAt(fromRow + floorDiv(i, width), fromColumn + remainder(i, width));
      });
    });
  });
}

} // namespace

void buildWinograd(Build &build, const WinogradSchedule &schedule) { Winograd(build, schedule).run(); }

} // namespace ingot::lower
