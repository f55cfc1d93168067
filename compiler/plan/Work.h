// How much the kernel of a launch does, as attributes of the launch.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// The multiplications with accumulation that the kernel itself takes, where they are not those of its ops.
inline constexpr llvm::StringLiteral ownMacsName = "plan.own_macs";
/// About how many instructions the launch takes, where the sizes of the run tell, and below how many of them it is not
/// worth splitting over threads.
inline constexpr llvm::StringLiteral workName = "plan.work", leastWorkName = "plan.least_work";

} // namespace ingot::plan
