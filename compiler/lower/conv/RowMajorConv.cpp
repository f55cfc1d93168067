// Each work item is a group of channels of one image. Its input is first copied into scratch with the zeros around it
// (and, for a transposed convolution, between its elements, which makes it a convolution of stride 1). Columns are
// sorted by their residue modulo the stride, so that every tap of neighbouring outputs is a contiguous vector. The
// accumulators are a few output channels of one vector of neighbouring outputs.
//
// On a processor without vectors the accumulators are a few output channels of a few neighbouring outputs, each a
// register: an input is multiplied into all of those channels, a weight into all of those outputs. Columns stay as they
// are there, and an image without zeros around it is read where it lies. Nobody else works on the kernel of a
// microcontroller, so that all items have the same scratch, whose zeros are written once.
#include "compiler/lower/conv/RowMajorConv.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/target/OneThread.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;

/// One axis. Output i reads with a tap the coordinate start + i * step + tap * tapStep, counted in the scratch from its
/// first element on. Element j of the input lies at shift + j * expand there.
struct Axis {
  Size in = 1, out = 1, shift = 0, size = 1;
  int64_t taps = 1, start = 0, step = 1, tapStep = 1, expand = 1;
};

/// What a convolution computes, and the layout of its scratch.
struct Problem {
  Size batch;
  int64_t groups, inGroup, outGroup;
  bool transposed;
  std::array<Axis, 3> axes;
  Size columns; ///< columns of one residue
  int64_t rank;
  bool isScalar; ///< there are no vectors
  bool isAlone;  ///< all items are for one thread

  Size row() const { return columns * Size(axes[2].step); }
  Size plane() const { return axes[0].size * axes[1].size * row(); }
  Size segmentElements(int64_t slack) const { return Size(16) * ceilDiv(Size(inGroup) * plane() + slack, 16); }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  Size count() const { return batch * Size(groups); }
  /// Whether the image is read where it lies, since nothing is around or between its elements.
  bool isReadInPlace() const {
    return isScalar && llvm::all_of(axes, [](const Axis &a) {
             return a.expand == 1 && a.shift.is(0) && a.in.isNumber() && a.size.isNumber() &&
                    a.size.number() <= a.in.number();
           });
  }
};

/// Returns one axis of a window over `in` elements.
Axis axisOf(const onnx::Window &window, size_t i, const Size &in, bool transposed) {
  Axis a;
  a.in = in, a.out = window.out[i], a.taps = window.kernel[i];
  int64_t reach = window.reach(i) - 1;
  if (transposed) {
    // Output o reads o + before - tap * dilation of the input spread by the stride.
    a.expand = window.strides[i], a.tapStep = -window.dilations[i];
    a.start = reach, a.shift = Size(reach) - window.before[i];
  } else {
    a.step = window.strides[i], a.tapStep = window.dilations[i], a.shift = window.before[i];
  }
  a.size = max(Size(0), a.out - 1) * Size(a.step) + Size(reach + 1);
  return a;
}

Problem problemOf(Operation *op, const target::MachineModel &machine) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType()), y = cast<RankedTensorType>(op->getResult(0).getType());
  bool transposed = isa<onnx::ConvTransposeOp>(op);
  support::Sizes sizes = onnx::sizesOf(x);
  ArrayRef<Size> spatial = ArrayRef<Size>(sizes).drop_front(2);
  support::Sizes kernel = *onnx::kernelOf(op, op->getOperand(1));
  onnx::Window window =
      transposed ? *onnx::transposedWindowOf(op, spatial, kernel) : *onnx::windowOf(op, spatial, kernel);
  auto group = op->getAttrOfType<IntegerAttr>("group");
  int64_t groups = group ? group.getInt() : 1;
  Problem p{sizes[0],
            groups,
            x.getDimSize(1) / groups,
            y.getDimSize(1) / groups,
            transposed,
            {},
            0,
            x.getRank(),
            machine.lanes == 1 && !machine.hasOwnMemory,
            target::isOneThread(machine)};
  for (size_t i = 0; i < spatial.size(); ++i) {
    p.axes[3 - spatial.size() + i] = axisOf(window, i, spatial[i], transposed);
  }
  p.columns = ceilDiv(p.axes[2].size, p.axes[2].step);
  return p;
}

