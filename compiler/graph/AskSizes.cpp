// A shape is asked for number by number: those that are known stay what they are. What a number means to its op (-1 in
// a Reshape, negative ends of a Slice) is computed on the tensors, so that what is read is a size.
//
// Numbers that their op bounds (the ends of a Slice, the k of a TopK) are found sizes like any other. Without a bound,
// and where the function may not ask for such, the op stays as it is and is refused later.
#include "compiler/graph/AskSizes.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Formula.h"
#include "compiler/onnx/Found.h"
#include "compiler/onnx/LoopSizes.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Rearrange.h"
#include "compiler/onnx/ops/Resize.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ops/TopK.h"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {
namespace {

/// Element `index` of a tensor of integers.
struct Element {
  Value tensor;
  int64_t index;
};

/// Where an element of a small tensor comes from, through what exporters put shapes together with.
Element originOf(Element e) {
  while (Operation *op = e.tensor.getDefiningOp()) {
    if (auto concat = dyn_cast<onnx::ConcatOp>(op)) {
      if (onnx::ranked(op->getResult(0)).getRank() != 1 || !llvm::all_of(concat.getXs(), onnx::isStatic)) {
        break;
      }
      for (Value x : concat.getXs()) {
        int64_t length = onnx::ranked(x).getNumElements();
        if (e.index < length) {
          e.tensor = x;
          break;
        }
        e.index -= length;
      }
    } else if (isa<onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp, onnx::IdentityOp>(op) &&
               onnx::isStatic(op->getOperand(0))) {
      e.tensor = op->getOperand(0);
    } else {
      break;
    }
  }
  return e;
}

class Asker {
public:
  Asker(Operation *op, PatternRewriter &rewriter) : op(op), f(rewriter, op->getLoc()), asking(onnx::askingIn(op)) {
    rewriter.setInsertionPoint(op);
  }

  bool ask() {
    if (auto range = dyn_cast<onnx::RangeOp>(op)) {
      return ask(range);
    }
    if (auto expand = dyn_cast<onnx::ExpandOp>(op)) {
      return ask(expand);
    }
    if (auto reshape = dyn_cast<onnx::ReshapeOp>(op)) {
      return ask(reshape);
    }
    if (auto slice = dyn_cast<onnx::SliceOp>(op)) {
      return ask(slice);
    }
    if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
      return ask(loop);
    }
    if (auto top = dyn_cast<onnx::TopKOp>(op)) {
      return askAlong(top.getAxis());
    }
    if (auto split = dyn_cast<onnx::SplitOp>(op)) {
      return askAlong(split.getAxis());
    }
    if (auto oneHot = dyn_cast<onnx::OneHotOp>(op)) {
      if (!onnx::elementOf(oneHot.getDepth()).isInteger() && mayRead(Size::unknown())) {
        oneHot.getDepthMutable().assign(i64(oneHot.getDepth()));
      }
      return askList(1);
    }
    return isa<onnx::ConstantOfShapeOp>(op) ? askList(0)
           : isa<onnx::TileOp>(op)          ? askList(1)
           : isa<onnx::ResizeOp>(op)        ? askList(3)
                                            : false;
  }

private:
  Operation *op;
  onnx::Formula f;
  onnx::Asking asking;

  /// How many elements a tensor of integers has; nothing: nothing can be asked of it.
  static std::optional<int64_t> lengthOf(Value v) {
    bool asks = onnx::present(v) && onnx::isStatic(v) && !onnx::sizesIn(v) && onnx::elementOf(v).isInteger() &&
                onnx::ranked(v).getNumElements() <= 64;
    return asks ? std::optional(onnx::ranked(v).getNumElements()) : std::nullopt;
  }

  /// What is known of a number without the run; unknown: nothing.
  static Size known(Element e) {
    e = originOf(e);
    auto sizes = onnx::sizesIn(e.tensor);
    return sizes ? (*sizes)[e.index] : Size::unknown();
  }

  Value i64(Value v) {
    Type type = f.b.getI64Type();
    return f.cast(v, type, onnx::numberOfElement(type));
  }
  Value one(const Size &size, Value like) { return onnx::makeSizes(f.b, f.loc, {size}, onnx::ranked(like)); }

  /// The element as a tensor of its own: the same one for whoever asks again.
  Value element(Element e) {
    e = originOf(e);
    if (onnx::ranked(e.tensor).getNumElements() == 1) {
      return i64(e.tensor);
    }
    for (Operation *user : e.tensor.getUsers()) {
      bool before = user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
      if (isa<onnx::GatherOp>(user) && before && user->getOperand(0) == e.tensor &&
          onnx::isStatic(user->getResult(0)) && onnx::ranked(user->getResult(0)).getNumElements() == 1 &&
          onnx::splatOf(user->getOperand(1)) == static_cast<double>(e.index)) {
        return i64(user->getResult(0));
      }
    }
    return i64(f.op("Gather", {e.tensor, onnx::makeInteger(f.b, f.loc, e.index)}, {f.integer("axis", 0)}));
  }

