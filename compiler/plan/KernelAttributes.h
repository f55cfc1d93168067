// Attributes of kernels' functions, of their arguments and of what is in them, which the lowering sets and the back
// ends read.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Four integers: threads of a block along three axes, and bytes that they share. Its work items are blocks.
inline constexpr llvm::StringLiteral gridName = "ingot.grid";

/// How many of its first arguments a kernel only reads, an integer: its operands. Where it works in place, another
/// argument, its result, is the same memory.
inline constexpr llvm::StringLiteral readsName = "ingot.reads";

/// The spec of the machine that a function is for (MachineModel::spec), a string. Functions without it are for that of
/// the module.
inline constexpr llvm::StringLiteral machineName = "ingot.machine";

/// The mark of `--accuracy strict`: the result of every op is rounded to its element type. The pipeline sets it on the
/// module, where builders of loops read it, and the lowering on each function, where emit reads it: the bits of a
/// result may not depend on the other values in the kernel.
inline constexpr llvm::StringLiteral strictName = "ingot.strict";

/// Marks a function that uses matrix registers. The lowering sets it (product/Tiles.cpp); the run of such a kernel asks
/// the system for them (entry), and emit gives the function an attribute of LLVM.
inline constexpr llvm::StringLiteral tilesName = "ingot.tiles";

/// Marks a function that only calls others, one after the other, of which each takes some of its arguments and the
/// range of work items. The lowering sets it (lower/core/Outline.cpp); the run calls those others itself.
inline constexpr llvm::StringLiteral partsName = "ingot.parts";

/// Marks a math.exp whose operand is not positive, and which may give 0 for a denormal result. The lowering sets it
/// (Writer::expOfNegative); emit expands it in fewer instructions.
inline constexpr llvm::StringLiteral negativeName = "ingot.negative";

/// MLIR's mark for an argument whose memory is reached through no other one. The lowering sets it; LLVM and the writer
/// of C++ (as `__restrict`) read it.
inline constexpr llvm::StringLiteral noAliasName = "llvm.noalias";

/// MLIR's array with the attributes that a function has in LLVM's IR. The lowering sets `convergent`; emit adds those
/// of the machine.
inline constexpr llvm::StringLiteral passthroughName = "passthrough";

} // namespace ingot::plan
