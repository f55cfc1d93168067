// Builds pools. Windows are clipped to the input: rows and slices by bounds that are computed for each row of outputs,
// and columns at the edges by static bounds. In between, a tile of pixels (or a vector, row-major) needs no bounds.
// Row- major pools whose windows are wider than one column are those of PlanarPool.h.
#include "compiler/onnx/ops/Pool.h"
#include "compiler/lower/conv/PlanarPool.h"
#include "compiler/lower/conv/PoolWindow.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;

/// staticTaps: the most taps of a column that are written out, while longer kernels loop. tilePixels: pixels of a
/// blocked tile.
constexpr int64_t staticTaps = 7, tilePixels = 8;

/// Builds the loops of one kernel.
class PoolLoops {
public:
  PoolLoops(Build &build, const Pool &pool, Ix rowsOfItem)
      : build(build), w(build.w), p(pool), rowsOfItem(rowsOfItem),
        in(plan::stridesOf(Group::typeOf(build.group.root->getOperand(0)))),
        space(build.group.space(build.group.resultType())), x(build.group.buffer(build.group.root->getOperand(0))) {
    for (int64_t i = 0; i < 3; ++i) {
      int64_t dim = p.rank - 3 + i;
      strides[i] = dim < 2 ? Ix(0) : in.strides[dim];
    }
    if (in.lanes == 1 && !withIndices() && PlanarPool::fits(p, x.element, w.machine)) {
      planar.emplace(build, p, x, space, rowsOfItem);
    }
  }

  /// Writes the rows of a work item, from one of a slice on.
  void rows(Ix n, Ix c, Ix d, Ix first) {
    auto rowOf = [&](Ix i) { return rowAt(n, c, d, first + i); };
    if (planar) {
      return planar->rows(rowOf);
    }
    w.loop(0, rowsOfItem, 1, [&](Ix i) { row(rowOf(i)); });
  }

private:
  PoolRow rowAt(Ix n, Ix c, Ix d, Ix h) {
    PoolRow r{n, c, d, h, p.axes[0].inside(d), p.axes[1].inside(h), 0, 0};
    r.padded = p.axes[0].padded(d) * p.axes[1].padded(h);
    r.base = in.offset + n * in.strides[0] + c * in.strides[1] + (d * p.axes[0].step - p.axes[0].before) * strides[0] +
             (h * p.axes[1].step - p.axes[1].before) * strides[1] - p.axes[2].before * strides[2];
    r.tapDistance = {Ix(p.axes[0].tapStep) * strides[0], Ix(p.axes[1].tapStep) * strides[1]};
    return r;
  }

  void row(const PoolRow &r) {
    if (withIndices()) {
      return w.loop(0, p.axes[2].out, 1, [&](Ix i) { indexed(r, i); });
    }
    auto [first, last] = p.axes[2].interior();
    edges(r, 0, first);
    if (in.lanes > 1) {
      w.balanced(first, last, tilePixels, [&](Ix i, int64_t size) { pixels(r, i, size); });
    } else {
      w.lanes(last - first, [&, first = first](Ix i, int64_t lanes, Value mask) { plain(r, first + i, lanes, mask); });
    }
    edges(r, last, p.axes[2].out);
  }

  Build &build;
  Writer &w;
  const Pool &p;
  Ix rowsOfItem;
  plan::Strides in;
  Space space;
  Buffer x;
  std::array<Ix, 3> strides{};
  std::optional<PlanarPool> planar;

  /// Returns whether the op also gives the index of each maximum.
  bool withIndices() const {
    auto max = dyn_cast<onnx::MaxPoolOp>(build.group.root);
    return max && !max.getIndices().use_empty();
  }

  using Vectors = SmallVector<Value>;

  /// Returns the value of an empty window.
  Value started(int64_t lanes) { return poolStart(w, p, w.vectorOf(x.element, lanes)); }

  /// Finishes windows that begin at `column`, of which `inside` taps of the column are in the input and `padded` in the
  /// input and its padding, and stores them.
  void finish(const PoolRow &r, Ix column, Value acc, Ix inside, Ix padded, int64_t lanes, Value mask = {}) {
    Ix count = r.taps(p) * (p.countPadding ? padded : inside);
    build.group.finish(poolFinish(w, p, acc, p.kind == Pool::Average ? count : Ix(1)), space,
                       r.pointAt(p, column, lanes, mask));
  }

