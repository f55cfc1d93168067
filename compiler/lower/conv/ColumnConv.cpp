#include "compiler/lower/conv/ColumnConv.h"
#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Bytes that a vector gathers, as int16; pixels of a tile whose sums are a vector.
constexpr int64_t gathered = 8, pixelsOfVector = 4;
/// The longest column whose gathers are written out, and the largest distance that they reach.
constexpr int64_t mostGathered = 64, gatherReach = UINT16_MAX;

/// The numbers of a kernel, and how it is cut.
struct ColumnSchedule {
  ConvGeometry g;
  WordProducts products;
  int64_t pixels = 1;                ///< of a plane of the result
  int64_t width = 1, height = 1;     ///< pixels and output channels of a tile
  bool pads = false, points = false; ///< whether taps read padding; whether a column is the channels of one pixel
  /// Whether a column has the channels of a tap behind each other, so that vectors gather them; else the taps of a
  /// channel.
  bool channelsLast = false;

  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }
  int64_t length() const { return g.inGroup() * g.kernel; } ///< of a column
  int64_t steps() const { return products.stepsOf(length()); }
  int64_t columnBytes() const { return products.columnBytes(length()); }
  int64_t tilesOfGroup() const { return llvm::divideCeil(g.outGroup(), height); }
  WordProducts::Packing packing() const { return {g.groups * tilesOfGroup(), steps(), height}; }
  /// Returns which weight of an output a number of a column meets.
  int64_t weightOf(int64_t number) const {
    return channelsLast ? number % g.inGroup() * g.kernel + number / g.inGroup() : number;
  }
  int64_t plane() const {
    int64_t size = 1;
    for (const support::Size &extent : g.spatial) {
      size *= extent.number();
    }
    return size;
  }
  /// Returns the first output channel of a tile, in its group.
  Ix channelOf(Ix tile) const { return min(tile * height, Ix(g.outGroup() - height)); }
};

ColumnSchedule scheduleOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  ColumnSchedule s{geometryOf(kernel.root(), /*maySwapAxes=*/false),
                   WordProducts(machine, WordProducts::Factor::Columns)};
  bool unitSteps = true;
  for (size_t i = 0; i < s.g.spatial.size(); ++i) {
    ConvAxis &axis = s.g.subConvs[0].axes[3 - s.g.spatial.size() + i];
    axis.image = s.g.spatial[i].number();
    s.pixels *= axis.out.number();
    s.pads |= axis.inStart < 0 || axis.inEnd().number() > axis.image;
    unitSteps &= axis.inStep == 1;
  }
  s.points = s.g.kernel == 1 && !s.pads && unitSteps;
  bool vectors = s.products.hasVectors();
  s.channelsLast = vectors && s.g.inGroup() >= gathered;
  s.width = std::min<int64_t>(vectors ? pixelsOfVector : 2, s.pixels);
  s.height = vectors ? 1 : std::min<int64_t>(2, s.g.outGroup());
  return s;
}

/// [tile of output channels][step][channel]
plan::WeightTable::Recipe packed(const ColumnSchedule &s) {
  std::string key = "columns of " + s.products.key() + " tile " + std::to_string(s.height) + " groups " +
                    std::to_string(s.g.groups) + " length " + std::to_string(s.length());
  auto pack = [s](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t length = s.length(), tiles = s.tilesOfGroup();
    s.products.pack(s.packing(), to, [&](int64_t tile, int64_t o, int64_t number) {
      int64_t channel =
          tile / tiles * s.g.outGroup() + std::min(tile % tiles * s.height, s.g.outGroup() - s.height) + o;
      SmallVector<char> weights;
      for (int64_t i = number; i < std::min(number + s.products.step(), length); ++i) {
        weights.push_back(from[channel * length + s.weightOf(i)]);
      }
      return weights;
    });
  };
  return {key, s.products.packedBytes(s.packing()), pack};
}

