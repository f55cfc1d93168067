/* Declares what the functions on strings have in common. */
#ifndef INGOT_VIEWS_H
#define INGOT_VIEWS_H
#include "ingot.h"
#include "text.h"

/* Returns `bytes` bytes behind the strings that are there; null where there is no memory. */
char *ingot_strings_room(const ingot_exec *exec, int64_t bytes);
/* Gives the last `bytes` bytes back. */
void ingot_strings_shrink(const ingot_exec *exec, int64_t bytes);

/* Returns the UTF-8 character at *at, and sets *at behind it; -1 where there is no character. */
int32_t ingot_text_character(const unsigned char **at, const unsigned char *end);

static inline const ingot_string *ingot_text_strings(const int64_t *arguments, int word) {
  return (const ingot_string *)(uintptr_t)arguments[word];
}
static inline const void *ingot_text_table(const int64_t *arguments) {
  return (const void *)(uintptr_t)arguments[INGOT_TEXT_TABLE];
}
static inline void *ingot_text_result(const int64_t *arguments) { return (void *)(uintptr_t)arguments[INGOT_TEXT_TO]; }

/* Returns string `i` of a pool. */
static inline ingot_string ingot_text_in_pool(const uint64_t *pool, int64_t i) {
  const char *bytes = (const char *)(pool + pool[0] + 2);
  ingot_string s = {bytes + pool[1 + i], (int64_t)(pool[2 + i] - pool[1 + i])};
  return s;
}

/* Copies bytes in a way that the compiler may not make a call of memcpy. */
static inline void ingot_text_copy(char *to, const char *from, int64_t bytes) {
  typedef uint64_t __attribute__((may_alias, aligned(1))) Word;
  for (; bytes >= 8; bytes -= 8, to += 8, from += 8) {
    *(Word *)to = *(const Word *)from;
  }
  for (; bytes > 0; --bytes) {
    *to++ = *from++;
  }
}

/* Returns whether two texts are equal. Words that overlap take the place of a loop over the last bytes. */
static inline int ingot_text_same(ingot_string a, const char *data, int64_t size) {
  uint64_t low, high, otherLow, otherHigh;
  if (a.size != size) {
    return 0;
  }
  for (int64_t i = 0; i + 16 < size; i += 8) {
    if (ingot_text_word(a.data + i, 8) != ingot_text_word(data + i, 8)) {
      return 0;
    }
  }
  ingot_text_ends(a.data, size, &low, &high);
  ingot_text_ends(data, size, &otherLow, &otherHigh);
  return low == otherLow && high == otherHigh;
}
#endif
