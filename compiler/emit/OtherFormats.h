// Reserves the place of the weights in Mach-O and COFF objects; Object.cpp does it for ELF, and then streams the
// weights to the end of the file.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ingot::emit {

/// Changes the headers of `object`, in place: the section of the symbol `wanted`, `size` bytes of zeros that take no
/// room in the file, gets its contents from `offset` of the file. Returns false when there is no such symbol.
llvm::Expected<bool> patchMachO(llvm::StringRef object, llvm::StringRef wanted, int64_t size, uint64_t offset);
/// Does for COFF what patchMachO() does for Mach-O.
llvm::Expected<bool> patchCoff(llvm::StringRef object, llvm::StringRef wanted, int64_t size, uint64_t offset);

} // namespace ingot::emit
