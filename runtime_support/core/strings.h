/* What the functions on strings have in common. */
#ifndef INGOT_STRINGS_H
#define INGOT_STRINGS_H
#include "ingot.h"
#include "text.h"

/* `bytes` bytes behind the strings that are there; null where there is no memory. */
char *ingot_strings_room(const ingot_exec *exec, int64_t bytes);
/* Gives the last `bytes` bytes back. */
void ingot_strings_shrink(const ingot_exec *exec, int64_t bytes);

static inline const ingot_string *ingot_text_strings(const int64_t *arguments, int word) {
  return (const ingot_string *)(uintptr_t)arguments[word];
}

/* Byte by byte: the compiler may not make it a call of memcpy. */
static inline void ingot_text_copy(char *to, const char *from, int64_t bytes) {
  typedef uint64_t __attribute__((may_alias, aligned(1))) Word;
  for (; bytes >= 8; bytes -= 8, to += 8, from += 8) {
    *(Word *)to = *(const Word *)from;
  }
  for (; bytes > 0; --bytes) {
    *to++ = *from++;
  }
}

static inline int ingot_text_same(ingot_string a, const char *data, int64_t size) {
  typedef uint64_t __attribute__((may_alias, aligned(1))) Word;
  if (a.size != size) {
    return 0;
  }
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    if (*(const Word *)(a.data + i) != *(const Word *)(data + i)) {
      return 0;
    }
  }
  for (; i < size; ++i) {
    if (a.data[i] != data[i]) {
      return 0;
    }
  }
  return 1;
}
#endif
