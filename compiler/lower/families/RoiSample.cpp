// Builds RoiAlign of an image whose channels are its last axis. A bin's samples stand on a grid, so for each region
// tables of the samples along either axis are made first: the two pixels between which each sample lies, and their
// weights. Then every bin sums its samples, with as many vectors of channels in registers as there are. So all loads
// are contiguous, and nothing is computed twice. Samples outside of the image are zero and not in the tables.
//
// Where the number of samples depends on a region's size, they are at most a pixel apart, so no more of them lie in the
// image than its length allows. The loops leave out those outside, whatever the region is. Coordinates are compared
// before they become integers, so NaN and infinite ones are outside.
//
// In the mode "pixels" (MaxRoiPool) a bin's samples are the pixels that it covers, of a region whose corners are pixels
// as well. Neighbouring bins may share one.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Portion.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Sample.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using ingot::onnx::Num;
using ingot::support::Size;

namespace ingot::lower {
namespace {

constexpr int64_t entryBytes = 32; ///< bytes of a sample: two offsets and two weights of at most 8 bytes each

/// Returns whether samples are pixels.
bool isOfPixels(onnx::RoiSampleOp op) { return op.getMode() == "pixels"; }

/// Returns the samples of a bin along an axis; not positive: as many as the bin's size asks for.
int64_t ratioOf(onnx::RoiSampleOp op) { return op.getSamplingRatio(); }

/// Returns how many samples a table along an axis of `length` pixels has room for.
Size samplesOf(onnx::RoiSampleOp op, const Size &length, int64_t bins) {
  if (isOfPixels(op)) {
    return length + Size(bins);
  }
  return ratioOf(op) > 0 ? Size(bins * ratioOf(op)) : Size(2) * length + Size(bins + 8);
}
/// Returns the bytes of such a table, with the places where each bin's samples begin.
Size tableBytes(onnx::RoiSampleOp op, const Size &length, int64_t bins) {
  return samplesOf(op, length, bins) * Size(entryBytes) + Size((bins + 1) * 8);
}
/// Returns the scratch bytes of one work item.
Size scratchOf(onnx::RoiSampleOp op) {
  support::Sizes image = onnx::sizesOf(Group::typeOf(op.getX()));
  return tableBytes(op, image[1], op.getOutputHeight()) + tableBytes(op, image[2], op.getOutputWidth());
}

/// Builds the loops of one kernel.
class Regions {
public:
  Regions(Build &build, Ix items)
      : build(build), w(build.w), op(cast<onnx::RoiSampleOp>(build.group.root)), items(items),
        x(build.group.buffer(op.getX())), rois(build.group.buffer(op.getRois())),
        images(build.group.buffer(op.getBatchIndices())), y(build.group.result()) {
    image = onnx::sizesOf(Group::typeOf(op.getX()));
    batch = image[0], channels = image[3];
    count = onnx::sizeOf(Group::typeOf(op.getRois()), 0);
    Ix scratch = build.begin * Ix(scratchOf(op));
    rows = axis(scratch, image[1], op.getOutputHeight(), image[2] * image[3]);
    columns =
        axis(scratch + Ix(tableBytes(op, image[1], op.getOutputHeight())), image[2], op.getOutputWidth(), image[3]);
  }

  void write() {
    Portion(build, items, {count}).loop(0, count, 1, [&](Ix r) { region(r); });
  }

private:
  Build &build;
  Writer &w;
  onnx::RoiSampleOp op;
  Ix items;
  Buffer x, rois, images, y;
  support::Sizes image;
  Ix batch, channels, count;

  /// The samples of the present region along one axis.
  struct Axis {
    Ix length, stride; ///< of the image: pixels, and elements between them
    int64_t bins;
    Size capacity;
    Buffer begin;                          ///< where each bin's samples begin, and the end of the last one's
    Buffer low, high, lowShare, highShare; ///< by sample, the offsets and weights of its two pixels
    Value ratio;                           ///< samples of a bin, including those outside, as a float
  };
  Axis rows, columns;

