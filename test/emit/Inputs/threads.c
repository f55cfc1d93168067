/* A host that splits work into ranges of its own choice, and one that fails. */
#include "split.h"

static int calls, failWith;

static int threads(void *context) {
  (void)context;
  return 2;
}

static int parallelFor(void *context, int (*body)(void *, int64_t, int64_t), void *args, int64_t count) {
  (void)context;
  ++calls;
  int first = body(args, count / 3, count), second = body(args, 0, count / 3);
  return failWith ? failWith : second ? second : first;
}

int main(void) {
  static char workspace[SPLIT_WORKSPACE_BYTES] __attribute__((aligned(64)));
  float x[SPLIT_X_ELEMENTS], y[SPLIT_Y_ELEMENTS];
  ingot_exec exec = {0, threads, parallelFor};
  for (int i = 0; i < SPLIT_X_ELEMENTS; ++i) {
    x[i] = (float)i;
  }
  if (split_run(x, y, workspace, 0) != 0 || y[63] != 64) {
    return 1;
  }
  y[63] = 0;
  if (split_run(x, y, workspace, &exec) != 0 || calls != 2 || y[0] != 1 || y[63] != 64) {
    return 2;
  }
  failWith = INGOT_ERROR_THREADS;
  if (split_run(x, y, workspace, &exec) != INGOT_ERROR_THREADS || calls != 3) { /* the second kernel did not run */
    return 3;
  }
  failWith = 0;
  x[50] = -5;
  return split_run(x, y, workspace, &exec) == INGOT_STATUS(INGOT_ERROR_INDEX, 0) ? 0 : 4;
}
