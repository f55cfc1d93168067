// Translates between ONNX's numbers of element types and MLIR's types. Names, widths and formats are in the table of
// support/ElementTypes.cpp; only the types of floats have to be named here, because MLIR has a class for each.
#include "compiler/onnx/ElementTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ingot::onnx {

static Type floatOfNumber(int64_t number, Builder b) {
  switch (number) {
  case 1:
    return b.getF32Type();
  case 10:
    return b.getF16Type();
  case 11:
    return b.getF64Type();
  case 16:
    return b.getBF16Type();
  case 17:
    return b.getType<Float8E4M3FNType>();
  case 18:
    return b.getType<Float8E4M3FNUZType>();
  case 19:
    return b.getType<Float8E5M2Type>();
  case 20:
    return b.getType<Float8E5M2FNUZType>();
  case 23:
    return b.getType<Float4E2M1FNType>();
  case 24:
    return b.getType<Float8E8M0FNUType>();
  default:
    return {};
  }
}

Type elementOfNumber(int64_t number, MLIRContext *context) {
  const support::ElementType &row = support::elementType(static_cast<int32_t>(number));
  if (row.number != number) { // the number has more than 32 bits
    return {};
  }
  Builder b(context);
  switch (row.kind) {
  case support::ElementKind::Float:
    return floatOfNumber(number, b);
  case support::ElementKind::Signed:
    return b.getIntegerType(row.bits);
  case support::ElementKind::Unsigned:
    return b.getIntegerType(row.bits, /*isSigned=*/false);
  case support::ElementKind::Bool:
    return b.getI1Type();
  case support::ElementKind::String: // an ingot_string is moved as a number with as many bits
    return b.getIntegerType(row.bits);
  default:
    return {};
  }
}

/// A string's type is an integer of 128 bits, as a number of which it is moved, so it has its number like the others.
int64_t numberOfElement(Type element) {
  for (const support::ElementType &row : support::elementTypes()) {
    if (elementOfNumber(row.number, element.getContext()) == element) {
      return row.number;
    }
  }
  return 0;
}

bool isNarrowFloat(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32; }

Type computedIn(Type element) {
  return isNarrowFloat(element) ? Type(Float32Type::get(element.getContext())) : element;
}

/// Integers below a byte are computed with in bytes; booleans stay one bit.
Type valueType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer) {
    return computedIn(element);
  }
  unsigned bits = integer.getWidth();
  return IntegerType::get(element.getContext(), bits > 1 && bits < 8 ? 8 : bits);
}

} // namespace ingot::onnx