  bool mayRead(const Size &bound) const { return asking == onnx::Asking::Any || !bound.isUnknown(); }
  /// The size in a tensor of one element.
  Size read(Value number, const Size &bound) {
    SmallVector<NamedAttribute> attributes;
    if (!bound.isUnknown()) {
      attributes.push_back(f.b.getNamedAttr(onnx::sizesName, f.b.getStrArrayAttr({bound.text()})));
    }
    Operation *finder = onnx::createOp(f.b, f.loc, onnx::ReadSizeOp::getOperationName(), {number}, attributes);
    return Size::symbol(onnx::foundBy(finder).getValue());
  }

  void setOperand(unsigned number, ArrayRef<Size> sizes) {
    Value list = onnx::makeSizes(f.b, f.loc, sizes, onnx::ranked(op->getOperand(number)));
    op->setOperand(number, list);
  }

  /// An operand all of whose elements are sizes as they are.
  bool askList(unsigned operand, const Size &bound = Size::unknown()) {
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

  /// Operand 1 says how much of an axis of operand 0 a result has.
  bool askAlong(int64_t given) {
    auto data = onnx::ranked(op->getOperand(0));
    auto axis = data ? onnx::normalAxis(given, data.getRank()) : std::nullopt;
    Size bound = axis ? onnx::sizeOf(data, *axis) : Size::unknown();
    return !bound.isUnknown() && askList(1, bound);
  }

  bool ask(onnx::RangeOp range) {
    if (asking != onnx::Asking::Any || !llvm::all_of(range->getOperands(), [](Value v) {
          return onnx::isStatic(v) && onnx::ranked(v).getNumElements() == 1;
        })) {
      return false;
    }
    Operation *finder = onnx::createOp(f.b, f.loc, onnx::RangeSizeOp::getOperationName(), range->getOperands());
    Size length = Size::symbol(onnx::foundBy(finder).getValue());
    Type element = onnx::elementOf(range.getStart());
    Value numbers = f.cast(f.countTo(f.scalar(length)), element, onnx::numberOfElement(element));
    f.b.setInsertionPoint(op);
    Value y = f.add(f.mul(numbers, f.reshape(range.getDelta(), {})), f.reshape(range.getStart(), {}));
    range.getY().replaceAllUsesWith(y);
    range->erase();
    return true;
  }

  /// 1 leaves an axis as it is; beside an axis that is not 1 nothing else may stand but its size.
  bool ask(onnx::ExpandOp expand) {
    Value list = expand.getShape();
    auto length = lengthOf(list);
    if (!length || !onnx::isSized(expand.getData())) {
      return false;
    }
    Sizes from = onnx::sizesOf(onnx::ranked(expand.getData())), sizes;
    int64_t shift = *length - static_cast<int64_t>(from.size());
    for (int64_t i = 0; i < *length; ++i) {
      Size size = i < shift ? Size(1) : from[i - shift], to = known({list, i});
      Size bound = size.is(1) ? Size::unknown() : size;
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
  bool ask(onnx::LoopOp loop) {
    bool goesOn = loop.continues().get() == loop.enters() || onnx::splatOf(loop.continues().get()) == 1;
    bool enters = !onnx::present(loop.getCondition()) || onnx::splatOf(loop.getCondition()) == 1;
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

  bool ask(onnx::ReshapeOp reshape) {
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

  bool ask(onnx::SliceOp slice) {
    auto data = onnx::ranked(slice.getData());
    auto starts = lengthIn(slice.getStarts()), ends = lengthIn(slice.getEnds());
    auto axes = onnx::integersOf(slice.getAxes()), steps = onnx::integersOf(slice.getSteps());
    bool given = (!onnx::present(slice.getAxes()) || axes) && (!onnx::present(slice.getSteps()) || steps);
    if (!onnx::isSized(slice.getData()) || !starts || starts != ends || !given ||
        (onnx::sizesIn(slice.getStarts()) && onnx::sizesIn(slice.getEnds())) ||
        (axes && static_cast<int64_t>(axes->size()) != *starts) ||
        (steps && llvm::any_of(*steps, [](int64_t step) { return step <= 0; }))) {
      return false;
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
        askEnds(operand, dims);
      }
    }
    return true;
  }
  static std::optional<int64_t> lengthIn(Value v) {
    auto sizes = onnx::sizesIn(v);
    return sizes ? static_cast<int64_t>(sizes->size()) : lengthOf(v);
  }

  void askEnds(unsigned operand, ArrayRef<Size> dims) {
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

LogicalResult askSizes(Operation *op, PatternRewriter &rewriter) {
  bool unknown =
      llvm::any_of(op->getResults(), [](Value v) { return isa<TensorType>(v.getType()) && !onnx::isSized(v); });
  if (!unknown || onnx::askingIn(op) == onnx::Asking::No) {
    return failure();
  }
  return success(Asker(op, rewriter).ask());
}

} // namespace ingot::graph
