// Has the attribute of modules whose code is to be made quickly.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::emit {

/// A module with it runs so few times that LLVM's code generator takes longer than slower code does.
inline constexpr llvm::StringLiteral quickCodeName = "ingot.quick_code";
/// The attribute of modules that run few times, but long: their code is as fast, and made a bit sooner.
inline constexpr llvm::StringLiteral fewRunsName = "ingot.few_runs";

} // namespace ingot::emit
