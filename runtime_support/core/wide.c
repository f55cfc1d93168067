/* Does arithmetic of 64 bits for processors that do not have it: division of integers, float64, and conversions
 * between integers of 64 bits and floats. Compiled models call these functions in the place of those of a compiler's
 * own library, which a program need not have. Floats are passed as their bits, so that it does not matter in which
 * registers a calling convention has floats. There is no operation on floats here, and none for which a 32-bit
 * processor would need a library.
 *
 * softfloat.h computes float64. */
#include "ingot.h"
#define FLOAT_WIDTH 64
#include "softfloat.h"

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

/* arithmetic */

uint64_t ingot_wide_add(uint64_t a, uint64_t b) { return addFloats(a, b); }
uint64_t ingot_wide_sub(uint64_t a, uint64_t b) { return addFloats(a, b ^ SIGN); }
uint64_t ingot_wide_mul(uint64_t a, uint64_t b) { return multiplyFloats(a, b); }
uint64_t ingot_wide_div(uint64_t a, uint64_t b) { return divideFloats(a, b); }

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

int32_t ingot_wide_compare(uint64_t a, uint64_t b) { return compareFloats(a, b); }

uint64_t ingot_wide_maximum(uint64_t a, uint64_t b) {
  Order order = compareFloats(a, b);
  return order == UNORDERED ? NOT_A_NUMBER : order == EQUAL ? a & b : order == GREATER ? a : b;
}

uint64_t ingot_wide_minimum(uint64_t a, uint64_t b) {
  Order order = compareFloats(a, b);
  return order == UNORDERED ? NOT_A_NUMBER : order == EQUAL ? a | b : order == LESS ? a : b;
}

/* conversions */

uint64_t ingot_wide_from_float(uint32_t x) {
  uint64_t sign = (uint64_t)(x >> 31) << 63, fraction = x & 0x7fffff;
  int exponent = (int)(x >> 23) & 0xff;
  if (exponent == 0xff) {
    return fraction ? NOT_A_NUMBER : sign | INFINITE;
  }
  /* This is exact. The leading bit of a normal float is at bit 23. */
  return fromUnits(sign, (exponent ? exponent : 1) - 0x7f + BIAS - 1 + (62 - 23), fraction | (exponent ? 0x800000 : 0));
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

uint64_t ingot_wide_from_uint64(uint64_t x) { return fromUnits(0, BIAS - 1 + 62, x); }
uint64_t ingot_wide_from_int64(int64_t x) { return fromUnits(x < 0 ? SIGN : 0, BIAS - 1 + 62, magnitude(x)); }

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
