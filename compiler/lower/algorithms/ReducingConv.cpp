// Convolution from channel blocks to a few row-major channels, with constant weights: the heads of a detector, the last
// layer of a decoder. The lanes are the channels that are summed, since those of the result would be mostly empty.
//
// A work item is one row of outputs, of all channels, made of as many pixels at a time as a block has channels:
//
//   for a few of these pixels, for a block of input channels, for a tap:
//     load each pixel's vector and each output channel's vector of weights; multiply and add, lane by lane
//   for an output channel: the sum of each pixel's lanes is a lane of the result; add the bias, epilogue, store
//
// The last pixels end where the row does, and some of them are computed twice. Lanes behind the last input channel are
// masked: what is there may be anything, such as the logarithm of zero.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/BlockedConv.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/plan/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Returns how many pixels are computed together: as many as a block has lanes, or a power of two that a shorter row
/// has.
int64_t pixelsTogether(const ConvGeometry &g, int64_t lanes) {
  return std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(g.subConvs[0].axes[2].out.number()));
}
/// Returns the cycles of a row of outputs by lanes of inputs: two multiply-adds a cycle, and what the sums of lanes
/// take.
double reducingCycles(const ConvGeometry &g, int64_t lanes) {
  constexpr double sumsOfLanes = 4; // cycles for each vector, which is stored, loaded, and shuffled with others
  int64_t together = pixelsTogether(g, lanes);
  auto blocks = static_cast<double>(llvm::divideCeil(g.inChannels, lanes)),
       groups = static_cast<double>(llvm::divideCeil(g.subConvs[0].axes[2].out.number(), together));
  double ofPixels = 0.5 * static_cast<double>(together) * blocks * static_cast<double>(g.kernel);
  return static_cast<double>(g.outChannels) * groups * (ofPixels + static_cast<double>(lanes) * sumsOfLanes);
}
/// Returns the cycles of a row by lanes of outputs.
double cyclesByOutputs(const ConvGeometry &g, int64_t lanes) {
  constexpr double byWinograd = 0.4;
  const auto &axes = g.subConvs[0].axes;
  bool isWinograd =
      axes[0].dim < 0 &&
      llvm::all_of(ArrayRef(axes).drop_front(), [](const ConvAxis &a) { return a.taps == 3 && a.inStep == 1; });
  int64_t blocks = llvm::divideCeil(g.outChannels, lanes);
  double direct = 0.5 * static_cast<double>(blocks * g.inChannels * g.kernel * axes[2].out.number());
  return isWinograd ? byWinograd * direct : direct;
}

/// The gain from which on it is worth that its result is row-major.
constexpr double leastGain = 1.35;
/// The least pixels that are computed together.
constexpr int64_t leastPixels = 4;

/// Returns why output channels are not so few that lanes of inputs are faster than lanes of outputs; empty: they are.
std::string whyNotReducing(Operation *op, const target::MachineModel &machine) {
  if (std::string why = whyOtherLanes(op, machine); !why.empty()) {
    return why;
  }
  if (!skipsPadding(op).empty()) {
    return "taps that read padding are left out";
  }
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  int64_t lanes = machine.blockLanes();
  if (!plan::canBlock(onnx::ranked(op->getOperand(0))) || g.inChannels < lanes / 2) {
    return "input channels fill less than half of a block";
  }
  if (2 * g.outChannels > lanes) {
    return "output channels fill more than half of a block";
  }
  if (g.subConvs[0].axes[2].out.number() < leastPixels) {
    return "a row is shorter than four pixels";
  }
  bool isFaster = cyclesByOutputs(g, lanes) >= leastGain * reducingCycles(g, lanes);
  return isFaster ? "" : "lanes of input channels gain too little";
}

/// The pixels and output channels whose sums are in registers.
struct Tile {
  int64_t pixels = 1, channels = 1;
};

/// Returns the tile with the fewest loads, beside two multiply-adds a cycle and four cycles from one to the next of the
/// same sum.
Tile tileOf(const ConvGeometry &g, int64_t together, int64_t registers) {
  Tile best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t channels = 1; channels <= g.outChannels; ++channels) {
    for (int64_t pixels = 1; pixels <= together; pixels *= 2) {
      if (pixels * channels + channels + 1 > registers && pixels * channels > 1) {
        continue;
      }
      int64_t tiles = static_cast<int64_t>(llvm::divideCeil(g.outChannels, channels)) * (together / pixels);
      double arithmetic = 0.5 * static_cast<double>(pixels * channels),
             loads = 0.5 * static_cast<double>(pixels + channels);
      double cycles = static_cast<double>(tiles) * std::max({arithmetic, loads, 4.0});
      if (cycles <= least) {
        least = cycles, best = {pixels, channels};
      }
    }
  }
  return best;
}

