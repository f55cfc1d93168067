// Convolution between row-major tensors of few channels, with constant weights: the lanes are neighbouring outputs of a
// row, since blocks of channels would be mostly empty, in memory as well as in registers.
//
// A work item is one row of outputs, of all channels. A register tile is a few vectors along the row for each output
// channel; a tap of an input channel is so many vectors of the input, each multiplied by one weight for each output
// channel. Taps whose row reads padding are left out. What a tile at an end of the row reads is first copied, with
// zeros for what is beside the row. The last tile ends where the row does, and computes again what the one before has.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// The share of a block's lanes, of those that a row fills, up to which rows are better: vectors of a row begin
/// anywhere in cache lines, and blocks may have their 3x3 by Winograd's algorithm.
constexpr double blocksFilled = 0.7;
/// Vectors that a row has at least, and elements from the first tap's to the last tap's at most: of a tile a copy is on
/// the stack.
constexpr int64_t leastVectors = 2, longestReach = 64;

int64_t reachOf(const ConvAxis &row) { return (row.taps - 1) * row.tapStep; }

/// Returns why rows do not fill the lanes of a Conv better than its channels do; empty: they do.
std::string whyNotFewChannels(Operation *op, const target::MachineModel &machine) {
  if (std::string why = whyOtherLanes(op, machine); !why.empty()) {
    return why;
  }
  int64_t lanes = machine.blockLanes();
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  const ConvAxis &row = g.subConvs[0].axes[2];
  if (row.inStep != 1) {
    return "rows have a stride";
  }
  if (row.out.number() < leastVectors * lanes || reachOf(row) > longestReach) {
    return reachOf(row) > longestReach ? "taps of a row are too far apart" : "a row is shorter than two vectors";
  }
  auto out = static_cast<double>(row.out.number()), whole = static_cast<double>(llvm::alignTo(row.out.number(), lanes));
  double most = blocksFilled * static_cast<double>(lanes) * out / whole;
  bool areFew = static_cast<double>(std::max(g.inChannels, g.outChannels)) <= most;
  return areFew ? "" : "channels fill a block better than a row does";
}

/// Estimates two vectors of products a cycle, with whatever is read in the first cache.
double cyclesOf(Operation *root, const target::MachineModel &machine) {
  ConvGeometry g = geometryOf(root, /*maySwapAxes=*/false);
  int64_t vectors = g.subConvs[0].rows().number() *
                    static_cast<int64_t>(llvm::divideCeil(g.subConvs[0].axes[2].out.number(), machine.blockLanes()));
  return 0.5 * static_cast<double>(vectors * g.inChannels * g.outChannels * g.kernel);
}

class FewChannelsConv {
public:
  FewChannelsConv(Build &build)
      : build(build), w(build.w), g(geometryOf(build.group.root, /*maySwapAxes=*/false)), axes(g.subConvs[0].axes),
        lanes(w.machine.lanes), space(build.group.space(build.group.resultType())) {
    Operation *root = build.group.root;
    x = build.group.buffer(root->getOperand(0)), weights = build.group.buffer(root->getOperand(1));
    bias = onnx::present(root->getOperand(2)) ? build.group.buffer(root->getOperand(2)) : Buffer();
    strides = plan::stridesOf(Group::typeOf(root->getOperand(0)));
    for (size_t i : {0, 1, 2}) {
      if (axes[i].dim >= 0) {
        axes[i].image = g.spatial[axes[i].dim - 2].number();
      }
    }
    vectors = vectorsOf();
    segments = w.local(w.b.getF32Type(), g.inChannels * segmentLength());
  }

  void row(Ix item);

private:
  using Vectors = SmallVector<Value>;
  /// The place of a tile.
  struct Tile {
    Ix image, slice, row, column;
    bool isEdge; ///< whether it reads beside the row
  };

  Build &build;
  Writer &w;
  ConvGeometry g;
  std::array<ConvAxis, 3> axes;
  int64_t lanes, vectors;
  Space space;
  Buffer x, weights, bias;
  Buffer segments; ///< what a tile at an end of the row reads of each channel
  plan::Strides strides;

