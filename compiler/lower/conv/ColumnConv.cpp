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

/// The numbers of a kernel, and how it is cut.
struct ColumnSchedule {
  ConvGeometry g;
  WordProducts products;
  int64_t pixels = 1;                ///< of a plane of the result
  int64_t width = 1, height = 1;     ///< pixels and output channels of a tile
  bool pads = false, points = false; ///< whether taps read padding; whether a column is the channels of one pixel

  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }
  int64_t length() const { return g.inGroup() * g.kernel; } ///< of a column
  int64_t steps() const { return products.stepsOf(length()); }
  int64_t columnBytes() const { return products.columnBytes(length()); }
  int64_t tilesOfGroup() const { return llvm::divideCeil(g.outGroup(), height); }
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
  s.width = std::min<int64_t>(2, s.pixels), s.height = std::min<int64_t>(2, s.g.outGroup());
  return s;
}

/// [tile of output channels][step][channel]
plan::WeightTable::Recipe packed(const ColumnSchedule &s) {
  std::string key = "columns of " + s.products.key() + " tile " + std::to_string(s.height) + " groups " +
                    std::to_string(s.g.groups) + " length " + std::to_string(s.length());
  int64_t bytes = s.g.groups * s.tilesOfGroup() * s.steps() * s.height * s.products.step();
  auto pack = [s](ArrayRef<char> from, MutableArrayRef<char> to) {
    char *at = to.data();
    int64_t step = s.products.step(), length = s.length();
    for (int64_t tile = 0; tile < s.g.groups * s.tilesOfGroup(); ++tile) {
      int64_t first = tile / s.tilesOfGroup() * s.g.outGroup() +
                      std::min(tile % s.tilesOfGroup() * s.height, s.g.outGroup() - s.height);
      for (int64_t k = 0; k < length; k += step) {
        for (int64_t o = first; o < first + s.height; ++o, at += step) {
          s.products.pack(from.slice(o * length + k, std::min(step, length - k)), at);
        }
      }
    }
  };
  return {key, bytes, pack};
}