class ReducingConv {
public:
  explicit ReducingConv(Build &build)
      : build(build), w(build.w), g(geometryOf(build.group.root, /*maySwapAxes=*/false)), axes(g.subConvs[0].axes),
        lanes(w.machine.blockLanes()), together(pixelsTogether(g, lanes)),
        tile(tileOf(g, together, w.machine.registersOf(lanes))), input(blockedInput(build, g)),
        space(build.group.space(build.group.resultType())) {
    Operation *root = build.group.root;
    weights = build.group.buffer(root->getOperand(1));
    bias = onnx::present(root->getOperand(2)) ? build.group.buffer(root->getOperand(2)) : Buffer();
    products = w.local(w.b.getF32Type(), tile.channels * together * lanes);
  }

  void row(Ix item) {
    Ix high = axes[1].out, slices = axes[0].out, slice = remainder(floorDiv(item, high), slices);
    Ix image = floorDiv(item, high * slices), line = remainder(item, high);
    int64_t out = axes[2].out.number();
    w.loop(0, static_cast<int64_t>(llvm::divideCeil(out, together)), 1, [&](Ix i) {
      Place at{image, slice, line, min(i * together, out - together)};
      for (int64_t channel = 0; channel < g.outChannels; channel += tile.channels) {
        pixels(at, channel, std::min(tile.channels, g.outChannels - channel));
      }
    });
  }

private:
  using Vectors = SmallVector<Value>;
  /// The place of the first one of some pixels.
  struct Place {
    Ix image, slice, row, column;
  };

  Build &build;
  Writer &w;
  ConvGeometry g;
  std::array<ConvAxis, 3> axes;
  int64_t lanes, together; ///< together: pixels
  Tile tile;
  Access input;
  Space space;
  Buffer weights, bias;
  Buffer products; ///< products for each channel and pixel, lane by lane

  const Ix &stride(size_t axis) const { return input.strides[2 + axis]; }

  /// Writes the pixels from a place on, of `count` channels from `first` on.
  void pixels(const Place &at, int64_t first, int64_t count) {
    w.loop(0, together, tile.pixels, [&](Ix pixel) {
      Vectors sums = sumsOfTaps(at, pixel, first, count);
      for (int64_t c = 0; c < count; ++c) {
        for (int64_t i = 0; i < tile.pixels; ++i) {
          w.store(sums[c * tile.pixels + i], products, (pixel + Ix(c * together + i)) * lanes);
        }
      }
    });
    for (int64_t c = 0; c < count; ++c) {
      Vectors rows(lanes, w.constant(0, w.vectorOf(w.b.getF32Type(), lanes)));
      for (int64_t i = 0; i < together; ++i) {
        rows[i] = w.load(products, (c * together + i) * lanes, lanes);
      }
      Value sum = acrossEach(w, Combine::Add, rows);
      if (together < lanes) {
        sum = vector::ExtractStridedSliceOp::create(w.b, w.loc, sum, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{together},
                                                    ArrayRef<int64_t>{1});
      }
      if (bias) {
        sum = arith::AddFOp::create(w.b, w.loc, sum, w.splat(w.load(bias, first + c), together));
      }
      build.group.finish(sum, space, pointOf(at, first + c));
    }
  }

  Point pointOf(const Place &at, int64_t channel) const {
    Point point;
    point.at = {at.image, channel}, point.lanes = together;
    for (auto [i, place] : {std::pair<size_t, Ix>(0, at.slice), {1, at.row}, {2, at.column}}) {
      if (axes[i].dim >= 0) {
        point.at.push_back(place);
      }
    }
    return point;
  }

  Vectors sumsOfTaps(const Place &at, Ix pixel, int64_t first, int64_t count) {
    Ix from = input.offset + at.image * input.strides[0];
    for (auto [i, place] : {std::pair<size_t, Ix>(0, at.slice), {1, at.row}, {2, at.column + pixel}}) {
      from += (place * axes[i].inStep + axes[i].inStart) * stride(i);
    }
    int64_t whole = g.inChannels / lanes, rest = g.inChannels % lanes;
    Vectors sums(tile.pixels * count, w.constant(0, w.vectorOf(w.b.getF32Type(), lanes)));
    sums = w.loop(0, whole, 1, sums, [&](Ix block, ValueRange a) {
      return taps(from + block * input.strides[1], block, {}, first, count, a);
    });
    return rest ? taps(from + whole * input.strides[1], whole, w.maskFor(rest, lanes), first, count, sums) : sums;
  }

