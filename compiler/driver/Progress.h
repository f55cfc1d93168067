// Shows on stderr how far a long work is.
#pragma once
#include <chrono>
#include <string>

namespace ingot::driver {

class ProgressBar {
public:
  /// Draws only when `wanted`, and stderr is a terminal that can go back in its line. With `inLogs` it writes lines
  /// where stderr is none, some seconds apart.
  explicit ProgressBar(bool wanted, bool inLogs = false);
  ~ProgressBar() { clear(); }

  void show(int done, int total, const std::string &phase);
  void clear();

private:
  bool terminal, inLogs, drawn = false;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// Returns the bar's text: "[#####.....] 6/12 lower".
std::string progressText(int done, int total, const std::string &phase);

} // namespace ingot::driver
