// A shape is read number by number: those that are known stay what they are. What a number means to its op (-1 in
// a Reshape, negative ends of a Slice) is computed on the tensors, so that what is read is a size.
//
// Numbers that their op bounds (the ends of a Slice, the k of a TopK) are found sizes like any other. Without a bound,
// and where the function may not ask for such, the op stays as it is and is refused later.
#include "compiler/graph/ReadSizes.h"
#include "compiler/graph/RowSlice.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Image.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Rearrange.h"
#include "compiler/onnx/ops/Resize.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ops/Signal.h"
#include "compiler/onnx/ops/Splice.h"
#include "compiler/onnx/ops/Spread.h"
#include "compiler/onnx/ops/Text.h"
#include "compiler/onnx/ops/TopK.h"
#include "compiler/onnx/sizes/InData.h"
#include "compiler/onnx/sizes/LoopSizes.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

class Reader : onnx::InData {
public:
  using InData::InData;

  bool run() {
    using namespace onnx;
    return TypeSwitch<Operation *, bool>(op)
        .Case<RangeOp, ExpandOp, ReshapeOp, SliceOp, LoopOp, PadOp>([&](auto reads) { return readFor(reads); })
        .Case<TopKOp>([&](auto top) { return makeNumbers({1}) || readAlong(top.getAxis()); })
        .Case<SplitOp>([&](auto split) { return readAlong(split.getAxis()); })
        .Case<OneHotOp>([&](auto oneHot) {
          if (makeNumbers({1})) {
            return true;
          }
          if (!elementOf(oneHot.getDepth()).isInteger() && mayRead(Size::unknown())) {
            oneHot.getDepthMutable().assign(i64(oneHot.getDepth()));
          }
          return readList(1);
        })
        .Case<ResizeOp>([&](auto resize) { return readList(3) || readScales(resize); })
        .Case<DFTOp>([&](auto transform) { return readList(1) || readAxis(transform); })
        .Case<STFTOp>([&](auto) {
          bool step = readFrames(1, /*cut=*/true);
          return readFrames(3, /*cut=*/false) || step;
        })
        .Case<Col2ImOp>([&](auto) {
          bool image = readList(1);
          return readList(2) || image; // of blocks: bounds of their own would multiply to far too much memory
        })
        .Case<SpliceOp>([&](auto splice) {
          return isSized(splice.getData()) && readList(3, sizesOf(ranked(splice.getData())).front());
        })
        .Case<PiecesOp>([&](auto pieces) { return readPieces(pieces); })
        .Case<ConstantOfShapeOp>([&](auto) { return readList(0); })
        .Case<TileOp, DecodeImageOp>([&](auto) { return readList(1); })
        .Case<MaxUnpoolOp>([&](auto) { return readList(2); })
        .Default(false);
  }

private:
  void setOperand(unsigned number, ArrayRef<Size> sizes) {
    Value list = onnx::makeSizes(f.b, f.loc, sizes, onnx::ranked(op->getOperand(number)));
    op->setOperand(number, list);
  }

  /// Operands that are one number each, where the run has to see that they are.
  bool makeNumbers(ArrayRef<unsigned> operands) {
    bool any = false;
    for (unsigned i : operands) {
      Value v = op->getOperand(i);
      if (onnx::isSized(v) && !onnx::isStatic(v)) {
        op->setOperand(i, f.reshapeTo(v, {}));
        any = true;
      }
    }
    return any;
  }

  /// An operand all of whose elements are sizes as they are.
  bool readList(unsigned operand, const Size &bound = Size::unknown()) {
    Value list = op->getOperand(operand);
    auto length = lengthOf(list);
    if (!length || !mayRead(bound)) {
      return false;
    }
    Sizes sizes;
    for (int64_t i = 0; i < *length; ++i) {
      sizes.push_back(known({list, i}));
      if (sizes.back().isUnknown()) {
        sizes.back() = read(element({list, i}), bound);
      }
    }
    setOperand(operand, sizes);
    return true;
  }

