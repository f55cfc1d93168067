// Multiplies the dims of tensors without overflow.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace ingot::support {

/// Returns how many elements a tensor of these dims has, or nothing where a dim is negative or the product leaves 64
/// bits, even if another dim is zero.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> dims);

/// This is more bytes than any machine's memory has: a tensor of this size is a mistake or an attack.
constexpr int64_t kLargestTensor = int64_t(1) << 40;

/// Returns dims as a text like "[2, 3, 224, 224]", which is cut after a few dims.
std::string dimsText(llvm::ArrayRef<int64_t> dims);

} // namespace ingot::support