  /// Writes output columns [from, to), whose windows reach over the edge. They are written out when their number is
  /// known.
  void edges(const PoolRow &r, Ix from, Ix to) {
    if (!from.known() || !to.known()) {
      return w.loop(from, to, 1, [&](Ix i) { edge(r, i); });
    }
    for (int64_t i = from.number(); i < to.number(); ++i) {
      edge(r, i);
    }
  }

  /// Writes one such column.
  void edge(const PoolRow &r, Ix i) {
    const PoolAxis &a = p.axes[2];
    auto [first, last] = a.inside(i);
    Ix tap = Ix(a.tapStep) * strides[2];
    Vectors acc = r.fold(w, r.base + i * (Ix(a.step) * strides[2]), Vectors{started(in.lanes)},
                         [&, first = first, last = last](Ix at, ValueRange b) {
                           return w.loop(first, last, 1, b, [&](Ix k, ValueRange c) {
                             return Vectors{poolFold(w, p, c[0], w.load(x, at + k * tap, in.lanes))};
                           });
                         });
    finish(r, i, acc[0], last - first, a.padded(i), in.lanes);
  }

  /// Writes a tile of neighbouring blocked pixels. Each input vector is loaded once and folded into all windows that it
  /// is in.
  void pixels(const PoolRow &r, Ix i, int64_t size) {
    const PoolAxis &a = p.axes[2];
    Vectors acc =
        r.fold(w, r.base + i * (Ix(a.step) * strides[2]), Vectors(size, started(in.lanes)), [&](Ix at, ValueRange b) {
          if (a.taps > staticTaps) {
            return w.loop(0, a.taps, 1, b, [&](Ix k, ValueRange c) {
              Vectors next;
              for (int64_t q = 0; q < size; ++q) {
                next.push_back(
                    poolFold(w, p, c[q],
                             w.load(x, at + k * (Ix(a.tapStep) * strides[2]) + Ix(q * a.step) * strides[2], in.lanes)));
              }
              return next;
            });
          }
          Vectors next(b);
          llvm::DenseMap<int64_t, Value> loaded;
          for (int64_t k = 0; k < a.taps; ++k) {
            for (int64_t q = 0; q < size; ++q) {
              int64_t column = q * a.step + k * a.tapStep;
              Value &v = loaded[column];
              v = v ? v : w.load(x, at + Ix(column) * strides[2], in.lanes);
              next[q] = poolFold(w, p, next[q], v);
            }
          }
          return next;
        });
    for (int64_t q = 0; q < size; ++q) {
      finish(r, i + q, acc[q], a.taps, a.taps, in.lanes);
    }
  }

  /// Writes a vector of row-major outputs.
  void plain(const PoolRow &r, Ix i, int64_t lanes, Value mask) {
    const PoolAxis &a = p.axes[2];
    Vectors acc = r.fold(w, r.base + i * a.step, Vectors{started(lanes)}, [&](Ix at, ValueRange b) {
      return w.loop(0, a.taps, 1, b, [&](Ix k, ValueRange c) {
        Value v = w.loadStrided(x, at + k * a.tapStep, a.step, lanes, mask);
        return Vectors{poolFold(w, p, c[0], v)};
      });
    });
    finish(r, i, acc[0], a.taps, a.taps, lanes, mask);
  }

  /// Writes one maximum and its index in the whole input, row-major or with the image column by column.
  void indexed(const PoolRow &r, Ix i) {
    const PoolAxis &a = p.axes[2];
    auto [first, last] = a.inside(i);
    Type type = w.b.getI64Type();
    Ix image = p.axes[0].in * p.axes[1].in * a.in;
    Ix channel = (r.n * in.sizes[1] + r.c) * image;
    Vectors best =
        w.loop(r.slices.first, r.slices.second, 1, Vectors{started(1), w.constant(-1, type)}, [&](Ix d, ValueRange c0) {
          return w.loop(r.rows.first, r.rows.second, 1, c0, [&](Ix h, ValueRange c1) {
            return w.loop(first, last, 1, c1, [&](Ix k, ValueRange c2) {
              Ix z = r.d * p.axes[0].step - p.axes[0].before + d * p.axes[0].tapStep,
                 y = r.h * p.axes[1].step - p.axes[1].before + h * p.axes[1].tapStep;
              Ix column = i * a.step - a.before + k * a.tapStep;
              Value v = w.load(x, channel + (z * p.axes[1].in + y) * a.in + column);
              Ix index = channel + (p.columnMajor ? (column * p.axes[1].in + y) * p.axes[0].in + z
                                                  : (z * p.axes[1].in + y) * a.in + column);
              Value none = w.compare(arith::CmpIPredicate::slt, c2[1], w.constant(0, type));
              Value better = arith::OrIOp::create(w.b, w.loc, none, larger(v, c2[0]));
              Value next = arith::SelectOp::create(w.b, w.loc, better, v, c2[0]);
              return Vectors{next, arith::SelectOp::create(w.b, w.loc, better, w.integer(index, type), c2[1])};
            });
          });
        });
    Ix at = ((r.n * in.sizes[1] + r.c) * p.axes[0].out + r.d) * (p.axes[1].out * a.out) + r.h * a.out + i;
    auto yield = cast<plan::YieldOp>(build.group.kernel.getBody().front().getTerminator());
    for (auto [k, v] : llvm::enumerate(yield.getValues())) {
      w.store(v == build.group.root->getResult(0) ? best[0] : best[1], build.group.result(k), at);
    }
  }

