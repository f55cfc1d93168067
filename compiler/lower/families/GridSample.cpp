// Builds GridSample. The places of a grid are the same for all channels, so for a chunk of places (a work item) tables
// of the pixels along each axis and of their weights are made once. Then each channel sums its pixels, one vector of
// places at a time, gathered at offsets that are added up axis by axis. Linear interpolation has two pixels along an
// axis, cubic four, and nearest one.
//
// Whatever the grid holds, NaN included, coordinates are brought near the image before they become integers. Pixels are
// brought into the image or, with padding by zeros, marked by a negative offset and not read.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Sample.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using ingot::onnx::Num;
using ingot::support::Size;

namespace ingot::lower {
namespace {

/// Returns how many pixels along an axis a place reads.
int64_t tapsOf(onnx::GridSampleOp op) { return op.getMode() == "nearest" ? 1 : op.getMode() == "linear" ? 2 : 4; }
/// Returns the number of spatial axes.
int64_t axesOf(onnx::GridSampleOp op) { return Group::typeOf(op.getX()).getRank() - 2; }

/// Returns the places of one work item, whose tables (8 bytes for each pixel and axis) fit `tuning.tableBytes`.
int64_t chunkOf(onnx::GridSampleOp op, const target::MachineModel &machine) {
  int64_t vectors = machine.tuning.tableBytes / (axesOf(op) * tapsOf(op) * 8 * machine.lanes);
  return std::max<int64_t>(1, vectors) * machine.lanes;
}

/// Returns the number of places of one image.
Size placesOf(onnx::GridSampleOp op) {
  support::Sizes grid = onnx::sizesOf(Group::typeOf(op.getGrid()));
  return support::product(ArrayRef(grid).drop_front().drop_back());
}

/// Builds the loops of one kernel.
class GridSampleLoops {
public:
  explicit GridSampleLoops(Build &build)
      : w(build.w), op(cast<onnx::GridSampleOp>(build.group.root)), axes(axesOf(op)), taps(tapsOf(op)),
        chunk(chunkOf(op, w.machine)), zeros(op.getPaddingMode() == "zeros"), x(build.group.buffer(op.getX())),
        grid(build.group.buffer(op.getGrid())), y(build.group.result()) {
    support::Sizes image = onnx::sizesOf(Group::typeOf(op.getX()));
    channels = image[1];
    places = placesOf(op);
    Size stride = 1;
    for (int64_t a = axes; a-- > 0;) {
      lengths.insert(lengths.begin(), image[2 + a]);
      strides.insert(strides.begin(), stride);
      stride = stride * image[2 + a];
    }
    pixels = stride;
    for (int64_t i = 0; i < axes * taps; ++i) {
      offsets.push_back(w.local(w.b.getI32Type(), chunk));
      weights.push_back(taps > 1 ? w.local(x.element, chunk) : Buffer());
    }
  }

  /// Writes the item-th chunk of all images.
  void write(Ix item) {
    Ix chunks = ceilDiv(placesOf(op), Size(chunk)), batch = floorDiv(item, chunks);
    Ix first = remainder(item, chunks) * chunk, count = min(places - first, chunk);
    w.lanes(count, [&](Ix i, int64_t lanes, Value mask) {
      for (int64_t a = 0; a < axes; ++a) {
        Ix at = (batch * places + first + i) * axes + (axes - 1 - a);
        tables(a, number(w.loadStrided(grid, at, axes, lanes, mask)), i);
      }
    });
    w.loop(0, channels, 1, [&](Ix c) {
      image = (batch * channels + c) * pixels;
      w.lanes(count, [&](Ix i, int64_t lanes, Value mask) {
        w.store(sum(0, {}, {}, i, lanes, mask), y, (batch * channels + c) * places + first + i, mask);
      });
    });
  }

private:
  Writer &w;
  onnx::GridSampleOp op;
  int64_t axes, taps, chunk;
  bool zeros;
  Buffer x, grid, y;
  Ix channels, places, pixels;
  Ixs lengths, strides;                 ///< of the image, along the spatial axes
  SmallVector<Buffer> offsets, weights; ///< tables by axis and tap
  Ix image = 0;                         ///< where the present channel begins

  Num number(Value v) { return Num(w.b, w.loc, v, getElementTypeOrSelf(v.getType())); }

  /// Returns x limited to [low, high]; NaN becomes the lower one.
  static Num between(Num x, Num low, Num high) { return atMost(select(x > low, x, low), high); }

  /// Returns x, mirrored at the borders as often as it takes to get between them.
  static Num reflected(Num x, Num low, Num high) {
    Num range = high - low, beyond = abs(x - low), reflections = floor(beyond / range),
        rest = beyond - reflections * range;
    Num isOdd = reflections - floor(reflections * 0.5) * 2.0 != reflections.constant(0);
    return select((x < low) | (x > high), select(isOdd, high - rest, low + rest), x);
  }

