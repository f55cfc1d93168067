/* Does arithmetic of 64 bits for processors that do not have it: division of integers, float64, and conversions
 * between integers of 64 bits and floats. Compiled models call these functions in the place of those of a compiler's
 * own library, which a program need not have. Floats are passed as their bits, so that it does not matter in which
 * registers a calling convention has floats. There is no operation on floats here, and none for which a 32-bit
 * processor would need a library.
 *
 * float64 is computed as IEEE 754 says, rounded to nearest, ties to even; NaNs are quiet ones. The layout of the
 * intermediate values is that of Berkeley SoftFloat: a significand with its leading bit at bit 62, of which the low
 * ten bits are rounded away, and an exponent that is one less than the biased one, because the leading bit is added
 * to it. */
#include "ingot.h"

enum { EXPONENT_MOST = 0x7ff, BIAS = 0x3ff, FRACTION_BITS = 52 };
static const uint64_t SIGN = (uint64_t)1 << 63, HIDDEN = (uint64_t)1 << FRACTION_BITS,
                      INFINITE = (uint64_t)EXPONENT_MOST << FRACTION_BITS, NOT_A_NUMBER = (uint64_t)0x7ff8 << 48;

/* Returns the zero bits in front of the first one of x, which is not 0. */
static int zeros(uint64_t x) {
  int count = 0;
  for (int step = 32; step; step >>= 1) {
    if (!(x >> (64 - step))) {
      count += step;
      x <<= step;
    }
  }
  return count;
}

/* integers */

