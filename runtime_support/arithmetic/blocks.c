/* What code generators call for copies and zeros of some length, for objects that may refer to nothing outside
 * (--symbols none). Arm's run-time ABI has names of its own for blocks that are aligned. */
#include <stddef.h>

static void copy(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = from[i];
  }
}

static void move(char *to, const char *from, size_t bytes) {
  if (to <= from) {
    copy(to, from, bytes);
    return;
  }
  for (size_t i = bytes; i-- > 0;) {
    to[i] = from[i];
  }
}

static void fill(char *to, char value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = value;
  }
}

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes) { return copy(to, from, bytes), to; }
void *memmove(void *to, const void *from, size_t bytes) { return move(to, from, bytes), to; }
void *memset(void *to, int value, size_t bytes) { return fill(to, (char)value, bytes), to; }

#define FOR_BLOCKS(NAME)                                                                                               \
  void __aeabi_mem##NAME;                                                                                              \
  void __aeabi_mem##NAME
#define ARM_NAMES(SUFFIX)                                                                                              \
  FOR_BLOCKS(cpy##SUFFIX(void *to, const void *from, size_t bytes)) { copy(to, from, bytes); }                         \
  FOR_BLOCKS(move##SUFFIX(void *to, const void *from, size_t bytes)) { move(to, from, bytes); }                        \
  FOR_BLOCKS(set##SUFFIX(void *to, size_t bytes, int value)) { fill(to, (char)value, bytes); }                         \
  FOR_BLOCKS(clr##SUFFIX(void *to, size_t bytes)) { fill(to, 0, bytes); }
ARM_NAMES()
ARM_NAMES(4)
ARM_NAMES(8)
