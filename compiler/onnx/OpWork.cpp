// Reads shapes alone. A product or convolution is measured in multiply-adds, anything else in results times
// the elements that each is combined of. Bytes are those of results that are read and of all operands; of what is
// gathered or moved no more is read than is written.
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/Attention.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Recurrent.h"

using namespace mlir;

namespace ingot::onnx {
namespace {

Size elementsOf(Value v) {
  RankedTensorType type = ranked(v);
  return type ? support::product(sizesOf(type)) : Size::unknown();
}

Size bytesOf(Value v) { return elementsOf(v) * Size(elementBytes(elementOf(v))); }

/// Whether only what becomes the result is read of the first operand: rows that are looked up, elements that move.
bool readsPart(Operation *op) { return isa<Mover, Indexer>(op); }

/// Returns how many elements of the operand are combined into each element of the result: those of the op's window, or
/// 1 where it has none.
double windowOf(Operation *op) {
  auto window = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  return window ? static_cast<double>(elements(window.asArrayRef())) : 1;
}

} // namespace

std::optional<Size> multiplyAddsOf(Operation *op) {
  auto times = [&](Value v, const Size &each) -> std::optional<Size> {
    Size count = elementsOf(v);
    return each.isUnknown() || count.isUnknown() ? std::nullopt : std::optional(count * each);
  };
  if (isa<ConvOp, ConvTransposeOp, formats::Int8ConvOp, formats::Bf16ConvOp>(op)) {
    // For each element of the result, a convolution uses all weights of the element's channel once. A transposed
    // convolution does so for each element of the operand.
    Sizes w = sizesOf(ranked(op->getOperand(1)));
    return times(isa<ConvTransposeOp>(op) ? op->getOperand(0) : op->getResult(0),
                 support::product(ArrayRef(w).drop_front()));
  }
  if (isa<MatMulOp, formats::Int8MatMulOp, formats::Bf16MatMulOp, formats::FewBitsMatMulOp,
          formats::SplitIntegerMatMulOp>(op)) {
    return times(op->getResult(0), sizesOf(ranked(op->getOperand(0))).back());
  }
  if (auto attend = dyn_cast<AttendOp>(op)) {
    return times(attend.product(), Size(static_cast<int64_t>(attend.getWidth() + attend.getValueWidth())));
  }
  return std::nullopt;
}

target::Work workOf(Operation *op, llvm::function_ref<double(const Size &)> numberOf) {
  target::Work work;
  double results = 0, operands = 0;
  for (Value v : op->getResults()) {
    if (!v.use_empty()) {
      results += numberOf(elementsOf(v));
      work.bytes += numberOf(bytesOf(v));
    }
  }
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    if (ranked(v)) {
      double bytes = numberOf(bytesOf(v));
      operands = std::max(operands, numberOf(elementsOf(v)));
      work.bytes += i == 0 && readsPart(op) ? std::min(bytes, work.bytes) : bytes;
    }
  }
  if (std::optional<Size> products = multiplyAddsOf(op)) {
    work.multiplyAdds = numberOf(*products);
  } else if (auto recurrence = dyn_cast<RecurrenceOp>(op)) { // each gate of a step is a row of R times the hidden state
    work.multiplyAdds = numberOf(elementsOf(recurrence.getP()) * sizesOf(ranked(recurrence.getR())).back());
  } else {
    work.operations = readsPart(op) ? results : std::max(results * windowOf(op), operands);
  }
  return work;
}

} // namespace ingot::onnx
