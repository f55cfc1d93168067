#include "compiler/onnx/ElementTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t lastNumber = 16;

Type elementOfNumber(int64_t number, MLIRContext *context) {
  Builder b(context);
  switch (number) {
  case 1:
    return b.getF32Type();
  case 2:
    return b.getIntegerType(8, /*isSigned=*/false);
  case 3:
    return b.getI8Type();
  case 4:
    return b.getIntegerType(16, /*isSigned=*/false);
  case 5:
    return b.getI16Type();
  case 6:
    return b.getI32Type();
  case 7:
    return b.getI64Type();
  case 9:
    return b.getI1Type();
  case 10:
    return b.getF16Type();
  case 11:
    return b.getF64Type();
  case 12:
    return b.getIntegerType(32, /*isSigned=*/false);
  case 13:
    return b.getIntegerType(64, /*isSigned=*/false);
  case 16:
    return b.getBF16Type();
  default:
    return {};
  }
}

int64_t numberOfElement(Type element) {
  for (int64_t number = 1; number <= lastNumber; ++number) {
    if (elementOfNumber(number, element.getContext()) == element) {
      return number;
    }
  }
  return 0;
}

} // namespace ingot::onnx
