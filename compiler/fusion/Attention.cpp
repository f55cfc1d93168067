// Recognises attention as exporters write it,
//   softmax(f(Q K')) V
// and makes Attend of it, which computes the result block by block and never has all scores in memory. Here f is
// whatever elementwise ops stand between the product and the softmax, with whatever they read besides: a scale, masks
// that are added or chosen by Where, a softcap, relative positions. They move into Attend's region as they are, so
// nothing in them has to be recognised. Reshapes between them that split or merge heads are dropped. Where a model
// turns the NaN of rows without any key into 0 behind the softmax, Attend does.
//
// Q, K and V are read through the transposes, slices, expansions (of heads that share keys) and reshapes that make
// them, and the result is written in the order of the transpose behind it. A factor of Q or K that stands between such
// movements is applied to the product.
//
// The axes before queries and keys are those of the tensor that has most of them, so that every other tensor's axes are
// products of theirs: [batch, shared heads, group] where [batch * heads] and [batch, heads] also occur.
#include "compiler/onnx/ops/Attention.h"
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/elements/FlatView.h"
#include "compiler/onnx/elements/LastKey.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Unary.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

using namespace mlir;

namespace ingot::fusion {
namespace {

using onnx::FlatView;
using onnx::Size;
using onnx::Sizes;

constexpr size_t mostOps = 32; ///< the most ops between product and softmax

Sizes sizesOf(Value v) { return onnx::sizesOf(onnx::ranked(v)); }
/// Returns the sizes of the axes before the last two.
Sizes batchOf(Value v) {
  Sizes sizes = sizesOf(v);
  sizes.truncate(sizes.size() - 2);
  return sizes;
}
/// Returns whether `v` is a matrix, or several of them, whose sizes are known or open expressions.
bool isMatrix(Value v) { return onnx::ranked(v) && onnx::isSized(v) && onnx::ranked(v).getRank() >= 2; }
/// Returns whether `a` and `b` have equal sizes along their last two axes.
bool sameMatrix(Value a, Value b) {
  return isMatrix(a) && isMatrix(b) &&
         llvm::equal(ArrayRef<Size>(sizesOf(a)).take_back(2), ArrayRef<Size>(sizesOf(b)).take_back(2));
}

/// For each axis of a coarse shape, the axes of a finer one that it is the product of.
using Groups = SmallVector<SmallVector<unsigned>>;
/// Returns the groups of axes of `fine` whose products are the axes of `coarse`; nothing when there are none. Axes of
/// size 1 at the end of `fine` join the last group.
std::optional<Groups> groupsIn(ArrayRef<Size> coarse, ArrayRef<Size> fine) {
  Groups groups;
  unsigned next = 0;
  for (const Size &axis : coarse) {
    Size reached = 1;
    groups.emplace_back();
    while (!(reached == axis)) {
      if (next == fine.size()) {
        return std::nullopt;
      }
      groups.back().push_back(next);
      reached = reached * fine[next++];
    }
  }
  auto last = llvm::find_if(llvm::reverse(groups), [](const auto &group) { return !group.empty(); });
  for (; next < fine.size(); ++next) { // axes of size 1
    if (!fine[next].is(1)) {
      return std::nullopt;
    }
    if (last != groups.rend()) {
      last->push_back(next);
    }
  }
  return groups;
}

/// The ops of a model that are attention, found from their softmax.
struct Match {
  onnx::SoftmaxOp softmax;
  onnx::MatMulOp product, output;
  onnx::ReduceOp best; ///< the maximum of a row's scores, if the model compares it with -inf to find rows without a key
  llvm::SetVector<Operation *> chain; ///< between product and softmax; operands before users
  /// What Attend gives for a row without any key, as its attribute `empty` says it.
  StringRef empty = "nan";

  explicit Match(onnx::SoftmaxOp softmax) : softmax(softmax) {}

