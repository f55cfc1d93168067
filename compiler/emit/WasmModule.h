// Links a WebAssembly module of a model by LLVM's linker in this process.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ingot::emit {

/// Links the object of a model for wasm32 and the part of the support library that it needs into the module `output`,
/// which exports its memory, where that is free, NAME_model, and the functions that run it
/// (driver/packaging/npm/loader.js), and imports nothing. Where `sharesMemory`, it imports its memory, which instances
/// in several workers share, and exports what their threads need besides (runtime_support/wasm/threads.c).
llvm::Error linkWasmModule(const std::string &object, llvm::StringRef triple, const std::string &model,
                           bool sharesMemory, const std::string &output);

} // namespace ingot::emit