  int64_t vectorsOf() const;
  int64_t tileLength() const { return vectors * lanes; }
  int64_t segmentLength() const { return llvm::alignTo(tileLength() + reachOf(axes[2]), lanes); }
  void tile(const Tile &t);
  Ix rowAt(const Tile &t, Ix slice, Ix row) const;
  void copySegments(const Tile &t, Ix from);
  Vectors channels(Buffer input, Ix at, Ix nextChannel, Ix weight, ValueRange sums);
};

/// Returns as many vectors as the registers have room for beside the weight and a vector of the input each, but not so
/// many that tiles compute more twice than with fewer.
int64_t FewChannelsConv::vectorsOf() const {
  int64_t row = axes[2].out.number(), best = 1;
  int64_t most =
      std::clamp<int64_t>((w.machine.registers - 1) / (g.outChannels + 1), 1, std::min<int64_t>(8, row / lanes));
  for (int64_t n = 2; n <= most; ++n) {
    best = llvm::alignTo(row, n * lanes) <= llvm::alignTo(row, best * lanes) ? n : best;
  }
  return best;
}

void FewChannelsConv::row(Ix item) {
  Ix high = axes[1].out, slices = axes[0].out;
  Tile t{floorDiv(item, high * slices), remainder(floorDiv(item, high), slices), remainder(item, high), 0, false};
  auto tiles = [&](int64_t from, int64_t to, int64_t step, bool isEdge) {
    w.loop(from, to, step, [&](Ix column) {
      t.column = column, t.isEdge = isEdge;
      tile(t);
    });
  };
  int64_t out = axes[2].out.number(), step = tileLength(), whole = out / step * step;
  // Columns from which on, and before which, tiles read nothing beside the row.
  int64_t before = std::max<int64_t>(0, -axes[2].inStart), behind = axes[2].image - reachOf(axes[2]) - axes[2].inStart;
  int64_t first = std::min<int64_t>(llvm::alignTo(before, step), whole);
  int64_t last = std::clamp<int64_t>(behind / step * step, first, whole);
  tiles(0, first, step, true);
  tiles(first, last, step, false);
  tiles(last, whole, step, true);
  if (whole < out) {
    tiles(out - step, out, step, out - step < before || out > behind);
  }
}

void FewChannelsConv::tile(const Tile &t) {
  Vectors sums;
  for (int64_t o = 0; o < g.outChannels; ++o) {
    Value start = w.splat(bias ? w.load(bias, o) : w.constant(0, w.b.getF32Type()), lanes);
    sums.append(vectors, start);
  }
  if (t.isEdge) {
    fillZeros(w, segments, 0, g.inChannels * segmentLength());
  }
  auto [firstSlice, lastSlice] = axes[0].tapsOf(t.slice);
  sums = w.loop(firstSlice, lastSlice, 1, sums, [&](Ix slice, ValueRange a) {
    auto [firstRow, lastRow] = axes[1].tapsOf(t.row);
    return w.loop(firstRow, lastRow, 1, a, [&](Ix row, ValueRange b) {
      Ix from = rowAt(t, slice, row) + (t.column + axes[2].inStart);
      if (t.isEdge) {
        copySegments(t, from);
      }
      Ix weight = (slice * axes[1].taps + row) * (axes[2].taps * g.inChannels * g.outChannels);
      return w.loop(0, axes[2].taps, 1, b, [&](Ix tap, ValueRange c) {
        Ix at = tap * axes[2].tapStep, of = weight + tap * (g.inChannels * g.outChannels);
        return t.isEdge ? channels(segments, at, segmentLength(), of, c)
                        : channels(x, from + at, strides.strides[1], of, c);
      });
    });
  });
  build.group.finishTile(sums, vectors, space, [&](Ix channel, int64_t v) {
    Point point;
    point.at = {t.image, channel}, point.lanes = lanes;
    for (auto [i, at] : {std::pair<size_t, Ix>(0, t.slice), {1, t.row}, {2, t.column + v * lanes}}) {
      if (axes[i].dim >= 0) {
        point.at.push_back(at);
      }
    }
    return point;
  });
}