  /// Finds the other ops of the match; returns false if these are no attention.
  bool find() {
    Value scores = softmax.getInput();
    if (!isMatrix(scores) || !onnx::computedIn(onnx::elementOf(scores)).isF32() ||
        onnx::normalAxis(softmax.getAxis(), onnx::ranked(scores).getRank()) != onnx::ranked(scores).getRank() - 1) {
      return false;
    }
    return findOutput() && derives(scores) && product != output && isOnlyUsedHere();
  }

private:
  /// The answers of derives() so far.
  llvm::DenseMap<Value, bool> known;

  bool isHere(Operation *op) const { return op && op->getBlock() == softmax->getBlock(); }

  /// Looks for Where(IsNaN(w), 0, w) and Where(max(scores) == -inf, 0, w), by which models make the weights `w` of rows
  /// without a key zeros. Returns the result of Where, or `w` itself if there is none, and notes in `empty` what Attend
  /// has to do.
  Value withoutEmptyRows(Value w) {
    for (Operation *user : w.getUsers()) {
      auto where = dyn_cast<onnx::WhereOp>(user);
      if (!where || where.getZ() != w || !isNumber(where.getX(), 0.0)) {
        continue;
      }
      auto isNaN = where.getCondition().getDefiningOp<onnx::IsNaNOp>();
      if (isNaN && isNaN.getX() == w && isNaN->hasOneUse() && std::distance(w.use_begin(), w.use_end()) == 2) {
        empty = "never-nan";
        return where.getY();
      }
      auto nothing = where.getCondition().getDefiningOp<onnx::EqualOp>();
      auto reduce = nothing ? nothing.getA().getDefiningOp<onnx::ReduceOp>() : onnx::ReduceOp();
      int64_t last = onnx::ranked(w).getRank() - 1;
      if (reduce && reduce.getKind() == "Max" && reduce.getData() == softmax.getInput() && reduce.getKeepdims() &&
          reduce.getAxes() == ArrayRef<int64_t>{last} && reduce->hasOneUse() && nothing->hasOneUse() && w.hasOneUse() &&
          numberOf(nothing.getB()) == -std::numeric_limits<double>::infinity()) {
        best = reduce;
        empty = "zero";
        return where.getY();
      }
    }
    return w;
  }

  /// Finds the product with V behind the softmax, through reshapes that keep the last two axes.
  bool findOutput() {
    Value weights = withoutEmptyRows(softmax.getOutput());
    Operation *user = weights.hasOneUse() ? *weights.user_begin() : nullptr;
    for (; isHere(user) && isa<onnx::ReshapeOp>(user) && sameMatrix(user->getResult(0), weights);
         user = weights.hasOneUse() ? *weights.user_begin() : nullptr) {
      weights = user->getResult(0);
    }
    output = dyn_cast_or_null<onnx::MatMulOp>(user);
    return isHere(user) && output && output.getA() == weights && output.getB() != weights && !output.getTransA() &&
           isMatrix(output.getB()) && isMatrix(output.getY());
  }

  /// Returns whether `v` is computed from the product Q K' element by element. The first product that is found is taken
  /// for Q K'; a second one is an operand.
  bool derives(Value v) {
    auto [it, isNew] = known.try_emplace(v, false);
    Operation *op = v.getDefiningOp();
    if (!isNew || !isHere(op) || !sameMatrix(v, softmax.getInput()) || chain.size() > mostOps) {
      return it->second;
    }
    bool is = false;
    if (auto matmul = dyn_cast<onnx::MatMulOp>(op)) {
      is = !product && isMatrix(matmul.getA()) && isMatrix(matmul.getB()) &&
           onnx::computedIn(onnx::elementOf(v)).isF32();
      product = is ? matmul : product;
    } else if (isa<onnx::ReshapeOp>(op)) {
      is = derives(op->getOperand(0));
    } else if (isa<onnx::Elementwise>(op)) {
      for (Value operand : op->getOperands()) {
        is |= onnx::ranked(operand) && sameSizes(onnx::ranked(operand), onnx::ranked(v)) && derives(operand);
      }
    }
    if (is && op != product) {
      chain.insert(op);
    }
    return known[v] = is;
  }

