// Weights in Mach-O and COFF objects, as Object.cpp does it in ELF.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ingot::emit {

/// Makes the section of the symbol `wanted`, zeros of `size` bytes, one with contents at `offset` of the file. False
/// when there is no such symbol. The bytes of `object` are changed.
llvm::Expected<bool> patchMachO(llvm::StringRef object, llvm::StringRef wanted, int64_t size, uint64_t offset);
llvm::Expected<bool> patchCoff(llvm::StringRef object, llvm::StringRef wanted, int64_t size, uint64_t offset);

} // namespace ingot::emit
