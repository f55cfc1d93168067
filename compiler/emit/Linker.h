// Runs LLVM's linker in this process.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ingot::emit {

enum class Format { Elf, Wasm };

/// Links with these flags and files, on one thread. The error is `what` "failed", and the messages of the linker.
llvm::Error link(Format format, llvm::ArrayRef<const char *> arguments, const llvm::Twine &what);

/// Links an object to a shared object, and returns its bytes. What it does not define is left to whoever loads it.
llvm::Expected<std::string> linkShared(llvm::StringRef object, const llvm::Twine &what);

} // namespace ingot::emit
