#include "compiler/driver/Text.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>

namespace ingot::driver {

std::string bytesText(int64_t bytes) {
  if (bytes < 1000) {
    return std::to_string(bytes) + " B";
  }
  const char *units[] = {"kB", "MB", "GB", "TB"};
  double value = double(bytes) / 1000;
  int unit = 0;
  for (; value >= 999.95 && unit < 3; ++unit) {
    value /= 1000;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, units[unit]);
  return text;
}

std::string arenaText(int64_t bytes) { return bytes < 0 ? "by size" : bytesText(bytes); }

std::string numberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

std::string countText(int64_t count) {
  std::string text = std::to_string(count);
  for (int at = int(text.size()) - 3, first = count<0; at> first; at -= 3) {
    text.insert(at, ",");
  }
  return text;
}

llvm::Error writeText(const std::string &path, const std::string &text) {
  return support::located(support::writeFile(path, [&](llvm::raw_ostream &out) { out << text; }));
}

} // namespace ingot::driver
