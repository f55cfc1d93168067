// Builds pools. Windows are clipped to the input: rows and slices by bounds that are computed for each row of outputs,
// and columns at the edges by static bounds. In between, a tile of pixels (or a vector, row-major) needs no bounds.
#include "compiler/onnx/ops/Pool.h"
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
  PoolLoops(Build &build, const Pool &pool)
      : build(build), w(build.w), p(pool), in(plan::stridesOf(Group::typeOf(build.group.root->getOperand(0)))),
        space(build.group.space(build.group.resultType())), x(build.group.buffer(build.group.root->getOperand(0))) {
    for (int64_t i = 0; i < 3; ++i) {
      int64_t dim = p.rank - 3 + i;
      strides[i] = dim < 2 ? Ix(0) : in.strides[dim];
    }
  }

  /// Writes all outputs of one row.
  void row(Ix n, Ix c, Ix d, Ix h) {
    Row r{n, c, d, h, p.axes[0].inside(d), p.axes[1].inside(h), 0, 0};
    r.padded = p.axes[0].padded(d) * p.axes[1].padded(h);
    r.base = in.offset + n * in.strides[0] + c * in.strides[1] + (d * p.axes[0].step - p.axes[0].before) * strides[0] +
             (h * p.axes[1].step - p.axes[1].before) * strides[1] - p.axes[2].before * strides[2];
    if (withIndices()) {
      w.loop(0, p.axes[2].out, 1, [&](Ix i) { indexed(r, i); });
      return;
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

private:
  /// A row of outputs: its image, channel (or block of channels), slice and row.
  struct Row {
    Ix n, c, d, h;
    std::pair<Ix, Ix> slices, rows; ///< taps inside of the input, as [first, last)
    Ix base, padded;                ///< where the first tap of output 0 is; taps inside of the input and the padding
  };

  Build &build;
  Writer &w;
  const Pool &p;
  plan::Strides in;
  Space space;
  Buffer x;
  std::array<Ix, 3> strides{};

  /// Returns whether the op also gives the index of each maximum.
  bool withIndices() const {
    auto max = dyn_cast<onnx::MaxPoolOp>(build.group.root);
    return max && !max.getIndices().use_empty();
  }

  using Vectors = SmallVector<Value>;

  /// Folds over slices and rows; `columns` folds one row of taps, given where it begins.
  Vectors overRows(const Row &r, Ix at, Vectors acc, llvm::function_ref<Vectors(Ix, ValueRange)> columns) {
    return w.loop(r.slices.first, r.slices.second, 1, acc, [&](Ix d, ValueRange a) {
      return w.loop(r.rows.first, r.rows.second, 1, a, [&](Ix h, ValueRange b) {
        return columns(at + d * (Ix(p.axes[0].tapStep) * strides[0]) + h * (Ix(p.axes[1].tapStep) * strides[1]), b);
      });
    });
  }

  /// Returns the value of an empty window.
  Value started(int64_t lanes) { return poolStart(w, p, w.vectorOf(x.element, lanes)); }

  /// Finishes windows that begin at `column`, of which `inside` taps of the column are in the input and `padded` in the
  /// input and its padding, and stores them.
  void finish(const Row &r, Ix column, Value acc, Ix inside, Ix padded, int64_t lanes, Value mask = {}) {
    Ix count = p.countPadding ? r.padded * padded
                              : (r.slices.second - r.slices.first) * (r.rows.second - r.rows.first) * inside;
    Point at;
    std::array<Ix, 3> spatial{r.d, r.h, column};
    at.at = {r.n, r.c};
    at.at.append(spatial.begin() + (5 - p.rank), spatial.end());
    at.lanes = lanes, at.mask = mask;
    build.group.finish(poolFinish(w, p, acc, p.kind == Pool::Average ? count : Ix(1)), space, at);
  }

  /// Writes output columns [from, to), whose windows reach over the edge. They are written out when their number is
  /// known.
  void edges(const Row &r, Ix from, Ix to) {
    if (!from.known() || !to.known()) {
      return w.loop(from, to, 1, [&](Ix i) { edge(r, i); });
    }
    for (int64_t i = from.number(); i < to.number(); ++i) {
      edge(r, i);
    }
  }

  /// Writes one such column.
  void edge(const Row &r, Ix i) {
    const PoolAxis &a = p.axes[2];
    auto [first, last] = a.inside(i);
    Ix tap = Ix(a.tapStep) * strides[2];
    Vectors acc = overRows(r, r.base + i * (Ix(a.step) * strides[2]), {started(in.lanes)},
                           [&, first = first, last = last](Ix at, ValueRange b) {
                             return w.loop(first, last, 1, b, [&](Ix k, ValueRange c) {
                               return Vectors{poolFold(w, p, c[0], w.load(x, at + k * tap, in.lanes))};
                             });
                           });
    finish(r, i, acc[0], last - first, a.padded(i), in.lanes);
  }

  /// Writes a tile of neighbouring blocked pixels. Each input vector is loaded once and folded into all windows that it
  /// is in.
  void pixels(const Row &r, Ix i, int64_t size) {
    const PoolAxis &a = p.axes[2];
    Vectors acc =
        overRows(r, r.base + i * (Ix(a.step) * strides[2]), Vectors(size, started(in.lanes)), [&](Ix at, ValueRange b) {
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
  void plain(const Row &r, Ix i, int64_t lanes, Value mask) {
    const PoolAxis &a = p.axes[2];
    Vectors acc = overRows(r, r.base + i * a.step, {started(lanes)}, [&](Ix at, ValueRange b) {
      return w.loop(0, a.taps, 1, b, [&](Ix k, ValueRange c) {
        Value v = w.loadStrided(x, at + k * a.tapStep, a.step, lanes, mask);
        return Vectors{poolFold(w, p, c[0], v)};
      });
    });
    finish(r, i, acc[0], a.taps, a.taps, lanes, mask);
  }

  /// Writes one maximum and its index in the whole input, row-major or with the image column by column.
  void indexed(const Row &r, Ix i) {
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

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    Operation *root = kernel.root();
    shape.items = planes(root);
    support::Sizes out = onnx::sizesOf(Group::typeOf(root->getResult(0)));
    for (size_t i = 2; !global(root) && i + 1 < out.size(); ++i) {
      shape.items = shape.items * out[i];
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
    PoolLoops builder(build, pool);
    Ix channels = plan::stridesOf(Group::typeOf(root->getOperand(0))).sizes[1], rows = pool.axes[1].out,
       slices = pool.axes[0].out;
    build.w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix h = remainder(item, rows), rest = floorDiv(item, rows), d = remainder(rest, slices),
         plane = floorDiv(rest, slices);
      builder.row(floorDiv(plane, channels), remainder(plane, channels), d, h);
    });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createPoolFamily() { return std::make_unique<PoolFamily>(); }

} // namespace ingot::lower