  /// Returns the coordinate in pixels for one in [-1, 1], padded, and no further from the image than taps reach.
  Num coordinate(int64_t axis, Num g, Num length, Num low, Num high) {
    Num place = op.getAlignCorners() ? (g + 1.0) / 2.0 * (length - 1.0) : ((g + 1.0) * length - 1.0) / 2.0;
    if (op.getMode() == "nearest") {
      place = roundEven(place);
    }
    // Where the place lies beyond the border, cubic weights are those of the place itself, and only the taps go to the
    // border. PyTorch and ONNX Runtime do so, while onnx.reference moves the place there first.
    bool isBorder = op.getPaddingMode() == "border";
    if (zeros || (isBorder && taps == 4)) {
      return between(place, place.constant(-4), length + 3.0);
    }
    if (isBorder) {
      Num out = (place < low) | (place > high);
      place = select(out, between(place, place.constant(0), length - 1.0), place);
    } else {
      place = reflected(place, low, high);
    }
    return between(place, low, high);
  }

  /// Returns the weights of the pixels, of which the one before the place is `share` pixels away. Cubic weights are
  /// Keys's with a = -0.75.
  SmallVector<Num> weightsOf(Num share) {
    if (taps == 2) {
      return {1.0 - share, share};
    }
    constexpr double a = -0.75;
    auto near = [&](Num d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
    auto far = [&](Num d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(share + 1.0), near(share), near(1.0 - share), far(2.0 - share)};
  }

  /// Fills the tables of an axis for the places from `i` on; behind the last one there is room for a whole vector.
  void tables(int64_t axis, Num g, Ix i) {
    Num length = g.like(counted(w, lengths[axis], Value(g).getType()));
    Num low = op.getAlignCorners() ? g.constant(0) : g.constant(-0.5), high = length - 1.0 - low;
    Num place = coordinate(axis, g, length, low, high);
    Num base = taps == 1 ? place : floor(place) + (taps == 2 ? 0.0 : -1.0);
    for (int64_t t = 0; t < taps; ++t) {
      w.store(offset(axis, base + static_cast<double>(t), length, low, high), offsets[axis * taps + t], i);
    }
    if (taps > 1) {
      for (auto [t, weight] : llvm::enumerate(weightsOf(place - floor(place)))) {
        w.store(weight.to(x.element), weights[axis * taps + t], i);
      }
    }
  }

  /// Returns the offset of a pixel along an axis; negative when there is no such pixel.
  Num offset(int64_t axis, Num pixel, Num length, Num low, Num high) {
    Num last = length - 1.0;
    Num inside =
        between(op.getPaddingMode() == "reflection" ? reflected(pixel, low, high) : pixel, pixel.constant(0), last);
    Num index = inside.to(w.b.getI32Type());
    Num offset = index * index.like(counted(w, strides[axis], Value(index).getType()));
    return zeros ? select((pixel < pixel.constant(0)) | (pixel > last), offset.constant(-1), offset) : offset;
  }

  /// Returns the weighted sum of the pixels along the axes from `axis` on. `at` is the sum of the offsets along the
  /// axes before, and `inside` says where none of them is negative.
  Value sum(int64_t axis, Value at, Value inside, Ix i, int64_t lanes, Value mask) {
    if (axis == axes) {
      return pixel(at, inside, lanes, mask);
    }
    Value total;
    for (int64_t t = 0; t < taps; ++t) {
      Num offset = number(w.load(offsets[axis * taps + t], i, lanes));
      Value there = zeros ? Value(~(offset < offset.constant(0))) : Value();
      there = there && inside ? arith::AndIOp::create(w.b, w.loc, there, inside).getResult() : there;
      Value v = sum(axis + 1, at ? Value(offset + offset.like(at)) : Value(offset), there, i, lanes, mask);
      if (taps > 1) {
        Value weight = w.load(weights[axis * taps + t], i, lanes);
        v = total ? w.fma(v, weight, total) : arith::MulFOp::create(w.b, w.loc, v, weight).getResult();
      }
      total = v;
    }
    return total;
  }

  /// Loads the pixels at offsets `at`; 0 where they are not inside.
  Value pixel(Value at, Value inside, int64_t lanes, Value mask) {
    Value zero = w.constant(0, w.vectorOf(x.element, lanes));
    auto choose = [&](Value v, Value otherwise) -> Value {
      return inside ? arith::SelectOp::create(w.b, w.loc, inside, v, otherwise).getResult() : v;
    };
    if (lanes == 1) {
      Value there = choose(at, w.constant(0, at.getType()));
      return choose(w.load(x, image + w.ix(there)), zero);
    }
    Value all = w.maskFor(lanes, lanes);
    if (!w.machine.maskedAccess) { // without masked loads, lanes outside read the first pixel
      return choose(w.gather(x, image, choose(at, w.constant(0, at.getType())), all), zero);
    }
    Value live = mask ? mask : all;
    return w.gather(x, image, at, inside ? arith::AndIOp::create(w.b, w.loc, inside, live).getResult() : live);
  }
};

class GridSample : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::GridSampleOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::GridSampleOp>(kernel.root());
    KernelShape shape;
    shape.items = onnx::sizeOf(Group::typeOf(op.getX()), 0) * ceilDiv(placesOf(op), Size(chunkOf(op, machine)));
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    GridSampleLoops sampler(build);
    build.w.loop(build.begin, build.end, 1, [&](Ix item) { sampler.write(item); });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createGridSampleFamily() { return std::make_unique<GridSample>(); }

} // namespace ingot::lower