  /// Returns whether nothing else reads the product or the chain: else they would be computed twice.
  bool isOnlyUsedHere() {
    auto inside = [&](Operation *user) { return user == softmax || user == best || chain.contains(user); };
    return llvm::all_of(product->getUsers(), inside) &&
           llvm::all_of(chain, [&](Operation *op) { return llvm::all_of(op->getUsers(), inside); });
  }
};

/// How an operand is read from an earlier value, and the factor between the two.
struct Source {
  FlatView view;
  double factor = 1;
};

/// Returns the operand and the number that `v` is the product of, if nothing else reads `v`.
std::optional<std::pair<Value, double>> scaled(Value v) {
  if (auto product = onlyFor<onnx::MulOp>(v)) {
    bool first = numberOf(product.getA()).has_value();
    Value x = first ? product.getB() : product.getA();
    auto number = numberOf(first ? product.getA() : product.getB());
    return number && x.getType() == v.getType() ? std::optional(std::pair(x, *number)) : std::nullopt;
  }
  auto quotient = onlyFor<onnx::DivOp>(v);
  auto number = quotient ? numberOf(quotient.getB()) : std::nullopt;
  bool fits = number && *number != 0 && quotient.getA().getType() == v.getType();
  return fits ? std::optional(std::pair(quotient.getA(), 1 / *number)) : std::nullopt;
}

/// Returns the earliest value that the operand can be read from, in an order for which `fits` holds. A factor on the
/// way is taken along only where a movement of data stands before it: without one it may as well stay in the kernel
/// that makes the operand.
Source furthest(Source source, bool mayScale, llvm::function_ref<bool(const FlatView &)> fits) {
  Source best = source;
  bool pending = false;
  while (true) {
    bool moves = isa_and_nonnull<onnx::Mover>(source.view.base.getDefiningOp());
    if (source.view.descend()) {
      pending &= !moves;
    } else if (auto factor = mayScale ? scaled(source.view.base) : std::nullopt) {
      source.view.base = factor->first, source.factor *= factor->second;
      pending = true;
    } else {
      return best;
    }
    if (!pending && fits(source.view)) {
      best = source;
    }
  }
}

/// Writes Attend for a match. `make` plans the axes, the operands and the result first, and changes nothing if one of
/// them has no plan.
class AttendRewrite {
public:
  AttendRewrite(PatternRewriter &b, Match &match) : b(b), match(match) {}

  LogicalResult make() {
    batch = batchOf(match.product.getY());
    refineAll();
    Sizes scores = sizesOf(match.product.getY());
    queries = scores[scores.size() - 2], keys = scores.back();
    axes = batch;
    axes.append({queries, keys});
    if (!readOperands() || !planResult() || !convertibleOthers()) {
      return failure();
    }
    findLastKey();
    Operation *last = transpose ? transpose.getOperation() : match.output.getOperation();
    b.setInsertionPoint(last);
    SmallVector<Location> locs;
    for (Operation *op : {match.product.getOperation(), match.softmax.getOperation(), match.output.getOperation()}) {
      locs.push_back(op->getLoc());
    }
    Value y = attend(b.getFusedLoc(locs));
    b.replaceOp(last, reshapedAs(b, last->getLoc(), y, onnx::ranked(last->getResult(0))));
    return success();
  }

private:
  PatternRewriter &b;
  Match &match;
  Sizes batch, axes; ///< sizes of the scores' axes: `batch` without queries and keys, `axes` with them
  Size queries, keys;
  Source q, k, v;
  int64_t width = 0, valueWidth = 0;
  onnx::TransposeOp transpose;       ///< the transpose behind the output, whose order Attend writes in
  std::optional<onnx::LastKey> last; ///< the last key that a query looks at, if a mask says it
  Operation *masking = nullptr;      ///< the op of the chain that has this mask
  SmallVector<int64_t> perm;

  // The axes before queries and keys: the finest of all that occur are taken.

