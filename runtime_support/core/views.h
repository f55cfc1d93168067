/* What the functions on strings have in common. */
#ifndef INGOT_VIEWS_H
#define INGOT_VIEWS_H
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

/* Words that overlap in place of a loop over the last bytes. */
static inline int ingot_text_same(ingot_string a, const char *data, int64_t size) {
  if (a.size != size) {
    return 0;
  }
  if (size >= 8) {
    for (int64_t i = 0; i + 8 < size; i += 8) {
      if (ingot_text_word(a.data + i, 8) != ingot_text_word(data + i, 8)) {
        return 0;
      }
    }
    return ingot_text_word(a.data + size - 8, 8) == ingot_text_word(data + size - 8, 8);
  }
  if (size >= 4) {
    return ingot_text_word(a.data, 4) == ingot_text_word(data, 4) &&
           ingot_text_word(a.data + size - 4, 4) == ingot_text_word(data + size - 4, 4);
  }
  return size == 0 ||
         (a.data[0] == data[0] && a.data[size / 2] == data[size / 2] && a.data[size - 1] == data[size - 1]);
}
#endif