static uint64_t divide(uint64_t number, uint64_t divisor, uint64_t *rest) {
  uint64_t quotient = 0;
  if (!(number >> 32) && !(divisor >> 32) && divisor) {
    *rest = (uint32_t)number % (uint32_t)divisor;
    return (uint32_t)number / (uint32_t)divisor;
  }
  if (divisor && number >= divisor) {
    int shift = zeros(divisor) - zeros(number);
    divisor <<= shift;
    for (; shift >= 0; --shift) {
      quotient <<= 1;
      if (number >= divisor) {
        number -= divisor;
        quotient |= 1;
      }
      divisor >>= 1;
    }
  }
  *rest = number;
  return quotient;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

uint64_t ingot_wide_udiv(uint64_t a, uint64_t b) {
  uint64_t rest;
  return divide(a, b, &rest);
}

uint64_t ingot_wide_urem(uint64_t a, uint64_t b) {
  uint64_t rest;
  divide(a, b, &rest);
  return rest;
}

int64_t ingot_wide_sdiv(int64_t a, int64_t b) {
  uint64_t rest, quotient = divide(magnitude(a), magnitude(b), &rest);
  return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

int64_t ingot_wide_srem(int64_t a, int64_t b) {
  uint64_t rest;
  divide(magnitude(a), magnitude(b), &rest);
  return (int64_t)(a < 0 ? 0 - rest : rest);
}

/* parts of floats */

static int exponentOf(uint64_t x) { return (int)(x >> FRACTION_BITS) & EXPONENT_MOST; }
static uint64_t fractionOf(uint64_t x) { return x & (HIDDEN - 1); }
static int isNan(uint64_t x) { return (x & ~SIGN) > INFINITE; }

/* Puts a float together. The leading bit of the significand, if it has one, is added to the exponent. */
static uint64_t packed(uint64_t sign, int exponent, uint64_t significand) {
  return sign + ((uint64_t)(uint32_t)exponent << FRACTION_BITS) + significand;
}

/* Returns x >> count, with the last bit set where a one was lost. */
static uint64_t shiftedRight(uint64_t x, int count) {
  if (count >= 64) {
    return x != 0;
  }
  return count <= 0 ? x : x >> count | ((x << (64 - count)) != 0);
}

/* Return the significand of a number, with its hidden bit if it has one, and the exponent that fits it. */
static uint64_t significandOf(uint64_t x) { return fractionOf(x) | (exponentOf(x) ? HIDDEN : 0); }
static int scaleOf(uint64_t x) { return exponentOf(x) ? exponentOf(x) : 1; }

/* Returns the significand of a number that is not 0, with its leading bit where the hidden bit is, also for denormal
 * numbers, and sets the exponent that fits it. */
static uint64_t normalized(uint64_t x, int *exponent) {
  uint64_t significand = significandOf(x);
  int shift = zeros(significand) - (63 - FRACTION_BITS);
  *exponent = scaleOf(x) - shift;
  return significand << shift;
}

static uint64_t rounded(uint64_t sign, int exponent, uint64_t significand) {
  if (exponent < 0) {
    significand = shiftedRight(significand, -exponent);
    exponent = 0;
  } else if (exponent > EXPONENT_MOST - 2 || (exponent == EXPONENT_MOST - 2 && significand + 0x200 >= SIGN)) {
    return sign | INFINITE;
  }
  int isTie = (significand & 0x3ff) == 0x200;
  significand = ((significand + 0x200) >> 10) & ~(uint64_t)isTie;
  return packed(sign, significand ? exponent : 0, significand);
}

/* Rounds a significand with its leading bit anywhere; `exponent` is for one at bit 62. */
static uint64_t normalizedAndRounded(uint64_t sign, int exponent, uint64_t significand) {
  if (!significand) {
    return sign;
  }
  int shift = zeros(significand) - 1;
  return shift < 0 ? rounded(sign, exponent + 1, shiftedRight(significand, 1))
                   : rounded(sign, exponent - shift, significand << shift);
}

/* arithmetic */

uint64_t ingot_wide_add(uint64_t a, uint64_t b) {
  if (isNan(a) || isNan(b)) {
    return NOT_A_NUMBER;
  }
  if ((a & ~SIGN) < (b & ~SIGN)) {
    uint64_t larger = b;
    b = a, a = larger;
  }
  uint64_t sign = a & SIGN, differs = (a ^ b) & SIGN;
  if (exponentOf(a) == EXPONENT_MOST) {
    return exponentOf(b) == EXPONENT_MOST && differs ? NOT_A_NUMBER : a;
  }
  uint64_t large = significandOf(a) << 9, small = shiftedRight(significandOf(b) << 9, scaleOf(a) - scaleOf(b));
  if (differs && large == small) {
    return 0;
  }
  return normalizedAndRounded(sign, scaleOf(a), differs ? large - small : large + small);
}

uint64_t ingot_wide_sub(uint64_t a, uint64_t b) { return ingot_wide_add(a, isNan(b) ? b : b ^ SIGN); }

uint64_t ingot_wide_mul(uint64_t a, uint64_t b) {
  uint64_t sign = (a ^ b) & SIGN;
  a &= ~SIGN, b &= ~SIGN;
  if (a > INFINITE || b > INFINITE || (a == INFINITE && !b) || (b == INFINITE && !a)) {
    return NOT_A_NUMBER;
  }
  if (a == INFINITE || b == INFINITE || !a || !b) {
    return sign | (a && b ? INFINITE : 0);
  }
  int exponent, other;
  a = normalized(a, &exponent) << 10, b = normalized(b, &other) << 11;
  uint64_t aHigh = a >> 32, aLow = (uint32_t)a, bHigh = b >> 32, bLow = (uint32_t)b;
  uint64_t low = aLow * bLow, middle = aHigh * bLow + (low >> 32), other64 = aLow * bHigh + (uint32_t)middle;
  uint64_t high = aHigh * bHigh + (middle >> 32) + (other64 >> 32), lost = (other64 << 32) | (uint32_t)low;
  return normalizedAndRounded(sign, exponent + other - BIAS, high | (lost != 0));
}

uint64_t ingot_wide_div(uint64_t a, uint64_t b) {
  uint64_t sign = (a ^ b) & SIGN;
  a &= ~SIGN, b &= ~SIGN;
  if (a > INFINITE || b > INFINITE || (a == b && (!a || a == INFINITE))) {
    return NOT_A_NUMBER;
  }
  if (a == INFINITE || !b || !a || b == INFINITE) {
    return sign | (a == INFINITE || !b ? INFINITE : 0);
  }
  int exponent, other;
  a = normalized(a, &exponent), b = normalized(b, &other);
  exponent -= other - BIAS + 1;
  if (a < b) { /* the quotient of the significands would lie in [1/2, 1) */
    --exponent;
    a <<= 1;
  }
  uint64_t quotient = 0;
  b <<= 1;
  for (int bit = 0; bit < 63; ++bit) {
    a <<= 1;
    quotient <<= 1;
    if (a >= b) {
      a -= b;
      quotient |= 1;
    }
  }
  return rounded(sign, exponent, quotient | (a != 0));
}

uint64_t ingot_wide_sqrt(uint64_t x) {
  if (isNan(x) || (x & SIGN && x & ~SIGN)) {
    return NOT_A_NUMBER;
  }
  if (!(x & ~SIGN) || x == INFINITE) {
    return x;
  }
  int exponent;
  uint64_t radicand = normalized(x, &exponent), root = 0, rest = 0;
  int isOdd = (exponent - BIAS) & 1;
  radicand <<= isOdd;
  /* The root has 55 bits, each of which takes two bits of the radicand: first the 54 of the significand, then zeros. */
  for (int bit = 0; bit < 55; ++bit) {
    rest = (rest << 2) | (bit < 27 ? radicand >> (2 * (26 - bit)) & 3 : 0);
    uint64_t trial = (root << 2) | 1;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  return rounded(0, (exponent - BIAS - isOdd) / 2 + BIAS - 1, root << 8 | (rest != 0));
}

/* Returns 1 where they are equal, 2 where a is greater, 4 where b is, and 8 where one is not a number. */
int32_t ingot_wide_compare(uint64_t a, uint64_t b) {
  if (isNan(a) || isNan(b)) {
    return 8;
  }
  if (a == b || !((a | b) & ~SIGN)) {
    return 1;
  }
  int isGreater = (a & SIGN) != (b & SIGN) ? !(a & SIGN) : a & SIGN ? a < b : a > b;
  return isGreater ? 2 : 4;
}

uint64_t ingot_wide_maximum(uint64_t a, uint64_t b) {
  int32_t order = ingot_wide_compare(a, b);
  return order == 8 ? NOT_A_NUMBER : order == 1 ? a & b : order == 2 ? a : b;
}

uint64_t ingot_wide_minimum(uint64_t a, uint64_t b) {
  int32_t order = ingot_wide_compare(a, b);
  return order == 8 ? NOT_A_NUMBER : order == 1 ? a | b : order == 4 ? a : b;
}

/* conversions */

uint64_t ingot_wide_from_float(uint32_t x) {
  uint64_t sign = (uint64_t)(x >> 31) << 63, fraction = x & 0x7fffff;
  int exponent = (int)(x >> 23) & 0xff;
  if (exponent == 0xff) {
    return fraction ? NOT_A_NUMBER : sign | INFINITE;
  }
  /* This is exact. The leading bit of a normal float is at bit 23. */
  return normalizedAndRounded(sign, (exponent ? exponent : 1) - 0x7f + BIAS - 1 + (62 - 23),
                              fraction | (exponent ? 0x800000 : 0));
}

/* Returns the float32 nearest to a significand with its leading bit at bit 30. */
static uint32_t roundedFloat(uint32_t sign, int exponent, uint32_t significand) {
  if (exponent < 0) {
    significand = (uint32_t)shiftedRight(significand, -exponent);
    exponent = 0;
  } else if (exponent > 0xfd || (exponent == 0xfd && significand + 0x40 >= (uint32_t)1 << 31)) {
    return sign | 0x7f800000;
  }
  int isTie = (significand & 0x7f) == 0x40;
  significand = ((significand + 0x40) >> 7) & ~(uint32_t)isTie;
  return sign + (significand ? (uint32_t)exponent << 23 : 0) + significand;
}

uint32_t ingot_wide_to_float(uint64_t x) {
  uint32_t sign = (uint32_t)(x >> 63) << 31;
  if (exponentOf(x) == EXPONENT_MOST) {
    return isNan(x) ? 0x7fc00000 : sign | 0x7f800000;
  }
  /* Denormal float64 numbers are far below the least float32. */
  return roundedFloat(sign, scaleOf(x) - BIAS + 0x7f - 1, (uint32_t)shiftedRight(significandOf(x), FRACTION_BITS - 30));
}

uint64_t ingot_wide_from_uint64(uint64_t x) { return normalizedAndRounded(0, BIAS - 1 + 62, x); }
uint64_t ingot_wide_from_int64(int64_t x) {
  return normalizedAndRounded(x < 0 ? SIGN : 0, BIAS - 1 + 62, magnitude(x)) & (x ? ~(uint64_t)0 : 0);
}

uint32_t ingot_wide_uint64_to_float(uint64_t x) {
  if (!x) {
    return 0;
  }
  int shift = zeros(x);
  return roundedFloat(0, 0x7f - 1 + 63 - shift, (uint32_t)shiftedRight(x << shift, 33));
}
uint32_t ingot_wide_int64_to_float(int64_t x) {
  return ingot_wide_uint64_to_float(magnitude(x)) | (x < 0 ? (uint32_t)1 << 31 : 0);
}

/* Rounds towards zero. A number that does not fit, and what is not a number, becomes INT64_MIN. */
int64_t ingot_wide_to_int64(uint64_t x) {
  int exponent = exponentOf(x) - BIAS;
  if (exponent < 0) {
    return 0;
  }
  if (exponent >= 63) {
    return INT64_MIN;
  }
  uint64_t significand = significandOf(x);
  significand =
      exponent < FRACTION_BITS ? significand >> (FRACTION_BITS - exponent) : significand << (exponent - FRACTION_BITS);
  return (int64_t)(x & SIGN ? 0 - significand : significand);
}

/* Rounds towards zero; numbers from 2^63 on are right as well, and negative numbers are taken modulo 2^64. */
uint64_t ingot_wide_to_uint64(uint64_t x) {
  uint64_t limit = (uint64_t)(BIAS + 63) << FRACTION_BITS;
  return x >= limit && x < limit + HIDDEN ? significandOf(x) << (63 - FRACTION_BITS) : (uint64_t)ingot_wide_to_int64(x);
}

int64_t ingot_wide_float_to_int64(uint32_t x) { return ingot_wide_to_int64(ingot_wide_from_float(x)); }
uint64_t ingot_wide_float_to_uint64(uint32_t x) { return ingot_wide_to_uint64(ingot_wide_from_float(x)); }