  /// Returns (i1) whether a is larger than b.
  Value larger(Value a, Value b) {
    if (isa<FloatType>(a.getType())) {
      return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, a, b);
    }
    return w.compare(p.isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, a, b);
  }
};

class PoolFamily : public KernelFamily {
  static bool writesIndices(Operation *root) {
    auto max = dyn_cast<onnx::MaxPoolOp>(root);
    return max && !max.getIndices().use_empty();
  }

  static bool global(Operation *op) { return isa<onnx::GlobalAveragePoolOp, onnx::GlobalMaxPoolOp>(op); }
  /// Returns the number of images times that of channels, or of blocks of channels.
  static Size planes(Operation *op) {
    RankedTensorType in = Group::typeOf(op->getOperand(0));
    support::Sizes sizes = onnx::sizesOf(in);
    return sizes[0] * (plan::blockedOf(in) ? Size(plan::blocksOf(in)) : sizes[1]);
  }

  /// Whether an image has so many planes that threads can share them. The rows of a plane then are one work item: to
  /// find out where an item is takes as long as a short row.
  static bool isByPlane(Operation *op, const target::MachineModel &machine) {
    constexpr int64_t manyPlanes = 32;
    RankedTensorType in = Group::typeOf(op->getOperand(0));
    int64_t channels = plan::blockedOf(in) ? plan::blocksOf(in) : in.getDimSize(1);
    return !machine.itemsAreThreads && channels >= manyPlanes;
  }

public:
  SmallVector<TypeID> roots() const override {
    return rootsOf<onnx::MaxPoolOp, onnx::AveragePoolOp, onnx::LpPoolOp, onnx::GlobalAveragePoolOp,
                   onnx::GlobalMaxPoolOp>();
  }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    if (!onnx::isSized(root->getOperand(0)) || !onnx::isSized(root->getResult(0))) {
      return "shapes are not known at compile time";
    }
    return onnx::ranked(root->getOperand(0)).getRank() > 5 ? "more than three spatial axes" : "";
  }
  bool fusesEpilogue(Operation *root) const override { return !writesIndices(root); }
  /// Blocked layout is for images of float32 alone; indices are computed in row-major layout.
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    auto x = onnx::ranked(root->getOperand(0));
    bool image = x && x.getRank() >= 3 && onnx::computedIn(x.getElementType()).isF32();
    return image && !writesIndices(root) ? LayoutRule::Follow : LayoutRule::RowMajor;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    Operation *root = kernel.root();
    shape.items = planes(root);
    support::Sizes out = onnx::sizesOf(Group::typeOf(root->getResult(0)));
    size_t last = out.size() - 1; // the axis of the columns; that of the rows is in front of it
    for (size_t i = 2; !global(root) && i < last; ++i) {
      shape.items = shape.items * (i + 1 == last && isByPlane(root, machine) ? Size(1) : out[i]);
    }
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Operation *root = build.group.root;
    Pool pool = poolOf(root);
    if (global(root)) {
      buildGlobalPool(build, pool);
      return success();
    }
    Ix channels = plan::stridesOf(Group::typeOf(root->getOperand(0))).sizes[1], rows = pool.axes[1].out,
       slices = pool.axes[0].out;
    bool byPlane = isByPlane(root, build.w.machine);
    PoolLoops builder(build, pool, byPlane ? rows : Ix(1));
    build.w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix h = byPlane ? Ix(0) : remainder(item, rows), rest = byPlane ? item : floorDiv(item, rows);
      Ix d = remainder(rest, slices), plane = floorDiv(rest, slices);
      Ix n = floorDiv(plane, channels), c = remainder(plane, channels);
      builder.rows(n, c, d, h);
    });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createPoolFamily() { return std::make_unique<PoolFamily>(); }

} // namespace ingot::lower
