// Computes convolutions of row-major bytes pixel by pixel, for machines without vectors.
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/conv/RowMajorConv.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel. A work item is an output channel of an image.
class PixelByPixel {
public:
  explicit PixelByPixel(Build &build)
      : build(build), w(build.w), op(cast<formats::Int8ConvOp>(build.group.root)),
        g(geometryOf(op, /*maySwapAxes=*/false)), space(build.group.space(build.group.resultType())),
        x(build.group.buffer(op.getX())), weights(build.group.buffer(op.getW())) {}

  /// Writes the loops of a work item.
  void item(Ix item) {
    Ix out = remainder(item, g.outChannels), n = floorDiv(item, g.outChannels);
    w.loop(0, axis(0).out, 1, [&](Ix d) {
      w.loop(0, axis(1).out, 1, [&](Ix h) {
        w.loop(0, axis(2).out, 1, [&](Ix v) { finish(n, out, {d, h, v}, sum(n, out, {d, h, v})); });
      });
    });
  }

private:
  Build &build;
  Writer &w;
  formats::Int8ConvOp op;
  ConvGeometry g;
  Space space;
  Buffer x, weights;

  const ConvAxis &axis(size_t i) const { return g.subConvs[0].axes[i]; }

  /// Stores one output.
  void finish(Ix n, Ix out, std::array<Ix, 3> at, Value sum) {
    Point p;
    p.at.assign(space.sizes.size(), 0);
    p.at[0] = n, p.at[1] = out;
    for (size_t i = 0; i < 3; ++i) {
      if (axis(i).dim >= 0) {
        p.at[axis(i).dim] = at[i];
      }
    }
    build.group.finish(sum, space, p);
  }

  /// Returns the sum of one output.
  Value sum(Ix n, Ix out, std::array<Ix, 3> at) {
    Ix first = floorDiv(out, g.outGroup()) * g.inGroup();
    SmallVector<Value> sums = {w.constant(0, w.b.getI32Type())};
    auto over = [&](Ix to, ValueRange carried, llvm::function_ref<SmallVector<Value>(Ix, ValueRange)> body) {
      return w.loop(0, to, 1, carried, body);
    };
    return over(g.inGroup(), sums, [&](Ix c, ValueRange c0) {
      return over(axis(0).taps, c0, [&](Ix d, ValueRange c1) {
        return over(axis(1).taps, c1, [&](Ix h, ValueRange c2) {
          return over(axis(2).taps, c2, [&](Ix v, ValueRange c3) {
            Ix tap = (d * axis(1).taps + h) * axis(2).taps + v;
            Value weight = w.load(weights, (out * g.inGroup() + c) * g.kernel + tap);
            return SmallVector<Value>{product(element(n, first + c, at, {d, h, v}), weight, c3[0])};
          });
        });
      });
    })[0];
  }

  Value product(Value element, Value weight, Value sum) {
    Type i32 = w.b.getI32Type();
    Value a = arith::ExtUIOp::create(w.b, w.loc, i32, element), b = arith::ExtSIOp::create(w.b, w.loc, i32, weight);
    return arith::AddIOp::create(w.b, w.loc, sum, arith::MulIOp::create(w.b, w.loc, a, b));
  }

  /// Returns what a tap reads: an element of the image, or the padding's value where the tap lies outside of the image.
  Value element(Ix n, Ix channel, std::array<Ix, 3> at, std::array<Ix, 3> tap) {
    Ix place = n * g.inChannels + channel;
    Value inside;
    for (size_t i = 0; i < 3; ++i) {
      if (axis(i).dim < 0) {
        continue;
      }
      Ix size = g.spatial[axis(i).dim - 2], k = at[i] * axis(i).inStep + tap[i] * axis(i).tapStep + axis(i).inStart;
      Value low = w.compare(arith::CmpIPredicate::sge, k, 0), high = w.compare(arith::CmpIPredicate::slt, k, size);
      Value both = arith::AndIOp::create(w.b, w.loc, low, high);
      inside = inside ? arith::AndIOp::create(w.b, w.loc, inside, both).getResult() : both;
      place = place * size + max(min(k, size - 1), 0);
    }
    Value around = w.constant(op.getPadding(), x.element);
    return arith::SelectOp::create(w.b, w.loc, inside, w.load(x, place), around);
  }
};

} // namespace

KernelShape rowMajorInt8ConvShape(plan::KernelOp kernel) {
  ConvGeometry g = geometryOf(kernel.root(), /*maySwapAxes=*/false);
  KernelShape shape;
  shape.items = g.batch * support::Size(g.outChannels);
  shape.build = [](Build &build) {
    PixelByPixel conv(build);
    build.w.loop(build.begin, build.end, 1, [&](Ix item) { conv.item(item); });
  };
  return shape;
}

} // namespace ingot::lower
