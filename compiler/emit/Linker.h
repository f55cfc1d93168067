// Runs LLVM's linker in this process.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ingot::emit {

/// Links with these flags and files, on one thread. The error is `what` "failed", and what the linker said.
llvm::Error link(llvm::ArrayRef<const char *> arguments, const llvm::Twine &what);

/// Returns the object's bytes as a shared object, which whoever loads it has to give what it does not define.
llvm::Expected<std::string> linkShared(llvm::StringRef object, const llvm::Twine &what);

} // namespace ingot::emit