/// Sums that are computed together: so many neighbouring output channels of a group, of so many neighbouring vectors of
/// a row, or single outputs.
struct Sums {
  Ix n, group, channel;
  int64_t channels, vectors;
};

/// How many channels and outputs of a row are computed together at most.
struct Tile {
  int64_t channels, outputs;
};

/// Returns the tile of single outputs that loads least for a multiplication: a step loads an input for each output and
/// a weight for each channel, and goes around a loop. All of them are registers.
Tile scalarTile(const Problem &p, const target::MachineModel &machine) {
  constexpr int64_t most = 8, others = 2, loop = 4, openRow = 64;
  int64_t row = p.axes[2].out.isNumber() ? std::max<int64_t>(1, p.axes[2].out.number()) : openRow;
  Tile best{1, 1};
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t channels = 1; channels <= std::min(most, p.outGroup); ++channels) {
    for (int64_t outputs = 1; outputs <= std::min(most, row); ++outputs) {
      if (channels * outputs + channels + outputs > machine.registers - others) {
        break;
      }
      int64_t cost = 0;
      for (auto [high, panels] : balancedTiles(p.outGroup, channels)) {
        for (auto [wide, tiles] : balancedTiles(row, outputs)) {
          cost += panels * tiles * (high * wide + high + wide + loop);
        }
      }
      if (cost < least) {
        least = cost, best = {channels, outputs};
      }
    }
  }
  return best;
}

/// Builds the loops of one kernel.
class RowMajorConv {
public:
  RowMajorConv(Build &build)
      : build(build), w(build.w), p(problemOf(build.group.root, build.w.machine)),
        space(build.group.space(build.group.resultType())) {
    Operation *root = build.group.root;
    x = build.group.buffer(root->getOperand(0)), weights = build.group.buffer(root->getOperand(1));
    bias = onnx::present(root->getOperand(2)) ? build.group.buffer(root->getOperand(2)) : Buffer();
  }

  void items(Ix begin, Ix end) {
    Size elements = p.segmentElements(w.machine.lanes);
    if (p.isAlone && !p.isReadInPlace()) {
      takeScratch(0, elements);
    }
    w.loop(p.isAlone ? 0 : begin, p.isAlone ? Ix(p.count()) : end, 1, [&](Ix i) {
      if (!p.isAlone && !p.isReadInPlace()) {
        takeScratch(i * (Size(4) * elements), elements);
      }
      item(i);
    });
  }

private:
  Build &build;
  Writer &w;
  Problem p;
  Space space;
  Buffer x, weights, bias, scratch;
  Ix image; ///< where the inputs of a group begin

  void takeScratch(Ix at, const Size &elements) {
    scratch = w.scratch(build.scratch, at, w.b.getF32Type(), memoryExtent(elements));
    fillZeros(w, scratch, 0, elements);
  }

  void item(Ix i) {
    Ix n = floorDiv(i, p.groups), group = remainder(i, p.groups);
    image = (n * p.groups + group) * (Size(p.inGroup) * p.axes[0].in * p.axes[1].in * p.axes[2].in);
    if (!p.isReadInPlace()) {
      copyIn(image);
    }
    int64_t most = w.machine.registers >= 32 ? 8 : 4;
    Tile tile = p.isScalar ? scalarTile(p, w.machine) : Tile{most, 1};
    w.balanced(p.outGroup, tile.channels, [&](Ix channel, int64_t count) {
      w.loop(0, p.axes[0].out, 1, [&](Ix d) {
        w.loop(0, p.axes[1].out, 1, [&](Ix h) {
          bool hasVectors = !p.isScalar && w.machine.lanes > 1;
          row({n, group, channel, count, hasVectors ? std::max<int64_t>(1, most / count) : tile.outputs}, d, h);
        });
      });
    });
  }

