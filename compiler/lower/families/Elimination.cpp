// Computes determinants and inverses by Gauss's elimination. The largest element of a column, from the diagonal down,
// becomes its pivot, and the rows below are cleared. For an inverse a unit matrix stands beside the matrix, and the
// triangular system that is left is solved from the bottom up.
//
// Rows are subtracted undivided, as LAPACK does it. So the pivots of a matrix that is singular but for rounding are
// what rounding makes of them in LAPACK, too, and not zeros. Matrices are copied to scratch memory first, one after the
// other.
#include "compiler/lower/Family.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/LinearAlgebra.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

/// Returns the columns in scratch memory for a matrix with `n` columns.
support::Size widthOf(Operation *root, const support::Size &n) {
  return isa<onnx::InverseOp>(root) ? n * support::Size(2) : n;
}
/// Returns the sizes of the operand, whose last two axes are those of the matrices.
support::Sizes sizesOfMatrices(Operation *root) { return onnx::sizesOf(Group::typeOf(root->getOperand(0))); }

/// Builds the loops of one kernel. `a` is the matrix in scratch memory, with `n` rows of `width` columns.
class Matrices {
public:
  explicit Matrices(Build &build)
      : w(build.w), root(build.group.root), x(build.group.buffer(root->getOperand(0))), y(build.group.result()) {
    support::Sizes sizes = sizesOfMatrices(root);
    isInverse = isa<onnx::InverseOp>(root);
    count = support::product(ArrayRef(sizes).drop_back(2));
    n = sizes.back(), width = widthOf(root, sizes.back());
    a = w.scratch(build.scratch, 0, x.element, memoryExtent(sizes.back() * widthOf(root, sizes.back())));
  }

  void write() {
    w.loop(0, count, 1, [&](Ix matrix) {
      read(matrix * n * n);
      Value one = w.constant(1, x.element);
      Value det = w.loop(0, n, 1, one, [&](Ix k, ValueRange carried) { return column(k, carried[0]); })[0];
      if (!isInverse) {
        return w.store(det, y, matrix);
      }
      solve();
      each([&](Ix i, Ix j) { w.store(w.load(a, i * width + n + j), y, matrix * n * n + i * n + j); });
    });
  }

private:
  Writer &w;
  Operation *root;
  Buffer x, y, a;
  bool isInverse = false;
  Ix count, n, width;

  Num number(Value v) { return Num(w.b, w.loc, v, x.element); }
  /// Calls the body for each row and column of a matrix.
  void each(llvm::function_ref<void(Ix, Ix)> body) {
    w.loop(0, n, 1, [&](Ix i) { w.loop(0, n, 1, [&](Ix j) { body(i, j); }); });
  }

  void read(Ix from) {
    each([&](Ix i, Ix j) {
      w.store(w.load(x, from + i * n + j), a, i * width + j);
      if (isInverse) {
        Value onDiagonal = w.compare(arith::CmpIPredicate::eq, i, j);
        w.store(select(number(onDiagonal), number(w.constant(1, x.element)), number(w.constant(0, x.element))), a,
                i * width + n + j);
      }
    });
  }

  /// Returns the row, from k on, with the largest element of column k.
  Ix pivotRow(Ix k) {
    Value first = onnx::abs(number(w.load(a, k * width + k)));
    return w.ix(w.loop(k + 1, n, 1, {first, w.value(k)}, [&](Ix i, ValueRange best) {
      Num own = onnx::abs(number(w.load(a, i * width + k)));
      Value isMore = own > number(best[0]);
      auto pick = [&](Value yes, Value no) -> Value { return arith::SelectOp::create(w.b, w.loc, isMore, yes, no); };
      return SmallVector<Value>{pick(own, best[0]), pick(w.value(i), best[1])};
    })[1]);
  }

  /// Clears column k below the diagonal, and returns the determinant so far.
  SmallVector<Value> column(Ix k, Value det) {
    Ix p = pivotRow(k);
    w.loop(k, width, 1, [&](Ix j) {
      Value upper = w.load(a, k * width + j), lower = w.load(a, p * width + j);
      w.store(lower, a, k * width + j);
      w.store(select(number(w.compare(arith::CmpIPredicate::eq, p, k)), number(lower), number(upper)), a,
              p * width + j);
    });
    Num pivot = number(w.load(a, k * width + k)), product = number(det) * pivot;
    Num signedProduct = select(number(w.compare(arith::CmpIPredicate::eq, p, k)), product, -product);
    Num safe = select(pivot == pivot.constant(0), pivot.constant(1), pivot); // all elements below are zero then, too
    w.loop(k + 1, n, 1, [&](Ix i) { subtract(i, k, number(w.load(a, i * width + k)) / safe, k); });
    return {signedProduct};
  }

  /// Subtracts `factor` times row k from row i, from column `from` on.
  void subtract(Ix i, Ix k, Num factor, Ix from) {
    w.loop(from, width, 1, [&](Ix j) {
      Num own = number(w.load(a, i * width + j));
      w.store(own - factor * number(w.load(a, k * width + j)), a, i * width + j);
    });
  }

  /// Solves the triangular system, which makes the unit matrix beside it the inverse.
  void solve() {
    w.loop(0, n, 1, [&](Ix i) {
      Ix k = n - Ix(1) - i;
      Num pivot = number(w.load(a, k * width + k));
      w.loop(n, width, 1, [&](Ix j) { w.store(number(w.load(a, k * width + j)) / pivot, a, k * width + j); });
      w.loop(0, k, 1, [&](Ix above) { subtract(above, k, number(w.load(a, above * width + k)), n); });
    });
  }
};

class Elimination : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::DetOp, onnx::InverseOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    support::Size n = sizesOfMatrices(kernel.root()).back();
    bool isDouble = Group::typeOf(kernel.root()->getOperand(0)).getElementType().isF64();
    shape.scratchBytes = n * widthOf(kernel.root(), n) * support::Size(isDouble ? 8 : 4);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Matrices(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createEliminationFamily() { return std::make_unique<Elimination>(); }

} // namespace ingot::lower
