#include "compiler/lower/conv/WordDepthwise.h"
#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

namespace {

constexpr int64_t mostTaps = 25; ///< that are written out
constexpr int64_t wordBytes = 4, lanesOfVector = 4;

struct PlaneSchedule {
  ConvGeometry g;
  bool dots;                     ///< whether pairs are multiplied
  int64_t lanes = 1;             ///< outputs of a vector
  bool padded = false;           ///< whether some of the plane is not of the image
  int64_t width = 1;             ///< outputs at a time, neighbours in a row
  int64_t rows = 0, columns = 0; ///< of the plane with its padding, as far as it is read

  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }
  int64_t taps() const { return axis(1).taps * axis(2).taps; }
  int64_t outs(size_t i) const { return axis(i).out.number(); }
  int64_t tiles() const { return llvm::divideCeil(outs(2), width); } ///< of a row
  /// Returns the sums of a tile, vectors or numbers, and where one begins. The last vector ends where the tile does.
  int64_t sums() const { return llvm::divideCeil(width, lanes); }
  int64_t sumAt(int64_t i) const { return std::min(i * lanes, width - lanes); }
  /// Returns the lanes that count, of the only vector of a short row or of any one.
  int64_t live() const { return std::min(lanes, outs(2)); }
  int64_t image(size_t i) const { return axis(i).dim < 0 ? 1 : g.spatial[axis(i).dim - 2].number(); }
  /// Returns the words of a row's weights.
  int64_t words() const { return llvm::divideCeil(axis(2).taps, wordBytes); }
  /// Returns the bytes of the plane, and what a word or a vector behind the last output has of others.
  int64_t bytes() const {
    return llvm::alignTo(rows * columns + std::max(wordBytes, lanes * axis(2).inStep), wordBytes);
  }
};

PlaneSchedule scheduleOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  PlaneSchedule s{geometryOf(kernel.root(), /*maySwapAxes=*/false), machine.has(Instruction::WordDot2)};
  if (WordProducts(machine, WordProducts::Factor::Bytes).hasVectors()) {
    s.dots = false, s.lanes = lanesOfVector;
  }
  auto extent = [](const ConvAxis &a) { return (a.out.number() - 1) * a.inStep + (a.taps - 1) * a.tapStep + 1; };
  s.rows = extent(s.axis(1)), s.columns = extent(s.axis(2));
  for (size_t i : {1, 2}) {
    const ConvAxis &axis = s.axis(i);
    s.padded |= axis.inStart < 0 || axis.inEnd().number() > s.image(i);
  }
  bool pairs = s.dots && s.axis(2).taps <= 3 && s.axis(2).inStep == 1;
  s.width = s.lanes > 1 ? std::clamp(s.outs(2), s.lanes, 2 * s.lanes) : pairs ? std::min<int64_t>(2, s.outs(2)) : 1;
  return s;
}

/// [channel][row][word], or the weights as they are
plan::WeightTable::Recipe packed(const PlaneSchedule &s) {
  int64_t taps = s.axis(2).taps, row = s.words() * wordBytes, rows = s.g.outChannels * s.axis(1).taps;
  auto pack = [=](ArrayRef<char> from, MutableArrayRef<char> to) {
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(from.data() + i * taps, taps, to.data() + i * row);
    }
  };
  return {"rows of " + std::to_string(taps) + " in words", rows * row, pack};
}

/// Builds the loops of one kernel.
class Planes {
public:
  Planes(Build &build, const PlaneSchedule &s)
      : build(build), w(build.w), s(s), op(cast<formats::Int8ConvOp>(build.group.root)),
        space(build.group.space(build.group.resultType())), beginsSums(build.group.beginSums(space)) {
    x = build.group.buffer(op.getX()), weights = build.group.buffer(op.getW());
    if (s.dots) {
      weights = w.scratch(weights, 0, w.b.getI32Type(),
                          cast<MemRefType>(weights.memref.getType()).getNumElements() / wordBytes);
    }
    plane = w.scratch(build.scratch, 0, w.b.getI8Type(), s.bytes());
  }

