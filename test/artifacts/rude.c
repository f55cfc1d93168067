/* A model that does what none may do, one thing for each value of RUDE; manners.c has to notice. */
#include "ingot.h"
#include <stdlib.h>
#include <unistd.h>

void *kept; /* not static: storing to it has an effect */

static int useStack(void) {
  volatile char frame[20 * 1024];
  for (size_t i = 0; i < sizeof frame; ++i) {
    frame[i] = (char)i;
  }
  return frame[7] != 7;
}

static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace,
               const ingot_exec *exec) {
  (void)sizes, (void)exec;
  float *out = outputs[0];
  out[0] = *(const float *)inputs[0];
#if RUDE == 1
  kept = malloc(24);
#elif RUDE == 2
  kept = (void *)(size_t)getppid();
#elif RUDE == 3
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
#elif RUDE == 4
  return useStack();
#elif RUDE == 5
  out[0] = *(const float *)workspace;
#elif RUDE == 6
  return INGOT_ERROR_INDEX;
#endif
  (void)workspace, (void)kept, (void)useStack;
  return 0;
}

static const int64_t dims[] = {1};
static const ingot_tensor_info x = {"x", INGOT_FLOAT32, 1, dims, 1, 4}, y = {"y", INGOT_FLOAT32, 1, dims, 1, 4};
static const ingot_model model = {INGOT_ABI, 0, "rude", "any", 1, 1, 0, 0, &x, &y, 64, 64, 0, 0, 0, 0, run, 0, 0};
const ingot_model *rude_model(void) { return &model; }
