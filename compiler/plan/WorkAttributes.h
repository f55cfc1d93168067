// Attributes of a launch that say how much its kernel does, for the split over threads, the profile and the reports.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// How many multiplications with accumulation of float32 take as long as the kernel's own. A launch has it where the
/// kernel's own are not those of its ops (Winograd's algorithm) or are of another type.
inline constexpr llvm::StringLiteral ownMacsName = "plan.own_macs";
/// About how many instructions the launch takes (plan.work), where only the sizes of a run tell, and below how many
/// instructions it is not worth splitting over threads (plan.least_work).
inline constexpr llvm::StringLiteral workName = "plan.work", leastWorkName = "plan.least_work";

} // namespace ingot::plan