  /// Computes a row of outputs, at most as many vectors at a time as the sums have.
  void row(Sums sums, Ix d, Ix h) {
    int64_t lanes = w.machine.lanes;
    Ix columns = p.axes[2].out, whole = floorDiv(columns, lanes);
    w.balanced(whole, sums.vectors, [&](Ix first, int64_t vectors) {
      sums.vectors = vectors;
      outputs(sums, {d, h, first * lanes}, lanes, {});
    });
    sums.vectors = 1;
    whole *= lanes;
    w.lanes(columns - whole, [&](Ix x, int64_t count, Value mask) { outputs(sums, {d, h, whole + x}, count, mask); });
  }

  /// Returns the input elements [first, last) of one axis that the scratch holds.
  static std::pair<Size, Size> held(const Axis &a) {
    Size first = ceilDiv(max(Size(0), Size(0) - a.shift), a.expand);
    Size last = min(a.in, ceilDiv(max(Size(0), a.size - a.shift), a.expand));
    return {first, max(first, last)};
  }

  /// Copies the inputs of a group into scratch.
  void copyIn(Ix from) {
    const auto &a = p.axes;
    auto [d0, d1] = held(a[0]);
    auto [h0, h1] = held(a[1]);
    w.loop(0, p.inGroup, 1, [&](Ix c) {
      w.loop(d0, d1, 1, [&, h0 = h0, h1 = h1](Ix d) {
        w.loop(h0, h1, 1, [&](Ix h) {
          Ix source = from + ((c * a[0].in + d) * a[1].in + h) * a[2].in;
          Ix to =
              c * p.plane() + ((Ix(a[0].shift) + d * a[0].expand) * a[1].size + a[1].shift + h * a[1].expand) * p.row();
          copyRow(source, to);
        });
      });
    });
  }

  /// Copies one row, with its columns sorted by residue.
  void copyRow(Ix source, Ix to) {
    const Axis &a = p.axes[2];
    auto [first, last] = held(a);
    if ((a.step == 1 || p.isScalar) && a.expand == 1) {
      copyElements(w, x, source + first, scratch, to + Ix(a.shift + first), last - first);
      return;
    }
    w.loop(first, last, 1, [&](Ix j) {
      Ix column = Ix(a.shift) + j * a.expand;
      w.store(w.load(x, source + j), scratch, to + placeOf(column));
    });
  }

  /// Returns where a column lies in its row of the scratch.
  Ix placeOf(Ix column) const {
    int64_t step = p.axes[2].step;
    return p.isScalar ? column : remainder(column, step) * p.columns + floorDiv(column, step);
  }

  /// Returns the distance of the inputs of a tap for one output (or vector of them) and the next.
  int64_t nextInput(int64_t lanes) const { return p.isScalar ? p.axes[2].step : lanes; }

  /// Returns the input of a tap for some of neighbouring outputs.
  Value input(Ix channel, std::array<Ix, 3> at, Ix d, Ix h, Ix x, int64_t number, int64_t lanes) {
    Ix place = inputAt(at, d, h, x) + number * nextInput(lanes);
    if (!p.isReadInPlace()) {
      return w.load(scratch, channel * p.plane() + place, lanes);
    }
    return w.load(this->x, image + channel * (p.axes[0].in * p.axes[1].in * p.axes[2].in) + place);
  }

