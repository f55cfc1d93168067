// Each work item is a group of channels of one image. Its input is first copied into scratch with the zeros around it
// (and, for a transposed convolution, between its elements, which makes it a convolution of stride 1). Columns are
// sorted by their residue modulo the stride, so that every tap of neighbouring outputs is a contiguous vector. The
// accumulators are a few output channels of one vector of neighbouring outputs.
#include "compiler/lower/conv/RowMajorConv.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/sizes/Shapes.h"

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

  Size row() const { return columns * Size(axes[2].step); }
  Size plane() const { return axes[0].size * axes[1].size * row(); }
  Size segmentElements(int64_t slack) const { return Size(16) * ceilDiv(Size(inGroup) * plane() + slack, 16); }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
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

Problem problemOf(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType()), y = cast<RankedTensorType>(op->getResult(0).getType());
  bool transposed = isa<onnx::ConvTransposeOp>(op);
  support::Sizes sizes = onnx::sizesOf(x);
  ArrayRef<Size> spatial = ArrayRef<Size>(sizes).drop_front(2);
  support::Sizes kernel = *onnx::kernelOf(op, op->getOperand(1));
  onnx::Window window =
      transposed ? *onnx::transposedWindowOf(op, spatial, kernel) : *onnx::windowOf(op, spatial, kernel);
  auto group = op->getAttrOfType<IntegerAttr>("group");
  int64_t groups = group ? group.getInt() : 1;
  Problem p{sizes[0], groups, x.getDimSize(1) / groups, y.getDimSize(1) / groups, transposed, {}, 0, x.getRank()};
  for (size_t i = 0; i < spatial.size(); ++i) {
    p.axes[3 - spatial.size() + i] = axisOf(window, i, spatial[i], transposed);
  }
  p.columns = ceilDiv(p.axes[2].size, p.axes[2].step);
  return p;
}

/// Sums that are computed together: so many neighbouring output channels of a group, of so many neighbouring vectors of
/// a row.
struct Sums {
  Ix n, group, channel;
  int64_t channels, vectors;
};

/// Builds the loops of one kernel.
class RowMajorConv {
public:
  RowMajorConv(Build &build)
      : build(build), w(build.w), p(problemOf(build.group.root)), space(build.group.space(build.group.resultType())) {
    Operation *root = build.group.root;
    x = build.group.buffer(root->getOperand(0)), weights = build.group.buffer(root->getOperand(1));
    bias = onnx::present(root->getOperand(2)) ? build.group.buffer(root->getOperand(2)) : Buffer();
  }

  void item(Ix i) {
    Size elements = p.segmentElements(w.machine.lanes);
    scratch = w.scratch(build.scratch, i * (Size(4) * elements), w.b.getF32Type(), memoryExtent(elements));
    Ix n = floorDiv(i, p.groups), group = remainder(i, p.groups);
    fillZeros(w, scratch, 0, elements);
    copyIn((n * p.groups + group) * (Size(p.inGroup) * p.axes[0].in * p.axes[1].in * p.axes[2].in));
    int64_t tile = w.machine.registers >= 32 ? 8 : 4;
    w.balanced(p.outGroup, tile, [&](Ix channel, int64_t count) {
      w.loop(0, p.axes[0].out, 1, [&](Ix d) {
        w.loop(0, p.axes[1].out, 1, [&](Ix h) {
          row({n, group, channel, count, w.machine.lanes > 1 ? std::max<int64_t>(1, tile / count) : 1}, d, h);
        });
      });
    });
  }

private:
  Build &build;
  Writer &w;
  Problem p;
  Space space;
  Buffer x, weights, bias, scratch;

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
    if (a.step == 1 && a.expand == 1) {
      copyElements(w, x, source + first, scratch, to + Ix(a.shift + first), last - first);
      return;
    }
    w.loop(first, last, 1, [&](Ix j) {
      Ix column = Ix(a.shift) + j * a.expand;
      w.store(w.load(x, source + j), scratch, to + remainder(column, a.step) * p.columns + floorDiv(column, a.step));
    });
  }

  /// Returns where the input of tap (d, h, x) for the first of neighbouring outputs `at` lies in channel 0.
  Ix inputAt(std::array<Ix, 3> at, Ix d, Ix h, Ix x) {
    const auto &a = p.axes;
    Ix z = a[0].start + at[0] * a[0].step + d * a[0].tapStep, y = a[1].start + at[1] * a[1].step + h * a[1].tapStep;
    Ix column = a[2].start + x * a[2].tapStep;
    return (z * a[1].size + y) * p.row() + remainder(column, a[2].step) * p.columns + floorDiv(column, a[2].step) +
           at[2];
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
          return w.loop(0, a[2].taps, 1, c2, [&](Ix x, ValueRange c3) {
            SmallVector<Value> inputs, next(c3);
            for (int64_t v = 0; v < sums.vectors; ++v) {
              inputs.push_back(w.load(scratch, c * p.plane() + inputAt(at, d, h, x) + v * lanes, lanes));
            }
            Ix weight = base + c * in + (d * a[1].taps + h) * a[2].taps + x;
            for (int64_t i = 0; i < sums.channels; ++i) {
              Value factor = w.splat(w.load(weights, weight + i * out), lanes);
              for (int64_t v = 0; v < sums.vectors; ++v) {
                Value &sum = next[i * sums.vectors + v];
                sum = w.fma(factor, inputs[v], sum);
              }
            }
            return next;
          });
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
  Problem p = problemOf(kernel.root());
  KernelShape shape;
  shape.items = p.batch * Size(p.groups);
  shape.scratchBytes = shape.items * Size(4) * p.segmentElements(machine.lanes);
  shape.build = [](Build &build) {
    RowMajorConv conv(build);
    build.w.loop(build.begin, build.end, 1, [&](Ix i) { conv.item(i); });
  };
  return shape;
}

} // namespace ingot::lower
