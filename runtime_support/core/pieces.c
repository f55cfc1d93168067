/* Takes strings apart at a separator. Eight bytes of a string are looked at at a time, in a word. Which of them are
 * separators is a word of marks: a bit in the lowest place of each such byte. */
#include "views.h"

static const uint64_t ones = 0x0101010101010101u, lowBits = 0x7f7f7f7f7f7f7f7fu;

/* Returns marks for the bytes that are zero. */
static uint64_t zeros(uint64_t word) { return ~(((word & lowBits) + lowBits) | word | lowBits) >> 7; }

/* Returns marks for the bytes that are white spaces of ASCII: a space, or from tab to carriage return. */
static uint64_t spaces(uint64_t word) {
  uint64_t low = word & lowBits;
  uint64_t range = (low + ones * (0x80 - '\t')) & ~(low + ones * (0x80 - '\r' - 1)) & ~word & ~lowBits;
  return zeros(word ^ ones * ' ') | range >> 7;
}

static int64_t bits(uint64_t marks) { return (int64_t)(marks * ones >> 56); }
/* Returns the number of the lowest byte that is marked. */
static int64_t lowest(uint64_t marks) { return bits(((marks & (0 - marks)) - 1) & ones); }

/* Loads `n` bytes into a word; of more than eight bytes the first eight. */
static uint64_t load(const char *at, int64_t n) {
  if (n >= 8) {
    return ingot_text_word(at, 8);
  }
  if (n >= 4) {
    return ingot_text_word(at, 4) | ingot_text_word(at + n - 4, 4) << 8 * (n - 4);
  }
  if (n > 0) {
    return (unsigned char)at[0] | (uint64_t)(unsigned char)at[n / 2] << 8 * (n / 2) |
           (uint64_t)(unsigned char)at[n - 1] << 8 * (n - 1);
  }
  return 0;
}

/* A string that is being taken apart. */
typedef struct Rest {
  const char *at, *end;
  ingot_string separator; /* empty: any number of white spaces, which do not count at the ends of the string */
  int64_t splits;         /* how many splits may still be made */
  uint64_t first, second; /* words of eight times the separator's first, and second, byte */
} Rest;

/* Returns marks for the bytes from `at` on that separate, or may begin a separator; at most eight are looked at. */
static uint64_t marksAt(const Rest *rest, const char *at) {
  int64_t n = rest->end - at;
  uint64_t word = load(at, n), marks = rest->separator.size ? zeros(word ^ rest->first) : spaces(word);
  if (rest->separator.size > 1) { /* the byte behind the eighth is not known, so that one may begin a separator */
    marks &= zeros(word ^ rest->second) >> 8 | (uint64_t)1 << 56;
  }
  return n >= 8 ? marks : marks & (((uint64_t)1 << 8 * n) - 1);
}

/* Returns where the first separator from `at` on is; the end where there is none. */
static const char *find(const Rest *rest, const char *at) {
  const ingot_string *separator = &rest->separator;
  for (; at < rest->end; at += 8) {
    for (uint64_t marks = marksAt(rest, at); marks; marks &= marks - 1) {
      const char *found = at + lowest(marks);
      if (separator->size <= 1) {
        return found;
      }
      if (rest->end - found < separator->size) {
        return rest->end;
      }
      if (ingot_text_same(*separator, found, separator->size)) {
        return found;
      }
    }
  }
  return rest->end;
}

static const char *skipSpaces(const char *at, const char *end) {
  while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) {
    ++at;
  }
  return at;
}

static Rest start(const int64_t *arguments) {
  Rest rest = {0, 0, ingot_text_in_pool((const uint64_t *)ingot_text_table(arguments), 0), arguments[INGOT_TEXT_NUMBER],
               0, 0};
  rest.first = rest.separator.size > 0 ? ones * (unsigned char)rest.separator.data[0] : 0;
  rest.second = rest.separator.size > 1 ? ones * (unsigned char)rest.separator.data[1] : 0;
  return rest;
}

static Rest of(Rest rest, const ingot_string *x) {
  rest.at = rest.separator.size ? x->data : skipSpaces(x->data, x->data + x->size);
  rest.end = x->data + x->size;
  return rest;
}

/* Returns the next piece. Behind the last one `at` of the rest is null. */
static ingot_string next(Rest *rest) {
  const char *end = rest->splits ? find(rest, rest->at) : rest->end;
  ingot_string piece = {rest->at, end - rest->at};
  --rest->splits;
  if (end == rest->end) {
    rest->at = 0;
  } else if (rest->separator.size) {
    rest->at = end + rest->separator.size;
  } else {
    rest->at = skipSpaces(end, rest->end);
    rest->at = rest->at == rest->end ? 0 : rest->at;
  }
  return piece;
}

/* Returns how many pieces there are where a byte separates, or white spaces do, by counting marks. */
static int64_t countBytes(const Rest *rest) {
  int64_t count = 0;
  uint64_t before = 1; /* 1 where the byte in front separates */
  for (const char *at = rest->at; at < rest->end; at += 8) {
    uint64_t marks = marksAt(rest, at);
    if (rest->separator.size) {
      count += bits(marks);
    } else {
      int64_t n = rest->end - at;
      uint64_t words = ones & ~marks & (n >= 8 ? ones : ((uint64_t)1 << 8 * n) - 1);
      count += bits(words & (marks << 8 | before));
      before = marks >> 56;
    }
  }
  return count + (rest->separator.size == 1);
}

/* Writes how many pieces each string has. */
int ingot_text_pieces(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  int64_t *to = (int64_t *)ingot_text_result(arguments);
  Rest all = start(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    Rest rest = of(all, x);
    int64_t pieces = 0;
    if (x->size == 0 || rest.at == rest.end) {
      pieces = 0;
    } else if (rest.separator.size <= 1) {
      pieces = countBytes(&rest);
      pieces = pieces - 1 > rest.splits ? rest.splits + 1 : pieces;
    } else {
      for (; rest.at; ++pieces) {
        (void)next(&rest);
      }
    }
    to[i] = pieces;
  }
  (void)exec;
  return 0;
}

/* Writes the pieces of each string, and empty strings behind them: `tail` for each string. How many pieces each has
 * is known, so the last one is what is left, and is not searched (except where white spaces separate, which may
 * stand behind it). */
int ingot_text_split(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const int64_t *pieces = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_Y];
  ingot_string *to = (ingot_string *)ingot_text_result(arguments);
  Rest all = start(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    Rest rest = of(all, x);
    ingot_string none = {0, 0}, *end = to + arguments[INGOT_TEXT_TAIL];
    rest.splits = rest.separator.size ? pieces[i] - 1 : rest.splits;
    if (pieces[i]) {
      while (rest.at && to < end) {
        *to++ = next(&rest);
      }
    }
    while (to < end) {
      *to++ = none;
    }
  }
  (void)exec;
  return 0;
}
