// Writes figures as people read them, and files of text.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace ingot::driver {

/// Returns bytes as "532 B" or "4.9 MB", in powers of 1000.
std::string bytesText(int64_t bytes);

/// Returns the bytes of an arena as a text; "by size" when it is -1, because it depends on the open sizes.
std::string arenaText(int64_t bytes);

/// Returns a number as "0.5" or "1e-17", with as few digits as tell it, at most six.
std::string numberText(double number);

/// "1,235,496"
std::string countText(int64_t count);

/// Writes a whole file, or none; "-" is stdout.
llvm::Error writeText(const std::string &path, const std::string &text);

} // namespace ingot::driver
