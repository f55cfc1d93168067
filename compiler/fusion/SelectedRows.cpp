// Moves a Slice or a Gather of few rows above the products and the ops between them that make these rows:
//
//   Slice(MatMul(x, w), one row)  becomes  MatMul(Slice(x, one row), w)
//
// What classifies a text or an image reads one row of the last hidden state (the first token), and what writes text
// reads the scores behind the last one. The other rows of the products, normalisations and elementwise ops behind the
// last attention are computed for nobody.
//
// A row of a result is a row of A by all of B, and each row is normalised by itself. So each element is computed as
// before, and strict accuracy keeps the pattern. The selection moves only if it gets above a product, past ops that
// nothing else reads: a selection of elementwise ops alone would cut them off the kernel that they follow. The pattern
// comes to an end, since each application moves a selection up and none moves one down.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Normalization.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Ops further than this above a selection are not looked at.
constexpr int64_t mostOps = 24;

/// A Slice along one axis or a Gather of a list of indices.
struct Selection {
  Operation *op;
  int64_t axis;
  /// The values that say which rows: starts, ends and steps, or indices.
  SmallVector<Value> which;

  Value data() const { return op->getOperand(0); }
  RankedTensorType type() const { return onnx::ranked(data()); }

  /// Returns what an op selects along one axis; nothing where it is another op, or takes more than half of the axis.
  static std::optional<Selection> of(Operation *op);
  /// Writes the same selection of another tensor. The axis of one index keeps a size of 1.
  Value of(onnx::Formula f, Value tensor, int64_t along) const;
  /// Returns whether both select the same rows of one tensor.
  bool isSameAs(const std::optional<Selection> &other) const;
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
    return onnx::make<onnx::SliceOp>(f.b, f.loc, {tensor, which[0], which[1], onnx::makeIntegers(f.b, f.loc, {along}), which[2]});
  }
  Value indices = onnx::ranked(which[0]).getRank() ? which[0] : f.reshape(which[0], {1});
  return onnx::make<onnx::GatherOp>(f.b, f.loc, {tensor, indices}, {f.integer("axis", along)});
}

bool Selection::isSameAs(const std::optional<Selection> &other) const {
  auto areEqual = [](Value a, Value b) {
    auto numbers = onnx::integersOf(a);
    return a == b || (numbers && numbers == onnx::integersOf(b));
  };
  return other && other->op->getName() == op->getName() && other->op->getBlock() == op->getBlock() &&
         other->data() == data() && other->axis == axis && other->op->getResultTypes() == op->getResultTypes() &&
         llvm::equal(other->which, which, areEqual);
}

/// Returns whether `op` is a product whose operand B has no part in its rows along `axis`.
bool isProductAlong(Operation *op, int64_t axis) {
  auto type = onnx::ranked(op->getResult(0));
  int64_t row = type.getRank() - 2;
  auto a = onnx::ranked(op->getOperand(0));
  if (!a || a.getRank() != type.getRank() || axis > row) {
    return false;
  }
  if (auto product = dyn_cast<onnx::MatMulOp>(op)) {
    auto b = onnx::ranked(product.getB());
    return !product.getTransA() && b && (axis == row ? b.getRank() >= 2 : b.getRank() == 2);
  }
  return isa<formats::FewBitsMatMulOp>(op);
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

/// Returns whether a selection of the result of `op` along `axis` gets above a product, past ops that nothing else
/// reads.
bool reachesProduct(Operation *op, int64_t axis, int64_t ops = mostOps) {
  auto operands = op && ops > 0 ? operandsAlong(op, axis) : std::nullopt;
  return operands && (isProductAlong(op, axis) || llvm::any_of(*operands, [&](auto operand) {
                        Value v = op->getOperand(operand.first);
                        return v.hasOneUse() && reachesProduct(v.getDefiningOp(), operand.second, ops - 1);
                      }));
}

template <typename Op> struct SelectedRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto selection = Selection::of(op);
    Operation *made = selection ? selection->data().getDefiningOp() : nullptr;
    if (!made || made->getBlock() != op->getBlock()) {
      return failure();
    }
    SmallVector<Operation *> users = llvm::to_vector(made->getUsers());
    auto isSame = [&](Operation *user) {
      return user == op || (selection->isSameAs(Selection::of(user)) && op->isBeforeInBlock(user));
    };
    auto operands = operandsAlong(made, selection->axis);
    if (!operands || operands->empty() || !llvm::all_of(users, isSame) || !reachesProduct(made, selection->axis)) {
      return failure();
    }
    onnx::Formula f(rewriter, jointLoc(rewriter, {made, op}));
    SmallVector<Value> rows(made->getOperands());
    for (auto [operand, axis] : *operands) {
      rows[operand] = selection->of(f, rows[operand], axis);
    }
    Operation *less = onnx::createOp(rewriter, f.loc, made->getName().getStringRef(), rows, made->getAttrs());
    Value result = f.reshapeTo(less->getResult(0), onnx::sizesOf(onnx::ranked(op->getResult(0))));
    for (Operation *user : users) {
      rewriter.replaceOp(user, result);
    }
    return success();
  }
};

} // namespace

void populateSelectedRows(RewritePatternSet &patterns) {
  patterns.add<SelectedRows<onnx::SliceOp>, SelectedRows<onnx::GatherOp>>(patterns.getContext());
}

} // namespace ingot::fusion
