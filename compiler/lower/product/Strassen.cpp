#include "compiler/lower/product/Strassen.h"
#include "compiler/lower/core/CacheLines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

using Tiling = MatMulTiling;

// These make the schedule.

/// Cuts the rows of a block into tiles of one height, of at most `most`.
static void cutTiles(Strassen &s, int64_t most) {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t height = most; height >= std::max<int64_t>(1, most / 2); --height) {
    int64_t tiles = llvm::divideCeil(s.rows, height);
    double cycles = static_cast<double>(tiles) * registerStepCycles(height, s.tiling.vectors);
    if (cycles < least) {
      least = cycles, s.height = height, s.tiles = tiles;
    }
  }
}

static double number(int64_t n) { return static_cast<double>(n); }

/// Estimates the cycles of one thread on a core that does two multiply-adds a cycle. All but the products reads and
/// writes the second cache, a line of sixteen floats in a cycle.
static double cyclesOf(const Strassen &s) {
  constexpr double restart = 1.5; // cycles of a sum that is stored before the next product begins
  double columns = number(s.pairs * s.tiling.vectors), line = number(s.tiling.lanes) / 16, lines = columns * line;
  double tiles = number(s.blocks * s.tiles), half = number(s.depth * s.depths), sums = tiles * number(s.height);
  double products = 7 * tiles * half * number(s.pairs) * registerStepCycles(s.height, s.tiling.vectors);
  double restarts = 7 * sums * lines * number(s.depths) * restart;
  double rights = number(s.blocks) * half * lines * (s.makesDifferences ? 12 : 8);
  double lefts = number(s.blocks * s.paddedRows()) * half / 16 * 9;
  double finish = sums * lines * (s.depths > 1 ? 8 * number(s.depths) + 8 : 10);
  return products + restarts + rights + lefts + finish;
}

/// Estimates the cycles that reading A and writing the result take where these are larger than the second cache: half a
/// line in a cycle.
static double memoryCycles(const MatMulProblem &p, const target::MachineModel &machine) {
  double cycles = 0;
  for (int64_t columns : {p.k.number(), p.n.number()}) {
    int64_t bytes = p.m.number() * columns * p.elementBytes;
    cycles += bytes > machine.l2Bytes ? number(bytes) / 32 : 0;
  }
  return cycles;
}

/// Returns the bytes that should stay in the second cache for a block of rows and a pair of panels: those of all
/// factors, and of the panels of the next pair.
static int64_t heldBytes(const Strassen &s, const MatMulProblem &p) {
  int64_t panels = 8 * s.depth * s.tiling.width;
  return (s.factorElements() + panels) * p.elementBytes;
}

/// Cuts the rows and the depth into the blocks that take the fewest cycles. Where no blocks fit the second cache, `s`
/// stays without any.
static void cutBlocks(Strassen &s, const MatMulProblem &p, const target::MachineModel &machine) {
  const int64_t line = machine.lineBytes / p.elementBytes, halfK = p.k.number() / 2, unroll = machine.tuning.unroll;
  const int64_t tallest = (machine.tileRegisters() - 2 - s.tiling.vectors) / s.tiling.vectors;
  double least = std::numeric_limits<double>::infinity();
  Strassen cut = s;
  auto weigh = [&] {
    double cycles = cyclesOf(cut);
    if (cycles < least && heldBytes(cut, p) <= machine.l2Bytes * 3 / 4) {
      least = cycles, s = cut;
    }
  };
  for (cut.depths = 1; cut.depths * unroll <= halfK; ++cut.depths) {
    cut.depth = halfK / cut.depths, cut.leftStride = oddLines(cut.depth, line);
    if (halfK % cut.depths || cut.depth % unroll) {
      continue;
    }
    // More blocks of as many rows each would only take longer, so the next number to try is the least whose blocks have
    // fewer rows.
    for (cut.blocks = 1; cut.blocks * tallest < cut.half + tallest;
         cut.blocks = cut.rows > 1 ? static_cast<int64_t>(llvm::divideCeil(cut.half, cut.rows - 1)) : cut.half + 1) {
      cut.rows = llvm::divideCeil(cut.half, cut.blocks);
      cut.makesDifferences = true, cutTiles(cut, tallest), weigh();
      // A tile that makes differences itself needs registers for them. With few rows it would wait for their loads.
      cut.makesDifferences = false, cutTiles(cut, tallest - 2);
      if (cut.height >= 8) {
        weigh();
      }
    }
  }
}

/// Scratch memory may be so many times as large as the weights.
static constexpr int64_t scratchShare = 4;