  /// Returns where the input of tap (d, h, x) for the first of neighbouring outputs `at` lies in channel 0.
  Ix inputAt(std::array<Ix, 3> at, Ix d, Ix h, Ix x) {
    const auto &a = p.axes;
    Ix z = a[0].start + at[0] * a[0].step + d * a[0].tapStep, y = a[1].start + at[1] * a[1].step + h * a[1].tapStep;
    Ix column = a[2].start + x * a[2].tapStep, place = placeOf(column) + at[2] * nextInput(1);
    return p.isReadInPlace() ? (z * a[1].in + y) * a[2].in + place : (z * a[1].size + y) * p.row() + place;
  }

  /// Adds the products of one tap of an input channel to sums.
  SmallVector<Value> addTap(const Sums &sums, ArrayRef<Value> inputs, Ix weight, int64_t out, int64_t lanes,
                            ValueRange before) {
    SmallVector<Value> next(before);
    for (int64_t i = 0; i < sums.channels; ++i) {
      Value factor = w.splat(w.load(weights, weight + i * out), lanes);
      for (int64_t v = 0; v < sums.vectors; ++v) {
        Value &sum = next[i * sums.vectors + v];
        sum = w.fma(factor, inputs[v], sum);
      }
    }
    return next;
  }

  /// Computes sums whose first vector begins at an output.
  void outputs(const Sums &sums, std::array<Ix, 3> at, int64_t lanes, Value mask) {
    const auto &a = p.axes;
    Ix first = sums.group * p.outGroup + sums.channel;
    SmallVector<Value> acc;
    for (int64_t i = 0; i < sums.channels; ++i) {
      acc.append(sums.vectors, w.splat(bias ? w.load(bias, first + i) : w.constant(0, w.b.getF32Type()), lanes));
    }
    // Weights are [out][in of a group][kernel], or [in][out of a group][kernel]. `out` and `in` are the distances from
    // one output channel to the next, and from one input channel to the next.
    int64_t out = p.transposed ? p.taps() : p.inGroup * p.taps(), in = p.transposed ? p.outGroup * p.taps() : p.taps();
    Ix base = p.transposed ? sums.group * (p.inGroup * in) + sums.channel * out : first * out;
    acc = w.loop(0, p.inGroup, 1, acc, [&](Ix c, ValueRange c0) {
      return w.loop(0, a[0].taps, 1, c0, [&](Ix d, ValueRange c1) {
        return w.loop(0, a[1].taps, 1, c1, [&](Ix h, ValueRange c2) {
          auto tap = [&](Ix x, ValueRange c3) {
            SmallVector<Value> inputs;
            for (int64_t v = 0; v < sums.vectors; ++v) {
              inputs.push_back(input(c, at, d, h, x, v, lanes));
            }
            return addTap(sums, inputs, base + c * in + (d * a[1].taps + h) * a[2].taps + x, out, lanes, c3);
          };
          constexpr int64_t writtenOut = 5; // neighbours read the same inputs, which stay in registers
          if (!p.isScalar || a[2].taps > writtenOut) {
            return w.loop(0, a[2].taps, 1, c2, tap);
          }
          SmallVector<Value> next(c2);
          for (int64_t x = 0; x < a[2].taps; ++x) {
            next = tap(x, next);
          }
          return next;
        });
      });
    });
    for (auto [i, sum] : llvm::enumerate(acc)) {
      Point point;
      point.at = {sums.n, first + static_cast<int64_t>(i) / sums.vectors};
      point.at.append(at.begin() + (5 - p.rank), at.end());
      point.at.back() += static_cast<int64_t>(i) % sums.vectors * lanes;
      point.lanes = lanes, point.mask = mask;
      build.group.finish(sum, space, point);
    }
  }
};

} // namespace

KernelShape rowMajorConvShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  Problem p = problemOf(kernel.root(), machine);
  KernelShape shape;
  shape.items = p.isAlone ? Size(1) : p.count();
  shape.scratchBytes = p.isReadInPlace() ? Size(0) : shape.items * Size(4) * p.segmentElements(machine.lanes);
  shape.build = [](Build &build) { RowMajorConv(build).items(build.begin, build.end); };
  return shape;
}

} // namespace ingot::lower