/// Builds the loops of one kernel.
class Columns {
public:
  Columns(Build &build, const ColumnSchedule &s)
      : build(build), w(build.w), s(s), p(s.products), op(cast<formats::Int8ConvOp>(build.group.root)),
        space(build.group.space(build.group.resultType())) {
    x = build.group.buffer(op.getX());
    packed = build.group.buffer(op.getW()), weights = p.weights(w, packed);
    numbers = p.numbers(w, build.scratch, s.width * s.columnBytes());
    words = p.words(w, build.scratch, s.width * s.columnBytes());
    while (space.sizes.size() > 3 && space.mergeable(space.sizes.size() - 1)) { // pixels are numbered
      space.merge(space.sizes.size() - 1);
    }
    beginsSums = build.group.beginSums(space);
    vectorSums = p.hasVectors() && s.width == pixelsOfVector && space.sizes.size() == 3;
  }

  void image(Ix n) {
    w.loop(0, s.g.groups, 1, [&](Ix group) {
      int64_t tiles = llvm::divideCeil(s.pixels, s.width);
      w.loop(0, tiles, 1, [&](Ix tile) {
        Ix pixel = min(tile * s.width, Ix(s.pixels - s.width));
        copyColumns(n * s.g.inChannels + group * s.g.inGroup(), pixel);
        w.loop(0, s.tilesOfGroup(), 1, [&](Ix channels) { sums(n, group, channels, pixel); });
      });
    });
  }

private:
  Build &build;
  Writer &w;
  const ColumnSchedule &s;
  const WordProducts &p;
  formats::Int8ConvOp op;
  Space space;
  Buffer x, packed, weights, numbers, words;
  bool beginsSums;
  bool vectorSums; ///< whether the sums of a channel are finished as a vector
  using Taps = std::array<std::pair<Ix, Ix>, 3>;

  /// Returns how many numbers of the buffer a column takes.
  int64_t columnNumbers() const { return s.steps() * p.step(); }

  /// Copies the columns of a tile; `channel` is the first of the group, in all images.
  void copyColumns(Ix channel, Ix pixel) {
    if (s.points && s.channelsLast) {
      return gatherPixels(channel * s.plane() + pixel);
    }
    if (s.points && p.hasWords() && s.width == 2 && s.g.inGroup() % 2 == 0) {
      return copyPairs(channel, pixel);
    }
    w.loop(0, s.width, 1, [&](Ix i) { copyColumn(channel, pixel + i, i * columnNumbers()); });
  }

  /// Copies two pixels of two channels at a time: four bytes become a word of each column.
  void copyPairs(Ix channel, Ix pixel) {
    Type i32 = w.b.getI32Type();
    auto pixels = [&](Ix c) -> Value {
      Value two = vector::BitCastOp::create(w.b, w.loc, VectorType::get({1}, w.b.getI16Type()),
                                            w.load(x, (channel + c) * s.plane() + pixel, 2));
      return arith::ExtUIOp::create(w.b, w.loc, i32, vector::ExtractOp::create(w.b, w.loc, two, 0));
    };
    int64_t unroll = s.g.inGroup() % 4 == 0 ? 4 : 2;
    w.loop(0, s.g.inGroup(), unroll, [&](Ix c) {
      for (int64_t i = 0; i < unroll; i += 2) {
        Value high = arith::ShLIOp::create(w.b, w.loc, pixels(c + (i + 1)), w.constant(16, i32));
        WordProducts::Step both = WordProducts::widened(w, arith::OrIOp::create(w.b, w.loc, pixels(c + i), high));
        Ix word = floorDiv(c, 2) + i / 2;
        w.store(both[0], words, word), w.store(both[1], words, word + s.steps() * 2);
      }
    });
  }

