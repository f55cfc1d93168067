#include "edges_x86_64_v2.h"
#include "edges_x86_64_v3.h"
#include "external.h"
#include <stdio.h>

int main(void) {
  float x[4] = {0}, y[4];
  ingot_weights weights;
  ingot_exec exec = {0};
  int status = ingot_weights_load(external_model(), WEIGHTS_PATH, &weights);
  exec.weights = weights.data;
  if (status || external_run(x, y, NULL, &exec)) {
    return 1;
  }
  printf("%s %s %g\n", edges_x86_64_v2_model()->name, edges_x86_64_v3_model()->target, y[3]);
  return 0;
}