  /// Gives the tables of an axis their places in scratch.
  Axis axis(Ix at, const Size &length, int64_t bins, const Size &stride) {
    Size capacity = samplesOf(op, length, bins);
    int64_t extent = memoryExtent(capacity);
    Type i64 = w.b.getI64Type();
    Axis a{length, stride, bins, capacity, w.scratch(build.scratch, at, i64, bins + 1), {}, {}, {}, {}, {}};
    at += (bins + 1) * 8;
    for (auto [buffer, type] :
         {std::pair(&a.low, i64), {&a.high, i64}, {&a.lowShare, x.element}, {&a.highShare, x.element}}) {
      *buffer = w.scratch(build.scratch, at, type, extent);
      at += Ix(capacity * Size(8));
    }
    return a;
  }

  Num number(Value v) { return Num(w.b, w.loc, v, v.getType()); }

  /// Writes all bins of a region.
  void region(Ix r) {
    Value place = w.load(images, r), limit = w.integer(batch, w.b.getI64Type());
    Value outside = w.compare(arith::CmpIPredicate::uge, place, limit);
    build.failIf(outside);
    Value inside = arith::XOrIOp::create(w.b, w.loc, outside, w.constant(1, w.b.getI1Type()));
    w.ifThen(inside, [&] {
      isOfPixels(op) ? pixels(columns, r * 4) : samples(columns, r * 4);
      isOfPixels(op) ? pixels(rows, r * 4 + 1) : samples(rows, r * 4 + 1);
      Ix start = w.ix(place) * (rows.length * rows.stride);
      w.loop(0, rows.bins, 1, [&](Ix p) {
        w.loop(0, columns.bins, 1, [&](Ix q) { bin(start, r * channels * (rows.bins * columns.bins), p, q); });
      });
    });
  }

  /// Fills an axis's tables for the region whose near edge is rois[corner].
  void samples(Axis &a, Ix corner) {
    bool half = op.getCoordinateTransformationMode() == "half_pixel";
    double scale = op.getSpatialScale().convertToDouble(), shift = half ? 0.5 : 0;
    Num from = number(w.load(rois, corner)) * scale - shift, to = number(w.load(rois, corner + 2)) * scale - shift;
    Num size = half ? to - from : atLeast(to - from, 1.0), bin = size / static_cast<double>(a.bins);
    int64_t ratio = ratioOf(op);
    Num each = ratio > 0 ? bin.constant(ratio) : ceil(bin);
    a.ratio = each;
    Value zero = w.constant(0, w.b.getI64Type());
    Value end = w.loop(0, a.bins, 1, zero, [&](Ix p, ValueRange carried) {
      w.store(carried[0], a.begin, p);
      Num start = from + number(counted(w, p, x.element)) * bin;
      auto [first, last] = ratio > 0 ? std::pair<Ix, Ix>(0, ratio) : near(a, start, bin, each);
      return w.loop(first, last, 1, carried, [&](Ix i, ValueRange n) {
        Num at = start + (number(counted(w, i, x.element)) + 0.5) * bin / each;
        return SmallVector<Value>{sample(a, at, n[0])};
      });
    })[0];
    w.store(end, a.begin, a.bins);
  }

  /// Returns the integer nearest to x, and of two the one further from zero.
  Num rounded(Num x) {
    Num size = abs(x), whole = floor(size);
    Num up = whole + select(size - whole >= size.constant(0.5), size.constant(1), size.constant(0));
    return select(x < 0.0, -up, up);
  }

