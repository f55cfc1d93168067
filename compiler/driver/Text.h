// Figures as people read them, and files of text.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace ingot::driver {

/// "532 B", "4.9 MB": powers of 1000.
std::string bytesText(int64_t bytes);

/// The same of an arena; "by size" when it is -1, because it depends on the open sizes.
std::string arenaText(int64_t bytes);

/// "0.5", "1e-17": as few digits as tell it, at most six.
std::string numberText(double number);

/// "1,235,496"
std::string countText(int64_t count);

/// Writes a whole file, or none; "-" is stdout.
llvm::Error writeText(const std::string &path, const std::string &text);

} // namespace ingot::driver