/// Chooses work items: there are enough for several threads to end at the same time, but with not too much scratch
/// memory. A thread that runs neighbouring ones makes their left factors once.
static void cutItems(Strassen &s, const MatMulProblem &p, const target::MachineModel &machine) {
  constexpr int64_t leastWork = int64_t(1) << 22;
  int64_t most = std::min({machine.tuning.heavyItems, s.multiplyAdds() / leastWork,
                           scratchShare * p.k.number() * p.n.number() / (s.itemElements() + s.groupElements() / 2)});
  most = std::max<int64_t>(1, most);
  s.blocksPerGroup = static_cast<int64_t>(llvm::divideCeil(s.blocks, std::min(most, s.blocks)));
  s.groups = static_cast<int64_t>(llvm::divideCeil(s.blocks, s.blocksPerGroup));
  s.pairsPerShare = static_cast<int64_t>(llvm::divideCeil(s.pairs, llvm::divideCeil(most, s.groups)));
  s.shares = static_cast<int64_t>(llvm::divideCeil(s.pairs, s.pairsPerShare));
}

std::optional<Strassen> strassenOf(const MatMulProblem &p, const target::MachineModel &machine) {
  bool isPlain = !p.isInteger() && !p.isBf16() && p.element.isF32() && p.weightBytes == p.elementBytes;
  bool isOne = p.batch.is(1) && p.matricesB.is(1) && p.stepA.is(1) && p.constantB;
  if (!isPlain || !isOne || !p.m.isNumber() || p.m.number() < 2 || p.n.number() <= machine.lanes || p.k.number() % 2 ||
      machine.lanes < 4 || !machine.fusedMultiplyAdd || !machine.vectorTypes) {
    return std::nullopt;
  }
  MatMulProblem candidate = p;
  candidate.requested = {{"vectors", 2}};
  Strassen s;
  s.tiling = matmulTiling(candidate, machine);
  s.tiling.panels = s.tiling.panels.number() + s.tiling.panels.number() % 2;
  s.half = static_cast<int64_t>(llvm::divideCeil(p.m.number(), 2));
  s.pairs = s.tiling.panels.number() / 2;
  cutBlocks(s, p, machine);
  if (!s.depths || s.tiling.from != Tiling::From::Packed || s.tiling.dots) {
    return std::nullopt;
  }
  cutItems(s, p, machine);
  s.cycles = cyclesOf(s) + memoryCycles(p, machine);
  return s;
}

bool Strassen::isHarmless(const MatMulProblem &p) const {
  constexpr int64_t enoughItems = 8;
  return items() >= enoughItems && scratchElements() <= scratchShare * p.k.number() * p.n.number();
}

KernelShape strassenShape(plan::KernelOp kernel, const MatMulProblem &p, const Strassen &s,
                          const target::MachineModel &machine) {
  KernelShape shape;
  shape.items = s.items();
  shape.scratchBytes = s.scratchElements() * p.elementBytes;
  shape.multiplyAdds = s.multiplyAdds();
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = packedPanels(p, s.tiling, machine);
  shape.build = [p, s](Build &build) { buildStrassen(build, p, s); };
  return shape;
}

// These write the loops.

namespace {

class Product {
public:
  Product(Build &build, const MatMulProblem &p, const Strassen &s)
      : build(build), w(build.w), group(build.group), p(p), s(s), t(s.tiling), space(group.space(group.resultType())),
        a(group.buffer(group.root->getOperand(0))), b(group.buffer(group.root->getOperand(1))) {
    shapeSpace(space, p);
    vector = w.vectorOf(p.element, t.lanes);
  }

  void run() {
    Ix shares = s.shares;
    w.loop(floorDiv(build.begin, shares), floorDiv(build.end + (shares - 1), shares), 1, [&](Ix g) {
      Ix first = max(build.begin, g * shares), last = min(build.end, (g + 1) * shares);
      takeScratch(first, g);
      Ix from = (first - g * shares) * s.pairsPerShare, to = min((last - g * shares) * s.pairsPerShare, s.pairs);
      w.loop(g * s.blocksPerGroup, min((g + 1) * s.blocksPerGroup, s.blocks), 1,
             [&](Ix block) { rows(min(block * s.rows, s.half - s.rows), from, to); });
    });
  }

private:
  enum Left { A11, A12, S4, A22, S1, S2, S3 };
  enum Right { T2, T4, T1, T3 };
  /// What a tile keeps in memory from one chain to the next.
  enum Kept { P1, U2, U3 = P1 };