  void copyColumn(Ix channel, Ix pixel, Ix to) {
    std::array<Ix, 3> at;
    for (size_t i = 3; i-- > 0;) {
      at[i] = i ? remainder(pixel, s.axis(i).out) : pixel, pixel = floorDiv(pixel, s.axis(i).out);
    }
    Taps taps;
    for (size_t i = 0; i < 3; ++i) {
      taps[i] = s.axis(i).dim < 0 || !s.pads ? std::pair<Ix, Ix>(0, s.axis(i).taps) : s.axis(i).tapsOf(at[i]);
    }
    auto copyReached = [&] { copyTaps(channel, at, taps, to); };
    auto padded = [&] { pad(to), copyReached(); };
    if (auto offsets = s.products.hasVectors() && !s.channelsLast ? offsetsOfNumbers() : std::nullopt) {
      auto whole = [&] { gatherNumbers(fromOf(channel, at, {0, 0, 0}), *offsets, to); };
      return s.pads ? w.ifElse(lacks(taps), padded, whole) : whole();
    }
    if (s.pads) {
      w.ifThen(lacks(taps), [&] { pad(to); });
    }
    copyReached();
  }

  /// Copies the taps that read the image.
  void copyTaps(Ix channel, const std::array<Ix, 3> &at, const Taps &taps, Ix to) {
    auto kernel = [&](Ix c, auto body) {
      w.loop(taps[0].first, taps[0].second, 1, [&](Ix d) {
        w.loop(taps[1].first, taps[1].second, 1, [&](Ix h) {
          Ix from = fromOf(channel + c, at, {d, h, 0}), tap = (d * s.axis(1).taps + h) * s.axis(2).taps;
          w.loop(taps[2].first, taps[2].second, 1, [&](Ix v) { body(from + v * s.axis(2).tapStep, tap + v); });
        });
      });
    };
    if (s.channelsLast) {
      return kernel(0, [&](Ix from, Ix tap) { gatherChannels(from, to + tap * s.g.inGroup()); });
    }
    w.loop(0, s.g.inGroup(), 1, [&](Ix c) {
      kernel(c, [&](Ix from, Ix tap) { p.store(w, w.load(x, from), numbers, to + c * s.g.kernel + tap); });
    });
  }

  /// Copies what lies at offsets to eight numbers of a column.
  void gather(Ix from, ArrayRef<int64_t> offsets, Ix to) {
    auto type = VectorType::get({gathered}, w.b.getIndexType());
    Value places = arith::ConstantOp::create(w.b, w.loc, w.b.getIndexVectorAttr(offsets).reshape(type));
    p.store(w, w.gather(x, from, places, w.maskFor(gathered, gathered)), numbers, to);
  }

