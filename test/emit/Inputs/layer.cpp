// The class in the header of affine-layer.mlir's model.
#include "layer.h"
#include <array>
#include <vector>

int main() {
  ingot::models::layer model;
  std::vector<float> x(8, 0.5f);
  std::array<bool, 1> flag{};
  float y[8] = {};
  if (!model || !model.run(x, flag, y).ok() || y[0] <= 0.9f) {
    return 1;
  }
  std::vector<float> small(7);
  ingot::Status status = model.run(small, flag, y);
  return status.kind() == INGOT_ERROR_COUNT && status.number() == 0 ? 0 : 2;
}