  /// Adds all taps of a block of input channels.
  Vectors taps(Ix from, Ix block, Value mask, int64_t first, int64_t count, ValueRange sums) {
    return w.loop(0, axes[0].taps, 1, sums, [&](Ix z, ValueRange a) {
      return w.loop(0, axes[1].taps, 1, a, [&](Ix y, ValueRange b) {
        return w.loop(0, axes[2].taps, 1, b, [&](Ix x, ValueRange c) {
          Ix at = from + z * (axes[0].tapStep * stride(0)) + y * (axes[1].tapStep * stride(1)) +
                  x * (axes[2].tapStep * stride(2));
          Ix tap = ((block * axes[0].taps + z) * axes[1].taps + y) * axes[2].taps + x;
          return step(at, (tap * g.outChannels + first) * lanes, mask, count, c);
        });
      });
    });
  }

  Vectors step(Ix at, Ix weight, Value mask, int64_t count, ValueRange sums) {
    Vectors next(sums), factors;
    for (int64_t c = 0; c < count; ++c) {
      factors.push_back(w.load(weights, weight + c * lanes, lanes));
    }
    for (int64_t i = 0; i < tile.pixels; ++i) {
      Value x = w.load(input.buffer, at + i * (axes[2].inStep * stride(2)), lanes, mask);
      for (int64_t c = 0; c < count; ++c) {
        Value &sum = next[c * tile.pixels + i];
        sum = w.fma(x, factors[c], sum);
      }
    }
    return next;
  }
};

/// Packs weights for each block of input channels and each tap: for each output channel, the weights of the block's
/// channels.
plan::WeightTable::Recipe weightsByInputs(const ConvGeometry &g, int64_t lanes) {
  auto pack = [g, lanes](ArrayRef<char> from, MutableArrayRef<char> to) {
    auto *source = reinterpret_cast<const float *>(from.data());
    auto *packed = reinterpret_cast<float *>(to.data());
    for (int64_t c = 0; c < g.inChannels; ++c) {
      for (auto [i, tap] : llvm::enumerate(g.subConvs[0].taps)) {
        for (int64_t o = 0; o < g.outChannels; ++o) {
          int64_t row = (c / lanes * g.kernel + static_cast<int64_t>(i)) * g.outChannels + o;
          packed[row * lanes + c % lanes] = source[g.weightAt(o, c, tap)];
        }
      }
    }
  };
  std::string key = "conv by inputs " + std::to_string(g.outChannels) + '/' + std::to_string(g.inChannels) + " lanes " +
                    std::to_string(lanes) + " taps";
  for (int64_t tap : g.subConvs[0].taps) {
    key += ' ' + std::to_string(tap);
  }
  return {key, 4 * static_cast<int64_t>(llvm::alignTo(g.inChannels, lanes)) * g.kernel * g.outChannels, pack};
}

class ReducingAlgorithm : public Algorithm {
public:
  ReducingAlgorithm() : Algorithm("reducing", /*rank=*/5) {}

  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ConvOp>(); }

  std::optional<LayoutRule> layoutRule(Operation *root, const target::MachineModel &machine) const override {
    return whyNotReducing(root, machine).empty() ? std::optional(LayoutRule::BlockedToRowMajor) : std::nullopt;
  }

  Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    if (!isFromBlocks(kernel) || isToBlocks(kernel)) {
      std::string why = whyNotReducing(kernel.root(), machine);
      return why.empty() ? "its images are not from channel blocks to row-major" : why;
    }
    ConvGeometry g = geometryOf(kernel.root(), /*maySwapAxes=*/false);
    int64_t lanes = machine.blockLanes();
    double cycles = reducingCycles(g, lanes) * static_cast<double>(g.subConvs[0].rows().number());
    auto shape = [kernel, g, lanes]() mutable {
      KernelShape shape;
      shape.items = g.batch * g.subConvs[0].rows();
      shape.packed[operandNumber(kernel.root()->getOperand(1))] = weightsByInputs(g, lanes);
      shape.build = [](Build &build) {
        ReducingConv conv(build);
        build.w.loop(build.begin, build.end, 1, [&](Ix item) { conv.row(item); });
      };
      return shape;
    };
    return Candidate{name, cycles, {}, /*isWanted=*/false, shape};
  }
};

} // namespace

std::unique_ptr<Algorithm> createReducingConvAlgorithm() { return std::make_unique<ReducingAlgorithm>(); }

} // namespace ingot::lower