  /// Calls `body` with the first of `together` channels at a time, or of all where there are fewer. The last ones end
  /// where all do.
  void eachChannels(int64_t together, llvm::function_ref<void(Ix first)> body) {
    int64_t channels = s.g.inGroup(), step = std::min(together, channels);
    int64_t times = llvm::divideCeil(channels, step);
    w.loop(0, times, 1, [&](Ix i) { body(channels % step ? min(i * step, Ix(channels - step)) : i * step); });
  }
  /// Returns where eight channels from `first` on have a pixel.
  SmallVector<int64_t> channelsAt(int64_t first, int64_t pixel) const {
    SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < gathered; ++i) {
      offsets.push_back((first + i) * s.plane() + pixel);
    }
    return offsets;
  }

  /// Copies all channels of the group at a pixel. LLVM makes instructions of two gathers at an address; to that of a
  /// lonely one it adds the offsets ahead of a loop, and then loads bytes one by one.
  void gatherChannels(Ix from, Ix to) {
    int64_t channels = std::min(2 * gathered, s.g.inGroup());
    eachChannels(channels, [&](Ix first) {
      for (int64_t c = 0; c < channels; c += gathered) {
        int64_t at = std::min(c, channels - gathered);
        gather(from + first * s.plane(), channelsAt(at, 0), to + first + at);
      }
    });
  }

  /// Copies all channels of the group at all pixels of a tile, which are neighbours.
  void gatherPixels(Ix from) {
    eachChannels(gathered, [&](Ix first) {
      for (int64_t i = 0; i < s.width; ++i) {
        gather(from + first * s.plane(), channelsAt(0, i), first + i * columnNumbers());
      }
    });
  }

  /// Returns how far the numbers of a column that reads no padding are from the first one, where gathers reach them.
  std::optional<SmallVector<int64_t>> offsetsOfNumbers() const {
    SmallVector<int64_t> offsets;
    for (int64_t number = 0; number < s.length(); ++number) {
      int64_t channel = number / s.g.kernel, tap = number % s.g.kernel;
      std::array<Ix, 3> taps = {tap / (s.axis(1).taps * s.axis(2).taps), tap / s.axis(2).taps % s.axis(1).taps,
                                tap % s.axis(2).taps};
      offsets.push_back((fromOf(channel, {0, 0, 0}, taps) - fromOf(0, {0, 0, 0}, {0, 0, 0})).number());
    }
    bool reaches = s.length() <= mostGathered && llvm::all_of(offsets, [](int64_t i) { return i <= gatherReach; });
    return reaches ? std::optional(offsets) : std::nullopt;
  }

  /// Copies a column that reads no padding. What is behind its end meets weights of zero.
  void gatherNumbers(Ix from, SmallVector<int64_t> offsets, Ix to) {
    offsets.resize(llvm::alignTo(offsets.size(), gathered), 0);
    for (int64_t i = 0; i < static_cast<int64_t>(offsets.size()); i += gathered) {
      gather(from, ArrayRef(offsets).slice(i, gathered), to + i);
    }
  }

  /// Returns the size of an axis of the image; 1: it is not there.
  Ix extentOf(size_t i) const { return s.axis(i).dim < 0 ? Ix(1) : Ix(s.axis(i).image); }
  Ix rowOf(Ix outer, size_t i, Ix at, Ix tap) const {
    return outer * extentOf(i) + at * s.axis(i).inStep + tap * s.axis(i).tapStep + s.axis(i).inStart;
  }
  /// Returns where a tap of an output reads the image.
  Ix fromOf(Ix channel, const std::array<Ix, 3> &at, const std::array<Ix, 3> &taps) const {
    for (size_t i = 0; i < 3; ++i) {
      channel = rowOf(channel, i, at[i], taps[i]);
    }
    return channel;
  }

  /// Returns whether some taps do not read the image.
  Value lacks(const Taps &taps) {
    Value lacks;
    for (size_t i = 0; i < 3; ++i) {
      if (s.axis(i).dim >= 0) {
        Value less = w.compare(arith::CmpIPredicate::slt, taps[i].second - taps[i].first, s.axis(i).taps);
        lacks = lacks ? arith::OrIOp::create(w.b, w.loc, lacks, less).getResult() : less;
      }
    }
    return lacks;
  }

  /// Writes the padding's value to a column.
  void pad(Ix to) {
    int64_t together = p.hasVectors() ? p.step() : 1;
    Value around = w.constant(op.getPadding(), w.vectorOf(w.b.getI8Type(), together));
    w.loop(0, s.length(), together, [&](Ix i) { p.store(w, around, numbers, to + i); });
  }

  /// Computes a tile of output channels of the pixels whose columns are there.
  void sums(Ix n, Ix group, Ix tile, Ix pixel) {
    Ix channel = group * s.g.outGroup() + s.channelOf(tile),
       at = (group * s.tilesOfGroup() + tile) * (s.steps() * s.height);
    SmallVector<Value> acc;
    for (int64_t o = 0; o < s.height; ++o) {
      Value first = p.lacking(w, packed, s.packing(), (group * s.tilesOfGroup() + tile) * s.height + o, 1);
      if (beginsSums) {
        Value more = build.group.firstSums(space, pointOf(n, channel + o, pixel));
        first = first ? arith::AddIOp::create(w.b, w.loc, first, more).getResult() : more;
      }
      acc.append(s.width, first ? first : w.constant(0, w.b.getI32Type()));
    }
    Ix first = p.zeroIn(w, tile);
    auto step = [&](Ix k, ValueRange before) {
      SmallVector<Value> after;
      SmallVector<WordProducts::Step, 2> columns;
      for (int64_t i = 0; i < s.width; ++i) {
        columns.push_back(p.column(w, words, k + i * s.steps(), first));
      }
      for (int64_t o = 0; o < s.height; ++o) {
        WordProducts::Step weight = p.weight(w, weights, at + k * s.height + o);
        for (int64_t i = 0; i < s.width; ++i) {
          after.push_back(p.add(w, before[o * s.width + i], columns[i], weight));
        }
      }
      return after;
    };
    constexpr int64_t fewSteps = 4;
    int64_t unroll = p.hasVectors() && s.steps() <= fewSteps ? s.steps() : 2;
    int64_t whole = s.steps() / unroll * unroll;
    acc = w.loop(0, whole, unroll, acc, [&](Ix k, ValueRange before) {
      SmallVector<Value> after(before);
      for (int64_t i = 0; i < unroll; ++i) {
        after = step(k + i, after);
      }
      return after;
    });
    for (int64_t k = whole; k < s.steps(); ++k) {
      acc = step(k, acc);
    }
    for (int64_t o = 0; o < s.height && vectorSums; ++o) {
      Value sums = vector::FromElementsOp::create(w.b, w.loc, VectorType::get({s.width}, w.b.getI32Type()),
                                                  ArrayRef(acc).slice(o * s.width, s.width));
      p.finish(build.group, sums, space, pointOf(n, channel + o, pixel), s.width);
    }
    for (int64_t i = 0; i < s.width * s.height && !vectorSums; ++i) {
      build.group.finish(acc[i], space, pointOf(n, channel + i / s.width, pixel + i % s.width));
    }
  }

  Point pointOf(Ix n, Ix channel, Ix pixel) const {
    Point point;
    point.at.assign(space.sizes.size(), 0);
    point.at[0] = n, point.at[1] = channel;
    for (size_t i = space.sizes.size(); i-- > 2;) {
      point.at[i] = i > 2 ? remainder(pixel, space.sizes[i]) : pixel, pixel = floorDiv(pixel, space.sizes[i]);
    }
    return point;
  }
};

} // namespace

