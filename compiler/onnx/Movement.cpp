#include "compiler/onnx/Movement.h"
#include "compiler/onnx/Evaluate.h"

using namespace mlir;

namespace ingot::onnx {

/// `count` copies of an element, or zeros.
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
    Strided target{0, dense};
    for (auto [start, stride] : llvm::zip_equal(piece.start, dense)) {
      target.offset += start.number() * stride;
    }
    std::vector<char> storage;
    Strided source{piece.source.offset.number(), numbersOf(piece.source.strides)};
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

std::optional<Size> contiguousOffset(Operation *op) {
  auto moves = cast<Mover>(op).movement();
  if (!moves || moves->pieces.size() != 1) {
    return std::nullopt;
  }
  const Piece &piece = moves->pieces.front();
  Sizes dense = rowMajorStrides(moves->shape);
  if (piece.operand != 0 || piece.sizes != moves->shape) {
    return std::nullopt;
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    if (!moves->shape[i].is(0) && !moves->shape[i].is(1) && !(piece.source.strides[i] == dense[i])) {
      return std::nullopt;
    }
  }
  return piece.source.offset;
}

} // namespace ingot::onnx
