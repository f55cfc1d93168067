// Shows a bar on stderr while a model is compiled.
#pragma once
#include <string>

namespace ingot::driver {

class ProgressBar {
public:
  /// Draws only when `wanted`, and stderr is a terminal that can go back in its line.
  explicit ProgressBar(bool wanted);
  ~ProgressBar() { clear(); }

  void show(int done, int total, const std::string &phase);
  void clear();

private:
  bool terminal, drawn = false;
};

/// Returns the bar's text: "[#####.....] 6/12 lower".
std::string progressText(int done, int total, const std::string &phase);

} // namespace ingot::driver