  Build &build;
  Writer &w;
  Group &group;
  const MatMulProblem &p;
  const Strassen &s;
  const Tiling &t;
  Space space;
  Buffer a, b;
  Type vector;
  Buffer lefts, rights, kept, sums;

  void takeScratch(Ix item, Ix g) {
    Ix at = item * (s.itemElements() * p.elementBytes);
    auto take = [&](int64_t elements) {
      Buffer taken = w.scratch(build.scratch, at, p.element, elements);
      at = at + elements * p.elementBytes;
      return taken;
    };
    lefts = take(7 * s.leftElements()), rights = take(s.factorElements() - 7 * s.leftElements());
    kept = take(2 * s.keptElements());
    if (s.depths > 1) {
      at = (s.items() * s.itemElements() + g * s.groupElements()) * p.elementBytes;
    }
    sums = take(s.depths > 1 ? s.groupElements() : s.sumElements());
  }

  /// Returns where row k of a panel begins: of the depth's first half, or of its second one.
  Ix panelAt(Ix panel, Ix k) const {
    Ix base = panel * Ix(t.panelElements(p));
    if (t.cutsStrips()) {
      Ix parts = t.strip / t.width;
      base = floorDiv(panel, parts) * Ix(t.stripElements(p)) + remainder(panel, parts) * t.width;
    }
    return base + k * t.strip;
  }
  /// Returns how far a vector of the panel is from the beginning of its row.
  Ix vectorAt(int64_t v) const {
    int64_t column = v * t.lanes;
    return Ix(column / t.strip) * Ix(t.stripElements(p)) + column % t.strip;
  }

