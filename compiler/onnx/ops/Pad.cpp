// Describes Pad as a movement of boxes. Along one axis the result is divided into ranges; each takes its elements from
// the
// data with a step of 1, -1 (mirrored) or 0 (repeated), or is filled with the constant. The boxes are the combinations
// of the axes' ranges (appendBoxes). For five elements and two pads at each end:
//
//   reflect   c b | a b c d e | d c      three ranges: from 2 by -1, from 0 by 1, from 3 by -1
//   edge      a a | a b c d e | e e      three ranges: from 0 by 0, from 0 by 1, from 4 by 0
//   wrap      d e | a b c d e | a b      three ranges: from 3 by 1, from 0 by 1, from 0 by 1
//
// A Pad with too many boxes (mostBoxes), or that wraps an open axis more than once, is rewritten to several ops.
#include "compiler/onnx/ops/Pad.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Pad.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static Sizes sizesOf(Value v) { return sizesOf(ranked(v)); }

namespace {
/// How many elements are added at both ends of an axis; where a number is negative, so many are removed.
struct AxisPads {
  Size before = 0, after = 0;
};
} // namespace

/// Returns the pads of each axis of the data; nothing while they, or the axes, are not known at compile time.
static FailureOr<std::optional<SmallVector<AxisPads>>> padsOf(PadOp op) {
  using Result = std::optional<SmallVector<AxisPads>>;
  auto data = ranked(op.getData());
  auto pads = sizesIn(op.getPads());
  auto axes = integersOf(op.getAxes());
  if (!data || (present(op.getAxes()) && !axes)) {
    return Result();
  }
  size_t n = axes ? axes->size() : data.getRank();
  if (failed(requireLength(op, op.getPads(), static_cast<int64_t>(2 * n)))) {
    return op.emitOpError("pads of type ") << op.getPads().getType() << " for " << n << " axes", failure();
  }
  if (!pads) {
    return Result();
  }
  SmallVector<AxisPads> result(data.getRank());
  for (size_t i = 0; i < n; ++i) {
    auto axis = normalAxis(axes ? (*axes)[i] : static_cast<int64_t>(i), data.getRank());
    if (!axis) {
      return op.emitOpError("axis ") << (*axes)[i] << " is outside of " << data, failure();
    }
    result[*axis] = {(*pads)[i], (*pads)[n + i]};
  }
  return Result(std::move(result));
}

namespace {
/// An axis of a Pad whose mode is not constant: elements [begin, end) of the data are kept, and `before` and `after`
/// elements are added at their ends. Negative pads remove elements before any are added.
struct PaddedAxis {
  Size begin, end, before, after;
  explicit PaddedAxis(const Size &d, const AxisPads &pads)
      : begin(max(Size(0) - pads.before, 0)), end(d + min(pads.after, 0)), before(max(pads.before, 0)),
        after(max(pads.after, 0)) {}
  Size size() const { return end - begin; }
  bool isNumber() const { return size().isNumber() && before.isNumber() && after.isNumber(); }
  /// Returns how many elements must be kept for `mode`: one where something is to be repeated, and for a reflection of
  /// an open axis one more than there are pads at an end, so that it turns round only once.
  Size least(StringRef mode) const {
    Size most = max(before, after), any = min(most, 1);
    return mode == "constant" ? Size(0) : mode == "reflect" && !isNumber() ? most + any : any;
  }
};
} // namespace

