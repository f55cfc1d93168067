// The object file: machine code from memory, weights from a stream.
#pragma once
#include "compiler/emit/Emit.h"
#include "llvm/Support/Error.h"

namespace ingot::emit {

struct ObjectFacts {
  int64_t codeBytes = 0;
  std::vector<std::string> undefined; ///< names, sorted, without those that every program of the system has
};

/// What a finished object holds.
llvm::Expected<ObjectFacts> inspectObject(llvm::StringRef object);

/// Writes `object` to `fd` with the bytes of the weights in their section, one of those called `constants`. The object
/// is changed; weights are streamed, so that this costs no memory whatever their size.
llvm::Error writeObject(llvm::MutableArrayRef<char> object, llvm::StringRef model, int64_t weightBytes,
                        llvm::StringRef constants, const WeightsSource &weights, int fd);

} // namespace ingot::emit
