// How much the kernel of a launch does, as attributes of the launch.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// The multiplications with accumulation of float32 that take as long as those of the kernel itself, where these are
/// not those of its ops (Winograd's algorithm) or of another type.
inline constexpr llvm::StringLiteral ownMacsName = "plan.own_macs";
/// About how many instructions the launch takes, where the sizes of the run tell, and below how many of them it is not
/// worth splitting over threads.
inline constexpr llvm::StringLiteral workName = "plan.work", leastWorkName = "plan.least_work";

} // namespace ingot::plan
