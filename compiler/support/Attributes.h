// Attributes that rooms hand on to each other over others: of math ops in loop IR, which the formulas of operators
// (onnx) set and both the loops' builders (lower) and the expansion of math ops (emit) may read, and of the module. No
// room but this one is open to all of these.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::support {

/// Marks, with a bound of the operand's magnitude, the first op that is computed from the operand of a function of
/// whose result only bytes are left. Formulas set it (onnx/ops/Unary.cpp); lower computes such functions on bytes
/// (bytes/ByteCurve.cpp), and emit expands a math.exp that has it only as exactly as a byte needs.
inline constexpr llvm::StringLiteral roundedToBytesName = "ingot.bytes";

/// Marks a math.erfc whose operand is in [0, 7.1]. The formula of GELU sets it; emit computes half of the function at
/// once (ExpandMath.cpp).
inline constexpr llvm::StringLiteral tailName = "ingot.tail";

/// Marks a math.log1p whose operand is in [0, 1]. The formula of Softplus sets it; emit expands it without a search for
/// the operand's exponent (math/Logarithm.cpp).
inline constexpr llvm::StringLiteral fractionName = "ingot.fraction";

/// The mark of a module for `--accuracy reproducible`, from its import on. Constants are folded only where every
/// machine's C library does so with the same bits (onnx/constants), and what the IR leaves to machines has one meaning
/// (emit/MakeDefined.cpp, emit/cpp/Program.cpp).
inline constexpr llvm::StringLiteral reproducibleName = "ingot.reproducible";

} // namespace ingot::support