  void channel(Ix n, Ix c) {
    copyPlane(n * s.g.inChannels + c);
    SmallVector<Value> weights = weightsOf(c);
    Value first = beginsSums ? build.group.firstSums(space, pointOf(n, c, 0, 0)) : w.constant(0, w.b.getI32Type());
    first = w.splat(first, s.lanes);
    w.loop(0, s.outs(1), 1, [&](Ix h) {
      Ix row = h * (s.axis(1).inStep * s.columns);
      w.loop(0, s.tiles(), 1, [&](Ix tile) {
        Ix v = s.tiles() > 1 && s.outs(2) % s.width ? min(tile * s.width, Ix(s.outs(2) - s.width)) : tile * s.width;
        Ix at = row + v * s.axis(2).inStep;
        SmallVector<Value> acc(s.sums(), first);
        s.width == 2 ? pair(at, weights, acc) : s.dots ? single(at, weights, acc) : products(at, weights, acc);
        for (auto [i, sum] : llvm::enumerate(acc)) {
          Point point = pointOf(n, c, h, v + s.sumAt(i));
          s.lanes > 1 ? WordProducts::finish(build.group, sum, space, point, s.live())
                      : build.group.finish(sum, space, point);
        }
      });
    });
  }

private:
  Build &build;
  Writer &w;
  const PlaneSchedule &s;
  formats::Int8ConvOp op;
  Space space;
  bool beginsSums;
  Buffer x, weights, plane;

  Point pointOf(Ix n, Ix c, Ix h, Ix v) const {
    Point point;
    point.at.assign(space.sizes.size(), 0);
    point.at[0] = n, point.at[1] = c;
    if (s.axis(1).dim >= 0) {
      point.at[s.axis(1).dim] = h;
    }
    point.at[s.axis(2).dim] = v;
    return point;
  }

  void copyPlane(Ix channel) {
    if (s.padded) {
      Value around = w.constant(op.getPadding(), w.vectorOf(w.b.getI8Type(), wordBytes));
      w.loop(0, s.bytes(), wordBytes, [&](Ix i) { w.store(around, plane, i); });
    }
    int64_t above = -s.axis(1).inStart, left = -s.axis(2).inStart;
    int64_t height = std::min(s.image(1), s.rows - above), width = std::min(s.image(2), s.columns - left);
    w.loop(0, height, 1,
           [&](Ix h) { copyRow((channel * s.image(1) + h) * s.image(2), (h + above) * s.columns + left, width); });
  }

  /// Copies a row word by word. The last word is one that ends where the row does.
  void copyRow(Ix from, Ix to, int64_t width) {
    auto copy = [&](Ix i, int64_t bytes) { w.store(w.load(x, from + i, bytes), plane, to + i); };
    if (width < wordBytes) {
      return w.loop(0, width, 1, [&](Ix i) { copy(i, 1); });
    }
    w.loop(0, width / wordBytes * wordBytes, wordBytes, [&](Ix i) { copy(i, wordBytes); });
    if (width % wordBytes) {
      copy(width - wordBytes, wordBytes);
    }
  }

  /// Returns the weights of a channel. Of words there are for each the pair of its bytes 0 and 2 and that of 1 and 3;
  /// where two outputs share a word, second pairs of two rows are one, as their other number is zero.
  SmallVector<Value> weightsOf(Ix c) {
    SmallVector<Value> all;
    if (!s.dots) {
      for (int64_t tap = 0; tap < s.taps(); ++tap) {
        all.push_back(arith::ExtSIOp::create(w.b, w.loc, w.b.getI32Type(), w.load(weights, c * s.taps() + tap)));
      }
      return all;
    }
    Type i32 = w.b.getI32Type();
    SmallVector<Value> middle;
    for (int64_t i = 0; i < s.axis(1).taps * s.words(); ++i) {
      Value word = w.load(weights, c * (s.axis(1).taps * s.words()) + i);
      WordProducts::Step pairs = WordProducts::widenedSigned(w, word);
      all.push_back(pairs[0]), (s.width == 2 ? middle : all).push_back(pairs[1]);
    }
    for (size_t i = 0; i < middle.size(); i += 2) {
      Value low = middle[i];
      if (i + 1 < middle.size()) {
        Value high = arith::ShLIOp::create(w.b, w.loc, middle[i + 1], w.constant(16, i32));
        low = arith::OrIOp::create(w.b, w.loc, low, high);
      }
      all.push_back(low);
    }
    return all;
  }

  Ix rowAt(Ix at, int64_t row) const { return at + row * s.axis(1).tapStep * s.columns; }

