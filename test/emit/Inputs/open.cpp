// The class in the header of open-sizes.mlir's model.
#include "open.h"
#include <vector>

int main() {
  ingot::models::open model(2, 3);
  std::vector<float> x(20, 1), bias(5, 2), y(40), mean(3), one(1);
  ingot::Span<float> some(x.data(), 6), three(bias.data(), 3), twelve(y.data(), 12), two(mean.data(), 2);
  if (!model || !model.run(some, three, twelve, two, one, 2, 3).ok() || y[11] != 3) {
    return 1;
  }
  if (model.run(x, bias, y, mean, one, 4, 5).kind() != INGOT_ERROR_WORKSPACE) {
    return 2;
  }
  if (!model.reserve(4, 5).ok() || !model.run(x, bias, y, mean, one, 4, 5).ok() || y[39] != 3) {
    return 3;
  }
  ingot::models::open wrong(1, 7);
  ingot::Status status = model.run(x, bias, y, mean, one, 4, 4);
  return !wrong && status.kind() == INGOT_ERROR_COUNT && status.number() == 0 ? 0 : 4;
}
