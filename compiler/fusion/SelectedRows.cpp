// Moves a Slice or a Gather of few rows above the products and the ops between them that make these rows:
//
//   Slice(MatMul(x, w), one row)  becomes  MatMul(Slice(x, one row), w)
//
// What classifies a text or an image reads one row of the last hidden state (the first token), and what writes text
// reads the scores behind the last one. The other rows of the products, normalisations and elementwise ops behind the
// last attention are computed for nobody.
//
// A row of a result is a row of A by all of B, and each row is normalised by itself. So each element is computed as
// before, and strict accuracy keeps the pattern. The selection moves above all ops that nothing but it reads, as
// far as a product is among them or above them: a selection of elementwise ops alone would cut them off the kernel that
// they follow. A residual sum and the normalisation beside it read one value, so they move together. The pattern comes
// to an end, since each application moves a selection up and none moves one down.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Normalization.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The most ops that a selection moves above.
constexpr size_t mostOps = 64;

/// A Slice along one axis or a Gather of a list of indices.
struct Selection {
  Operation *op;
  int64_t axis;
  /// The values that say which rows: starts, ends and steps, or indices.
  SmallVector<Value> which;

  Value data() const { return op->getOperand(0); }

  /// Returns what an op selects along one axis; nothing where it is another op, or takes more than half of the axis.
  static std::optional<Selection> of(Operation *op);
  /// Writes the same selection of another tensor. The axis of one index keeps a size of 1.
  Value of(onnx::Formula f, Value tensor, int64_t along) const;
};

std::optional<Selection> Selection::of(Operation *op) {
  auto data = op->getNumOperands() ? onnx::ranked(op->getOperand(0)) : RankedTensorType();
  if (!data || !isa<onnx::SliceOp, onnx::GatherOp>(op) || !onnx::isSized(op->getOperand(0)) ||
      !onnx::isSized(op->getResult(0))) {
    return std::nullopt;
  }
  Selection s{op, 0, {}};
  int64_t rows = 1; // that are selected
  if (auto slice = dyn_cast<onnx::SliceOp>(op)) {
    auto axes = onnx::integersOf(slice.getAxes());
    s.which = {slice.getStarts(), slice.getEnds(), slice.getSteps()};
    if (!axes || axes->size() != 1) {
      return std::nullopt;
    }
    s.axis = *onnx::normalAxis(axes->front(), data.getRank());
    rows = onnx::ranked(slice.getResult()).getDimSize(s.axis);
  } else {
    auto gather = cast<onnx::GatherOp>(op);
    auto indices = onnx::ranked(gather.getIndices());
    s.which = {gather.getIndices()};
    s.axis = *onnx::normalAxis(gather.getAxis(), data.getRank());
    if (!indices || indices.getRank() > 1) {
      return std::nullopt;
    }
    rows = indices.getRank() ? indices.getDimSize(0) : 1;
  }
  int64_t all = data.getDimSize(s.axis);
  bool areFew = rows != ShapedType::kDynamic && (all == ShapedType::kDynamic ? rows == 1 : 2 * rows <= all);
  return areFew ? std::optional(s) : std::nullopt;
}

Value Selection::of(onnx::Formula f, Value tensor, int64_t along) const {
  if (isa<onnx::SliceOp>(op)) {
    // All lists of a Slice have one type, which may be int32.
    auto type = onnx::tensorOf({1}, onnx::elementOf(which[0]));
    Value axes = onnx::makeConstant(f.b, f.loc, onnx::constantFromIntegers(type, {along}));
    return onnx::make<onnx::SliceOp>(f.b, f.loc, {tensor, which[0], which[1], axes, which[2]});
  }
  Value indices = onnx::ranked(which[0]).getRank() ? which[0] : f.reshape(which[0], {1});
  return onnx::make<onnx::GatherOp>(f.b, f.loc, {tensor, indices}, {f.integer("axis", along)});
}

/// Returns whether `op` is a product whose operand B has no part in its rows along `axis`.
bool isProductAlong(Operation *op, int64_t axis) {
  if (!isa<onnx::MatMulOp, formats::FewBitsMatMulOp>(op)) {
    return false;
  }
  auto type = onnx::ranked(op->getResult(0));
  int64_t row = type.getRank() - 2;
  auto a = onnx::ranked(op->getOperand(0));
  if (!a || a.getRank() != type.getRank() || axis > row) {
    return false;
  }
  auto product = dyn_cast<onnx::MatMulOp>(op);
  auto b = product ? onnx::ranked(product.getB()) : RankedTensorType();
  return !product || (!product.getTransA() && b && (axis == row ? b.getRank() >= 2 : b.getRank() == 2));
}