  /// The most pieces that any of the strings has.
  bool readPieces(onnx::PiecesOp pieces) {
    auto most = static_cast<int64_t>(pieces.getMost()), more = static_cast<int64_t>(pieces.getMore());
    auto number = static_cast<int64_t>(pieces.getNumber());
    Size bound = most >= 0 ? Size(most) : Size::unknown();
    if (!onnx::isSized(pieces.getX()) || !mayRead(bound)) {
      return false;
    }
    auto call = [&](ArrayRef<Value> xs, StringRef does, int64_t to, std::optional<Size> tail) {
      return onnx::makeText(f, xs, {does, to, {}, number, tail, /*rows=*/false, pieces.getTable()});
    };
    Value counts = call({pieces.getX()}, pieces.getCounts(), INGOT_INT64, std::nullopt);
    Value all = f.op("Concat", {f.reshape(counts, {-1}), list({0})}, {f.integer("axis", 0)}); // of no strings: 0
    Value found = f.reduce("ReduceMax", all, {0}, /*keepdims=*/false);
    if (more) {
      found = f.add(found, f.mul(f.op("Min", {found, f.scalar(1)}), f.scalar(more)));
    }
    Value y = call({pieces.getX(), counts}, pieces.getDoes(), INGOT_STRING, read(found, bound));
    pieces.getY().replaceAllUsesWith(y);
    pieces.getCount().replaceAllUsesWith(counts);
    pieces->erase();
    return true;
  }

