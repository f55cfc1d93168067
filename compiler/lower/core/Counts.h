// Numbers for people, in what is said of a schedule.
#pragma once
#include <string>

namespace ingot::lower {

/// Returns a number with a prefix, "62 k".
std::string countText(double number);
/// Returns a number of bytes, "62 kB".
std::string bytesText(double bytes);

} // namespace ingot::lower
