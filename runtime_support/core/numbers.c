/* Writes numbers as text and reads text as numbers, exactly rounded and without a libc, whose functions depend on a
 * locale.
 *
 * A float is a whole number times a power of two. Written in base 1e9 (Long below) its decimal digits are exact, so
 * rounding to some number of digits is, too. The other way, the digits that are read are a whole number D times a
 * power of ten. That is D * 10^e or, for a negative e, D * 2^s / 10^-e with s so large that the quotient has all
 * bits that a double keeps; whether anything is left behind these bits decides ties. */
#include "views.h"

enum {
  WORDS = 132,  /* words of 32 bits: 800 decimal digits shifted by 1,140 bits, or the largest double */
  DIGITS = 790, /* digits that are read; what follows counts as a one behind them, which rounds the same way */
  LARGEST = 32  /* the most characters of a number that is written */
};

/* A whole number in base 2^32. The lowest word is first, and the last word is not zero. */
typedef struct Long {
  uint32_t words[WORDS];
  int count;
} Long;

static void multiplyAdd(Long *x, uint32_t factor, uint32_t summand) {
  uint64_t carry = summand;
  for (int i = 0; i < x->count; ++i) {
    carry += (uint64_t)x->words[i] * factor;
    x->words[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry && x->count < WORDS) {
    x->words[x->count++] = (uint32_t)carry;
  }
}

/* Divides by a small number, and returns the remainder. */
static uint32_t divide(Long *x, uint32_t divisor) {
  uint64_t rest = 0;
  for (int i = x->count - 1; i >= 0; --i) {
    rest = rest << 32 | x->words[i];
    x->words[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  while (x->count && !x->words[x->count - 1]) {
    --x->count;
  }
  return (uint32_t)rest;
}

static void shift(Long *x, int bits) {
  int words = bits / 32, rest = bits % 32;
  if (!x->count || x->count + words + 1 > WORDS) {
    return;
  }
  for (int i = x->count; i >= 0; --i) {
    uint64_t low = i > 0 ? x->words[i - 1] : 0, high = i < x->count ? x->words[i] : 0;
    x->words[i + words] = (uint32_t)(rest ? high << rest | low >> (32 - rest) : high);
  }
  for (int i = 0; i < words; ++i) {
    x->words[i] = 0;
  }
  x->count += words + 1;
  while (x->count && !x->words[x->count - 1]) {
    --x->count;
  }
}

static void power10(Long *x, int exponent) {
  for (; exponent >= 9; exponent -= 9) {
    multiplyAdd(x, 1000000000u, 0);
  }
  for (; exponent > 0; --exponent) {
    multiplyAdd(x, 10, 0);
  }
}

static Long ofNumber(uint64_t n) {
  Long x;
  x.count = n >> 32 ? 2 : n ? 1 : 0;
  x.words[0] = (uint32_t)n;
  x.words[1] = (uint32_t)(n >> 32);
  return x;
}

/* Writing */

static char *unsignedText(char *to, uint64_t n) {
  int count = 1;
  for (uint64_t limit = 10; count < 20 && n >= limit; limit *= 10) {
    ++count;
  }
  char *end = to + count, *digit = end;
  for (; n >= 100; n /= 100) { /* each division waits for the one before, so two digits are made at once */
    uint64_t two = n % 100;
    *--digit = (char)('0' + two % 10);
    *--digit = (char)('0' + two / 10);
  }
  *--digit = (char)('0' + n % 10);
  if (digit > to) {
    *--digit = (char)('0' + n / 10);
  }
  return end;
}

static char *wordText(char *to, const char *word) {
  while (*word) {
    *to++ = *word++;
  }
  return to;
}

/* Writes the decimal digits of mantissa * 2^exponent into `digits` (1,100 at most). Returns how many are before the
 * point, which is negative where zeros follow the point. */
static int decimalDigits(uint64_t mantissa, int exponent, char *digits, int *count) {
  Long x = ofNumber(mantissa);
  uint32_t groups[128]; /* digits in base 1e9 */
  int n = 0, places = 0;
  if (exponent >= 0) {
    shift(&x, exponent);
  } else { /* m / 2^k is m * 5^k / 10^k */
    places = -exponent;
    int k = places;
    for (; k >= 13; k -= 13) {
      multiplyAdd(&x, 1220703125u, 0);
    }
    for (; k > 0; --k) {
      multiplyAdd(&x, 5, 0);
    }
  }
  while (x.count) {
    groups[n++] = divide(&x, 1000000000u);
  }
  *count = 0;
  while (n) {
    uint32_t group = groups[--n];
    char own[9];
    for (int i = 8; i >= 0; --i, group /= 10) {
      own[i] = (char)(group % 10);
    }
    for (int i = 0; i < 9; ++i) {
      if (*count || own[i]) {
        digits[(*count)++] = own[i];
      }
    }
  }
  return *count - places;
}

/* Writes a float as printf's %.8g does, which is what ONNX Runtime writes, also for float64. */
static char *floatText(char *to, uint64_t mantissa, int exponent) {
  enum { precision = 8 };
  char digits[1160];
  int count, point = decimalDigits(mantissa, exponent, digits, &count);
  if (count > precision) { /* rounds to the nearest, ties to even */
    int up = digits[precision] > 5 || (digits[precision] == 5 && (digits[precision - 1] & 1));
    for (int i = precision + 1; digits[precision] == 5 && !up && i < count; ++i) {
      up = digits[i] != 0;
    }
    count = precision;
    int i = count - 1;
    for (; up && i >= 0; --i) {
      digits[i] = (char)(digits[i] == 9 ? 0 : digits[i] + 1);
      up = digits[i] == 0;
    }
    if (up) { /* all digits were nines */
      digits[0] = 1;
      ++point;
    }
  }
  while (count > 1 && !digits[count - 1]) {
    --count;
  }
  int power = point - 1;
  if (power < -4 || power >= precision) {
    *to++ = (char)('0' + digits[0]);
    if (count > 1) {
      *to++ = '.';
    }
    for (int i = 1; i < count; ++i) {
      *to++ = (char)('0' + digits[i]);
    }
    *to++ = 'e';
    *to++ = power < 0 ? '-' : '+';
    power = power < 0 ? -power : power;
    if (power < 10) {
      *to++ = '0';
    }
    return unsignedText(to, (uint64_t)power);
  }
  if (point <= 0) {
    *to++ = '0';
    *to++ = '.';
    for (int i = point; i < 0; ++i) {
      *to++ = '0';
    }
  }
  for (int i = 0; i < count || i < point; ++i) {
    if (i == point && i > 0) {
      *to++ = '.';
    }
    *to++ = (char)(i < count ? '0' + digits[i] : '0');
  }
  return to;
}

/* Writes a float, given as its bits: `width` bits of mantissa, above them those of the exponent, then the sign. */
static char *realText(char *to, uint64_t bits, int width, int exponentBits) {
  int special = (1 << exponentBits) - 1, exponent = (int)(bits >> width & (uint64_t)special);
  uint64_t mantissa = bits & (((uint64_t)1 << width) - 1);
  int negative = (int)(bits >> (width + exponentBits) & 1);
  if (exponent == special) {
    return wordText(to, mantissa ? "NaN" : negative ? "-INF" : "INF");
  }
  if (negative) {
    *to++ = '-';
  }
  if (!exponent && !mantissa) {
    return wordText(to, "0");
  }
  mantissa |= exponent ? (uint64_t)1 << width : 0;
  exponent = (exponent ? exponent : 1) - special / 2 - width;
  while (!(mantissa & 1) && exponent < 0) {
    mantissa >>= 1;
    ++exponent;
  }
  return floatText(to, mantissa, exponent);
}

static char *signedText(char *to, int64_t n) {
  if (n < 0) {
    *to++ = '-';
  }
  return unsignedText(to, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *numberText(char *to, const char *from, int32_t type) {
  switch (type) {
  case INGOT_FLOAT32:
    return realText(to, *(const uint32_t *)from, 23, 8);
  case INGOT_FLOAT64:
    return realText(to, *(const uint64_t *)from, 52, 11);
  case INGOT_INT8:
    return signedText(to, *(const int8_t *)from);
  case INGOT_INT16:
    return signedText(to, *(const int16_t *)from);
  case INGOT_INT32:
    return signedText(to, *(const int32_t *)from);
  case INGOT_INT64:
    return signedText(to, *(const int64_t *)from);
  case INGOT_UINT16:
    return unsignedText(to, *(const uint16_t *)from);
  case INGOT_UINT32:
    return unsignedText(to, *(const uint32_t *)from);
  case INGOT_UINT64:
    return unsignedText(to, *(const uint64_t *)from);
  default: /* bytes, and booleans as well */
    return unsignedText(to, *(const uint8_t *)from);
  }
}

int ingot_text_write_number(const ingot_exec *exec, const int64_t *arguments) {
  const char *x = (const char *)(uintptr_t)arguments[INGOT_TEXT_X];
  ingot_string *to = (ingot_string *)(uintptr_t)arguments[INGOT_TEXT_TO];
  int32_t type = (int32_t)arguments[INGOT_TEXT_NUMBER];
  int64_t step = (int64_t)ingot_type_bytes(type) * arguments[INGOT_TEXT_X_STEP];
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += step) {
    char *room = ingot_strings_room(exec, LARGEST);
    if (!room) {
      return INGOT_ERROR_MEMORY;
    }
    to[i].data = room;
    to[i].size = numberText(room, x, type) - room;
    ingot_strings_shrink(exec, LARGEST - to[i].size);
  }
  return 0;
}

/* Reading */

/* A decimal number in text: the digits, times ten to the exponent. */
typedef struct Decimal {
  const char *digits[2]; /* where the digits begin, before and behind the point */
  int64_t lengths[2];
  int64_t exponent;
  int negative;
} Decimal;

static int isDigit(char c) { return c >= '0' && c <= '9'; }

static const char *digitsEnd(const char *at, const char *end) {
  while (at < end && isDigit(*at)) {
    ++at;
  }
  return at;
}

/* Returns a string without the spaces around it, which do not count. */
static ingot_string trimmed(ingot_string s) {
  while (s.size && (*s.data == ' ' || (*s.data >= '\t' && *s.data <= '\r'))) {
    ++s.data, --s.size;
  }
  while (s.size && (s.data[s.size - 1] == ' ' || (s.data[s.size - 1] >= '\t' && s.data[s.size - 1] <= '\r'))) {
    --s.size;
  }
  return s;
}

/* Returns whether the text is `word`, in letters of any case. */
static int isWord(ingot_string s, const char *word) {
  int64_t i = 0;
  for (; word[i] && i < s.size && (s.data[i] | 0x20) == word[i]; ++i) {
  }
  return i == s.size && !word[i];
}

static int takeSign(ingot_string *s) {
  int negative = s->size && *s->data == '-';
  if (s->size && (negative || *s->data == '+')) {
    ++s->data, --s->size;
  }
  return negative;
}

static int parse(ingot_string s, Decimal *number) {
  const char *at = s.data, *end = at + s.size;
  number->exponent = 0;
  number->digits[0] = at;
  at = digitsEnd(at, end);
  number->lengths[0] = at - number->digits[0];
  number->digits[1] = at;
  number->lengths[1] = 0;
  if (at < end && *at == '.') {
    number->digits[1] = ++at;
    at = digitsEnd(at, end);
    number->lengths[1] = at - number->digits[1];
  }
  if (number->lengths[0] + number->lengths[1] == 0) {
    return 0;
  }
  if (at < end && (*at | 0x20) == 'e') {
    ingot_string rest = {at + 1, end - at - 1};
    int negative = takeSign(&rest);
    at = digitsEnd(rest.data, end);
    if (at == rest.data) {
      return 0;
    }
    for (const char *d = rest.data; d < at; ++d) {
      number->exponent = number->exponent < 100000000 ? 10 * number->exponent + (*d - '0') : number->exponent;
    }
    number->exponent = negative ? -number->exponent : number->exponent;
  }
  number->exponent -= number->lengths[1];
  return at == end;
}

/* Returns the highest 64 bits of x, with a one at the top, and sets `exponent` to that of the lowest of them. If any
 * bit below is set, the lowest one is set too, so that rounding fewer bits gives the same as rounding all. */
static uint64_t highest(const Long *x, int sticky, int *exponent) {
  uint64_t top = 0;
  int bits = 0, i = x->count - 1;
  uint32_t first = x->words[i];
  int lead = 0;
  while (!(first >> 31)) {
    first <<= 1;
    ++lead;
  }
  for (bits = 32 * x->count - lead; i >= 0 && i > x->count - 4; --i) {
    int place = bits - 32 * i; /* how many bits there are from the top to the end of this word */
    uint64_t word = x->words[i];
    top |= place <= 64 ? word << (64 - place) : place - 64 < 32 ? word >> (place - 64) : 0;
    sticky |= place > 64 && (place - 64 >= 32 ? word != 0 : (word & (((uint64_t)1 << (place - 64)) - 1)) != 0);
  }
  for (; i >= 0; --i) {
    sticky |= x->words[i] != 0;
  }
  *exponent = bits - 64;
  return top | (sticky ? 1 : 0);
}

/* Returns the quotient of x, which has more bits, and y, by Knuth's algorithm D. A remainder sets `sticky`. */
static Long quotient(Long *x, Long *y, int *sticky) {
  Long q;
  int lead = 0;
  for (uint32_t top = y->words[y->count - 1]; !(top >> 31); top <<= 1) {
    ++lead;
  }
  shift(x, lead);
  shift(y, lead);
  int n = y->count, m = x->count - n;
  for (int i = 0; i <= m + 1 && i < WORDS; ++i) {
    q.words[i] = 0;
  }
  x->words[x->count] = 0;
  for (int j = m; j >= 0; --j) {
    uint64_t high = (uint64_t)x->words[j + n] << 32 | x->words[j + n - 1];
    uint64_t guess = high / y->words[n - 1], rest = high % y->words[n - 1];
    uint64_t second = n > 1 ? y->words[n - 2] : 0, next = n > 1 ? x->words[j + n - 2] : 0;
    while (guess >> 32 || guess * second > (rest << 32 | next)) {
      --guess;
      rest += y->words[n - 1];
      if (rest >> 32) {
        break;
      }
    }
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (int i = 0; i < n; ++i) {
      carry += guess * y->words[i];
      int64_t t = (int64_t)x->words[i + j] - (int64_t)(uint32_t)carry + borrow;
      x->words[i + j] = (uint32_t)t;
      borrow = t >> 32;
      carry >>= 32;
    }
    int64_t t = (int64_t)x->words[j + n] - (int64_t)carry + borrow;
    x->words[j + n] = (uint32_t)t;
    if (t < 0) { /* the guess was one too many */
      --guess;
      uint64_t sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += (uint64_t)x->words[i + j] + y->words[i];
        x->words[i + j] = (uint32_t)sum;
        sum >>= 32;
      }
      x->words[j + n] += (uint32_t)sum;
    }
    q.words[j] = (uint32_t)guess;
  }
  for (int i = 0; i < n; ++i) {
    *sticky |= x->words[i] != 0;
  }
  q.count = m + 1;
  while (q.count && !q.words[q.count - 1]) {
    --q.count;
  }
  return q;
}

/* Returns the bits of the float nearest to `number`, with `width` bits of mantissa. */
static uint64_t roundedBits(const Decimal *number, int width, int exponentBits) {
  Long x = ofNumber(0);
  int64_t exponent = number->exponent, taken = 0;
  int sticky = 0;
  for (int part = 0; part < 2; ++part) {
    for (int64_t i = 0; i < number->lengths[part]; ++i) {
      char digit = (char)(number->digits[part][i] - '0');
      if (taken < DIGITS) {
        multiplyAdd(&x, 10, (uint32_t)digit);
        taken += x.count > 0;
      } else {
        sticky |= digit != 0;
        ++exponent;
      }
    }
  }
  uint64_t infinity = (((uint64_t)1 << exponentBits) - 1) << width;
  if (!x.count || exponent + taken < -400) {
    return 0;
  }
  if (exponent + taken > 400) {
    return infinity;
  }
  int at = 0;
  uint64_t top;
  if (exponent >= 0) {
    power10(&x, (int)exponent);
    top = highest(&x, sticky, &at);
  } else {
    Long y = ofNumber(1);
    power10(&y, (int)-exponent);
    int bits = 32 * (y.count - x.count) + 96;
    bits = bits < 0 ? 0 : bits;
    shift(&x, bits);
    Long q = quotient(&x, &y, &sticky);
    top = highest(&q, sticky, &at);
    at -= bits;
  }
  int bias = (1 << (exponentBits - 1)) - 1, power = at + 63; /* the number is 1.xxx * 2^power */
  int keep = power < 1 - bias ? width + 1 - (1 - bias - power) : width + 1;
  if (keep < 0) {
    return 0;
  }
  uint64_t kept = keep ? top >> (64 - keep) : 0, rest = keep ? top << keep : top;
  kept += rest > (uint64_t)1 << 63 || (rest == (uint64_t)1 << 63 && (kept & 1));
  uint64_t result = power < 1 - bias ? kept : ((uint64_t)(power + bias - 1) << width) + kept;
  return power > bias || result > infinity ? infinity : result;
}

/* Reads a number of few digits and a small power of ten: both are exact in a double, so the quotient or product is
 * rounded only once. A float32 is rounded from that, except where the double lies in the middle of two floats,
 * perhaps because it was rounded. Returns whether `bits` are right. */
static int easyBits(const Decimal *number, int width, uint64_t *bits) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  uint64_t whole = 0;
  if (number->lengths[0] + number->lengths[1] > 18 || number->exponent < -22 || number->exponent > 22) {
    return 0;
  }
  for (int part = 0; part < 2; ++part) {
    for (int64_t i = 0; i < number->lengths[part]; ++i) {
      whole = 10 * whole + (uint64_t)(number->digits[part][i] - '0');
    }
  }
  if (whole >> 53) {
    return 0;
  }
  union {
    double value;
    uint64_t bits;
  } d;
  d.value = (double)whole;
  d.value = number->exponent < 0 ? d.value / powers[-number->exponent] : d.value * powers[number->exponent];
  if (width == 52) {
    *bits = d.bits;
    return 1;
  }
  union {
    float value;
    uint32_t bits;
  } f;
  f.value = (float)d.value;
  *bits = f.bits;
  return (d.bits & 0x1fffffff) != 0x10000000;
}

/* Reads the bits of a float; returns whether the text is one. */
static int readReal(ingot_string s, int width, int exponentBits, uint64_t *bits) {
  Decimal number;
  uint64_t infinity = (((uint64_t)1 << exponentBits) - 1) << width;
  int negative = takeSign(&s), good = 1;
  if (isWord(s, "nan")) {
    *bits = infinity | (uint64_t)1 << (width - 1);
  } else if (isWord(s, "inf") || isWord(s, "infinity")) {
    *bits = infinity;
  } else if ((good = parse(s, &number)) && !easyBits(&number, width, bits)) {
    *bits = roundedBits(&number, width, exponentBits);
  }
  *bits |= (uint64_t)negative << (width + exponentBits);
  return good;
}

/* Reads a whole number from 0 to `most`, or a negative one down to -`least`; returns whether the text is one. */
static int readInteger(ingot_string s, uint64_t most, uint64_t least, uint64_t *n) {
  int negative = takeSign(&s);
  uint64_t limit = negative ? least : most;
  if (!s.size || digitsEnd(s.data, s.data + s.size) != s.data + s.size) {
    return 0;
  }
  uint64_t value = 0;
  for (int64_t i = 0; i < s.size; ++i) {
    uint64_t digit = (uint64_t)(s.data[i] - '0');
    if (value > (limit - digit) / 10 || digit > limit) {
      return 0;
    }
    value = 10 * value + digit;
  }
  *n = negative ? -value : value;
  return 1;
}

static int readNumber(ingot_string s, int32_t type, uint64_t *bits) {
  uint64_t width = 8 * (uint64_t)ingot_type_bytes(type), half = (uint64_t)1 << (width - 1);
  s = trimmed(s);
  switch (type) {
  case INGOT_FLOAT32:
    return readReal(s, 23, 8, bits);
  case INGOT_FLOAT64:
    return readReal(s, 52, 11, bits);
  case INGOT_INT8:
  case INGOT_INT16:
  case INGOT_INT32:
  case INGOT_INT64:
    return readInteger(s, half - 1, half, bits);
  case INGOT_BOOL: { /* any whole number is a boolean */
    int good = readInteger(s, ~(uint64_t)0, (uint64_t)1 << 63, bits);
    *bits = *bits != 0;
    return good;
  }
  default:
    return readInteger(s, half - 1 + half, 0, bits);
  }
}

int ingot_text_read_number(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  int32_t type = (int32_t)arguments[INGOT_TEXT_NUMBER];
  size_t bytes = ingot_type_bytes(type);
  char *to = (char *)(uintptr_t)arguments[INGOT_TEXT_TO];
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint64_t bits = 0;
    if (!readNumber(*x, type, &bits)) {
      return INGOT_ERROR_STRING;
    }
    for (size_t k = 0; k < bytes; ++k) { /* tensors are little endian */
      *to++ = (char)(bits >> (8 * k));
    }
  }
  (void)exec;
  return 0;
}
