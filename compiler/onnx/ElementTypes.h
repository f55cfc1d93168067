// Translates element types: rows of the table (compiler/support/ElementTypes.h), numbers of ONNX, and MLIR's types.
// Signed integers are signless, unsigned ones say so, and bool is i1.
#pragma once
#include "compiler/support/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::onnx {

/// Returns the type of an ONNX number, or null when tensors of it are not supported.
mlir::Type elementOfNumber(int64_t number, mlir::MLIRContext *context);
/// Returns the ONNX number of a type; 0: it has none.
int64_t numberOfElement(mlir::Type element);
/// Returns the row of a type.
inline const support::ElementType &rowOf(mlir::Type element) {
  return support::elementType(static_cast<int32_t>(numberOfElement(element)));
}

/// Whether a type is the signed integer with `bits` bits, as int64, or the unsigned one, as uint64. MLIR's
/// isInteger(64) is true for both.
inline bool isInt(mlir::Type element, unsigned bits) { return bits > 1 && element.isSignlessInteger(bits); }
inline bool isUint(mlir::Type element, unsigned bits) { return element.isUnsignedInteger(bits); }
inline bool isBool(mlir::Type element) { return element.isSignlessInteger(1); }

/// Whether a type is that of strings, which the IR has as integers of 128 bits: they are moved, and nothing else is
/// done to them except by onnx.Text.
inline bool isString(mlir::Type element) { return element.isSignlessInteger(128); }

/// Whether a type is a float that is computed in float32.
bool isNarrowFloat(mlir::Type element);
/// Returns the element type in which arithmetic on elements is done and summed: float32 for narrow floats, else the
/// type itself.
mlir::Type computedIn(mlir::Type element);
/// Returns the signless type that values of an element type have in registers: that of computedIn(), and i8 for
/// integers below a byte, extended by their sign.
mlir::Type valueType(mlir::Type element);

} // namespace ingot::onnx