  /// Takes the axes of `like` if those known so far are products of them.
  void refine(Value like) {
    if (isMatrix(like) && groupsIn(batch, batchOf(like))) {
      batch = batchOf(like);
    }
  }
  /// Looks for finer axes in the values that `v` is made of by reshapes, transposes, expansions and factors.
  void refineBySources(Value v) {
    while (Operation *op = v.getDefiningOp()) {
      auto factor = scaled(v);
      if (!isa<onnx::ReshapeOp, onnx::TransposeOp, onnx::ExpandOp>(op) && !factor) {
        return;
      }
      refine(v);
      v = factor ? factor->first : op->getOperand(0);
    }
  }
  void refineAll() {
    for (Operation *op : match.chain) {
      refine(op->getResult(0));
    }
    for (Value v : {match.product.getA(), match.product.getB(), match.output.getB()}) {
      refineBySources(v);
    }
    if (auto reshape = userOf<onnx::ReshapeOp>(match.output.getY())) {
      refine(reshape.getY());
    }
  }
  /// Returns the only reader of `v` in its block, if it is an `Op`.
  template <typename Op> Op userOf(Value v) {
    Operation *user = v.hasOneUse() ? *v.user_begin() : nullptr;
    return user && user->getBlock() == v.getParentBlock() ? dyn_cast<Op>(user) : Op();
  }

  // How the operands are read.

  /// Returns how `v`, an operand of a product, is read along the axes `batch` and then along its last two axes, which
  /// `swapped` exchanges. `result` has the axes of the product's result before rows and columns.
  std::optional<Source> sourceOf(Value v, ArrayRef<Size> result, bool swapped) {
    auto groups = groupsIn(result, batch);
    Sizes own = sizesOf(v), dense(own.size(), 1);
    for (size_t i = own.size(); i-- > 1;) {
      dense[i - 1] = dense[i] * own[i];
    }
    size_t rank = own.size(), count = rank - 2;
    if (!groups || count > result.size()) {
      return std::nullopt;
    }
    Sizes extents = batch, strides(batch.size(), 0);
    for (size_t i = 0; i < count; ++i) {
      Size step = dense[i];
      for (unsigned axis : llvm::reverse((*groups)[i + result.size() - count])) {
        strides[axis] = step * onnx::strideFactor(own[i], result[i + result.size() - count]);
        step = step * batch[axis];
      }
    }
    for (size_t axis : {swapped ? rank - 1 : rank - 2, swapped ? rank - 2 : rank - 1}) {
      extents.push_back(own[axis]), strides.push_back(dense[axis]);
    }
    return Source{{{0, strides}, extents, v}};
  }

  bool readOperands() {
    auto along = [](const FlatView &view) { return view.strides.back().is(1); };
    auto alongEither = [&](const FlatView &view) { return along(view) || view.strides[view.strides.size() - 2].is(1); };
    Sizes scores = batchOf(match.product.getY()), out = batchOf(match.output.getY());
    auto a = sourceOf(match.product.getA(), scores, match.product.getTransA());
    auto c = sourceOf(match.product.getB(), scores, !match.product.getTransB());
    auto e = sourceOf(match.output.getB(), out, match.output.getTransB());
    if (!a || !c || !e || !a->view.extents.back().isNumber() || !e->view.extents.back().isNumber()) {
      return false;
    }
    q = furthest(*a, true, along), k = furthest(*c, true, alongEither), v = furthest(*e, false, along);
    width = a->view.extents.back().number(), valueWidth = e->view.extents.back().number();
    bool some = width > 0 && valueWidth > 0 && !llvm::any_of(axes, [](const Size &size) { return size.is(0); });
    return some && alongEither(k.view) && along(v.view) && onnx::computedIn(onnx::elementOf(v.view.base)).isF32();
  }

  // How the result is written.