  /// Fills an axis's tables with the pixels of a region. The last pixel is a part of the region, which has at least
  /// one.
  void pixels(Axis &a, Ix corner) {
    double scale = op.getSpatialScale().convertToDouble();
    Num from = rounded(number(w.load(rois, corner)) * scale), to = rounded(number(w.load(rois, corner + 2)) * scale);
    Num bin = atLeast(to - from + 1.0, 1.0) / static_cast<double>(a.bins);
    Num length = number(counted(w, a.length, x.element)), none = bin.constant(0);
    a.ratio = bin.constant(1);
    auto edge = [&](Num x) {
      return w.ix(atMost(select(x + from > none, x + from, none), length).to(w.b.getI64Type()));
    };
    Value end = w.loop(0, a.bins, 1, w.constant(0, w.b.getI64Type()), [&](Ix p, ValueRange carried) {
      w.store(carried[0], a.begin, p);
      Ix first = edge(floor(number(counted(w, p, x.element)) * bin)), room = Ix(a.capacity) - w.ix(carried[0]);
      Ix last = edge(ceil(number(counted(w, p + 1, x.element)) * bin));
      return w.loop(first, min(last, first + room), 1, carried, [&](Ix i, ValueRange n) {
        w.store(w.integer(i * a.stride, w.b.getI64Type()), a.low, w.ix(n[0]));
        Value one = w.constant(1, w.b.getI64Type());
        return SmallVector<Value>{arith::AddIOp::create(w.b, w.loc, n[0], one)};
      });
    })[0];
    w.store(end, a.begin, a.bins);
  }

  /// Returns a range of a bin's samples that has all those in the image, and few others.
  std::pair<Ix, Ix> near(const Axis &a, Num start, Num bin, Num each) {
    Num length = number(counted(w, a.length, x.element)), spacing = bin / each;
    auto within = [&](Num x, Num high) { return atMost(select(x > x.constant(0), x, x.constant(0)), high); };
    Num most = within(each, each.constant(1 << 30));
    auto index = [&](Num x) { return w.ix(within(x, most).to(w.b.getI64Type())); };
    Ix first = index(floor((-1.0 - start) / spacing) - 2.0), last = index(ceil((length - start) / spacing) + 2.0);
    return {first, min(last, first + Ix(a.capacity))};
  }

  /// Appends the sample at `at` to the table of n samples, if it lies in the image. Returns how many there are then.
  Value sample(const Axis &a, Num at, Value n) {
    Num length = number(counted(w, a.length, x.element)), last = length - 1.0;
    Value inside = (at >= at.constant(-1)) & (at <= length) & (length > 0.0);
    if (ratioOf(op) <= 0) { // rounding may give more samples than there is room for
      inside = arith::AndIOp::create(w.b, w.loc, inside, w.compare(arith::CmpIPredicate::slt, w.ix(n), Ix(a.capacity)));
    }
    w.ifThen(inside, [&] {
      Num x = atMost(atLeast(at, 0.0), last), low = floor(x), high = atMost(low + 1.0, last), share = x - low;
      for (auto [buffer, pixel] : {std::pair(a.low, low), {a.high, high}}) {
        w.store(w.integer(w.ix(pixel.to(w.b.getI64Type())) * a.stride, w.b.getI64Type()), buffer, w.ix(n));
      }
      w.store(1.0 - share, a.lowShare, w.ix(n));
      w.store(share, a.highShare, w.ix(n));
    });
    return arith::AddIOp::create(w.b, w.loc, n, arith::ExtUIOp::create(w.b, w.loc, n.getType(), inside));
  }

  /// Writes all channels of a bin. `start` is where the image begins, and `target` where the region's results begin.
  void bin(Ix start, Ix target, Ix p, Ix q) {
    auto range = [&](const Axis &a, Ix i) { return Range{w.ix(w.load(a.begin, i)), w.ix(w.load(a.begin, i + 1))}; };
    Range ys = range(rows, p), xs = range(columns, q);
    Num all = number(rows.ratio) * number(columns.ratio), one = all.constant(1), samples = select(all >= one, all, one);
    Num inside = number(counted(w, (ys.end - ys.begin) * (xs.end - xs.begin), x.element));
    // A sample outside counts as zero, and so does a bin without any sample.
    bool largest = op.getMode() != "avg";
    Value first = largest ? select(inside < samples, all.constant(0), number(neutral(w, Combine::Max, x.element)))
                          : all.constant(0);
    Num scale = 1.0 / samples;
    Ix stride = rows.bins * columns.bins;
    auto tile = [&](Ix c, int64_t vectors, int64_t lanes, Value mask) {
      SmallVector<Value> sums(vectors, w.splat(first, lanes));
      sums = sum(sums, start + c, ys, xs, lanes, mask);
      for (auto [i, v] : llvm::enumerate(sums)) {
        v = largest ? v : arith::MulFOp::create(w.b, w.loc, v, w.splat(scale, lanes)).getResult();
        Ix at = target + (c + Ix(static_cast<int64_t>(i)) * lanes) * stride + p * columns.bins + q;
        w.storeStrided(v, y, at, stride, mask);
      }
    };
    int64_t l = w.machine.lanes, most = std::max<int64_t>(1, w.machine.registers / 2 / (x.element.isF64() ? 2 : 1));
    Ix whole = floorDiv(channels, l) * l;
    if (channels.known()) {
      w.balanced(whole.number() / l, most, [&](Ix v, int64_t n) { tile(v * l, n, l, {}); });
    } else {
      whole = floorDiv(channels, most * l) * (most * l);
      w.loop(0, whole, most * l, [&](Ix c) { tile(c, most, l, {}); });
    }
    w.lanes(channels - whole, [&](Ix c, int64_t lanes, Value mask) { tile(whole + c, 1, lanes, mask); });
  }