/// Returns the place of the first column of the row that a tap reads, in the first channel.
Ix FewChannelsConv::rowAt(const Tile &t, Ix slice, Ix row) const {
  Ix at = strides.offset + t.image * strides.strides[0];
  for (auto [i, out, tap] : {std::tuple<size_t, Ix, Ix>(0, t.slice, slice), {1, t.row, row}}) {
    if (axes[i].dim >= 0) {
      at += (out * axes[i].inStep + axes[i].inStart + tap * axes[i].tapStep) * strides.strides[axes[i].dim];
    }
  }
  return at;
}

/// Copies what there is of the row that a tile reads, of each channel, between the zeros of `pieces`.
void FewChannelsConv::copySegments(const Tile &t, Ix from) {
  Ix begin = t.column + axes[2].inStart, left = max(Ix(0) - begin, 0);
  Ix count = max(min(axes[2].image - begin, tileLength() + reachOf(axes[2])) - left, 0);
  w.loop(0, g.inChannels, 1, [&](Ix c) {
    copyElements(w, x, from + c * Ix(strides.strides[1]) + left, segments, c * segmentLength() + left, count);
  });
}

/// Adds what one tap of all input channels gives.
SmallVector<Value> FewChannelsConv::channels(Buffer input, Ix at, Ix nextChannel, Ix weight, ValueRange sums) {
  Vectors next(sums);
  for (int64_t c = 0; c < g.inChannels; ++c) {
    Vectors row;
    for (int64_t v = 0; v < vectors; ++v) {
      row.push_back(w.load(input, at + c * nextChannel + v * lanes, lanes));
    }
    for (int64_t o = 0; o < g.outChannels; ++o) {
      Value factor = w.splat(w.load(weights, weight + (c * g.outChannels + o)), lanes);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[o * vectors + v];
        sum = w.fma(factor, row[v], sum);
      }
    }
  }
  return next;
}

/// Packs weights for each tap and each input channel: those of all output channels.
plan::WeightTable::Recipe weightsByTap(const ConvGeometry &g) {
  auto pack = [g](ArrayRef<char> from, MutableArrayRef<char> to) {
    auto *source = reinterpret_cast<const float *>(from.data());
    auto *next = reinterpret_cast<float *>(to.data());
    for (int64_t tap : g.subConvs[0].taps) {
      for (int64_t c = 0; c < g.inChannels; ++c) {
        for (int64_t o = 0; o < g.outChannels; ++o) {
          *next++ = source[g.weightAt(o, c, tap)];
        }
      }
    }
  };
  std::string key = "conv by taps " + std::to_string(g.outChannels) + '/' + std::to_string(g.inChannels);
  return {key, 4 * g.kernel * g.inChannels * g.outChannels, pack};
}

class FewChannelsAlgorithm : public Algorithm {
public:
  FewChannelsAlgorithm() : Algorithm("few channels", /*rank=*/6) {}

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp>(); }

  std::optional<LayoutRule> layoutRule(Operation *root, const target::MachineModel &machine) const override {
    return whyNotFewChannels(root, machine).empty() ? std::optional(LayoutRule::RowMajor) : std::nullopt;
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (std::string why = whyNotFewChannels(kernel.root(), machine); !why.empty()) {
      return why;
    }
    if (isFromBlocks(kernel) || isToBlocks(kernel)) {
      return "its images are not row-major";
    }
    return Candidate{name, cyclesOf(kernel.root(), machine), {}, /*isWanted=*/false, [=] { return shapeOf(kernel); }};
  }

private:
  static KernelShape shapeOf(plan::KernelOp kernel) {
    ConvGeometry g = geometryOf(kernel.root(), /*maySwapAxes=*/false);
    KernelShape shape;
    shape.items = g.batch * g.subConvs[0].rows();
    shape.packed[operandNumber(kernel.root()->getOperand(1))] = weightsByTap(g);
    shape.build = [](Build &build) {
      FewChannelsConv conv(build);
      build.w.loop(build.begin, build.end, 1, [&](Ix item) { conv.row(item); });
    };
    return shape;
  }
};

} // namespace

std::unique_ptr<Algorithm> createFewChannelsConvAlgorithm() { return std::make_unique<FewChannelsAlgorithm>(); }

} // namespace ingot::lower
