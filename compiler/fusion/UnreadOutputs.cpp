// Makes a convolution leave out outputs that nobody reads. Its result, directly or behind elementwise ops of its own,
// must be read by Slices alone. Channels that none of them takes go with their weights, and the first and last places
// of a spatial axis go with the padding that only they read. A causal convolution, padded on both sides and cut to its
// input's length, becomes one padded in front, without a copy behind it. A ConvTranspose can leave out any place at its
// ends, since its pads cut places off.
//
// Weights must be constant and read by nothing else. Sizes may be open where a Slice says how far from the ends it
// stays. The sums are those of the model, but their order depends on how large a result is (a short row is not the
// inner loop), so strict accuracy leaves the pattern out.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

using onnx::Size;

/// How many places at the two ends of an axis are not read.
struct Unread {
  int64_t inFront = 0, behind = 0;
};

/// The bounds of a Slice: a start, an end and a step for each axis that it names. Axes count from the front.
struct Bounds {
  SmallVector<int64_t> starts, ends, axes, steps;

  /// Returns the bounds of `slice`; nothing where they are not constant, name an axis twice, or go backwards.
  static std::optional<Bounds> of(onnx::SliceOp slice) {
    auto type = onnx::ranked(slice.getData());
    auto starts = onnx::integersOf(slice.getStarts()), ends = onnx::integersOf(slice.getEnds());
    auto axes = onnx::integersOf(slice.getAxes()), steps = onnx::integersOf(slice.getSteps());
    if (!type || !starts || !ends || (onnx::present(slice.getAxes()) && !axes) ||
        (onnx::present(slice.getSteps()) && !steps)) {
      return std::nullopt;
    }
    Bounds b = {*starts, *ends, axes.value_or(llvm::to_vector(llvm::seq<int64_t>(0, starts->size()))),
                steps.value_or(SmallVector<int64_t>(starts->size(), 1))};
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t &axis : b.axes) {
      axis += axis < 0 ? type.getRank() : 0;
      if (!seen.insert(axis).second) {
        return std::nullopt;
      }
    }
    return llvm::all_of(b.steps, [](int64_t step) { return step > 0; }) ? std::optional(b) : std::nullopt;
  }
};

/// Returns how much a Slice leaves unread at the ends of each axis of what it slices; nothing where its bounds do not
/// say. An axis counts as read to both ends where that cannot be told.
std::optional<SmallVector<Unread>> unreadBy(onnx::SliceOp slice) {
  auto bounds = Bounds::of(slice);
  if (!bounds || !onnx::isSized(slice.getData()) || !onnx::isSized(slice.getY())) {
    return std::nullopt;
  }
  SmallVector<Unread> unread(onnx::ranked(slice.getData()).getRank());
  for (auto [start, axis, step] : llvm::zip_equal(bounds->starts, bounds->axes, bounds->steps)) {
    Size extent = onnx::sizeOf(onnx::ranked(slice.getData()), axis),
         taken = onnx::sizeOf(onnx::ranked(slice.getY()), axis);
    if (start < 0 && extent.isNumber()) {
      start = std::max<int64_t>(start + extent.number(), 0);
    }
    Size left = extent - Size(start) - (taken - 1) * Size(step) - 1;
    if (start >= 0 && !taken.is(0) && left.isNumber() && left.number() >= 0) {
      unread[axis] = {start, left.number()};
    }
  }
  return unread;
}

/// Returns the result of `slice` read from `data`, which is what it sliced without `cut` places of each axis.
Value moved(onnx::SliceOp slice, Value data, ArrayRef<Unread> cut, PatternRewriter &rewriter) {
  constexpr int64_t beyond =
      std::numeric_limits<int32_t>::max(); // exporters write INT32_MAX or more for the end of the axis
  Bounds b = *Bounds::of(slice);
  for (auto [start, end, axis] : llvm::zip_equal(b.starts, b.ends, b.axes)) {
    Size extent = onnx::sizeOf(onnx::ranked(slice.getData()), axis);
    auto [inFront, behind] = cut[axis];
    if (extent.isNumber()) {
      auto place = [&, cut = inFront](int64_t bound) {
        return std::clamp<int64_t>(bound + (bound < 0 ? extent.number() : 0), 0, extent.number()) - cut;
      };
      start = place(start), end = place(end);
      continue;
    }
    start -= start < 0 ? 0 : inFront; // unreadBy() cuts nothing in front where the start counts from an open end
    if (end < 0) {
      end = end + behind < 0 ? end + behind : std::numeric_limits<int64_t>::max();
    } else if (end < beyond) {
      end -= inFront;
    }
  }
  auto list = [&](ArrayRef<int64_t> values) { return onnx::makeIntegers(rewriter, slice.getLoc(), values); };
  return onnx::make<onnx::SliceOp>(rewriter, slice.getLoc(),
                                   {data, list(b.starts), list(b.ends), list(b.axes), list(b.steps)});
}

