// Looks for a comparison between the numbers 0, 1, 2, ... of keys along the last axis and a number that is the same for
// all keys:
//
//   key <= place            the last key is place
//   key < length            the last key is length - 1
//   key - place <= n        the last key is place + n     (how far a key lies ahead)
//
// on either side of the comparison, and negated. Where two conditions have to hold, the first of them that has such a
// comparison will do, since it alone excludes what lies behind.
#include "compiler/onnx/elements/LastKey.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Generators.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Unary.h"
#include <limits>

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t mostKeys = 1 << 20; ///< longer constants are not compared with 0, 1, 2, ...

/// Returns whether the elements along the last axis are 0, 1, 2, ..., as many as there are keys, and all other axes
/// have one element.
static bool countsKeys(Value v, const Size &keys) {
  auto type = ranked(v);
  if (!type || type.getRank() == 0 || !isSized(v)) {
    return false;
  }
  Sizes sizes = sizesOf(type);
  if (!(sizes.back() == keys) || !llvm::all_of(ArrayRef(sizes).drop_back(), [](const Size &n) { return n.is(1); })) {
    return false;
  }
  if (auto range = withoutReshapes(v).getDefiningOp<RangeOp>()) {
    return splatNumber(range.getStart()) == support::Number(0) && splatNumber(range.getDelta()) == support::Number(1);
  }
  ElementsAttr constant = constantOf(v);
  if (!constant || constant.getNumElements() > mostKeys) {
    return false;
  }
  auto numbers = integersOf(constant);
  return numbers && llvm::all_of(llvm::enumerate(*numbers),
                                 [](auto pair) { return pair.value() == static_cast<int64_t>(pair.index()); });
}

/// Returns whether `v` is of signed integers that do not differ along the last axis.
static bool isPlace(Value v) {
  auto type = ranked(v);
  Type element = type ? type.getElementType() : Type();
  return type && isSized(v) && (isInt(element, 32) || isInt(element, 64)) &&
         (type.getRank() == 0 || sizesOf(type).back().is(1));
}

/// Reads `small` < `large`, or `small` <= `large` if they may be `equal`.
static std::optional<LastKey> lastKeyBelow(Value small, Value large, const Size &keys, bool equal) {
  int64_t less = equal ? 0 : -1;
  if (countsKeys(small, keys) && isPlace(large)) {
    return LastKey{large, less};
  }
  auto ahead = small.getDefiningOp<SubOp>();
  auto most = wholeNumber(large);
  if (!ahead || !most || !countsKeys(ahead.getA(), keys) || !isPlace(ahead.getB()) || *most + less > 0 ||
      *most < -mostKeys) {
    return std::nullopt;
  }
  return LastKey{ahead.getB(), *most + less};
}

std::optional<LastKey> lastKeyWhere(Value condition, const Size &keys, bool holds) {
  auto either = [&](Value a, Value b) {
    auto first = lastKeyWhere(a, keys, holds);
    return first ? first : lastKeyWhere(b, keys, holds);
  };
  Operation *op = condition.getDefiningOp();
  if (auto negation = dyn_cast_or_null<NotOp>(op)) {
    return lastKeyWhere(negation.getX(), keys, !holds);
  }
  if (isa_and_nonnull<AndOp, OrOp>(op)) {
    bool both = isa<AndOp>(op) == holds;
    return both ? either(op->getOperand(0), op->getOperand(1)) : std::nullopt;
  }
  if (!isa_and_nonnull<LessOp, LessOrEqualOp, GreaterOp, GreaterOrEqualOp>(op)) {
    return std::nullopt;
  }
  Value a = op->getOperand(0), b = op->getOperand(1);
  bool isLess = isa<LessOp, LessOrEqualOp>(op) == holds;
  bool equal = isa<LessOrEqualOp, GreaterOrEqualOp>(op) == holds;
  return isLess ? lastKeyBelow(a, b, keys, equal) : lastKeyBelow(b, a, keys, equal);
}

bool isMinusInfinity(Value v) { return realSplat(v) == -std::numeric_limits<double>::infinity(); }

std::optional<LastKey> lastKeyOf(Value mask, const Size &keys) {
  if (auto where = mask.getDefiningOp<WhereOp>()) {
    bool first = isMinusInfinity(where.getX());
    return first || isMinusInfinity(where.getZ()) ? lastKeyWhere(where.getCondition(), keys, !first) : std::nullopt;
  }
  if (auto sum = mask.getDefiningOp<AddOp>()) {
    auto first = lastKeyOf(sum.getA(), keys);
    return first ? first : lastKeyOf(sum.getB(), keys);
  }
  return std::nullopt;
}

} // namespace ingot::onnx
