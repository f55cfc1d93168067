// Follows a view through movements. A view of [3, 4] with strides (1, 4), read from a value that is a Slice of rows 2
// to 5 of [9, 4], is a view of [9, 4] with the offset 2 * 4 and the same strides. That is exact as long as each
// dimension of the view stays within one axis of the value between; where it does not, the walk ends, and the value is
// computed.
#include "compiler/onnx/elements/FlatView.h"
#include "compiler/onnx/constants/Evaluate.h"

using namespace mlir;

namespace ingot::onnx {

/// Whether a <= b whatever the symbols are.
static bool atMost(const Size &a, const Size &b) { return (b - a).atLeast(0); }

namespace {
/// The view over the axes of a row-major shape: where it begins on each, and how many steps along it each dimension of
/// the view makes.
struct Steps {
  Sizes start;
  SmallVector<Sizes> steps; ///< [axis][dimension]
};
} // namespace

/// Returns an offset as an index on each axis.
static std::optional<Sizes> indexOf(Size offset, ArrayRef<Size> dense) {
  Sizes index(dense.size(), 0);
  for (size_t axis = 0; axis < dense.size() && !offset.is(0); ++axis) {
    if (dense[axis].is(0)) {
      return std::nullopt;
    }
    if (auto exact = divideExactly(offset, dense[axis])) {
      index[axis] = *exact, offset = 0;
    } else if (offset.isNumber() && dense[axis].isNumber()) {
      index[axis] = offset.number() / dense[axis].number(), offset = offset.number() % dense[axis].number();
    }
  }
  return offset.is(0) ? std::optional(index) : std::nullopt;
}

/// Returns the view over the axes of a shape; nothing where some dimension steps from one axis into another.
static std::optional<Steps> alongAxes(const FlatView &view, ArrayRef<Size> shape) {
  Sizes dense = rowMajorStrides(shape);
  auto start = indexOf(view.offset, dense);
  if (!start) {
    return std::nullopt;
  }
  Sizes last = *start;
  SmallVector<Sizes> steps(shape.size(), Sizes(view.strides.size(), 0));
  for (size_t d = 0; d < view.strides.size(); ++d) {
    if (view.strides[d].is(0) || view.extents[d].is(1)) {
      continue;
    }
    bool found = false;
    for (size_t axis = 0; axis < shape.size() && !found; ++axis) {
      auto step = dense[axis].is(0) ? std::nullopt : divideExactly(view.strides[d], dense[axis]);
      Size reached = step ? last[axis] + *step * (view.extents[d] - 1) : Size(0);
      if (step && atMost(reached + 1, shape[axis])) {
        steps[axis][d] = *step, last[axis] = reached;
        found = true;
      }
    }
    if (!found) {
      return std::nullopt;
    }
  }
  return Steps{*start, steps};
}

bool FlatView::descend() {
  Operation *op = base.getDefiningOp();
  if (auto same = dyn_cast_or_null<View>(op); same && isSized(op->getOperand(0))) {
    if (auto start = same.viewOffset()) {
      offset = offset + *start;
      base = op->getOperand(0);
      return true;
    }
  }
  auto mover = dyn_cast_or_null<Mover>(op);
  auto moves = mover ? mover.movement() : std::nullopt;
  if (!moves || moves->boxes.size() != 1) {
    return false;
  }
  const MovedBox &box = moves->boxes.front();
  bool whole =
      box.operand >= 0 && llvm::all_of(box.start, [](const Size &s) { return s.is(0); }) && box.sizes == moves->shape;
  auto along = whole ? alongAxes(*this, moves->shape) : std::nullopt;
  if (!along) {
    return false;
  }
  for (size_t d = 0; d < strides.size(); ++d) {
    strides[d] = 0;
    for (size_t axis = 0; axis < moves->shape.size(); ++axis) {
      strides[d] = strides[d] + along->steps[axis][d] * box.source.strides[axis];
    }
  }
  offset = box.source.offset;
  for (size_t axis = 0; axis < moves->shape.size(); ++axis) {
    offset = offset + along->start[axis] * box.source.strides[axis];
  }
  base = op->getOperand(box.operand);
  return true;
}

} // namespace ingot::onnx
