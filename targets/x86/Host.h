// What is asked of this host.
#pragma once
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/StringMap.h"

namespace ingot::targets::x86 {

/// Overwrites the cache sizes of `machine` by those that Linux reports of this host; what is not reported stays.
void readHostCaches(target::MachineModel &machine);

/// The instructions that code for `machine` may use and that a host with these features (LLVM's names) does not have.
std::string lacking(const target::MachineModel &machine, const llvm::StringMap<bool> &host);

} // namespace ingot::targets::x86
