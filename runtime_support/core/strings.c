/* What compiled models call for tensors of strings; their numbers as text are in numbers.c. Freestanding like all of
 * core/. Only joining, changing the case of letters and writing numbers make bytes, in ingot_exec.strings; everything
 * else gives views of what there is. */
#include "views.h"

/* Memory. */

typedef struct Block { /* in front of the bytes of each that `allocate` gave */
  struct Block *older;
  int64_t bytes;
} Block;

enum { FIRST = 1 << 12, ALIGN = 16 };

char *ingot_strings_room(const ingot_exec *exec, int64_t bytes) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings || bytes < 0) {
    return 0;
  }
  if (strings->bytes - strings->used < bytes) {
    int64_t last = strings->bytes < FIRST / 2 ? FIRST / 2 : strings->bytes,
            wanted = bytes > 2 * last ? bytes : 2 * last;
    Block *block = 0;
    if (exec->allocate && wanted < INT64_MAX - (int64_t)sizeof(Block)) {
      block = (Block *)exec->allocate(exec->allocator, wanted + (int64_t)sizeof(Block), ALIGN, -1);
    }
    if (!block) {
      return 0;
    }
    block->older = (Block *)strings->blocks;
    block->bytes = wanted;
    strings->blocks = block;
    strings->data = (char *)(block + 1);
    strings->bytes = wanted;
    strings->used = 0;
  }
  char *room = strings->data + strings->used;
  strings->used += bytes;
  return room;
}

void ingot_strings_shrink(const ingot_exec *exec, int64_t bytes) { exec->strings->used -= bytes; }

/* Releases all blocks behind `newest`. */
static void drop(const ingot_exec *exec, Block *newest) {
  while (newest) {
    Block *older = newest->older;
    exec->release(exec->allocator, newest);
    newest = older;
  }
}

void ingot_strings_clear(const ingot_exec *exec) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings) {
    return;
  }
  strings->used = 0;
  Block *newest = (Block *)strings->blocks;
  if (newest) { /* the largest */
    drop(exec, newest->older);
    newest->older = 0;
  }
}

void ingot_strings_release(const ingot_exec *exec) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings) {
    return;
  }
  if (strings->blocks) {
    drop(exec, (Block *)strings->blocks);
    strings->data = 0;
    strings->bytes = 0;
  }
  strings->blocks = 0;
  strings->used = 0;
}

/* Tables. */

static const void *table(const int64_t *arguments) { return (const void *)(uintptr_t)arguments[INGOT_TEXT_TABLE]; }
static void *result(const int64_t *arguments) { return (void *)(uintptr_t)arguments[INGOT_TEXT_TO]; }

/* String `i` of a pool. */
static ingot_string inPool(const uint64_t *pool, int64_t i) {
  const char *bytes = (const char *)(pool + pool[0] + 2);
  ingot_string s = {bytes + pool[1 + i], (int64_t)(pool[2 + i] - pool[1 + i])};
  return s;
}

int ingot_text_spell(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *numbers = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const uint64_t *pool = (const uint64_t *)table(arguments);
  ingot_string *to = (ingot_string *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, numbers += arguments[INGOT_TEXT_X_STEP]) {
    if ((uint64_t)*numbers >= pool[0]) {
      return INGOT_ERROR_INDEX;
    }
    to[i] = inPool(pool, *numbers);
  }
  (void)exec;
  return 0;
}

/* The number of the key; where there is none, that of all keys, or the status that is asked for. */
int ingot_text_find(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const uint64_t *keys = (const uint64_t *)table(arguments), *slots = keys + 2;
  const uint64_t *pool = (const uint64_t *)((const char *)keys + keys[1]);
  const char *bytes = (const char *)(pool + pool[0] + 2);
  uint64_t mask = keys[0];
  int64_t *to = (int64_t *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint64_t hash = ingot_text_hash(x->data, x->size), at = hash >> 32 & mask, slot;
    int64_t found = -1;
    for (; found < 0 && (slot = slots[at]) != 0; at = (at + 1) & mask) {
      uint64_t key = (uint32_t)slot, from = pool[key];
      if (slot >> 32 == (uint32_t)hash && ingot_text_same(*x, bytes + from, (int64_t)(pool[key + 1] - from))) {
        found = (int64_t)key - 1;
      }
    }
    if (found < 0 && arguments[INGOT_TEXT_NUMBER]) {
      return (int)arguments[INGOT_TEXT_NUMBER];
    }
    to[i] = found < 0 ? (int64_t)pool[0] : found;
  }
  (void)exec;
  return 0;
}

/* The same of integers. */
int ingot_text_find_number(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *x = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const uint64_t *keys = (const uint64_t *)table(arguments), *slots = keys + 2;
  const int64_t *numbers = (const int64_t *)((const char *)keys + keys[1]);
  uint64_t mask = keys[0];
  int64_t *to = (int64_t *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint64_t at = ingot_text_number_hash(*x) >> 32 & mask, slot;
    int64_t found = numbers[0];
    for (; (slot = (uint32_t)slots[at]) != 0; at = (at + 1) & mask) {
      if (numbers[slot] == *x) {
        found = (int64_t)slot - 1;
        break;
      }
    }
    to[i] = found;
  }
  (void)exec;
  return 0;
}

