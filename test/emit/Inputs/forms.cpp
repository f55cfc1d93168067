// Runs the model of cpp.mlir and compares what it computes with what the IR means.
#include "forms.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

static int told[2] = {-1, -1};

static int failures = 0;
static void expect(const char *what, double got, double want) {
  if (got != want && !(std::isnan(got) && std::isnan(want))) {
    std::printf("%s: %g, expected %g\n", what, got, want);
    ++failures;
  }
}

int main() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[4] = {5, nan, -0.0f, 1.0015f};
  int32_t k[4] = {2147483647, -7, 0, 0};
  float y[16] = {0, 0, 0.5f};
  int64_t z[16] = {};
  alignas(64) unsigned char workspace[64];
  ingot_exec exec = {};
  exec.profile = [](void *, int32_t launch, int32_t ended) { told[ended] = launch; };
  expect("status", forms_run(x, k, y, z, workspace, &exec), 0);
  expect("profile of the beginning", told[0], 7);
  expect("profile of the end", told[1], 7);
  expect("exchanged three times, then overwritten", y[0], 2);
  expect("read before the store", y[1], 5.5);
  expect("NaN in a maximum", y[3], nan);
  expect("0 is more than -0", y[4], std::numeric_limits<double>::infinity());
  expect("unordered", y[5], 1);
  expect("16-bit float", y[6], 1.001953125);
  expect("exponential", std::fabs(y[7] - std::exp(1.0015)) < 1e-6, 1);
  expect("a byte of the weights", y[8], 3 * 37 + 11);
  expect("sign of -0", y[9], -double(1.0015f));
  expect("a loop of blocks and one of scf", double(z[0]), 135);
  expect("32 bits wrap", double(z[1]), -2);
  expect("16 bits, unsigned", double(z[2]), 65529);
  expect("16 bits wrap", double(z[3]), 49);
  expect("division towards zero", double(z[4]), -4);
  expect("upper halves", double(z[5]), 0);
  expect("arithmetic shift", double(z[6]), -4);
  expect("true is -1", double(z[7]), -1);
  k[2] = 9;
  expect("ended by a check", forms_run(x, k, y, z, workspace, nullptr), 42);
  expect("descriptor", std::strcmp(forms_model()->nodes[0], "a \"node\""), 0);
  return failures != 0;
}