  /// Sets `transpose` and `perm`: a transpose behind the output that keeps the last axis in its place is taken in, and
  /// perm is the order of `axes` that it asks for.
  bool planResult() {
    Value y = match.output.getY();
    perm = llvm::to_vector(llvm::seq<int64_t>(0, axes.size()));
    if (!groupsIn(batchOf(y), batch)) {
      return false;
    }
    if (auto reshape = userOf<onnx::ReshapeOp>(y); reshape && sameMatrix(reshape.getY(), y)) {
      y = reshape.getY();
    }
    auto after = userOf<onnx::TransposeOp>(y);
    auto groups = groupsIn(batchOf(y), batch);
    int64_t rows = static_cast<int64_t>(axes.size()) - 2;
    if (!after || !groups || after.permutation().back() != onnx::ranked(y).getRank() - 1) {
      return true;
    }
    transpose = after;
    perm.clear();
    for (int64_t axis : after.permutation()) {
      int64_t inMatrix = axis - static_cast<int64_t>(groups->size());
      if (inMatrix >= 0) {
        perm.push_back(rows + inMatrix);
      } else {
        llvm::append_range(perm, (*groups)[axis]);
      }
    }
    for (int64_t axis = 0; axis < rows; ++axis) { // an axis of size 1 may be of no group, and may be anywhere
      if (!llvm::is_contained(perm, axis)) {
        perm.insert(perm.begin(), axis);
      }
    }
    return true;
  }

  // Attend's region, and Attend itself.

  /// Returns whether all that the chain reads besides the scores can be read along the axes of `batch`.
  bool convertibleOthers() {
    return llvm::all_of(match.chain, [&](Operation *op) {
      auto groups = groupsIn(batchOf(op->getResult(0)), batch);
      return groups && (isa<onnx::ReshapeOp>(op) || llvm::all_of(op->getOperands(), [&](Value x) {
                          return isInside(x) || splits(x, op, *groups);
                        }));
    });
  }

  /// Looks for a mask from the softmax back to the product, as long as what is minus infinity stays so.
  void findLastKey() {
    Value score = match.softmax.getInput();
    auto ofScores = [&](Value v) { return match.chain.contains(v.getDefiningOp()) || v == match.product.getY(); };
    for (Operation *op = score.getDefiningOp(); !last && match.chain.contains(op); op = score.getDefiningOp()) {
      if (auto where = dyn_cast<onnx::WhereOp>(op)) {
        bool first = onnx::isMinusInfinity(where.getX());
        if (!first && !onnx::isMinusInfinity(where.getZ())) {
          return;
        }
        last = onnx::lastKeyWhere(where.getCondition(), keys, !first);
        score = first ? where.getZ() : where.getX();
      } else if (isa<onnx::AddOp>(op)) {
        Value mask = op->getOperand(ofScores(op->getOperand(0)) ? 1 : 0);
        last = onnx::lastKeyOf(mask, keys);
        score = op->getOperand(mask == op->getOperand(0) ? 1 : 0);
      } else if (isa<onnx::ReshapeOp>(op)) {
        score = op->getOperand(0);
      } else {
        return;
      }
      masking = op;
    }
    auto groups = last ? groupsIn(batchOf(masking->getResult(0)), batch) : std::nullopt;
    if (!groups || !splits(last->place, masking, *groups)) {
      last.reset();
    }
  }

  /// Returns whether it is known, of each axis of `x` that withAxes() has to split, whether it repeats.
  static bool splits(Value x, Operation *op, const Groups &groups) {
    Sizes own = sizesOf(x), result = batchOf(op->getResult(0));
    for (size_t i = 0; i + 2 < own.size(); ++i) {
      size_t axis = i + result.size() + 2 - own.size();
      if (groups[axis].size() > 1 && !onnx::strideFactor(own[i], result[axis]).isNumber()) {
        return false;
      }
    }
    return true;
  }

  /// Returns `x`, which `op` reads besides the scores, in a shape that broadcasts to the axes of the scores.
  Value withAxes(Value x, Operation *op) {
    Sizes own = sizesOf(x), result = batchOf(op->getResult(0));
    int64_t lead = static_cast<int64_t>(result.size() + 2 - own.size());
    if (llvm::equal(result, batch) || own.size() <= 2) {
      return x;
    }
    Groups groups = *groupsIn(result, batch);
    Sizes shape;
    for (size_t i = 0; i + 2 < own.size(); ++i) {
      const SmallVector<unsigned> &group = groups[i + lead];
      for (unsigned axis : group) {
        shape.push_back(own[i].repeats() ? Size(1) : group.size() == 1 ? own[i] : batch[axis]);
      }
    }
    shape.append(own.end() - 2, own.end());
    return reshapedAs(b, x.getLoc(), x, onnx::sizedType(shape, onnx::elementOf(x)));
  }

