/* A program of the smallest kind: a model and the core, no threads, no files. */
#include "ingot.h"

static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace,
               const ingot_exec *exec) {
  (void)sizes, (void)workspace, (void)exec;
  *(float *)outputs[0] = 2 * *(const float *)inputs[0];
  return 0;
}

int main(void) {
  static const int64_t dims[] = {1};
  static const ingot_tensor_info x = {"x", INGOT_FLOAT32, 1, dims, 1, 4, 0, 0, 0},
                                 y = {"y", INGOT_FLOAT32, 1, dims, 1, 4, 0, 0, 0};
  const ingot_model model = {INGOT_ABI, 0, "twice", "any", 1,   1, 0, 0, &x, &y, 0, 64,
                             0,         0, 0,       0,     run, 0, 0, 0, 0,  0,  0};
  float in = 21, out = 0;
  char text[64];
  ingot_buffer input = {&in, 1}, output = {&out, 1};
  int status = ingot_run(&model, &input, 1, &output, 1, 0, 0, 0, 0);
  return status || out != 42 || ingot_run_level(0) != ingot_machine_level() ||
         ingot_error_text(&model, status, text, sizeof text) == 0;
}
