// Element types: rows of the table (compiler/support/ElementTypes.h) and MLIR's types. Signed integers are signless,
// unsigned ones say so, bool is i1.
#pragma once
#include "compiler/support/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::onnx {

/// The type of an ONNX number, or null when tensors of it are not supported.
mlir::Type elementOfNumber(int64_t number, mlir::MLIRContext *context);
/// The ONNX number of a type; 0 for none.
int64_t numberOfElement(mlir::Type element);
/// The row of a type.
inline const support::ElementType &rowOf(mlir::Type element) {
  return support::elementType(static_cast<int32_t>(numberOfElement(element)));
}

/// Whether it is the signed integer of so many bits, as int64, or the unsigned one, as uint64. MLIR's isInteger(64) is
/// true of both.
inline bool isInt(mlir::Type element, unsigned bits) { return bits > 1 && element.isSignlessInteger(bits); }
inline bool isUint(mlir::Type element, unsigned bits) { return element.isUnsignedInteger(bits); }
inline bool isBool(mlir::Type element) { return element.isSignlessInteger(1); }

/// Whether it is that of strings, which the IR has as integers of 128 bits: they are moved, and nothing else is done to
/// them but by onnx.Text.
inline bool isString(mlir::Type element) { return element.isSignlessInteger(128); }

/// Whether it is a float that is computed in float32.
bool isNarrowFloat(mlir::Type element);
/// The element type that arithmetic on elements is done and summed in: float32 for narrow floats, else the type itself.
mlir::Type computedIn(mlir::Type element);
/// The signless type that values of an element type have in registers: that of computedIn(), and i8 for integers below
/// a byte, extended by their sign.
mlir::Type valueType(mlir::Type element);

} // namespace ingot::onnx
