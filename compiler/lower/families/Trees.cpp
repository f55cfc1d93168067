// Evaluates ensembles of decision trees. A step down a tree is a chain of dependent loads, so several chains are walked
// at once and their latencies overlap: several rows through one tree, and for the rows that are left, one row through
// several trees. There is no branch to mispredict: the comparison is added to the place of the next two nodes, and a
// leaf leads to itself, so all chains walk as many steps as the deepest leaf needs. Deep trees are seldom deep
// everywhere, so for them the loop tests every few steps whether a chain still moves.
//
// Rows go through a tree in tiles, whose elements stay in the first cache while the tree does. What leaves give is
// added up in the order of the trees, whichever way a row went, so a row's result does not depend on its neighbours.
#include "compiler/onnx/ops/Trees.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Portion.h"
#include "compiler/lower/core/Sort.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

constexpr int64_t chains = 8;  ///< chains that are walked at once
constexpr int64_t tile = 32;   ///< rows of a tile
constexpr int64_t shallow = 8; ///< the most levels that are walked without a test
/// Steps between two tests whether a chain still moves.
constexpr int64_t betweenAsks = 4;

/// Builds the loops of one kernel.
class Ensemble {
public:
  explicit Ensemble(Build &build)
      : build(build), w(build.w), op(cast<onnx::TreesOp>(build.group.root)), x(build.group.buffer(op.getX())),
        splits(build.group.buffer(op.getSplits())), links(build.group.buffer(op.getLinks())),
        weights(build.group.buffer(op.getWeights())), roots(build.group.buffer(op.getRoots())),
        depths(build.group.buffer(op.getDepths())),
        targetOf(onnx::present(op.getTargets()) ? build.group.buffer(op.getTargets()) : Buffer()),
        y(build.group.result()), i64(w.b.getI64Type()), count(op.getCount()) {
    how = op.getCombine() == "sum" ? Combine::Add : op.getCombine() == "min" ? Combine::Min : Combine::Max;
    support::Sizes sizes = onnx::sizesOf(Group::typeOf(op.getX()));
    rows = sizes[0], features = w.hidden(sizes[1]);
    trees = Group::typeOf(op.getRoots()).getNumElements();
  }

  void write(const KernelShape &shape) {
    Portion portion(build, shape.items, {rows});
    Ix whole = floorDiv(rows, tile) * tile;
    portion.loop(0, whole, tile, [&](Ix row) { severalRows(row, tile); });
    portion.rest(0, [&] {
      Ix blocks = floorDiv(rows, chains) * chains;
      w.loop(whole, blocks, chains, [&](Ix row) { severalRows(row, chains); });
      w.loop(blocks, rows, 1, [&](Ix row) { oneRow(row); });
    });
  }

private:
  Build &build;
  Writer &w;
  onnx::TreesOp op;
  Buffer x, splits, links, weights, roots, depths, targetOf, y;
  Type i64;
  int64_t count, trees = 0;
  Combine how = Combine::Add;
  Ix rows, features;

  /// Combines what two trees give: a sum, minimum or maximum.
  Value add(Value a, Value b) { return combine(w, how, a, b); }

  /// Returns the node one level down from node `at`, for a row that begins at element `row`.
  Value step(Value at, Ix row) {
    bool mixed = op.getMissing() == "mixed";
    Value link = w.load(links, w.ix(at));
    Value mask = w.constant(mixed ? 0x7fffffff : 0xffffffff, i64);
    Value feature = arith::AndIOp::create(w.b, w.loc, link, mask);
    Value v = w.load(x, row + w.ix(feature)), split = w.load(splits, w.ix(at));
    using P = arith::CmpFPredicate;
    P second = op.getMissing() == "always" ? P::OGT : P::UGT;
    Value goes = arith::CmpFOp::create(w.b, w.loc, second, v, split);
    if (mixed) { // NaN goes to the second node unless the flag in the link is set
      Value flag = w.compare(arith::CmpIPredicate::eq,
                             arith::AndIOp::create(w.b, w.loc, link, w.constant(0x80000000, i64)), w.constant(0, i64));
      Value number = arith::CmpFOp::create(w.b, w.loc, P::OEQ, v, v);
      goes = arith::AndIOp::create(w.b, w.loc, goes, arith::OrIOp::create(w.b, w.loc, flag, number));
    }
    Value first = arith::ShRSIOp::create(w.b, w.loc, link, w.constant(32, i64));
    return arith::AddIOp::create(w.b, w.loc, first, arith::ExtUIOp::create(w.b, w.loc, i64, goes));
  }

  /// Takes all chains one level down.
  SmallVector<Value> level(ValueRange at, ArrayRef<Ix> row) {
    SmallVector<Value> next;
    for (auto [node, begin] : llvm::zip_equal(at, row)) {
      next.push_back(step(node, begin));
    }
    return next;
  }

