/* Reads and writes UTF-8, and changes the case of letters. */
#include "views.h"

int32_t ingot_text_character(const unsigned char **at, const unsigned char *end) {
  const unsigned char *s = *at;
  int32_t c = s[0], least;
  int more;
  if (c < 0x80) {
    *at = s + 1;
    return c;
  }
  if (c < 0xc2 || c > 0xf4) {
    return -1;
  }
  more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
  if (end - s <= more) {
    return -1;
  }
  c &= 0x3f >> more;
  for (int i = 1; i <= more; ++i) {
    if ((s[i] & 0xc0) != 0x80) {
      return -1;
    }
    c = c << 6 | (s[i] & 0x3f);
  }
  *at = s + more + 1;
  return c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? -1 : c;
}

static char *put(char *to, int32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xc0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *to++ = (char)(0xe0 | c >> 12);
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  } else {
    *to++ = (char)(0xf0 | c >> 18);
    *to++ = (char)(0x80 | (c >> 12 & 0x3f));
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  }
  return to;
}

/* Returns the other case of a character. The table has the number of pairs, then the pairs in the order of their
 * first characters. */
static int32_t changed(const int32_t *pairs, int32_t c) {
  int32_t low = 0, high = pairs[0];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (pairs[1 + 2 * middle] < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < pairs[0] && pairs[1 + 2 * low] == c ? pairs[2 + 2 * low] : c;
}

/* Changes the case of strings. A string that has the wanted case already is not copied. */
int ingot_text_case(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const int32_t *pairs = (const int32_t *)ingot_text_table(arguments);
  ingot_string *to = (ingot_string *)ingot_text_result(arguments);
  int32_t ascii[128];
  for (int32_t c = 0; c < 128; ++c) {
    ascii[c] = changed(pairs, c);
  }
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    const unsigned char *at = (const unsigned char *)x->data, *end = at + x->size;
    while (at < end && *at < 0x80 && ascii[*at] == *at) {
      ++at;
    }
    to[i] = *x;
    if (at == end) {
      continue;
    }
    if (x->size > INT64_MAX / 2) {
      return INGOT_ERROR_MEMORY;
    }
    int64_t same = (const char *)at - x->data;
    int64_t most = x->size + (x->size - same) / 2; /* a character of two bytes becomes one of at most three */
    char *room = ingot_strings_room(exec, most), *next = room + same;
    if (!room) {
      return INGOT_ERROR_MEMORY;
    }
    ingot_text_copy(room, x->data, same);
    while (at < end) {
      if (*at < 0x80) {
        *next++ = (char)ascii[*at++];
        continue;
      }
      int32_t c = ingot_text_character(&at, end);
      if (c < 0) {
        return INGOT_ERROR_STRING;
      }
      next = put(next, changed(pairs, c));
    }
    to[i].data = room;
    to[i].size = next - room;
    ingot_strings_shrink(exec, most - to[i].size);
  }
  return 0;
}
