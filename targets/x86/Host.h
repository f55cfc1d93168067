// Asks for what this host has.
#pragma once
#include "compiler/target/LlvmCpus.h"
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/StringMap.h"

namespace ingot::targets::x86 {

/// Returns the instructions that code for `machine` may use and that a host with these features (LLVM's names) does not
/// have.
std::string lacking(const target::MachineModel &machine, const llvm::StringMap<bool> &host);

/// Returns the name of the CPU that code for this host is for.
std::string nameOf(const target::HostCpu &host);

} // namespace ingot::targets::x86