  /// Adds the products to the sums of two neighbours.
  void pair(Ix at, ArrayRef<Value> weights, SmallVector<Value> &acc) {
    int64_t rows = s.axis(1).taps;
    for (int64_t row = 0; row < rows; ++row) {
      WordProducts::Step pixels = WordProducts::widened(w, WordProducts::wordAt(w, plane, rowAt(at, row)));
      bool high = row % 2;
      Value outer = weights[row], middle = weights[rows + row / 2];
      acc[0] = instruction(w, Instruction::WordDot2, {pixels[0], outer, acc[0]});
      acc[1] = instruction(w, Instruction::WordDot2, {pixels[1], outer, acc[1]});
      acc[0] = instruction(w, high ? Instruction::MultiplyLowHigh : Instruction::MultiplyLowLow,
                           {pixels[1], middle, acc[0]});
      acc[1] = instruction(w, high ? Instruction::MultiplyHighHigh : Instruction::MultiplyHighLow,
                           {pixels[0], middle, acc[1]});
    }
  }

  /// Adds the products to the sum of one output.
  void single(Ix at, ArrayRef<Value> weights, SmallVector<Value> &acc) {
    for (int64_t i = 0; i < s.axis(1).taps * s.words(); ++i) {
      Ix from = rowAt(at, i / s.words()) + i % s.words() * wordBytes;
      WordProducts::Step pixels = WordProducts::widened(w, WordProducts::wordAt(w, plane, from));
      for (int64_t j : {0, 1}) {
        acc[0] = instruction(w, Instruction::WordDot2, {pixels[j], weights[2 * i + j], acc[0]});
      }
    }
  }

  /// Adds the products to some sums, of a tap after the other.
  void products(Ix at, ArrayRef<Value> weights, SmallVector<Value> &acc) {
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      Ix from = rowAt(at, tap / s.axis(2).taps) + tap % s.axis(2).taps * s.axis(2).tapStep;
      for (auto [i, sum] : llvm::enumerate(acc)) {
        Value bytes = neighbours(from + s.sumAt(i) * s.axis(2).inStep);
        Value pixels = arith::ExtUIOp::create(w.b, w.loc, sum.getType(), bytes);
        Value product = arith::MulIOp::create(w.b, w.loc, pixels, w.splat(weights[tap], s.lanes));
        sum = arith::AddIOp::create(w.b, w.loc, sum, product);
      }
    }
  }

  /// Returns what neighbouring outputs read of the plane at a tap.
  Value neighbours(Ix from) {
    if (s.lanes == 1 || s.axis(2).inStep != 2) {
      return w.loadStrided(plane, from, s.axis(2).inStep, s.lanes);
    }
    Value pairs = w.load(plane, from, 2 * s.lanes); // LLVM loads bytes as int16 and masks half of a word
    SmallVector<int64_t> first;
    for (int64_t i = 0; i < s.lanes; ++i) {
      first.push_back(2 * i);
    }
    return vector::ShuffleOp::create(w.b, w.loc, pairs, pairs, first);
  }
};

} // namespace

bool hasWordDepthwise(plan::KernelOp kernel, const target::MachineModel &machine) {
  Operation *op = kernel.root();
  if (machine.lanes > 1 || !isa<formats::Int8ConvOp>(op) || !onnx::isUint(onnx::elementOf(op->getOperand(0)), 8)) {
    return false;
  }
  ConvGeometry g = geometryOf(op, /*maySwapAxes=*/false);
  if (!llvm::all_of(g.spatial, [](const support::Size &size) { return size.isNumber(); })) {
    return false;
  }
  const auto &axes = g.subConvs[0].axes;
  auto fits = [](const ConvAxis &a) { return a.out.isNumber() && !a.out.is(0) && a.inStart <= 0; };
  bool rowsOfWords = !WordProducts(machine, WordProducts::Factor::Bytes).hasWords() || axes[2].tapStep == 1;
  return axes[0].dim < 0 && llvm::all_of(axes, fits) && rowsOfWords && axes[1].taps * axes[2].taps <= mostTaps;
}

KernelShape wordDepthwiseShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  PlaneSchedule s = scheduleOf(kernel, machine);
  KernelShape shape;
  shape.scratchBytes = s.bytes();
  if (s.dots) {
    shape.packed[operandNumber(kernel.root()->getOperand(1))] = packed(s);
  }
  shape.build = [s](Build &build) {
    Planes planes(build, s);
    build.w.loop(0, s.g.batch, 1,
                 [&](Ix n) { build.w.loop(0, s.g.outChannels, 1, [&](Ix c) { planes.channel(n, c); }); });
  };
  return shape;
}

} // namespace ingot::lower
