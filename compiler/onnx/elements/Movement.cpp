// Evaluates movements of constants and finds those that move nothing. Where a box begins at the first element and lies
// in the result as it does in the operand, the operand may be written where the result is from the start, or be a view
// of it.
#include "compiler/onnx/elements/Movement.h"
#include "compiler/onnx/constants/Evaluate.h"

using namespace mlir;

namespace ingot::onnx {

/// Returns `count` copies of an element, or zeros.
static std::vector<char> filled(int64_t count, int64_t size, ElementsAttr value) {
  std::vector<char> bytes(count * size, 0);
  if (value) {
    std::vector<char> storage;
    ArrayRef<char> one = bytesOf(value, storage);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(one.begin(), size, bytes.begin() + i * size);
    }
  }
  return bytes;
}

static bool isNumber(const Size &size) { return size.isNumber(); }

/// Results above foldLimitBytes are left to the run: an Expand of one number may have any size.
LogicalResult evaluateMovement(Operation *op, const Movement &movement, ArrayRef<ElementsAttr> operands,
                               SmallVectorImpl<ElementsAttr> &results) {
  auto type = ranked(op->getResult(0));
  auto known = [](const MovedBox &box) {
    return box.source.offset.isNumber() && llvm::all_of(box.source.strides, isNumber) &&
           llvm::all_of(box.start, isNumber) && llvm::all_of(box.sizes, isNumber);
  };
  if (!type.hasStaticShape() || !llvm::all_of(movement.boxes, known)) {
    return failure();
  }
  int64_t size = elementBytes(type.getElementType());
  if (type.getNumElements() * size > foldLimitBytes) {
    return failure();
  }
  ElementsAttr fill = movement.fillOperand < 0 ? ElementsAttr() : operands[movement.fillOperand];
  std::vector<char> out = filled(type.getNumElements(), size, fill);
  SmallVector<int64_t> dense = rowMajorStrides(numbersOf(movement.shape));
  for (const MovedBox &box : movement.boxes) {
    if (box.operand == MovedBox::fill) {
      continue;
    }
    if (!operands[box.operand]) {
      return failure();
    }
    support::Strided<int64_t> target(0, dense);
    for (auto [start, stride] : llvm::zip_equal(box.start, dense)) {
      target.offset += start.number() * stride;
    }
    std::vector<char> storage;
    support::Strided<int64_t> source(box.source.offset.number(), numbersOf(box.source.strides));
    copyStrided(bytesOf(operands[box.operand], storage), source, out, target, numbersOf(box.sizes), size);
  }
  results.push_back(constantFromBytes(type, std::move(out)));
  return success();
}

Movement joined(ArrayRef<Sizes> operands, int64_t axis, Sizes shape) {
  Movement m{shape, {}, -1, {}};
  Sizes start(shape.size(), 0);
  for (auto [i, sizes] : llvm::enumerate(operands)) {
    m.boxes.push_back({start, sizes, static_cast<int>(i), {0, rowMajorStrides(sizes)}});
    start[axis] = start[axis] + sizes[axis];
  }
  return m;
}

/// Whether the operand's elements lie these strides apart along the axes of a box.
static bool stepsBy(const MovedBox &box, ArrayRef<Size> strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (!box.sizes[i].is(0) && !box.sizes[i].is(1) && !(box.source.strides[i] == strides[i])) {
      return false;
    }
  }
  return true;
}

/// The operand's elements are dense, and they stand in the result at the same distances: it is all of the result's
/// first rows, as in a Concat along the first axis of more than one element.
std::optional<int64_t> extendedOperand(const Movement &movement) {
  const MovedBox &first = movement.boxes.front();
  if (first.operand == MovedBox::fill || !first.source.offset.is(0) ||
      !llvm::all_of(first.start, [](const Size &start) { return start.is(0); })) {
    return std::nullopt;
  }
  bool dense = stepsBy(first, rowMajorStrides(first.sizes)) && stepsBy(first, rowMajorStrides(movement.shape));
  return dense ? std::optional<int64_t>(first.operand) : std::nullopt;
}

std::optional<Size> contiguousOffset(Operation *op) {
  auto moves = cast<Mover>(op).movement();
  if (!moves || moves->boxes.size() != 1) {
    return std::nullopt;
  }
  const MovedBox &box = moves->boxes.front();
  bool dense = box.operand == 0 && box.sizes == moves->shape && stepsBy(box, rowMajorStrides(moves->shape));
  return dense ? std::optional(box.source.offset) : std::nullopt;
}

} // namespace ingot::onnx