LogicalResult PadOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto pads = padsOf(*this);
  if (failed(pads)) {
    return failure();
  }
  auto data = ranked(getData());
  if (!data) { // there are two pads for each axis
    auto entries = present(getAxes()) ? std::nullopt : entriesOf(getPads());
    auto rank = entries ? std::optional(*entries / 2) : entries;
    return push(types, typeOfRank(*this, rank, elementOf(getData())));
  }
  Sizes shape(data.getRank(), Size::unknown()), from = sizesOf(data);
  for (int64_t i = 0; *pads && i < data.getRank(); ++i) {
    const AxisPads &p = (**pads)[i];
    shape[i] = from[i] + p.before + p.after;
    if (shape[i].isNumber() && shape[i].number() < 0) {
      return emitOpError("cuts more than there is along axis ") << i;
    }
    PaddedAxis axis(from[i], p);
    Size least = axis.least(getMode());
    if (getMode() != "constant" && failed(require(*this, axis.size(), max(axis.size(), least)))) {
      return emitOpError("cannot pad ") << axis.size().text() << " elements from themselves along axis " << i;
    }
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

std::optional<SmallVector<std::pair<int64_t, int64_t>>> PadOp::amounts() {
  auto pads = padsOf(*this);
  auto isNumber = [](const AxisPads &p) { return p.before.isNumber() && p.after.isNumber(); };
  if (failed(pads) || !*pads || !llvm::all_of(**pads, isNumber)) {
    return std::nullopt;
  }
  return llvm::map_to_vector(**pads, [](const AxisPads &p) { return std::pair(p.before.number(), p.after.number()); });
}

namespace {
/// A range of one axis of the result: its element start + i, for i in [0, size), is the data's element from + i * step,
/// or the constant where `filled` is set.
struct AxisRange {
  Size start, size, from;
  int64_t step;
  bool filled = false;
};
} // namespace

/// Appends the ranges of result elements [begin, end) of an axis of numbers. The `d` kept elements of the data are at
/// [before, before + d) of the result; beside them they repeat with a period.
static void paddedRanges(SmallVectorImpl<AxisRange> &ranges, int64_t begin, int64_t end, int64_t before, int64_t d,
                         StringRef mode) {
  int64_t period = mode == "reflect" ? 2 * (d - 1) : d;
  while (begin < end) {
    if (mode == "edge" || period == 0) {
      ranges.push_back({begin, end - begin, mode == "edge" && begin >= before ? d - 1 : 0, 0});
      return;
    }
    int64_t phase = ((begin - before) % period + period) % period; // counted from the first kept element
    bool back = phase >= d;
    int64_t size = std::min(end - begin, (back ? period : d) - phase);
    ranges.push_back({begin, size, back ? period - phase : phase, back ? -1 : 1});
    begin += size;
  }
}

/// Returns the range of the `n` pads in front of, or behind, the `d` kept elements of an open axis. One range is
/// enough, since inferTypes() requires enough kept elements, and wrapped() has taken the axes that wrap more than once.
static AxisRange rangeOfPads(const Size &n, const Size &d, const Size &begin, bool front, StringRef mode) {
  if (mode == "edge") {
    return {begin, n, front ? Size(0) : d - 1, 0};
  }
  if (mode == "reflect") {
    return {begin, n, front ? n : d - 2, -1};
  }
  return {begin, n, front ? d - n : Size(0), 1};
}

/// Returns the ranges of an axis for the modes reflect, edge and wrap.
static SmallVector<AxisRange> paddedRanges(const PaddedAxis &axis, StringRef mode) {
  SmallVector<AxisRange> ranges;
  Size d = axis.size(), last = axis.before + d;
  if (axis.isNumber()) {
    paddedRanges(ranges, 0, axis.before.number(), axis.before.number(), d.number(), mode);
    if (!d.is(0)) {
      ranges.push_back({axis.before, d, 0, 1});
    }
    paddedRanges(ranges, last.number(), (last + axis.after).number(), axis.before.number(), d.number(), mode);
  } else {
    if (!axis.before.is(0)) {
      ranges.push_back(rangeOfPads(axis.before, d, 0, /*front=*/true, mode));
    }
    ranges.push_back({axis.before, d, 0, 1});
    if (!axis.after.is(0)) {
      ranges.push_back(rangeOfPads(axis.after, d, last, /*front=*/false, mode));
    }
  }
  for (AxisRange &range : ranges) {
    range.from = range.from + axis.begin;
  }
  return ranges;
}

/// Returns the ranges of an axis of `d` elements for any mode.
static SmallVector<AxisRange> rangesOf(const Size &d, const AxisPads &pads, StringRef mode) {
  if (mode != "constant") {
    return paddedRanges(PaddedAxis(d, pads), mode);
  }
  const auto &[before, after] = pads;
  Size total = d + before + after, first = max(before, 0), last = min(total, d + before);
  SmallVector<AxisRange> ranges;
  auto outside = [&](const Size &begin, const Size &end) {
    if (Size size = max(end - begin, 0); !size.is(0)) {
      ranges.push_back({begin, size, 0, 0, true});
    }
  };
  outside(0, min(first, total));
  if (Size size = max(last - first, 0); !size.is(0)) {
    ranges.push_back({first, size, first - before, 1});
  }
  outside(max(last, first), total);
  return ranges;
}

/// Appends a box for each combination of ranges of the axes that `box` does not have yet. Where a range is filled, so
/// is the whole box, which is not divided along later axes.
static void appendBoxes(ArrayRef<SmallVector<AxisRange>> ranges, ArrayRef<Size> shape, ArrayRef<Size> dense,
                        MovedBox box, Movement &m) {
  size_t d = box.start.size();
  if (d == ranges.size()) {
    m.boxes.push_back(std::move(box));
    return;
  }
  for (const AxisRange &range : ranges[d]) {
    MovedBox next = box;
    next.start.push_back(range.start), next.sizes.push_back(range.size);
    if (range.filled) {
      next.operand = MovedBox::fill;
      next.start.resize(shape.size(), 0);
      llvm::append_range(next.sizes, shape.drop_front(d + 1));
      m.boxes.push_back(std::move(next));
      continue;
    }
    next.source.offset = next.source.offset + range.from * dense[d];
    next.source.strides.push_back(dense[d] * Size(range.step));
    appendBoxes(ranges, shape, dense, std::move(next), m);
  }
}

/// The most boxes of a kernel, each of which is a loop nest of its own.
static constexpr size_t mostBoxes = 256;

static SmallVector<SmallVector<AxisRange>> rangesOf(ArrayRef<Size> shape, ArrayRef<AxisPads> pads, StringRef mode) {
  SmallVector<SmallVector<AxisRange>> ranges;
  for (auto [d, p] : llvm::zip_equal(shape, pads)) {
    ranges.push_back(rangesOf(d, p, mode));
  }
  return ranges;
}

/// Whether appendBoxes() makes more boxes than a kernel should have.
static bool hasTooManyBoxes(ArrayRef<SmallVector<AxisRange>> ranges) {
  size_t count = 1;
  for (const SmallVector<AxisRange> &axis : llvm::reverse(ranges)) {
    size_t filled = llvm::count_if(axis, [](const AxisRange &range) { return range.filled; });
    count = std::min(filled + (axis.size() - filled) * count, mostBoxes + 1);
  }
  return count > mostBoxes;
}

std::optional<Movement> PadOp::movement() {
  if (!isSized(getData()) || !isSized(getY())) {
    return std::nullopt;
  }
  auto pads = padsOf(*this);
  if (failed(pads) || !*pads) {
    return std::nullopt;
  }
  Sizes from = sizesOf(getData()), to = sizesOf(getY());
  SmallVector<SmallVector<AxisRange>> ranges = rangesOf(from, **pads, getMode());
  if (hasTooManyBoxes(ranges)) {
    return std::nullopt;
  }
  Movement m{to, {}, present(getValue()) ? 2 : -1, {}};
  appendBoxes(ranges, to, rowMajorStrides(from), {}, m);
  return m;
}

/// Returns `x` padded by `pads` along each axis, in the mode and with the constant of `op`.
static Value padded(Formula &f, PadOp op, Value x, ArrayRef<AxisPads> pads) {
  Sizes all; // the pads in front, then those behind
  llvm::append_range(all, llvm::map_range(pads, [](const AxisPads &p) { return p.before; }));
  llvm::append_range(all, llvm::map_range(pads, [](const AxisPads &p) { return p.after; }));
  NamedAttribute mode = f.b.getNamedAttr("mode", op.getModeAttr());
  return f.op("Pad", {x, makeSizes(f.b, f.loc, all), op.getValue(), {}}, {mode});
}

static bool changes(const AxisPads &p) { return !p.before.is(0) || !p.after.is(0); }

/// Rewrites the axes that may wrap round more than once, and whose sizes are open, to Gather by positions that the run
/// computes: (i - before) mod size. The other axes stay a Pad. Null where there are no such axes.
static Value wrapped(PadOp op, ArrayRef<AxisPads> pads, PatternRewriter &rewriter) {
  Formula f(rewriter, op.getLoc());
  Sizes from = sizesOf(op.getData());
  SmallVector<AxisPads> left;
  Value x = op.getData();
  for (auto [i, p] : llvm::enumerate(pads)) {
    PaddedAxis axis(from[i], p);
    bool once = !changes(p) || axis.isNumber() || (axis.size() - max(axis.before, axis.after)).atLeast(0);
    left.push_back(once ? p : AxisPads());
    if (!once) {
      Value place = f.sub(f.countTo(f.scalar(from[i] + p.before + p.after)), f.scalar(axis.before));
      place = f.add(f.op("Mod", {place, f.scalar(axis.size())}), f.scalar(axis.begin));
      x = f.op("Gather", {x, place}, {f.integer("axis", static_cast<int64_t>(i))});
    }
  }
  if (x == op.getData()) {
    return {};
  }
  return llvm::any_of(left, changes) ? padded(f, op, x, left) : x;
}

/// Rewrites a Pad of one axis with too many ranges to Gather, with a constant position for each element of the result.
static Value gathered(PadOp op, int64_t axis, ArrayRef<AxisRange> ranges, PatternRewriter &rewriter) {
  Formula f(rewriter, op.getLoc());
  SmallVector<int64_t> places;
  for (const AxisRange &range : ranges) {
    for (int64_t i = 0; i < range.size.number(); ++i) {
      places.push_back(range.from.number() + i * range.step);
    }
  }
  return f.op("Gather", {op.getData(), makeIntegers(f.b, f.loc, places)}, {f.integer("axis", axis)});
}

/// Rewrites a Pad with too many boxes to two, each of half of the padded axes; one of a single axis to Gather.
static Value padInSteps(PadOp op, ArrayRef<AxisPads> pads, PatternRewriter &rewriter) {
  SmallVector<int64_t> axes;
  for (auto [i, p] : llvm::enumerate(pads)) {
    if (changes(p)) {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.size() == 1) {
    Size size = sizesOf(op.getData())[axes.front()];
    return gathered(op, axes.front(), rangesOf(size, pads[axes.front()], op.getMode()), rewriter);
  }
  Formula f(rewriter, op.getLoc());
  SmallVector<AxisPads> first(pads), second(pads);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    (i < axes.size() / 2 ? second : first)[axis] = {};
  }
  return padded(f, op, padded(f, op, op.getData(), first), second);
}

LogicalResult PadOp::decompose(PatternRewriter &rewriter) {
  auto pads = padsOf(*this);
  if (failed(pads) || !*pads || !isSized(getData())) {
    return failure();
  }
  Value x = getMode() == "wrap" ? wrapped(*this, **pads, rewriter) : Value();
  if (!x && hasTooManyBoxes(rangesOf(sizesOf(getData()), **pads, getMode()))) {
    x = padInSteps(*this, **pads, rewriter);
  }
  if (!x) {
    return failure();
  }
  rewriter.replaceOp(*this, x);
  return success();
}

LogicalResult PadOp::upgrade(Node &node) {
  if (node.opset < 11) {
    node.attributeToOperand(node.attributes.get("paddings") ? "paddings" : "pads", 1);
    node.floatAttributeToOperand("value", 2);
  }
  return success();
}

void registerPad(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Pad.cpp.inc"
      >();
}

} // namespace ingot::onnx
