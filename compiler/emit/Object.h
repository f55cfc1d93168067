// Inspects and writes the object file: its machine code is in memory, its weights come from a stream.
#pragma once
#include "compiler/emit/Emit.h"
#include "llvm/Support/Error.h"

namespace ingot::emit {

/// What a finished object holds.
struct ObjectFacts {
  BuildSizes sizes;                   ///< without flash and ram, and with the weights among what is zeroed
  std::vector<std::string> undefined; ///< undefined symbols, sorted, without those that every program has
};

/// Returns what an object of any format that LLVM reads holds.
llvm::Expected<ObjectFacts> inspectObject(llvm::StringRef object);

/// Says so where an object cannot have so many bytes of weights in it.
llvm::Error checkFitsObject(int64_t weightBytes);

/// Writes `object` to `fd` with the bytes of the weights as the contents of their section; `constants` is the name that
/// sections of constants have. The headers are changed in `object` itself, and the weights are streamed, so that they
/// are never in memory as a whole.
llvm::Error writeObject(llvm::MutableArrayRef<char> object, llvm::StringRef model, int64_t weightBytes,
                        llvm::StringRef constants, const WeightsSource &weights, int fd);

} // namespace ingot::emit
