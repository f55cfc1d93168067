// A program that is built with ingot.h and a support library of another version than the model's: both the library and
// ingot.hpp say so, and read nothing else of it.
#include "ingot.hpp"
#include <cstdio>

extern "C" const ingot_model *lookup_model(void);

int main() {
  const ingot_model *model = lookup_model();
  int status = ingot_run(model, nullptr, 0, nullptr, 0, nullptr, nullptr, 0, nullptr);
  std::printf("%d %s\n", status, ingot::Status(status, model).message().c_str());
  ingot::Model other(model);
  std::int64_t rows[4] = {};
  float means[4] = {};
  std::printf("%d %d %d\n", other.fits(), other.run({rows}, {means}, ingot::Workspace()).code(),
              other.plan({}, nullptr, nullptr).code());
  return 0;
}
