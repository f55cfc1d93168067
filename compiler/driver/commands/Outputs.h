// Checks what a command is going to write before it works: minutes of work shall not end with a file that cannot be
// written, and no file that is read may be replaced by one that is made of it.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace ingot::driver {

struct Output {
  std::string flag, path;
};

/// Returns the files that a command reads: the model, its external data, those of --placement, --tuning and
/// --load-target, and recorded data.
llvm::Expected<std::vector<std::string>> filesRead(const Invocation &invocation);

/// Returns an error if one of the files cannot be written, is one of those that are read, whatever links lead to it, or
/// is the same as another.
llvm::Error checkOutputs(llvm::ArrayRef<Output> outputs, llvm::ArrayRef<std::string> read);

/// Returns an error if a folder is not there and cannot be made, or nothing can be made in it.
llvm::Error checkFolder(const std::string &folder);

} // namespace ingot::driver