  /// A pad is what is put there less what is taken away: both are sizes.
  bool readFor(onnx::PadOp pad) {
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
      Size d = onnx::sizeOf(type, *axis), before = InData::known({pads, at}), after = InData::known({pads, n + at});
      if (before.isUnknown() || after.isUnknown()) {
        std::tie(before, after) = padsIn(number({pads, at}), number({pads, n + at}), d, bad);
      }
      sizes[at] = before, sizes[n + at] = after;
    }
    pad.getPadsMutable().assign(list(sizes));
    return true;
  }
  Value number(Element e) { return f.reshape(element(e), {}); }
  /// Of an axis of `d` elements. The result's size is a symbol of its own: sums would multiply to long expressions.
  std::pair<Size, Size> padsIn(Value before, Value after, const Size &d, Value bad) {
    static constexpr int64_t far = int64_t(1) << 41; // no size, and nothing overflows
    Value zero = f.scalar(0), all = f.scalar(d);
    auto clamp = [&](Value v) { return f.op("Max", {f.op("Min", {v, f.scalar(far)}), f.scalar(-far)}); };
    before = clamp(before), after = clamp(after);
    Value cut = f.op("Min", {before, zero}), left = f.add(f.add(all, cut), f.op("Min", {after, zero}));
    Value wrong = f.op("Less", {left, zero});
    Value total = orNegative(bad ? f.op("Or", {bad, wrong}) : wrong, f.add(f.add(all, before), after));
    Size put = read(f.op("Max", {before, zero}), Size::unknown()) - read(f.sub(zero, cut), d);
    return {put, read(total, Size::unknown()) - d - put};
  }

  /// Computes the sizes that follow from scales in data, and from constants whose products with open sizes no
  /// expression gives. The scales stay operands: positions depend on them.
  bool readScales(onnx::ResizeOp resize) {
    Value scales = resize.getScales();
    auto type = onnx::ranked(resize.getData()), sizes = onnx::ranked(resize.getSizes());
    auto known = onnx::present(scales) ? onnx::floatsOf(scales) : std::nullopt;
    bool given = onnx::present(scales) && onnx::isStatic(scales) && onnx::isSized(resize.getData()) &&
                 (known || mayRead(Size::unknown()));
    if (!given || (sizes && sizes.getNumElements() != 0)) {
      return false;
    }
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    ArrayRef<int64_t> axes = resize.getAxes().value_or(all);
    if (onnx::ranked(scales).getNumElements() != static_cast<int64_t>(axes.size())) {
      return false;
    }
    Sizes results;
    for (auto [i, number] : llvm::enumerate(axes)) {
      auto axis = onnx::normalAxis(number, type.getRank());
      if (!axis) {
        return false;
      }
      Size to = onnx::sizeOf(onnx::ranked(resize.getY()), *axis), from = onnx::sizeOf(type, *axis);
      Size most = known ? mostScaled(from, (*known)[i]) : Size::unknown();
      results.push_back(to.isUnknown() ? scaled(scales, static_cast<int64_t>(i), from, most) : to);
    }
    resize.getSizesMutable().assign(list(results));
    return true;
  }
  /// Reads `from` multiplied by an element of the scales, in single precision and rounded down. It is at most `most`,
  /// where that is known.
  Size scaled(Value scales, int64_t i, const Size &from, const Size &most) {
    Type f32 = f.b.getF32Type();
    Value scale = f.cast(f.op("Gather", {scales, onnx::makeInteger(f.b, f.loc, i)}, {f.integer("axis", 0)}), f32, 1);
    Value length = f.op("Floor", {f.mul(f.cast(f.scalar(from), f32, 1), scale)});
    if (!most.isUnknown()) {
      return read(i64(length), most);
    }
    Value good = f.op("And", {f.op("Greater", {scale, f.number(0, scale)}),
                              f.op("LessOrEqual", {length, f.number(static_cast<double>(1LL << 40), scale)})});
    return read(i64(where(good, length, f.number(-1, scale))), most);
  }
  /// Returns a bound of that: the length and the product are each rounded by less than a part in 2^23.
  static Size mostScaled(const Size &from, double scale) {
    int shift = std::clamp(20 - std::ilogb(scale), 0, 40);
    auto part = static_cast<int64_t>(std::ceil(std::ldexp(scale * (1 + std::ldexp(1, -22)), shift)));
    return floorDiv(from * Size(part), Size(int64_t(1) << shift));
  }

  /// Which axis is transformed is one of a few: a branch for each.
  bool readAxis(onnx::DFTOp transform) {
    auto type = onnx::ranked(transform.getX());
    if (lengthOf(transform.getAxis()) != 1 || !onnx::isSized(transform.getX()) || type.getRank() < 2) {
      return false;
    }
    Value axis = f.reshape(element({transform.getAxis(), 0}), {});
    axis = where(f.op("Less", {axis, f.scalar(0)}), f.add(axis, f.scalar(type.getRank())), axis);
    Value y = transformedAlong(transform, axis, 0);
    transform.getY().replaceAllUsesWith(y);
    transform->erase();
    return true;
  }
  /// Where `axis` is not less than `least`.
  Value transformedAlong(onnx::DFTOp transform, Value axis, int64_t least) {
    OpBuilder::InsertionGuard guard(f.b);
    Value is = f.op("Equal", {axis, f.scalar(least)});
    Type unknown = onnx::unrankedOf(onnx::elementOf(transform.getX()));
    auto branch = onnx::IfOp::create(f.b, f.loc, TypeRange{unknown}, is);
    auto yield = [&](Region &region, llvm::function_ref<Value()> value) {
      f.b.setInsertionPointToEnd(&region.emplaceBlock());
      onnx::YieldOp::create(f.b, f.loc, value());
    };
    yield(branch.getThenBranch(), [&] {
      return f.op("DFT", {transform.getX(), transform.getDftLength(), onnx::makeInteger(f.b, f.loc, least)},
                  {f.integer("inverse", static_cast<int64_t>(transform.getInverse())),
                   f.integer("onesided", static_cast<int64_t>(transform.getOnesided()))});
    });
    if (least + 2 < onnx::ranked(transform.getX()).getRank()) {
      yield(branch.getElseBranch(), [&] { return transformedAlong(transform, axis, least + 1); });
    } else {
      onnx::failInstead(branch.getElseBranch().emplaceBlock(), "the axis is none that can be transformed");
    }
    return succeeded(onnx::updateTypes(branch)) ? branch.getResult(0) : Value();
  }

  /// The step or length of STFT's frames: 1 at least; a step (`cut`) beyond the signal's end makes no difference.
  bool readFrames(unsigned operand, bool cut) {
    Value number = op->getOperand(operand);
    auto signal = onnx::ranked(op->getOperand(0));
    if (lengthOf(number) != 1 || !onnx::isSized(op->getOperand(0)) || signal.getRank() != 3) {
      return false;
    }
    Size most = max(onnx::sizeOf(signal, 1), 1);
    Value n = element({number, 0});
    Value inside = cut ? f.op("Min", {n, one(most, n)}) : n;
    setOperand(operand, {read(where(f.op("Less", {n, one(1, n)}), one(-1, n), inside), most)});
    return true;
  }

  /// Operand 1 says how much of an axis of operand 0 a result has.
  bool readAlong(int64_t given) {
    auto data = onnx::ranked(op->getOperand(0));
    auto axis = data ? onnx::normalAxis(given, data.getRank()) : std::nullopt;
    Size bound = axis ? onnx::sizeOf(data, *axis) : Size::unknown();
    return !bound.isUnknown() && readList(1, bound);
  }

  bool readFor(onnx::RangeOp range) {
    if (makeNumbers({0, 1, 2})) {
      return true;
    }
    if (reading != onnx::SizeReading::Any || !llvm::all_of(range->getOperands(), [](Value v) {
          return onnx::isStatic(v) && onnx::ranked(v).getNumElements() == 1;
        })) {
      return false;
    }
    Operation *finder = onnx::createOp(f.b, f.loc, onnx::RangeSizeOp::getOperationName(), range->getOperands());
    Size length = *onnx::foundBy(finder);
    Type element = onnx::elementOf(range.getStart());
    Value numbers = f.cast(f.countTo(f.scalar(length)), element, onnx::numberOfElement(element));
    f.b.setInsertionPoint(op);
    Value y = f.add(f.mul(numbers, f.reshape(range.getDelta(), {})), f.reshape(range.getStart(), {}));
    range.getY().replaceAllUsesWith(y);
    range->erase();
    return true;
  }

  /// 1 leaves an axis as it is; beside an axis that is not 1 nothing else may stand but its size.
  bool readFor(onnx::ExpandOp expand) {
    Value list = expand.getShape();
    auto length = lengthOf(list);
    if (!length || !onnx::isSized(expand.getData())) {
      return false;
    }
    Sizes from = onnx::sizesOf(onnx::ranked(expand.getData())), sizes;
    int64_t shift = *length - static_cast<int64_t>(from.size());
    for (int64_t i = 0; i < *length; ++i) {
      Size size = i < shift ? Size(1) : from[i - shift], to = known({list, i});
      Size bound = size.mayBeOne() ? Size::unknown() : size;
      if (to.isUnknown() && !mayRead(bound)) {
        return false;
      }
      if (to.isUnknown()) {
        Value number = element({list, i});
        if (!size.is(1)) {
          Value same = f.op("Equal", {number, one(1, number)});
          number = f.op("Where", {same, one(size, number), number});
        }
        to = read(number, bound);
      }
      sizes.push_back(to);
    }
    setOperand(1, sizes);
    return true;
  }

  /// The loop's trip count is a size, where no condition can end it earlier.
  bool readFor(onnx::LoopOp loop) {
    bool goesOn = loop.continues().get() == loop.enters() || onnx::splatNumber(loop.continues().get()) == 1;
    bool enters = !onnx::present(loop.getCondition()) || onnx::splatNumber(loop.getCondition()) == 1;
    auto length = lengthOf(loop.getTrips());
    Size most = onnx::LoopSizes::mostTurns(loop);
    if (!length || *length != 1 || !goesOn || !enters || !mayRead(most)) {
      return false;
    }
    Value trips = element({loop.getTrips(), 0});
    Size times = read(f.op("Max", {trips, one(0, trips)}), most);
    loop.getTripsMutable().assign(onnx::makeSizes(f.b, f.loc, {times}, onnx::ranked(loop.getTrips())));
    return true;
  }

  // Reshape: 0 copies the operand's size, -1 is what is left.

  bool readFor(onnx::ReshapeOp reshape) {
    Value list = reshape.getShape();
    auto length = lengthOf(list);
    if (!length || !onnx::isSized(reshape.getX())) {
      return false;
    }
    Sizes from = onnx::sizesOf(onnx::ranked(reshape.getX())), sizes;
    SmallVector<int64_t> missing;
    bool rest = false; // one that is known to be -1
    for (int64_t i = 0; i < *length; ++i) {
      Size size = known({list, i});
      if (size.is(0) && !reshape.getAllowzero() && i < static_cast<int64_t>(from.size())) {
        size = from[i];
      }
      rest |= size.is(-1);
      if (size.isUnknown()) {
        missing.push_back(i);
      }
      sizes.push_back(size);
    }
    Size bound = Size::unknown();
    if (missing.size() == 1 && !rest) { // the elements tell
      Sizes others = sizes;
      others[missing.front()] = 1;
      bound = floorDiv(support::product(from), support::product(others));
    }
    if (!mayRead(bound)) {
      return false;
    }
    Value resolved = rest ? list : resolve(reshape, from);
    for (int64_t i : missing) {
      sizes[i] = read(element({resolved, i}), bound);
    }
    setOperand(1, sizes);
    reshape.setAllowzero(true); // all of them are what they say
    return true;
  }

  /// The numbers of a shape with sizes in the place of 0 and -1; what cannot be is negative.
  Value resolve(onnx::ReshapeOp reshape, ArrayRef<Size> from) {
    Value list = i64(reshape.getShape());
    auto type = onnx::ranked(list);
    auto all = [&](int64_t n) { return onnx::makeSizes(f.b, f.loc, Sizes(type.getNumElements(), n), type); };
    if (!reshape.getAllowzero()) {
      Sizes copied(from);
      copied.resize(type.getNumElements(), -2);
      list = f.op("Where", {f.op("Equal", {list, all(0)}), onnx::makeSizes(f.b, f.loc, copied, type), list});
    }
    Value open = f.op("Equal", {list, all(-1)});
    Value given = f.reduce("ReduceProd", f.op("Where", {open, all(1), list}), {0}, /*keepdims=*/true);
    Value one = onnx::makeIntegers(f.b, f.loc, {1}), count = onnx::makeSizes(f.b, f.loc, {support::product(from)});
    Value left = f.div(count, f.op("Max", {given, one}));
    return f.op("Where", {open, left, list});
  }

  // Slice: what is negative counts from the end; all is cut to the axis.

  bool readFor(onnx::SliceOp slice) {
    if (auto axis = rowAxis(slice)) {
      readRow(slice, *axis);
      return true;
    }
    auto data = onnx::ranked(slice.getData());
    auto starts = lengthIn(slice.getStarts()), ends = lengthIn(slice.getEnds());
    auto axes = onnx::integersOf(slice.getAxes()), steps = onnx::integersOf(slice.getSteps());
    bool given = (!onnx::present(slice.getAxes()) || axes) && (!onnx::present(slice.getSteps()) || steps);
    if (!onnx::isSized(slice.getData()) || !starts || starts != ends || !given ||
        (onnx::sizesIn(slice.getStarts()) && onnx::sizesIn(slice.getEnds())) ||
        (axes && static_cast<int64_t>(axes->size()) != *starts) ||
        (steps && llvm::any_of(*steps, [](int64_t step) { return step <= 0; }))) {
      return readAny(slice);
    }
    Sizes dims;
    for (int64_t i = 0; i < *starts; ++i) {
      auto axis = onnx::normalAxis(axes ? (*axes)[i] : i, data.getRank());
      if (!axis) {
        return false;
      }
      dims.push_back(onnx::sizeOf(data, *axis));
    }
    for (unsigned operand : {1, 2}) {
      if (!onnx::sizesIn(op->getOperand(operand))) {
        readEnds(operand, dims);
      }
    }
    return true;
  }
  /// Replaces a slice of one row by a Gather of as many rows as there are, one or none.
  void readRow(onnx::SliceOp slice, int64_t axis) {
    Value d = f.scalar(onnx::sizeOf(onnx::ranked(slice.getData()), axis)), zero = f.scalar(0);
    Value given = number({slice.getStarts(), 0});
    Value row = where(f.op("Less", {given, zero}), f.add(given, d), given);
    Value inside = f.op("And", {f.op("GreaterOrEqual", {row, zero}), f.op("Less", {row, d})});
    Value isLast = f.op("Equal", {given, f.scalar(-1)}); // up to 0, which is before it
    Size count = read(i64(f.op("And", {inside, f.op("Not", {isLast})})), 1);
    Value rows = f.add(f.countTo(f.scalar(count)), row);
    slice.getY().replaceAllUsesWith(f.op("Gather", {slice.getData(), rows}, {f.integer("axis", axis)}));
    slice->erase();
  }
  static std::optional<int64_t> lengthIn(Value v) {
    auto sizes = onnx::sizesIn(v);
    return sizes ? static_cast<int64_t>(sizes->size()) : lengthOf(v);
  }

  /// With steps or axes that data tells, or steps backwards: rows picked by their numbers, axis by axis.
  bool readAny(onnx::SliceOp slice) {
    auto starts = onnx::ranked(slice.getStarts()), type = onnx::ranked(slice.getData());
    if (!onnx::isSized(slice.getData()) || !starts || !onnx::isSized(slice.getStarts()) || type.getRank() == 0) {
      return false;
    }
    Sizes sizes = onnx::sizesOf(type);
    Size count = support::product(onnx::sizesOf(starts));
    bool given = onnx::present(slice.getAxes());
    Axes axes = axesIn(given ? slice.getAxes() : Value(), count, type.getRank());
    Value bad = f.op("Or", {axes.outside, namedTwice(axes)});
    Value named = f.op("Greater", {axes.named, f.scalar(0)});
    auto along = [&](Value v) {
      Value column = f.reshapeTo(i64(v), {count, 1});
      return f.reduce("ReduceSum", f.mul(axes.each, column), {0}, /*keepdims=*/false);
    };
    Value d = list(sizes), last = f.sub(d, f.scalar(1)), zero = f.scalar(0), step = f.scalar(1), back;
    if (onnx::present(slice.getSteps())) {
      Value most = f.op("Max", {d, step}); // a longer step ends as soon
      step = where(named, along(slice.getSteps()), step);
      bad = f.op("Or", {bad, any(f.op("Equal", {step, zero}))});
      step = f.op("Max", {f.op("Min", {step, most}), f.sub(zero, most)});
    } else {
      step = f.op("Add", {f.mul(axes.named, zero), step});
    }
    back = f.op("Less", {step, zero});
    auto fromFront = [&](Value v) { return where(f.op("Less", {v, zero}), f.add(v, d), v); };
    auto clamp = [&](Value v, Value low, Value high) { return f.op("Max", {f.op("Min", {v, high}), low}); };
    Value high = where(back, last, d), lowest = where(back, f.scalar(-1), zero);
    Value start = clamp(fromFront(along(slice.getStarts())), where(back, f.op("Min", {last, zero}), zero), high);
    Value end = where(named, clamp(fromFront(along(slice.getEnds())), lowest, high), d);
    Value size = f.op("Max", {f.abs(step), f.scalar(1)}), way = where(back, f.sub(start, end), f.sub(end, start));
    Value places = f.op("Max", {f.div(f.add(way, f.sub(size, f.scalar(1))), size), zero});
    pick(slice, sizes, start, step, orNegative(bad, places));
    return true;
  }

  /// Of each axis so many rows, from `start` on in steps.
  void pick(onnx::SliceOp slice, ArrayRef<Size> sizes, Value start, Value step, Value places) {
    auto known = onnx::integersOf(slice.getAxes());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(sizes.size())));
    if (onnx::present(slice.getAxes()) && known) {
      llvm::erase_if(axes, [&](int64_t axis) {
        return llvm::none_of(*known, [&](int64_t k) { return onnx::normalAxis(k, sizes.size()) == axis; });
      });
    }
    Value y = slice.getData();
    Sizes cut = onnx::sizesOf(onnx::ranked(slice.getY()));
    for (int64_t axis : axes) {
      Size count = cut[axis].isUnknown() ? read(element({places, axis}), sizes[axis]) : cut[axis];
      Value rows = f.countTo(f.scalar(count));
      rows = f.add(f.mul(rows, element({step, axis})), element({start, axis}));
      y = f.op("Gather", {y, rows}, {f.integer("axis", axis)});
    }
    slice.getY().replaceAllUsesWith(y);
    slice->erase();
  }

  void readEnds(unsigned operand, ArrayRef<Size> dims) {
    Value list = op->getOperand(operand);
    Sizes sizes;
    for (auto [i, d] : llvm::enumerate(dims)) {
      Element e{list, static_cast<int64_t>(i)};
      Size size = known(e);
      if (size.isUnknown()) {
        Value number = element(e), zero = one(0, number), last = one(d, number);
        number = f.op("Where", {f.op("Less", {number, zero}), f.add(number, last), number});
        size = read(f.op("Min", {f.op("Max", {number, zero}), last}), d);
      }
      sizes.push_back(size);
    }
    setOperand(operand, sizes);
  }
};

} // namespace

LogicalResult readSizes(Operation *op, PatternRewriter &rewriter) {
  bool unknown =
      llvm::any_of(op->getResults(), [](Value v) { return isa<TensorType>(v.getType()) && !onnx::isSized(v); });
  if (!unknown || onnx::sizeReadingIn(op) == onnx::SizeReading::No) {
    return failure();
  }
  return success(Reader(op, rewriter).run());
}

} // namespace ingot::graph
