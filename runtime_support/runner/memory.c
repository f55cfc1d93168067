/* Allocates memory with guard bytes behind it, by which a write over its end shows. */
#include "runner.h"
#include <stdlib.h>
#include <string.h>

enum { guard = 64, guardByte = 0xa5 };
static const int64_t most = (int64_t)1 << 46;

void *guardedNew(int64_t bytes, int64_t align) {
  void *memory = NULL;
  size_t multiple = align < (int64_t)sizeof(void *) ? sizeof(void *) : (size_t)align;
  if (bytes < 0 || bytes > most || posix_memalign(&memory, multiple, (size_t)bytes + guard)) {
    return NULL;
  }
  ingot_prefer_large_pages(memory, bytes);
  memset(memory, 0, (size_t)bytes); /* pages are touched now, and not in the first run */
  memset((char *)memory + bytes, guardByte, guard);
  return memory;
}

int guardIsIntact(const void *memory, int64_t bytes) {
  const unsigned char *end = (const unsigned char *)memory + bytes;
  for (int i = 0; i < guard; ++i) {
    if (end[i] != guardByte) {
      return 0;
    }
  }
  return 1;
}