  /// Returns whether `x` is a number or absent, and is cloned into the region.
  static bool isInside(Value x) { return !onnx::present(x) || numberOf(x).has_value(); }

  Value attend(Location loc) {
    llvm::SetVector<Value> others;
    IRMapping outside;
    for (Operation *op : match.chain) {
      for (Value x : op->getOperands()) {
        Operation *producer = x.getDefiningOp();
        bool score = producer && (producer == match.product || match.chain.contains(producer));
        if (!score && !isInside(x) && !isa<onnx::ReshapeOp>(op)) {
          Value own = withAxes(x, op);
          outside.map(x, own);
          others.insert(own);
        }
      }
    }
    Value lastKey;
    if (last) {
      onnx::Formula f(b, loc);
      Value place = last->more ? f.add(last->place, f.number(last->more, last->place)) : last->place;
      others.insert(lastKey = withAxes(place, masking));
    }
    auto type = onnx::sizedType(axes, onnx::elementOf(match.product.getY()));
    OperationState state(loc, onnx::AttendOp::getOperationName());
    state.addOperands({q.view.base, k.view.base, v.view.base});
    state.addOperands(others.getArrayRef());
    state.addAttributes({walk("walkQ", q.view), walk("walkK", k.view), walk("walkV", v.view),
                         b.getNamedAttr("width", b.getI64IntegerAttr(width)),
                         b.getNamedAttr("valueWidth", b.getI64IntegerAttr(valueWidth)),
                         b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm)),
                         b.getNamedAttr("empty", b.getStringAttr(match.empty))});
    state.addTypes(type);
    Region *region = state.addRegion();
    {
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(region);
      IRMapping map;
      map.map(match.product.getY(), block->addArgument(type, loc));
      for (Value x : others) {
        map.map(x, block->addArgument(x.getType(), x.getLoc()));
      }
      write(loc, outside, map);
      onnx::ScoreOp::create(b, loc, map.lookup(match.softmax.getInput()), lastKey ? map.lookup(lastKey) : Value());
    }
    Operation *op = b.create(state);
    (void)onnx::updateTypes(op);
    return op->getResult(0);
  }

  NamedAttribute walk(StringRef name, const FlatView &view) {
    auto offset = b.getAttr<onnx::SizeAttr>(view.offset);
    return b.getNamedAttr(name, b.getAttr<onnx::StridedAttr>(offset, b.getAttr<onnx::SizesAttr>(view.strides)));
  }

  /// Writes what the region computes: the scores' factor, and the chain without its reshapes.
  void write(Location loc, const IRMapping &outside, IRMapping &map) {
    if (double factor = q.factor * k.factor; factor != 1) {
      Value product = map.lookup(match.product.getY());
      map.map(match.product.getY(),
              onnx::make<onnx::MulOp>(b, loc, {product, onnx::Formula(b, loc).number(factor, product)}));
    }
    for (Operation *op : match.chain) {
      if (isa<onnx::ReshapeOp>(op)) {
        map.map(op->getResult(0), map.lookup(op->getOperand(0)));
        continue;
      }
      SmallVector<Value> operands;
      for (Value x : op->getOperands()) {
        Value own = outside.lookupOrDefault(x);
        if (!map.contains(own)) { // isInside() holds for the original
          map.map(own, b.clone(*own.getDefiningOp())->getResult(0));
        }
        operands.push_back(map.lookup(own));
      }
      Operation *copy = onnx::createOp(b, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs());
      copy->removeAttr(onnx::requiresName); // the original has been checked already
      map.map(op->getResult(0), copy->getResult(0));
    }
  }
};

/// Replaces a decomposed attention, found by its softmax.
struct Decomposed : OpRewritePattern<onnx::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::SoftmaxOp op, PatternRewriter &rewriter) const override {
    Match match(op);
    return match.find() ? AttendRewrite(rewriter, match).make() : failure();
  }
};

} // namespace

void populateAttention(RewritePatternSet &patterns) {
  patterns.addWithLabel<Decomposed>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
