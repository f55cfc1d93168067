/* A model by hand that reads and writes one element too many, to show that guarded.c finds it. */
#include "ingot.h"

static const int64_t dims[] = {1};
static const ingot_tensor_info x = {"x", INGOT_FLOAT32, 1, dims, 1, 4, 0, 0, 0},
                               y = {"y", INGOT_FLOAT32, 1, dims, 1, 4, 0, 0, 0};

static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace,
               const ingot_exec *exec) {
  const volatile float *from = inputs[0];
  volatile float *to = outputs[0];
  (void)sizes, (void)workspace, (void)exec;
  for (int i = 0; i < 2; ++i) {
    to[i] = from[OVERREAD ? i : 0];
  }
  return 0;
}

const ingot_model *overrun_model(void);
const ingot_model *overrun_model(void) {
  static const ingot_model model = {INGOT_ABI, 0, "overrun", "none", 1,   1, 0, 0, &x, &y, 0, 1,
                                    0,         0, 0,         0,      run, 0, 0, 0, 0,  0,  0};
  return &model;
}
