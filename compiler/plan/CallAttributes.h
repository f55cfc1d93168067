// Attributes of the calls of kernels, which the entry sets and both exits read (emit/SplitCalls.cpp, emit/cpp).
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Marks a call whose last two operands are a range of work items, which several threads may share.
inline constexpr llvm::StringLiteral itemsName = "ingot.items";

/// Marks such a call, in place of itemsName, where the run tells whether that is worth it: the beginning of the range
/// is 0 where it is not.
inline constexpr llvm::StringLiteral weighedItemsName = "ingot.weighed_items";

/// Holds the number of the launch in the whole library, for the profile.
inline constexpr llvm::StringLiteral launchName = "ingot.launch";

/// Holds the number of the device that runs the call, from 0 on.
inline constexpr llvm::StringLiteral callDeviceName = "ingot.device";

/// Holds, on a device's call whose kernel checks what it reads, the number of the node in ingot_model.nodes.
inline constexpr llvm::StringLiteral callNodeName = "ingot.node";

/// Marks a device's call behind which the run waits for the device.
inline constexpr llvm::StringLiteral awaitedName = "ingot.awaited";

} // namespace ingot::plan
