// Multiplies uint8 by int8. Tensor cores take pairs of bytes in the place of numbers of 16 bits (TensorProduct.h), and
// a thread's instruction (dp4a) takes four as one of 32 (TileProduct.h), so that the depth counts pairs or fours.
// Constant factors are packed with zeros behind the last element (PackedLines.h): what the other factor has there does
// not matter.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::targets::cuda {

/// Returns whether the factors of a product are uint8 and int8, in either order.
bool areInt8(mlir::Value left, mlir::Value right);

/// Returns `count` neighbouring bytes as one integer, the first one in its lowest bits. `byte` loads one of them.
mlir::Value joinBytes(lower::Writer &w, int64_t count, llvm::function_ref<mlir::Value(int64_t)> byte);

/// Returns the sum (i32) and four products of the bytes of two i32. Those of `a` are of type `left`, ui8 or i8, and
/// those of `b` of the other one.
mlir::Value dotOfFour(lower::Writer &w, mlir::Type left, mlir::Value a, mlir::Value b, mlir::Value sum);
/// Returns the sum (i32) and the product of a uint8 and an int8.
mlir::Value dotOfOne(lower::Writer &w, mlir::Value a, mlir::Value b, mlir::Value sum);

} // namespace ingot::targets::cuda
