/* Reads streamed weights through the caller's reader. A model calls these functions for each of its reads; that there
 * is a reader it has checked before. */
#include "ingot.h"

int ingot_weights_begin(const ingot_exec *exec, int64_t offset, void *to, int64_t bytes) {
  const ingot_reader *reader = (const ingot_reader *)exec->weights;
  return reader->begin && !reader->begin(reader->context, offset, to, bytes) ? 0 : INGOT_ERROR_READ;
}

int ingot_weights_finish(const ingot_exec *exec) {
  const ingot_reader *reader = (const ingot_reader *)exec->weights;
  return reader->finish && reader->finish(reader->context) ? INGOT_ERROR_READ : 0;
}
