// A shape is read number by number: those that are known stay what they are. What a number means to its op (-1 in
// a Reshape, negative ends of a Slice) is computed on the tensors, so that what is read is a size.
//
// Numbers that their op bounds (the ends of a Slice, the k of a TopK) are data-dependent sizes like any other. Without
// a bound, and where the function may not ask for such, the op stays as it is and is refused later.
#include "compiler/graph/ReadSizes.h"
#include "compiler/graph/SizeReader.h"

#include "compiler/graph/ReadsSizes.cpp.inc"

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {

void SizeReader::setOperand(unsigned number, ArrayRef<Size> sizes) {
  Value list = onnx::makeSizes(f.b, f.loc, sizes, onnx::ranked(op->getOperand(number)));
  op->setOperand(number, list);
}

bool SizeReader::makeNumbers(ArrayRef<unsigned> operands) {
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

bool SizeReader::readList(unsigned operand, const Size &bound) {
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

bool SizeReader::readAlong(int64_t given) {
  auto data = onnx::ranked(op->getOperand(0));
  auto axis = data ? onnx::normalAxis(given, data.getRank()) : std::nullopt;
  Size bound = axis ? onnx::sizeOf(data, *axis) : Size::unknown();
  return !bound.isUnknown() && readList(1, bound);
}

#define READER(Name) void attach##Name(MLIRContext &context);
#include "compiler/graph/Readers.inc"
#undef READER

void attachReaders(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, onnx::OnnxDialect *) {
#define READER(Name) attach##Name(*context);
#include "compiler/graph/Readers.inc"
#undef READER
  });
}

LogicalResult readSizes(Operation *op, PatternRewriter &rewriter) {
  auto reads = dyn_cast<ReadsSizes>(op);
  bool unknown =
      llvm::any_of(op->getResults(), [](Value v) { return isa<TensorType>(v.getType()) && !onnx::isSized(v); });
  if (!reads || !unknown || onnx::sizeReadingIn(op) == onnx::SizeReading::No) {
    return failure();
  }
  SizeReader reader(op, rewriter);
  return success(reads.readSizes(reader));
}

} // namespace ingot::graph