  struct Panels {
    Ix at[2][2]; ///< by half of k, and column
  };
  Panels panelsOf(Ix pair, Ix d) const {
    Panels panels;
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t column = 0; column < 2; ++column) {
        panels.at[half][column] = w.hidden(panelAt(pair * 2 + column, d * s.depth + half * (p.k.number() / 2)));
      }
    }
    return panels;
  }

  void rows(Ix row, Ix from, Ix to) {
    w.loop(0, s.depths, 1, [&](Ix d) {
      makeLefts(row, d * s.depth);
      w.loop(from, to, 1, [&](Ix pair) {
        Panels panels = panelsOf(pair, d);
        makeRights(panels);
        if (s.depths > 1) {
          w.ifThen(w.compare(arith::CmpIPredicate::eq, d, 0), [&] { clear(pair); });
        }
        Value isLast = w.compare(arith::CmpIPredicate::eq, pair + 1, to);
        Ix nextPair = select(isLast, from, pair + 1), nextDepth = select(isLast, min(d + 1, s.depths - 1), d);
        Panels next = panelsOf(nextPair, nextDepth);
        w.loop(0, s.tiles, 1, [&](Ix i) {
          tile(panels, next, pair, i);
          // The epilogue follows at once, so that its stores to memory overlap with the products of the next tile.
          w.ifThen(w.compare(arith::CmpIPredicate::eq, d, s.depths - 1), [&] { finish(row, pair, i); });
        });
      });
    });
  }

  Ix select(Value condition, Ix yes, Ix no) {
    return w.ix(arith::SelectOp::create(w.b, w.loc, condition, w.value(yes), w.value(no)));
  }

  Value add(Value x, Value y) { return arith::AddFOp::create(w.b, w.loc, x, y); }
  Value subtract(Value x, Value y) { return arith::SubFOp::create(w.b, w.loc, x, y); }

  /// Makes the left factors of a block of rows. The last tile is filled up with copies of the block's last row.
  void makeLefts(Ix row, Ix k) {
    w.loop(0, s.paddedRows(), 1, [&](Ix i) {
      Ix upper = row + min(i, s.rows - 1), lower = upper + (p.m.number() - s.half);
      Ix half = p.k.number() / 2, atUpper = w.hidden(upper * Ix(p.rowA) + k), atLower = lower * Ix(p.rowA) + k;
      atLower = w.hidden(atLower);
      w.lanes(s.depth, [&](Ix start, int64_t lanes, Value mask) {
        auto read = [&](Ix at) { return w.load(a, at + start, lanes, mask); };
        auto write = [&](Left which, Value v) {
          w.store(v, lefts, which * s.leftElements() + i * s.leftStride + start, mask);
        };
        Value a11 = read(atUpper), a12 = read(atUpper + half), a21 = read(atLower), a22 = read(atLower + half);
        Value s1 = add(a21, a22), s2 = subtract(s1, a11);
        write(A11, a11), write(A12, a12), write(A22, a22), write(S1, s1), write(S2, s2);
        write(S3, subtract(a11, a21)), write(S4, subtract(a12, s2));
      });
    });
  }

  void makeRights(const Panels &panels) {
    w.loop(0, s.depth, 1, [&](Ix k) {
      for (int64_t v = 0; v < t.vectors; ++v) {
        auto read = [&](int64_t half, int64_t column) {
          return w.load(b, panels.at[half][column] + k * t.strip + vectorAt(v), t.lanes);
        };
        auto write = [&](Right which, Value x) {
          w.store(x, rights, which * s.rightElements() + k * t.width + v * t.lanes);
        };
        Value b12 = read(0, 1), b22 = read(1, 1), t1 = subtract(b12, read(0, 0)), t2 = subtract(b22, t1);
        write(T2, t2), write(T4, subtract(read(1, 0), t2));
        if (s.makesDifferences) {
          write(T1, t1), write(T3, subtract(b22, b12));
        }
      }
    });
  }

  /// Returns where the sums of a tile begin, in the scratch memory of one half of the rows.
  Ix sumsAt(Ix pair, Ix tile, Ix half) const {
    Ix at = half * (s.height * s.sumStride());
    return s.depths > 1 ? at + (pair * s.tiles + tile) * s.sumElements() : at;
  }

  void clear(Ix pair) {
    Value zero = w.constant(0, vector);
    w.loop(0, s.tiles * s.sumElements(), t.lanes, [&](Ix i) { w.store(zero, sums, sumsAt(pair, 0, 0) + i); });
  }

  /// The right factor of a product: a panel, the difference of two panels, or a matrix that makeRights() has stored.
  struct Factor {
    Buffer buffer;
    Ix at, step;
    bool isPanel;
    std::optional<Ix> less = {}; ///< another panel, to be subtracted
  };
  Factor panel(Ix at, std::optional<Ix> less = {}) const { return {b, at, t.strip, true, less}; }
  /// Returns the difference of two panels: stored by makeRights(), or computed by each product that reads it.
  Factor difference(Right which, Ix of, Ix less) const { return s.makesDifferences ? made(which) : panel(of, less); }
  Factor made(Right which) const { return {rights, which * s.rightElements(), t.width, false}; }

  void tile(const Panels &panels, const Panels &next, Ix pair, Ix i) {
    auto times = [&](SmallVector<Value> sum, Left left, const Factor &right, std::optional<Ix> fetch = {}) {
      return multiply(std::move(sum), left * s.leftElements() + i * (s.height * s.leftStride), right, fetch, i);
    };
    auto addTo = [&](int64_t half, int64_t column, ArrayRef<Value> x) {
      Ix at = w.hidden(sumsAt(pair, i, half) + column * t.width);
      each([&](int64_t index, int64_t row, int64_t v) {
        Ix element = at + (row * s.sumStride() + v * t.lanes);
        w.store(s.depths > 1 ? add(w.load(sums, element, t.lanes), x[index]) : x[index], sums, element);
      });
    };
    SmallVector<Value> zeros(s.height * t.vectors, w.constant(0, vector));
    SmallVector<Value> x = times(zeros, A11, panel(panels.at[0][0]), next.at[0][0]);
    keep(P1, x);
    addTo(0, 0, times(x, A12, panel(panels.at[1][0]), next.at[0][1]));
    x = times(plus({}, P1), S2, made(T2), next.at[1][0]);
    keep(U2, x);
    x = times(x, S3, difference(T3, panels.at[1][1], panels.at[0][1]), next.at[1][1]);
    keep(U3, x);
    addTo(1, 0, times(x, A22, made(T4)));
    x = times(zeros, S1, difference(T1, panels.at[0][1], panels.at[0][0]));
    addTo(1, 1, plus(x, U3));
    addTo(0, 1, times(plus(x, U2), S4, panel(panels.at[1][1])));
  }

  void each(llvm::function_ref<void(int64_t index, int64_t row, int64_t v)> body) const {
    for (int64_t index = 0; index < s.height * t.vectors; ++index) {
      body(index, index / t.vectors, index % t.vectors);
    }
  }
  void keep(Kept which, ArrayRef<Value> x) {
    each([&](int64_t index, int64_t, int64_t) { w.store(x[index], kept, which * s.keptElements() + index * t.lanes); });
  }
  /// Returns what a tile has kept, plus `x` unless that is empty.
  SmallVector<Value> plus(ArrayRef<Value> x, Kept which) {
    SmallVector<Value> all;
    each([&](int64_t index, int64_t, int64_t) {
      Value own = w.load(kept, which * s.keptElements() + index * t.lanes, t.lanes);
      all.push_back(x.empty() ? own : add(own, x[index]));
    });
    return all;
  }

  SmallVector<Value> multiply(SmallVector<Value> sum, Ix left, const Factor &right, std::optional<Ix> fetch, Ix tile) {
    const int64_t unroll = w.machine.tuning.unroll, iterations = s.depth / unroll, line = w.machine.lineBytes / 4;
    left = w.hidden(left);
    // All tiles together fetch the next pair's panels.
    int64_t lines = llvm::divideCeil(s.depth * t.width, line), ahead = llvm::divideCeil(lines, iterations * s.tiles);
    return w.loop(0, s.depth, unroll, sum, [&](Ix k, ValueRange carried) {
      SmallVector<Value> x(carried);
      for (int64_t i = 0; fetch && i < ahead; ++i) {
        w.prefetch(b, *fetch + (tile * s.depth + k) * (ahead * line / unroll) + i * line);
      }
      for (int64_t u = 0; u < unroll; ++u) {
        step(x, left + k + u, right, k + u);
      }
      return x;
    });
  }

  void step(MutableArrayRef<Value> sum, Ix left, const Factor &right, Ix k) {
    SmallVector<Value> vectors;
    for (int64_t v = 0; v < t.vectors; ++v) {
      Ix offset = k * right.step + (right.isPanel ? vectorAt(v) : Ix(v * t.lanes));
      vectors.push_back(w.load(right.buffer, right.at + offset, t.lanes));
      if (right.less) {
        vectors.back() = subtract(vectors.back(), w.load(right.buffer, *right.less + offset, t.lanes));
      }
    }
    for (int64_t row = 0; row < s.height; ++row) {
      Value broadcast = w.splat(w.load(lefts, left + row * s.leftStride), t.lanes);
      for (int64_t v = 0; v < t.vectors; ++v) {
        Value &x = sum[row * t.vectors + v];
        x = w.fma(broadcast, vectors[v], x);
      }
    }
  }

  /// Writes the epilogue of a tile.
  void finish(Ix row, Ix pair, Ix tile) {
    const int64_t most = 2 * t.vectors, lanes = t.lanes, n = p.n.number();
    int64_t last = n - (s.pairs - 1) * most * lanes, whole = last / lanes, rest = last % lanes;
    if (last == most * lanes) {
      return columns(row, pair, tile, most, 0);
    }
    w.ifElse(
        w.compare(arith::CmpIPredicate::eq, pair, s.pairs - 1), [&] { columns(row, pair, tile, whole, rest); },
        [&] { columns(row, pair, tile, most, 0); });
  }

  /// Writes `vectors` vectors of its columns and some lanes of the one behind those.
  void columns(Ix row, Ix pair, Ix tile, int64_t vectors, int64_t rest) {
    Ix column = pair * s.sumStride(), first = tile * s.height, count = min(s.rows - first, s.height);
    bool masked = rest && w.machine.maskedAccess;
    Value mask = masked ? w.maskFor(rest, t.lanes) : Value();
    int64_t all = vectors + (masked ? 1 : 0);
    w.loop(0, 2, 1, [&](Ix half) {
      Ix at = w.hidden(sumsAt(pair, tile, half)), m = half * (p.m.number() - s.half) + row + first;
      // Of an odd number of rows both halves have the middle one, rounded differently. The upper half stores it.
      Ix begin = max(half * (2 * s.half - p.m.number()) - row - first, 0);
      w.loop(begin, count, 1, [&](Ix i) {
        Ix from = at + i * s.sumStride();
        SmallVector<Value> x;
        for (int64_t v = 0; v < all; ++v) {
          x.push_back(w.load(sums, from + v * t.lanes, t.lanes));
        }
        if (all) {
          group.finishTile(x, all, space, [&](Ix, int64_t v) {
            return point(m + i, column + v * t.lanes, t.lanes, v == vectors ? mask : Value());
          });
        }
        for (int64_t c = 0; !masked && c < rest; ++c) {
          int64_t scalar = vectors * t.lanes + c;
          group.finish(w.load(sums, from + scalar), space, point(m + i, column + scalar, 1, {}));
        }
      });
    });
  }

  Point point(Ix m, Ix n, int64_t lanes, Value mask) const {
    Point at{SmallVector<Ix>(p.batchSizes.size(), 0), lanes, mask};
    at.at.push_back(m), at.at.push_back(n);
    return at;
  }
};

} // namespace

void buildStrassen(Build &build, const MatMulProblem &p, const Strassen &s) { Product(build, p, s).run(); }

} // namespace ingot::lower
