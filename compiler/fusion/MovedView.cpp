// Transposes and reshapes change places with elementwise ops, where that saves a transpose or lets the elementwise op
// be computed in the registers of the kernel before it:
// - a transpose behind elementwise ops whose full-size operands are all transposes moves up to those and merges with
//   them;
// - two transposes of one order before an elementwise op become one behind it;
// - a reshape moves behind an elementwise op of one tensor.
//
// The patterns come to an end, since each application lowers the number of transposes, or moves a reshape down and
// never up.
#include "compiler/fusion/Match.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// A region with more ops than this between two transposes is left alone.
constexpr size_t mostOps = 32;

/// Returns whether `perm` leaves every axis where it is.
bool isIdentity(ArrayRef<int64_t> perm) { return llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())); }

/// Returns the order of axes that transposing by `first` and then by `second` gives.
SmallVector<int64_t> composed(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  return llvm::map_to_vector(second, [&](int64_t axis) { return first[axis]; });
}

/// Makes a copy of `op` with other operands and returns its result.
Value remade(PatternRewriter &rewriter, Operation *op, ValueRange operands) {
  return onnx::createOp(rewriter, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs())->getResult(0);
}

/// Returns a constant with its axes in the order of `perm`. The constant broadcasts to as many axes as `perm` has, so
/// axes of size 1 are put in front of its own first.
Value transposedConstant(PatternRewriter &rewriter, Value constant, ArrayRef<int64_t> perm) {
  auto type = onnx::ranked(constant);
  if (type.getNumElements() == 1) {
    return constant;
  }
  SmallVector<int64_t> shape(perm.size() - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  return transposed(rewriter, constant.getLoc(), reshaped(rewriter, constant.getLoc(), constant, shape), perm);
}

/// The elementwise ops between a transpose and the transposes that feed them.
struct Region {
  llvm::SetVector<Operation *> ops; ///< operands before users
  llvm::SetVector<Operation *> leaves;

  /// Adds what makes `v` to the region. Returns whether `v`, a tensor of `shape` or a constant that broadcasts to it,
  /// can be computed in another order of its axes.
  bool collect(Value v, ArrayRef<onnx::Size> shape) {
    auto type = onnx::ranked(v);
    Operation *op = v.getDefiningOp();
    if (!op || !type || !onnx::isSized(v)) {
      return false;
    }
    if (onnx::constantOf(v)) {
      return type.getRank() <= static_cast<int64_t>(shape.size());
    }
    if (!llvm::equal(onnx::sizesOf(type), shape)) {
      return false;
    }
    if (isa<onnx::TransposeOp>(op)) {
      leaves.insert(op);
      return true;
    }
    if (!isa<onnx::Elementwise>(op) || !v.hasOneUse() || ops.size() >= mostOps) {
      return false;
    }
    for (Value operand : op->getOperands()) {
      if (onnx::present(operand) && !collect(operand, shape)) {
        return false;
      }
    }
    ops.insert(op);
    return true;
  }
};

/// Moves a transpose up through a region of elementwise ops to the transposes that feed it, where fewer are left than
/// before. `before` and `after` count transposes: a leaf that others read stays beside its merged copy, and a leaf that
/// merges to the identity goes.
struct TransposeUp : OpRewritePattern<onnx::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::TransposeOp op, PatternRewriter &rewriter) const override {
    Region region;
    auto type = onnx::ranked(op.getData());
    if (!type || !onnx::isSized(op.getData()) || !region.collect(op.getData(), onnx::sizesOf(type)) ||
        region.ops.empty()) {
      return failure();
    }
    SmallVector<int64_t> perm = op.permutation();
    size_t before = 1, after = 0;
    for (Operation *leaf : region.leaves) {
      bool others = llvm::any_of(leaf->getUsers(), [&](Operation *user) { return !region.ops.contains(user); });
      before += 1;
      after += (others ? 1 : 0) + (isIdentity(composed(cast<onnx::TransposeOp>(leaf).permutation(), perm)) ? 0 : 1);
    }
    if (after >= before) {
      return failure();
    }
    IRMapping map;
    auto moved = [&](Value v) -> Value {
      if (map.contains(v) || !onnx::present(v)) {
        return map.lookupOrDefault(v);
      }
      if (auto leaf = v.getDefiningOp<onnx::TransposeOp>()) {
        return transposed(rewriter, leaf.getLoc(), leaf.getData(), composed(leaf.permutation(), perm));
      }
      return transposedConstant(rewriter, v, perm);
    };
    for (Operation *inner : region.ops) {
      SmallVector<Value> operands = llvm::map_to_vector(inner->getOperands(), moved);
      map.map(inner->getResult(0), remade(rewriter, inner, operands));
    }
    rewriter.replaceOp(op, map.lookup(op.getData()));
    return success();
  }
};