  /// Samples of a bin along an axis.
  struct Range {
    Ix begin, end;
  };

  /// Adds a bin's samples to vectors of channels that begin at `start`.
  SmallVector<Value> sum(ValueRange sums, Ix start, Range ys, Range xs, int64_t lanes, Value mask) {
    auto offset = [&](Buffer buffer, Ix i) { return w.ix(w.load(buffer, i)); };
    auto with = [&](ValueRange sums, ArrayRef<std::pair<Ix, Value>> pixels) {
      SmallVector<Value> next(sums);
      for (auto [v, total] : llvm::enumerate(next)) {
        total = withSample(total, pixels, static_cast<int64_t>(v) * lanes, lanes, mask);
      }
      return next;
    };
    return w.loop(ys.begin, ys.end, 1, sums, [&](Ix i, ValueRange outer) {
      if (isOfPixels(op)) {
        Ix row = start + offset(rows.low, i);
        return w.loop(xs.begin, xs.end, 1, outer, [&](Ix j, ValueRange inner) {
          return with(inner, std::pair(row + offset(columns.low, j), Value()));
        });
      }
      Ix places[] = {start + offset(rows.low, i), start + offset(rows.high, i)};
      Num shares[] = {number(w.load(rows.lowShare, i)), number(w.load(rows.highShare, i))};
      return w.loop(xs.begin, xs.end, 1, outer, [&](Ix j, ValueRange inner) {
        Ix columnPlaces[] = {offset(columns.low, j), offset(columns.high, j)};
        Num columnShares[] = {number(w.load(columns.lowShare, j)), number(w.load(columns.highShare, j))};
        SmallVector<std::pair<Ix, Value>> pixels;
        for (int k = 0; k < 4; ++k) {
          pixels.emplace_back(places[k / 2] + columnPlaces[k % 2], w.splat(shares[k / 2] * columnShares[k % 2], lanes));
        }
        return with(inner, pixels);
      });
    });
  }

  /// Returns the sum or the maximum so far, with a sample whose four pixels and weights are given. A pixel without a
  /// weight is itself a sample. The maximum is that of pixels times weights, as the standard's reference and others
  /// have it, and not that of samples.
  Value withSample(Value total, ArrayRef<std::pair<Ix, Value>> pixels, int64_t c, int64_t lanes, Value mask) {
    bool largest = op.getMode() != "avg";
    for (const auto &[place, weight] : pixels) {
      Value v = w.load(x, place + c, lanes, mask);
      if (!weight) {
        total = combine(w, Combine::Max, v, total);
        continue;
      }
      total = largest ? combine(w, Combine::Max, arith::MulFOp::create(w.b, w.loc, v, weight), total)
                      : w.fma(v, weight, total);
    }
    return total;
  }
};

class RoiSample : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::RoiSampleOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
    shape.scratchBytes = shape.items * scratchOf(cast<onnx::RoiSampleOp>(kernel.root()));
    shape.checked = true;
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Regions(build, shape.items).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createRoiSampleFamily() { return std::make_unique<RoiSample>(); }

} // namespace ingot::lower
