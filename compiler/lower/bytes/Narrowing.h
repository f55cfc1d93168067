// Vectors of int32 that saturate to bytes, several at a time.
//
// An instruction that narrows one vector takes two steps and leaves three quarters of a register empty. x86 packs two
// vectors into one of half the width, with saturation: four of int32 are one of bytes after three of these. They work
// in parts of 128 bits, so that words of four bytes are permuted at last. A zero point that was added to the integers
// is added to twice as many of int16 instead, with saturation, so that all that was too large stays so.
#pragma once
#include "compiler/lower/bytes/ByteCurve.h"

namespace ingot::lower {

/// Vectors of bytes, or of int16 that were bytes, behind each other, as many as a power of two. Those that are integers
/// of 32 bits, cut to their range and truncated (as Quantize makes them), are packed where the machine does that and
/// they fill registers.
mlir::Value concatenatedBytes(Writer &w, KnownSegments &known, llvm::ArrayRef<mlir::Value> vectors);

} // namespace ingot::lower