int ingot_text_equal(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X), *y = ingot_text_strings(arguments, INGOT_TEXT_Y);
  uint8_t *to = (uint8_t *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i) {
    to[i] = (uint8_t)ingot_text_same(*x, y->data, y->size);
    x += arguments[INGOT_TEXT_X_STEP];
    y += arguments[INGOT_TEXT_Y_STEP];
  }
  (void)exec;
  return 0;
}

int ingot_text_join(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X), *y = ingot_text_strings(arguments, INGOT_TEXT_Y);
  ingot_string *to = (ingot_string *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i) {
    if (x->size == 0 || y->size == 0) {
      to[i] = x->size == 0 ? *y : *x;
    } else {
      char *room = x->size > INT64_MAX - y->size ? 0 : ingot_strings_room(exec, x->size + y->size);
      if (!room) {
        return INGOT_ERROR_MEMORY;
      }
      ingot_text_copy(room, x->data, x->size);
      ingot_text_copy(room + x->size, y->data, y->size);
      to[i].size = x->size + y->size;
      to[i].data = room;
    }
    x += arguments[INGOT_TEXT_X_STEP];
    y += arguments[INGOT_TEXT_Y_STEP];
  }
  return 0;
}

/* Letters. */

/* The character at *at, which goes on behind it; -1: that is not UTF-8. */
static int32_t character(const unsigned char **at, const unsigned char *end) {
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

/* The other case of a character: the table has their number, then pairs in the order of the first ones. */
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

/* What is all of one case already is not copied. */
int ingot_text_case(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const int32_t *pairs = (const int32_t *)table(arguments);
  ingot_string *to = (ingot_string *)result(arguments);
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
    int64_t most = x->size + (x->size - same) / 2; /* no character of two bytes becomes one of more than three */
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
      int32_t c = character(&at, end);
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

/* Splitting. */

/* A string that is being taken apart. */
typedef struct Rest {
  const char *at, *end;
  ingot_string separator; /* empty: any number of white spaces, which count for nothing at the ends */
  int64_t splits;         /* that may still be made */
  int more;               /* whether there is another piece */
} Rest;

static int isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skipSpaces(Rest *rest) {
  while (rest->at < rest->end && isSpace(*rest->at)) {
    ++rest->at;
  }
}

static Rest begin(const ingot_string *x, const int64_t *arguments) {
  Rest rest = {x->data, x->data + x->size, inPool((const uint64_t *)table(arguments), 0), arguments[INGOT_TEXT_NUMBER],
               1};
  if (rest.separator.size == 0) {
    skipSpaces(&rest);
    rest.more = rest.at < rest.end;
  }
  rest.more &= x->size > 0;
  return rest;
}

static ingot_string next(Rest *rest) {
  int64_t width = rest->separator.size;
  const char *start = rest->at, *at = start, *last = rest->end - (width ? width : 1);
  ingot_string piece = {start, rest->end - start};
  rest->more = 0;
  if (rest->splits == 0) {
    return piece;
  }
  if (width == 0) {
    while (at <= last && !isSpace(*at)) {
      ++at;
    }
  } else {
    char first = rest->separator.data[0];
    while (at <= last && (*at != first || (width > 1 && !ingot_text_same(rest->separator, at, width)))) {
      ++at;
    }
  }
  if (at > last) {
    return piece;
  }
  --rest->splits;
  piece.size = at - start;
  rest->at = at + (width ? width : 1);
  if (!width) {
    skipSpaces(rest);
  }
  rest->more = width || rest->at < rest->end;
  return piece;
}

/* How many pieces each string has. */
int ingot_text_pieces(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  int64_t *to = (int64_t *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    Rest rest = begin(x, arguments);
    int64_t pieces = 0;
    for (; rest.more; ++pieces) {
      (void)next(&rest);
    }
    to[i] = pieces;
  }
  (void)exec;
  return 0;
}

/* The pieces, and empty strings behind them: `tail` for each string. */
int ingot_text_split(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  ingot_string *to = (ingot_string *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    Rest rest = begin(x, arguments);
    for (int64_t k = 0; k < arguments[INGOT_TEXT_TAIL]; ++k) {
      ingot_string none = {0, 0};
      *to++ = rest.more ? next(&rest) : none;
    }
  }
  (void)exec;
  return 0;
}

/* Regular expressions. */

int ingot_text_match(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const uint32_t *head = (const uint32_t *)table(arguments);
  uint32_t states = head[0], classes = head[1];
  const uint32_t *accepts = head + 3;
  const unsigned char *classOf = (const unsigned char *)(accepts + states);
  const uint16_t *follows = (const uint16_t *)(classOf + 256);
  uint8_t *to = (uint8_t *)result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint32_t state = head[2];
    const unsigned char *at = (const unsigned char *)x->data, *end = at + x->size;
    for (; at < end && state; ++at) {
      state = follows[state * classes + classOf[*at]];
    }
    to[i] = (uint8_t)accepts[state];
  }
  (void)exec;
  return 0;
}
