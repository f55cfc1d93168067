/* Runs a loop that may be split over threads. Generated code calls it for every kernel of more than one item. */
#include "ingot.h"

int ingot_parallel_for(const ingot_exec *exec, int (*body)(void *args, int64_t begin, int64_t end), void *args,
                       int64_t count) {
  if (count <= 0) {
    return 0;
  }
  if (count == 1 || !exec || !exec->parallel_for) {
    return body(args, 0, count);
  }
  return exec->parallel_for(exec->context, body, args, count);
}
