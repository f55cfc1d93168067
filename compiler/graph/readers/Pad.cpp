// Reads pads of a Pad. A pad is the number of elements that are put there less the number that are taken away, both of
// which are sizes.
#include "compiler/onnx/ops/Pad.h"
#include "compiler/graph/SizeReader.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class PadReader : SizeReader {
public:
  explicit PadReader(const SizeReader &reader) : SizeReader(reader) {}

  bool run(onnx::PadOp pad) {
    auto type = onnx::ranked(pad.getData()), given = onnx::ranked(pad.getPads()), axes = onnx::ranked(pad.getAxes());
    auto known = onnx::integersOf(pad.getAxes());
    if ((onnx::sizesIn(pad.getPads()) && (!axes || known)) || !onnx::isSized(pad.getData()) || !given ||
        !onnx::isSized(pad.getPads()) || !mayRead(Size::unknown())) {
      return false;
    }
    int64_t rank = type.getRank();
    Value pads = pad.getPads(), bad;
    if (axes && !known && onnx::isSized(pad.getAxes())) {
      Size count = support::product(onnx::sizesOf(axes));
      Axes all = axesIn(pad.getAxes(), count, rank);
      bad = f.op("Or", {all.outside, namedTwice(all)});
      Value columns = f.mul(f.reshapeTo(i64(pads), {2, count, 1}), all.each);
      pads = f.reshapeTo(f.reduce("ReduceSum", columns, {1}, /*keepdims=*/false), {2 * rank});
      pad.getAxesMutable().assign(onnx::makeNone(f.b, f.loc));
      known.reset();
    } else if ((axes && !known) || !onnx::isStatic(pads)) {
      return false;
    }
    SmallVector<int64_t> places = known ? *known : llvm::to_vector(llvm::seq<int64_t>(0, rank));
    int64_t n = static_cast<int64_t>(places.size());
    if (onnx::ranked(pads).getNumElements() != 2 * n) {
      return false;
    }
    Sizes sizes(2 * n, 0);
    for (auto [i, place] : llvm::enumerate(places)) {
      auto axis = onnx::normalAxis(place, rank);
      if (!axis) {
        return false;
      }
      auto at = static_cast<int64_t>(i);
      Size d = onnx::sizeOf(type, *axis), before = SizesInData::known({pads, at}),
           after = SizesInData::known({pads, n + at});
      if (before.isUnknown() || after.isUnknown()) {
        std::tie(before, after) = padsIn(number({pads, at}), number({pads, n + at}), d, bad);
      }
      sizes[at] = before, sizes[n + at] = after;
    }
    pad.getPadsMutable().assign(list(sizes));
    return true;
  }

private:
  /// Reads the pads of an axis of `d` elements. The result's size is a symbol of its own, since sums would multiply to
  /// long expressions.
  std::pair<Size, Size> padsIn(Value before, Value after, const Size &d, Value bad) {
    static constexpr int64_t far = int64_t(1) << 41; // this is no size, and does not overflow
    Value zero = f.scalar(0), all = f.scalar(d);
    auto clamp = [&](Value v) { return f.op("Max", {f.op("Min", {v, f.scalar(far)}), f.scalar(-far)}); };
    before = clamp(before), after = clamp(after);
    Value cut = f.op("Min", {before, zero}), left = f.add(f.add(all, cut), f.op("Min", {after, zero}));
    Value wrong = f.op("Less", {left, zero});
    Value total = orNegative(bad ? f.op("Or", {bad, wrong}) : wrong, f.add(f.add(all, before), after));
    Size put = read(f.op("Max", {before, zero}), Size::unknown()) - read(f.sub(zero, cut), d);
    return {put, read(total, Size::unknown()) - d - put};
  }
};

struct PadSizes : ReadsSizes::ExternalModel<PadSizes, onnx::PadOp> {
  bool readSizes(Operation *op, SizeReader &reader) const { return PadReader(reader).run(cast<onnx::PadOp>(op)); }
};

} // namespace

void attachPad(MLIRContext &context) { onnx::PadOp::attachInterface<PadSizes>(context); }

} // namespace ingot::graph
