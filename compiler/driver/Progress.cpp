#include "compiler/driver/Progress.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>

namespace ingot::driver {

ProgressBar::ProgressBar(bool wanted, bool inLogs) : inLogs(wanted && inLogs) {
  const char *term = std::getenv("TERM");
  terminal = wanted && llvm::sys::Process::StandardErrIsDisplayed() && term && llvm::StringRef(term) != "dumb";
}

std::string progressText(int done, int total, const std::string &phase) {
  constexpr int width = 20;
  int filled = total > 0 ? std::clamp(done * width / total, 0, width) : 0;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " + std::to_string(done) + "/" +
         std::to_string(total) + " " + phase;
}

void ProgressBar::show(int done, int total, const std::string &phase) {
  if (terminal) {
    llvm::errs() << "\r\033[K" << progressText(done, total, phase);
    drawn = true;
    return;
  }
  constexpr std::chrono::seconds apart(10);
  if (auto now = std::chrono::steady_clock::now(); inLogs && now - last >= apart) {
    llvm::errs() << done << " of " << total << " " << phase << '\n';
    last = now;
  }
}

void ProgressBar::clear() {
  if (drawn) {
    llvm::errs() << "\r\033[K";
    drawn = false;
  }
}

} // namespace ingot::driver