  /// Returns the leaves that chains reach, which are at most `depth` levels down.
  SmallVector<Value> leaves(ArrayRef<Value> at, ArrayRef<Ix> row, Ix depth) {
    if (deepest() <= shallow) {
      return w.loop(0, depth, 1, at, [&](Ix, ValueRange nodes) { return level(nodes, row); }, /*unroll=*/false);
    }
    // The state of the loop is the nodes, and whether one of them was left in the last step.
    SmallVector<Value> state(at);
    state.push_back(w.constant(1, w.b.getI1Type()));
    state = repeatWhile(
        w, state, [&](ValueRange nodes) { return nodes.back(); },
        [&](ValueRange nodes) {
          SmallVector<Value> now(nodes.drop_back()), last;
          for (int64_t i = 0; i < betweenAsks; ++i) {
            last = now, now = level(now, row);
          }
          Value moved;
          for (auto [a, b] : llvm::zip_equal(last, now)) {
            Value differ = arith::XOrIOp::create(w.b, w.loc, a, b);
            moved = moved ? arith::OrIOp::create(w.b, w.loc, moved, differ).getResult() : differ;
          }
          now.push_back(w.compare(arith::CmpIPredicate::ne, moved, w.constant(0, i64)));
          return now;
        });
    state.pop_back();
    return state;
  }

  /// Returns the depth of the deepest tree, if it is known.
  int64_t deepest() {
    auto all = onnx::integersOf(constantOperand(build.group.kernel, op.getDepths()));
    return all && !all->empty() ? *llvm::max_element(*all) : shallow + 1;
  }

  /// Initializes the results of n rows.
  void clear(Ix row, int64_t n) {
    Value nothing = neutral(w, how, y.element);
    w.loop(row * count, (row + n) * count, 1, [&](Ix i) { w.store(nothing, y, i); });
  }

  /// Adds what a leaf of a tree gives to the results of a row.
  void give(Value leaf, Ix row, Ix tree) {
    auto to = [&](Ix target, Ix weight) {
      Ix at = row * count + target;
      w.store(add(w.load(y, at), w.load(weights, weight)), y, at);
    };
    if (targetOf) {
      to(count == 1 ? Ix(0) : w.ix(w.load(targetOf, tree)), w.ix(leaf));
    } else {
      w.loop(0, count, 1, [&](Ix target) { to(target, w.ix(leaf) * count + target); });
    }
  }

  /// Walks n rows through all trees.
  void severalRows(Ix first, int64_t n) {
    clear(first, n);
    w.loop(0, trees, 1, [&](Ix tree) {
      Value root = w.load(roots, tree);
      Ix depth = w.ix(w.load(depths, tree));
      w.loop(0, n, chains, [&](Ix block) {
        SmallVector<Ix> begins;
        for (int64_t i = 0; i < chains; ++i) {
          begins.push_back((first + block + i) * features);
        }
        SmallVector<Value> found = leaves(SmallVector<Value>(chains, root), begins, depth);
        for (auto [i, leaf] : llvm::enumerate(found)) {
          give(leaf, first + block + static_cast<int64_t>(i), tree);
        }
      });
    });
  }

  /// Walks a row through trees [tree, tree + n).
  void someTrees(Ix row, Ix tree, int64_t n) {
    SmallVector<Value> at;
    Ix depth = 0;
    for (int64_t i = 0; i < n; ++i) {
      at.push_back(w.load(roots, tree + i));
      depth = max(depth, w.ix(w.load(depths, tree + i)));
    }
    SmallVector<Value> found = leaves(at, SmallVector<Ix>(n, row * features), depth);
    for (auto [i, leaf] : llvm::enumerate(found)) {
      give(leaf, row, tree + static_cast<int64_t>(i));
    }
  }

  /// Walks one row through all trees.
  void oneRow(Ix row) {
    clear(row, 1);
    int64_t whole = trees / chains * chains;
    w.loop(0, whole, chains, [&](Ix tree) { someTrees(row, tree, chains); });
    if (trees > whole) {
      someTrees(row, whole, trees - whole);
    }
  }
};

class Trees : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::TreesOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    auto op = cast<onnx::TreesOp>(kernel.root());
    support::Size rows = onnx::sizeOf(Group::typeOf(op.getX()), 0);
    int64_t most = machine.tuning.lightItems, trees = Group::typeOf(op.getRoots()).getNumElements();
    if (rows.isNumber()) { // a tree takes about as long as four elements of an elementwise op
      most = std::clamp<int64_t>(rows.number() * trees * 4 / machine.tuning.itemElements, 1,
                                 std::min(most, std::max<int64_t>(rows.number() / tile, 1)));
    }
    shape.items = most;
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Ensemble(build).write(shape);
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createTreesFamily() { return std::make_unique<Trees>(); }

} // namespace ingot::lower