/// Moves the transposes of an elementwise op's operands behind it, where all have one order and at least two of them
/// have no other reader. Single numbers among the operands stay as they are.
struct TransposesDown : OpInterfaceRewritePattern<onnx::Elementwise> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(onnx::Elementwise op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> perm;
    llvm::SmallPtrSet<Operation *, 4> saved;
    auto type = onnx::ranked(op->getResult(0));
    if (!type || !onnx::isSized(op->getResult(0))) {
      return failure();
    }
    for (Value v : op->getOperands()) {
      auto transpose = v.getDefiningOp<onnx::TransposeOp>();
      if (!onnx::present(v) || numberOf(v)) {
        continue;
      }
      if (!transpose || !sameSizes(onnx::ranked(v), type) || (perm && *perm != transpose.permutation())) {
        return failure();
      }
      perm = transpose.permutation();
      if (llvm::all_of(transpose->getUsers(), [&](Operation *user) { return user == op; })) {
        saved.insert(transpose);
      }
    }
    if (saved.size() < 2) {
      return failure();
    }
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [](Value v) {
      auto transpose = v.getDefiningOp<onnx::TransposeOp>();
      return transpose ? transpose.getData() : v;
    });
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), remade(rewriter, op, operands), *perm));
    return success();
  }
};

/// Moves a reshape behind an elementwise op whose other operands are single numbers. The op then follows the kernel
/// that made the tensor, and becomes its epilogue.
struct ReshapeDown : OpInterfaceRewritePattern<onnx::Elementwise> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(onnx::Elementwise op, PatternRewriter &rewriter) const override {
    onnx::ReshapeOp reshape;
    auto type = onnx::ranked(op->getResult(0));
    for (Value v : op->getOperands()) {
      bool one = onnx::isStatic(v) && onnx::ranked(v).getNumElements() == 1 && numberOf(v);
      if (!onnx::present(v) || one) {
        continue;
      }
      if (reshape || !(reshape = onlyFor<onnx::ReshapeOp>(v))) {
        return failure();
      }
    }
    // A reshape of the model's input has no kernel before it whose epilogue the op could become.
    if (!reshape || !type || !onnx::isSized(op->getResult(0)) || !onnx::isSized(reshape.getX()) ||
        !sameSizes(onnx::ranked(reshape.getY()), type) || !reshape.getX().getDefiningOp()) {
      return failure();
    }
    int64_t rank = onnx::ranked(reshape.getX()).getRank();
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) {
      auto own = onnx::ranked(v);
      bool wide = own && own.getRank() > rank && v != reshape.getY(); // [1, 1, 1] would add axes to a matrix
      operands.push_back(v == reshape.getY() ? reshape.getX() : wide ? reshaped(rewriter, v.getLoc(), v, {}) : v);
    }
    Value y = reshapedAs(rewriter, reshape.getLoc(), remade(rewriter, op, operands), type);
    rewriter.replaceOp(op, y);
    return success();
  }
};

} // namespace

void populateMovedView(RewritePatternSet &patterns) {
  patterns.add<TransposeUp, TransposesDown, ReshapeDown>(patterns.getContext());
}

} // namespace ingot::fusion
