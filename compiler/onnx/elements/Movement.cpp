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

LogicalResult evaluateMovement(Operation *op, const Movement &movement, ArrayRef<ElementsAttr> operands,
                               SmallVectorImpl<ElementsAttr> &results) {
  auto type = ranked(op->getResult(0));
  auto known = [](const Piece &piece) {
    return piece.source.offset.isNumber() && llvm::all_of(piece.source.strides, isNumber) &&
           llvm::all_of(piece.start, isNumber) && llvm::all_of(piece.sizes, isNumber);
  };
  if (!type.hasStaticShape() || !llvm::all_of(movement.pieces, known)) {
    return failure();
  }
  int64_t size = elementBytes(type.getElementType());
  if (type.getNumElements() * size > foldLimitBytes) {
    return failure();
  }
  ElementsAttr fill = movement.fillOperand < 0 ? ElementsAttr() : operands[movement.fillOperand];
  std::vector<char> out = filled(type.getNumElements(), size, fill);
  SmallVector<int64_t> dense = rowMajorStrides(numbersOf(movement.shape));
  for (const Piece &piece : movement.pieces) {
    if (piece.operand == Piece::fill) {
      continue;
    }
    if (!operands[piece.operand]) {
      return failure();
    }
    support::Strided<int64_t> target(0, dense);
    for (auto [start, stride] : llvm::zip_equal(piece.start, dense)) {
      target.offset += start.number() * stride;
    }
    std::vector<char> storage;
    support::Strided<int64_t> source(piece.source.offset.number(), numbersOf(piece.source.strides));
    copyStrided(bytesOf(operands[piece.operand], storage), source, out, target, numbersOf(piece.sizes), size);
  }
  results.push_back(constantFromBytes(type, std::move(out)));
  return success();
}

Movement joined(ArrayRef<Sizes> operands, int64_t axis, Sizes shape) {
  Movement m{shape, {}, -1, {}};
  Sizes start(shape.size(), 0);
  for (auto [i, sizes] : llvm::enumerate(operands)) {
    m.pieces.push_back({start, sizes, static_cast<int>(i), {0, rowMajorStrides(sizes)}});
    start[axis] = start[axis] + sizes[axis];
  }
  return m;
}

/// Whether the operand's elements lie these strides apart along the axes of a piece.
static bool stepsBy(const Piece &piece, ArrayRef<Size> strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (!piece.sizes[i].is(0) && !piece.sizes[i].is(1) && !(piece.source.strides[i] == strides[i])) {
      return false;
    }
  }
  return true;
}

std::optional<int64_t> extendedOperand(const Movement &movement) {
  const Piece &first = movement.pieces.front();
  if (first.operand == Piece::fill || !first.source.offset.is(0) ||
      !llvm::all_of(first.start, [](const Size &start) { return start.is(0); })) {
    return std::nullopt;
  }
  bool dense = stepsBy(first, rowMajorStrides(first.sizes)) && stepsBy(first, rowMajorStrides(movement.shape));
  return dense ? std::optional<int64_t>(first.operand) : std::nullopt;
}

std::optional<Size> contiguousOffset(Operation *op) {
  auto moves = cast<Mover>(op).movement();
  if (!moves || moves->pieces.size() != 1) {
    return std::nullopt;
  }
  const Piece &piece = moves->pieces.front();
  bool dense = piece.operand == 0 && piece.sizes == moves->shape && stepsBy(piece, rowMajorStrides(moves->shape));
  return dense ? std::optional(piece.source.offset) : std::nullopt;
}

} // namespace ingot::onnx
