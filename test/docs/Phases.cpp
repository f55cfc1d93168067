// Prints the phase table as rows of Markdown, for docs/phases.md.
#include "compiler/pipeline/Pipeline.h"
#include <cstdio>

int main() {
  for (const ingot::pipeline::PhaseInfo &phase : ingot::pipeline::phases()) {
    std::printf("| `%s` | %s |\n", phase.name.c_str(), phase.sentence.c_str());
  }
  return 0;
}