std::string whyNoColumns(plan::KernelOp kernel, const target::MachineModel &machine) {
  Operation *op = kernel.root();
  if (machine.lanes > 1) {
    return "the machine has vectors";
  }
  if (!isPackable(op)) {
    return "its weights, bias or padding are not constant";
  }
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  auto isOpen = [](const support::Size &size) { return !size.isNumber(); };
  if (llvm::any_of(g.spatial, isOpen) ||
      llvm::any_of(g.subConvs[0].axes, [&](const ConvAxis &a) { return isOpen(a.out); })) {
    return "the size of its image is open";
  }
  return llvm::any_of(g.subConvs[0].axes, [](const ConvAxis &a) { return a.out.is(0); }) || !g.outGroup()
             ? "its result is empty"
             : "";
}

double columnCycles(plan::KernelOp kernel, const target::MachineModel &machine) {
  ColumnSchedule s = scheduleOf(kernel, machine);
  double product = s.products.pick(3.5, 1.1, 0.17);
  constexpr double copied = 4, finished = 20; // of a number of a column, and of a result
  auto length = static_cast<double>(s.length()), outputs = static_cast<double>(s.g.outChannels),
       pixels = static_cast<double>(s.pixels);
  return pixels * (outputs * (length * product + finished) + copied * length * static_cast<double>(s.g.groups));
}

KernelShape columnConvShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  ColumnSchedule s = scheduleOf(kernel, machine);
  KernelShape shape;
  shape.scratchBytes = s.width * s.columnBytes();
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = packed(s);
  shape.build = [s](Build &build) {
    Columns columns(build, s);
    build.w.loop(0, s.g.batch, 1, [&](Ix n) { columns.image(n); });
  };
  return shape;
}

} // namespace ingot::lower