/// Replaces a convolution, the elementwise ops behind it, and the Slices that read them.
template <typename Op> struct CutOutputs : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op conv, PatternRewriter &rewriter) const override {
    auto w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
    auto mode = conv->template getAttrOfType<StringAttr>("auto_pad");
    if (!w || !y || !w.hasStaticShape() || !isWeight(conv.getW()) || !conv.getW().hasOneUse() ||
        (mode && mode.getValue() != "NOTSET") || conv->hasAttr("output_shape")) {
      return failure();
    }
    SmallVector<Operation *> steps;
    Value end = conv.getY();
    while (end.hasOneUse() && isStep(*end.user_begin()) && end.user_begin()->getOperand(0) == end &&
           end.user_begin()->getBlock() == conv->getBlock()) {
      steps.push_back(*end.user_begin());
      end = steps.back()->getResult(0);
    }
    auto cut = unreadOf(end, conv->getBlock());
    SmallVector<int64_t> pads = listed(conv.getPads(), 2 * (w.getRank() - 2), 0);
    if (!cut || !fit(*cut, conv, pads)) {
      return failure();
    }
    replace(conv, steps, end, *cut, pads, rewriter);
    return success();
  }

private:
  /// Returns what none of the Slices that read `v` reads; nothing if anything else reads it.
  static std::optional<SmallVector<Unread>> unreadOf(Value v, Block *block) {
    std::optional<SmallVector<Unread>> all;
    for (OpOperand &use : v.getUses()) {
      auto slice = dyn_cast<onnx::SliceOp>(use.getOwner());
      auto unread = slice && use.getOperandNumber() == 0 && slice->getBlock() == block ? unreadBy(slice) : std::nullopt;
      if (!unread) {
        return std::nullopt;
      }
      for (auto [i, mine] : llvm::enumerate(*unread)) {
        if (all) {
          mine = {std::min(mine.inFront, (*all)[i].inFront), std::min(mine.behind, (*all)[i].behind)};
        }
      }
      all = unread;
    }
    return all;
  }

  /// Reduces `cut` to what the convolution can leave out, and `pads` to those of the smaller convolution. Returns false
  /// if it can leave out nothing. A Conv can only leave out places whose padding goes with them, `stride` pixels for
  /// each place.
  static bool fit(MutableArrayRef<Unread> cut, Op conv, MutableArrayRef<int64_t> pads) {
    int64_t rank = pads.size() / 2;
    SmallVector<int64_t> strides = listed(conv.getStrides(), rank, 1);
    bool isConstant = !onnx::present(conv.getB()) || isWeight(conv.getB());
    cut[0] = {};
    if (conv.getGroup() != 1 || !isConstant) {
      cut[1] = {};
    }
    for (int64_t i = 0; i < rank; ++i) {
      Unread &mine = cut[i + 2];
      int64_t &before = pads[i], &after = pads[rank + i];
      if (isTransposedConv<Op>) { // whose pads cut outputs off instead of adding inputs
        before += mine.inFront, after += mine.behind;
        continue;
      }
      mine.inFront = std::clamp<int64_t>(before / strides[i], 0, mine.inFront);
      mine.behind = std::clamp<int64_t>(after / strides[i], 0, mine.behind);
      before -= mine.inFront * strides[i], after -= mine.behind * strides[i];
    }
    return llvm::any_of(cut, [](const Unread &c) { return c.inFront || c.behind; });
  }

  /// Writes the smaller convolution, the same steps behind it, and the Slices with their new bounds.
  static void replace(Op conv, ArrayRef<Operation *> steps, Value end, ArrayRef<Unread> cut, ArrayRef<int64_t> pads,
                      PatternRewriter &rewriter) {
    Location loc = conv.getLoc();
    auto ofChannels = [&](Value v, int64_t axis) { // cuts weights or bias to the channels that are read
      if (!onnx::present(v) || (!cut[1].inFront && !cut[1].behind)) {
        return v;
      }
      auto list = [&](int64_t n) { return onnx::makeIntegers(rewriter, loc, {n}); };
      int64_t last = onnx::ranked(v).getDimSize(axis) - cut[1].behind;
      return onnx::make<onnx::SliceOp>(rewriter, loc, {v, list(cut[1].inFront), list(last), list(axis), Value()});
    };
    NamedAttrList attributes(conv->getAttrs());
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(pads));
    Value made = onnx::make<Op>(
        rewriter, loc, {conv.getX(), ofChannels(conv.getW(), isTransposedConv<Op> ? 1 : 0), ofChannels(conv.getB(), 0)},
        attributes.getAttrs());
    for (Operation *step : steps) {
      rewriter.setInsertionPoint(step); // its other operands may be defined after the convolution
      SmallVector<Value> operands(step->getOperands());
      operands[0] = made;
      made = onnx::createOp(rewriter, step->getLoc(), step->getName().getStringRef(), operands, step->getAttrs())
                 ->getResult(0);
    }
    for (Operation *user : llvm::make_early_inc_range(end.getUsers())) {
      rewriter.setInsertionPoint(user);
      rewriter.replaceOp(user, moved(cast<onnx::SliceOp>(user), made, cut, rewriter));
    }
  }
};

} // namespace

void populateUnreadOutputs(RewritePatternSet &patterns) {
  patterns.addWithLabel<CutOutputs<onnx::ConvOp>, CutOutputs<onnx::ConvTransposeOp>>({roundsOtherwise},
                                                                                     patterns.getContext());
}

} // namespace ingot::fusion
