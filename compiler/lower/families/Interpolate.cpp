// Resizes by tables (onnx.Interpolate), in loops over the result. At each resized axis the positions and weights of its
// taps are loaded once, and the innermost loop sums the operand's vectors over all combinations of taps. Lanes are the
// channels of a block, or run along the last axis: contiguous where that one is not resized, else gathered at positions
// that are themselves loaded as a vector.
//
// The number of taps may be known only to the run (a filter that is stretched as far as an image shrinks). Then one
// axis is resized at a time, by a loop over its taps.
#include "compiler/lower/core/Portion.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Resize.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// One combination of taps of the axes that the loops have reached.
struct Tap {
  /// Where the combination begins in the operand.
  Ix offset;
  Value weight;    ///< the product of the taps' weights: a scalar, or a vector at the last axis; null: 1
  Value positions; ///< at the last axis, the elements of a vector, relative to `offset`; null: they are contiguous
};

/// Builds the loops of one kernel.
class Loops {
public:
  explicit Loops(Build &build)
      : w(build.w), group(build.group), op(cast<onnx::InterpolateOp>(group.root)),
        space(group.space(group.resultType())) {
    RankedTensorType type = Group::typeOf(op.getData());
    data = group.buffer(op.getData());
    source = plan::stridesOf(type);
  }

  void write(const Build &build, Ix items) {
    if (llvm::any_of(space.sizes, [](const Ix &size) { return size.is(0); })) {
      return;
    }
    Point at;
    loops(Portion(build, items, space.sizes), at, {{source.offset, {}, {}}});
  }

private:
  Writer &w;
  Group &group;
  onnx::InterpolateOp op;
  Space space;
  Buffer data;
  support::Strided<Ix> source;

  /// The tables of an axis: for each tap and result position, the source position and the weight.
  struct Tables {
    Buffer positions, weights;
    Ix taps, size;
    bool isOpen() const { return !taps.known(); }
  };
  /// Returns the tables of an axis; nothing where it is not resized.
  std::optional<Tables> tables(size_t axis) {
    for (auto [i, a] : llvm::enumerate(op.getAxes())) {
      if (a == static_cast<int64_t>(axis)) {
        auto type = Group::typeOf(op.getTables()[2 * i]);
        return Tables{group.buffer(op.getTables()[2 * i]), group.buffer(op.getTables()[2 * i + 1]),
                      onnx::sizeOf(type, 0), onnx::sizeOf(type, 1)};
      }
    }
    return std::nullopt;
  }

  /// Writes loops over dimension at.at.size() and those below. `taps` are the combinations of the axes before.
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
        sum(p, next(taps, d, i, lanes, mask));
      });
      return;
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      loops(portion, at, next(taps, d, i));
      at.at.pop_back();
    });
  }

  /// Returns tap `t` of an axis at result position `i`: its place along the axis, or those of lanes that run along it.
  Tap tapOf(const Tables &table, Ix t, Ix i, int64_t lanes, Value mask) {
    Ix at = i + t * table.size;
    Value place = w.load(table.positions, at, lanes, mask);
    Ix offset = lanes == 1 ? w.ix(place) : Ix(0);
    Value weight = op.getNearest() ? Value() : w.load(table.weights, at, lanes, mask);
    return {offset, weight, lanes == 1 ? Value() : place};
  }
  /// Returns the combination of one of the axes before and a tap of axis `d`.
  Tap combined(const Tap &before, const Tap &tap, size_t d, int64_t lanes) {
    Value weight = before.weight && tap.positions ? w.splat(before.weight, lanes) : before.weight;
    return {before.offset + tap.offset * source.strides[d], product(weight, tap.weight), tap.positions};
  }

  /// Returns all combinations of `taps` with the taps of axis `d` at result position `i`, or with lanes along it from
  /// there.
  SmallVector<Tap> next(const SmallVector<Tap> &taps, size_t d, Ix i, int64_t lanes = 1, Value mask = {}) {
    SmallVector<Tap> out;
    auto table = tables(d);
    if (table && table->isOpen()) {
      return taps; // sumOpen() loops over them instead
    }
    for (int64_t t = 0; t < (table ? table->taps.number() : 1); ++t) {
      Tap tap = table ? tapOf(*table, t, i, lanes, mask) : Tap{i, {}, {}};
      for (const Tap &before : taps) {
        out.push_back(combined(before, tap, d, lanes));
      }
    }
    return out;
  }

  /// Returns the product of two weights, each of which may be null for 1.
  Value product(Value a, Value b) {
    return !a || !b ? (a ? a : b) : arith::MulFOp::create(w.b, w.loc, a, b).getResult();
  }

  /// Loads what a combination of taps reads.
  Value read(const Tap &tap, const Point &at) {
    if (!tap.positions) {
      return w.load(data, tap.offset, at.lanes, at.mask);
    }
    return w.gather(data, tap.offset, tap.positions, at.mask ? at.mask : w.maskFor(at.lanes, at.lanes));
  }

  /// Returns the sum so far (null: none) and the weighted elements of a combination of taps.
  Value plus(Value total, const Tap &tap, const Point &at) {
    Value v = read(tap, at);
    if (!tap.weight) {
      return v;
    }
    bool spreads = isa<VectorType>(v.getType()) && !isa<VectorType>(tap.weight.getType());
    Value weight = spreads ? w.splat(tap.weight, at.lanes) : tap.weight;
    return total ? w.fma(v, weight, total) : arith::MulFOp::create(w.b, w.loc, v, weight).getResult();
  }

  /// Sums all combinations of taps at a point of the result, and stores.
  void sum(const Point &at, const SmallVector<Tap> &taps) {
    auto d = static_cast<size_t>(op.getAxes().front());
    if (auto table = tables(d); table->isOpen()) {
      return sumOpen(at, taps.front(), *table, d);
    }
    Value total;
    for (const Tap &tap : taps) {
      total = plus(total, tap, at);
    }
    group.finish(total, space, at);
  }

  /// Sums over the taps of axis `d`, whose number only the run knows.
  void sumOpen(const Point &at, const Tap &before, const Tables &table, size_t d) {
    bool along = space.block == 1 && d + 1 == space.sizes.size();
    Value zero = w.constant(0, w.vectorOf(data.element, at.lanes));
    auto total = w.loop(0, table.taps, 1, {zero}, [&](Ix t, ValueRange sum) -> SmallVector<Value> {
      Tap tap = along ? tapOf(table, t, at.at[d], at.lanes, at.mask) : tapOf(table, t, at.at[d], 1, {});
      return {plus(sum[0], combined(before, tap, d, at.lanes), at)};
    });
    group.finish(total[0], space, at);
  }
};

class Interpolate : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::InterpolateOp>(); }
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    auto op = cast<onnx::InterpolateOp>(root);
    bool spatial = llvm::all_of(op.getAxes(), [](int64_t axis) { return axis >= 2; });
    return onnx::ranked(op.getData()).getRank() >= 3 && spatial ? LayoutRule::Follow : LayoutRule::RowMajor;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
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
