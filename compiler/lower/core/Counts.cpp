#include "compiler/lower/core/Counts.h"
#include "llvm/Support/FormatVariadic.h"

std::string ingot::lower::countText(double number) {
  for (auto [unit, name] : {std::pair(1e9, " G"), {1e6, " M"}, {1e3, " k"}}) {
    if (number >= unit) {
      double count = number / unit;
      return llvm::formatv(count < 10 ? "{0:f1}{1}" : "{0:f0}{1}", count, name).str();
    }
  }
  return llvm::formatv("{0:f0}", number).str();
}

std::string ingot::lower::bytesText(double bytes) { return countText(bytes) + (bytes < 1000 ? " B" : "B"); }