/// Returns the operands of `op` of which a selection of its result along `axis` takes rows, each with its axis; nothing
/// where rows are not computed each by itself.
std::optional<SmallVector<std::pair<unsigned, int64_t>>> operandsAlong(Operation *op, int64_t axis) {
  using Operands = SmallVector<std::pair<unsigned, int64_t>>;
  auto type = onnx::ranked(op->getResult(0));
  if (isProductAlong(op, axis)) {
    return Operands{{0, axis}};
  }
  if (auto standardize = dyn_cast<onnx::StandardizeOp>(op)) {
    return llvm::is_contained(standardize.getAxes(), axis) ? std::nullopt : std::optional(Operands{{0, axis}});
  }
  if (!isa<onnx::Elementwise>(op) || op->getNumResults() != 1) {
    return std::nullopt;
  }
  Operands operands;
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    if (!onnx::present(v)) {
      continue;
    }
    auto own = onnx::ranked(v);
    if (!own || !onnx::isSized(v)) {
      return std::nullopt;
    }
    int64_t at = axis - (type.getRank() - own.getRank());
    if (auto along = ownAxis(v, type, axis)) {
      operands.emplace_back(i, *along);
    } else if (at >= 0 && own.getDimSize(at) != 1) {
      return std::nullopt; // whether it repeats is known to the run alone
    }
  }
  return operands;
}

/// The ops that make rows of which a selection takes a few, and nothing else takes any.
class Makers {
public:
  explicit Makers(const Selection &selection) : selection(selection) {
    if (selection.data().hasOneUse()) {
      collect(selection.data().getDefiningOp(), selection.axis);
    }
    for (size_t i = 0; i < axes.size(); ++i) { // each may have let others be read by makers alone
      auto [op, axis] = *std::next(axes.begin(), static_cast<int64_t>(i));
      auto operands = *operandsAlong(op, axis);
      for (auto [number, along] : operands) {
        if (areReadAlong(op->getOperand(number), along)) {
          collect(op->getOperand(number).getDefiningOp(), along);
        }
      }
    }
    axes.remove_if([&](const auto &maker) { return !reachesProduct(maker.first); });
  }
  bool empty() const { return axes.empty(); }

  /// Writes the makers for the rows that are selected, and returns the result of the last one.
  Value write(onnx::Formula f) {
    SmallVector<Operation *> order = llvm::map_to_vector(axes, [](const auto &maker) { return maker.first; });
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    llvm::DenseMap<Value, Value> rows;
    for (Operation *op : order) {
      SmallVector<Value> operands(op->getOperands());
      auto along = *operandsAlong(op, axes.lookup(op));
      for (auto [number, axis] : along) {
        Value &part = rows[operands[number]];
        operands[number] = part = part ? part : selection.of(f, operands[number], axis);
      }
      rows[op->getResult(0)] =
          onnx::createOp(f.b, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs())->getResult(0);
    }
    return rows.lookup(selection.data());
  }

private:
  const Selection &selection;
  llvm::MapVector<Operation *, int64_t> axes; ///< makers, each with the axis of its result, readers before them

  void collect(Operation *op, int64_t axis) {
    if (op && op->getBlock() == selection.op->getBlock() && axes.size() < mostOps && operandsAlong(op, axis)) {
      axes.insert({op, axis});
    }
  }

  /// Returns whether all that read `v` are makers, which take rows along `axis` of it.
  bool areReadAlong(Value v, int64_t axis) const {
    return llvm::all_of(v.getUses(), [&](OpOperand &use) {
      const auto *maker = axes.find(use.getOwner());
      return maker != axes.end() &&
             llvm::is_contained(*operandsAlong(maker->first, maker->second), std::pair(use.getOperandNumber(), axis));
    });
  }

  bool reachesProduct(Operation *op) const {
    int64_t axis = axes.lookup(op);
    return isProductAlong(op, axis) || llvm::any_of(*operandsAlong(op, axis), [&](auto operand) {
             Operation *maker = op->getOperand(operand.first).getDefiningOp();
             return axes.contains(maker) && reachesProduct(maker);
           });
  }
};

template <typename Op> struct SelectedRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto selection = Selection::of(op);
    if (!selection) {
      return failure();
    }
    Makers makers(*selection);
    if (makers.empty()) {
      return failure();
    }
    onnx::Formula f(rewriter, op->getLoc());
    rewriter.replaceOp(op, f.reshapeTo(makers.write(f), onnx::sizesOf(onnx::ranked(op->getResult(0)))));
    return success();
  }
};

} // namespace

void populateSelectedRows(RewritePatternSet &patterns) {
  patterns.add<SelectedRows<onnx::SliceOp>, SelectedRows<onnx::GatherOp>>(patterns.getContext());
}

} // namespace ingot::fusion
