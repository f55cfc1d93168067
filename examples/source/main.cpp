// Finds where a picture becomes brighter from left to right. The model is C++ source like this file.
#include "rising.h"
#include <cstdio>
#include <vector>

int main() {
  constexpr int size = 32, left = 11; // a white square on black, whose first column this is
  std::vector<float> image(size * size), edges(2 * size * size);
  for (int y = 8; y < 24; ++y) {
    for (int x = left; x < 24; ++x) {
      image[y * size + x] = 1;
    }
  }
  ingot::models::rising model; // the network and its workspace
  if (ingot::Status status = model.run(image, edges); !status.ok()) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  const float *row = edges.data() + 16 * size; // of the first channel: slopes from left to right
  for (int x = 0; x < size; ++x) {
    if (row[x] > 0) {
      std::printf("brightness rises in column %d\n", x);
      return 0;
    }
  }
  return 1;
}
