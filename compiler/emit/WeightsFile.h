// NAME.weights: the bytes of the weights section in a file of their own.
#pragma once
#include "compiler/emit/Emit.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_fd_ostream;
}

namespace ingot::emit {

/// Streams the weights to `fd`; their hash, which is ingot_hash64 of the file.
llvm::Expected<uint64_t> writeWeightsFile(int64_t weightBytes, const WeightsSource &weights, int fd);

/// A stream that could not be written, or not with the bytes that were announced; success otherwise.
llvm::Error checkWritten(llvm::raw_fd_ostream &out, int64_t written, int64_t weightBytes);

} // namespace ingot::emit
