// Resizing by tables (onnx.Interpolate): loops over the result; at each resized axis the positions and weights of its
// taps are loaded once, and the innermost loop sums the operand's vectors over all combinations of taps. Lanes are the
// channels of a block, or run along the last axis: contiguous where that one is not resized, else gathered at positions
// that are themselves loaded as a vector.
#include "compiler/lower/Portion.h"
#include "compiler/onnx/Evaluate.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Resize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// One combination of taps of the axes so far.
struct Tap {
  Ix offset;
  Value weight;    ///< scalar, or a vector at the last axis; null: one
  Value positions; ///< at the last axis: elements of a vector, relative to `offset`; null: contiguous
};

class Loops {
public:
  explicit Loops(Build &build)
      : w(build.w), group(build.group), op(cast<onnx::InterpolateOp>(group.root)),
        space(group.space(group.resultType())) {
    RankedTensorType type = Group::typeOf(op.getData());
    data = group.buffer(op.getData());
    Walk walk = walkOf(type);
    strides = walk.strides, start = walk.offset;
  }

  void write(const Build &build, Ix items) {
    if (llvm::any_of(space.sizes, [](const Ix &size) { return size.is(0); })) {
      return;
    }
    Point at;
    loops(Portion(build, items, space.sizes), at, {{start, {}, {}}});
  }

private:
  Writer &w;
  Group &group;
  onnx::InterpolateOp op;
  Space space;
  Buffer data;
  Ixs strides;
  Ix start;

  struct Tables {
    Buffer positions, weights;
    int64_t taps;
    Ix size;
  };
  std::optional<Tables> tables(size_t axis) {
    for (auto [i, a] : llvm::enumerate(op.getAxes())) {
      if (a == static_cast<int64_t>(axis)) {
        auto type = Group::typeOf(op.getTables()[2 * i]);
        return Tables{group.buffer(op.getTables()[2 * i]), group.buffer(op.getTables()[2 * i + 1]), type.getDimSize(0),
                      onnx::sizeOf(type, 1)};
      }
    }
    return std::nullopt;
  }

  void loops(const Portion &portion, Point &at, const SmallVector<Tap> &taps) {
    size_t d = at.at.size(), n = space.sizes.size();
    if (space.block > 1 && d == n) {
      at.lanes = space.block;
      return sum(at, taps);
    }
    if (space.block == 1 && d + 1 == n) {
      portion.lanes(d, space.sizes[d], [&](Ix i, int64_t lanes, Value mask) {
        Point p = at;
        p.at.push_back(i), p.lanes = lanes, p.mask = mask;
        sum(p, lastAxis(taps, i, lanes, mask));
      });
      return;
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      loops(portion, at, next(taps, d, i));
      at.at.pop_back();
    });
  }

  /// The taps so far, each combined with those of axis `d` at result position `i`.
  SmallVector<Tap> next(const SmallVector<Tap> &taps, size_t d, Ix i) {
    SmallVector<Tap> out;
    auto table = tables(d);
    for (int64_t t = 0; t < (table ? table->taps : 1); ++t) {
      Ix place = table ? w.ix(w.load(table->positions, i + Ix(t) * table->size)) : i;
      Value weight = table && !op.getNearest() ? w.load(table->weights, i + Ix(t) * table->size) : Value();
      for (const Tap &tap : taps) {
        out.push_back({tap.offset + place * strides[d], product(tap.weight, weight), {}});
      }
    }
    return out;
  }

  /// The same for the axis along which the lanes run.
  SmallVector<Tap> lastAxis(const SmallVector<Tap> &taps, Ix i, int64_t lanes, Value mask) {
    size_t d = space.sizes.size() - 1;
    auto table = tables(d);
    if (!table || lanes == 1) {
      return next(taps, d, i);
    }
    SmallVector<Tap> out;
    for (int64_t t = 0; t < table->taps; ++t) {
      Value positions = w.load(table->positions, i + Ix(t) * table->size, lanes, mask);
      Value weight = op.getNearest() ? Value() : w.load(table->weights, i + Ix(t) * table->size, lanes, mask);
      for (const Tap &tap : taps) {
        Value before = tap.weight && lanes > 1 ? w.splat(tap.weight, lanes) : tap.weight;
        out.push_back({tap.offset, product(before, weight), positions});
      }
    }
    return out;
  }

  Value product(Value a, Value b) {
    return !a || !b ? (a ? a : b) : arith::MulFOp::create(w.b, w.loc, a, b).getResult();
  }

  Value read(const Tap &tap, const Point &at) {
    if (!tap.positions) {
      return w.load(data, tap.offset, at.lanes, at.mask);
    }
    auto type = VectorType::get({at.lanes}, cast<MemRefType>(data.memref.getType()).getElementType());
    Value mask = at.mask ? at.mask : w.maskFor(at.lanes, at.lanes);
    return vector::GatherOp::create(w.b, w.loc, type, data.memref, ValueRange{w.value(tap.offset)}, tap.positions, mask,
                                    w.constant(0, type));
  }

  void sum(const Point &at, const SmallVector<Tap> &taps) {
    Value total;
    for (const Tap &tap : taps) {
      Value v = read(tap, at);
      if (tap.weight) {
        Value weight = isa<VectorType>(v.getType()) && !isa<VectorType>(tap.weight.getType())
                           ? w.splat(tap.weight, at.lanes)
                           : tap.weight;
        v = total ? w.fma(v, weight, total) : arith::MulFOp::create(w.b, w.loc, v, weight).getResult();
      }
      total = v;
    }
    group.finish(total, space, at);
  }
};

class Interpolate : public KernelFamily {
public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Loops(build).write(build, shape.items);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createInterpolateFamily() { return std::make_unique<Interpolate>(); }

} // namespace ingot::lower