/// Builds the loops of one kernel.
class Columns {
public:
  Columns(Build &build, const ColumnSchedule &s)
      : build(build), w(build.w), s(s), p(s.products), op(cast<formats::Int8ConvOp>(build.group.root)),
        space(build.group.space(build.group.resultType())) {
    x = build.group.buffer(op.getX());
    weights = p.weights(w, build.group.buffer(op.getW()));
    numbers = p.numbers(w, build.scratch, s.width * s.columnBytes());
    words = p.words(w, build.scratch, s.width * s.columnBytes());
    while (space.sizes.size() > 3 && space.mergeable(space.sizes.size() - 1)) { // pixels are numbered
      space.merge(space.sizes.size() - 1);
    }
    beginsSums = build.group.beginSums(space);
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
  Buffer x, weights, numbers, words;
  bool beginsSums;

  int64_t plane() const {
    int64_t size = 1;
    for (const support::Size &extent : s.g.spatial) {
      size *= extent.number();
    }
    return size;
  }
  /// Returns how many numbers of the buffer a column takes.
  int64_t columnNumbers() const { return s.steps() * p.step(); }

  /// Copies the columns of a tile; `channel` is the first of the group, in all images.
  void copyColumns(Ix channel, Ix pixel) {
    if (s.points && p.hasDots() && s.width == 2 && s.g.inGroup() % 2 == 0) {
      return copyPairs(channel, pixel);
    }
    w.loop(0, s.width, 1, [&](Ix i) { copyColumn(channel, pixel + i, i * columnNumbers()); });
  }

  /// Copies two pixels of two channels at a time: four bytes become a word of each column.
  void copyPairs(Ix channel, Ix pixel) {
    Type i32 = w.b.getI32Type();
    auto pixels = [&](Ix c) -> Value {
      Value two = vector::BitCastOp::create(w.b, w.loc, VectorType::get({1}, w.b.getI16Type()),
                                            w.load(x, (channel + c) * plane() + pixel, 2));
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
    std::array<std::pair<Ix, Ix>, 3> taps;
    for (size_t i = 0; i < 3; ++i) {
      taps[i] = s.axis(i).dim < 0 || !s.pads ? std::pair<Ix, Ix>(0, s.axis(i).taps) : s.axis(i).tapsOf(at[i]);
    }
    if (s.pads) {
      pad(taps, to);
    }
    w.loop(0, s.g.inGroup(), 1, [&](Ix c) {
      w.loop(taps[0].first, taps[0].second, 1, [&](Ix d) {
        w.loop(taps[1].first, taps[1].second, 1, [&](Ix h) {
          Ix row = rowOf(rowOf(channel + c, 0, at[0], d), 1, at[1], h), size = extentOf(2);
          Ix from = row * size + at[2] * s.axis(2).inStep + s.axis(2).inStart;
          Ix number = to + ((c * s.axis(0).taps + d) * s.axis(1).taps + h) * s.axis(2).taps;
          w.loop(taps[2].first, taps[2].second, 1,
                 [&](Ix v) { p.store(w, w.load(x, from + v * s.axis(2).tapStep), numbers, number + v); });
        });
      });
    });
  }

  /// Returns the size of an axis of the image; 1: it is not there.
  Ix extentOf(size_t i) const { return s.axis(i).dim < 0 ? Ix(1) : Ix(s.axis(i).image); }
  Ix rowOf(Ix outer, size_t i, Ix at, Ix tap) const {
    return outer * extentOf(i) + at * s.axis(i).inStep + tap * s.axis(i).tapStep + s.axis(i).inStart;
  }

  /// Writes the padding's value to a column of which some taps do not read the image.
  void pad(const std::array<std::pair<Ix, Ix>, 3> &taps, Ix to) {
    Value lacks;
    for (size_t i = 0; i < 3; ++i) {
      if (s.axis(i).dim >= 0) {
        Value less = w.compare(arith::CmpIPredicate::slt, taps[i].second - taps[i].first, s.axis(i).taps);
        lacks = lacks ? arith::OrIOp::create(w.b, w.loc, lacks, less).getResult() : less;
      }
    }
    w.ifThen(lacks, [&] {
      Value around = w.constant(op.getPadding(), w.b.getI8Type());
      w.loop(0, s.length(), 1, [&](Ix i) { p.store(w, around, numbers, to + i); });
    });
  }

  /// Computes a tile of output channels of the pixels whose columns are there.
  void sums(Ix n, Ix group, Ix tile, Ix pixel) {
    Ix channel = group * s.g.outGroup() + s.channelOf(tile),
       at = (group * s.tilesOfGroup() + tile) * (s.steps() * s.height);
    SmallVector<Value> acc;
    for (int64_t o = 0; o < s.height; ++o) {
      Point point = pointOf(n, channel + o, pixel);
      acc.append(s.width, beginsSums ? build.group.firstSums(space, point) : w.constant(0, w.b.getI32Type()));
    }
    auto step = [&](Ix k, ValueRange before) {
      SmallVector<Value> after;
      SmallVector<WordProducts::Step, 2> columns;
      for (int64_t i = 0; i < s.width; ++i) {
        columns.push_back(p.column(w, words, k + i * s.steps()));
      }
      for (int64_t o = 0; o < s.height; ++o) {
        WordProducts::Step weight = p.weight(w, weights, at + k * s.height + o);
        for (int64_t i = 0; i < s.width; ++i) {
          after.push_back(p.add(w, before[o * s.width + i], columns[i], weight));
        }
      }
      return after;
    };
    constexpr int64_t unroll = 2;
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
    for (int64_t i = 0; i < s.width * s.height; ++i) {
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
  double product = s.products.hasDots() ? 1.1 : 3.5;
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
