/* Arithmetic on floats by operations on integers of the same length, which `Bits` is: whoever includes this file
 * defines FLOAT_WIDTH before, as 32 or 64. Results are those of IEEE 754, rounded to nearest, ties to even; NaNs are
 * quiet ones.
 *
 * The layout of the intermediate values is that of Berkeley SoftFloat: a significand with its leading bit at the
 * second highest, of which the low LOST_BITS are rounded away, and an exponent that is one less than the biased
 * one, because the leading bit is added to it. */
#include <stdint.h>

#if FLOAT_WIDTH == 64
typedef uint64_t Bits;
enum { FRACTION_BITS = 52 };
#else
typedef uint32_t Bits;
enum { FRACTION_BITS = 23 };
#endif
enum {
  EXPONENT_MOST = (1 << (FLOAT_WIDTH - 1 - FRACTION_BITS)) - 1,
  BIAS = EXPONENT_MOST >> 1,
  LEADING_BIT = FLOAT_WIDTH - 2,
  LOST_BITS = LEADING_BIT - FRACTION_BITS
};
static const Bits SIGN = (Bits)1 << (FLOAT_WIDTH - 1), HIDDEN = (Bits)1 << FRACTION_BITS,
                  INFINITE = (Bits)EXPONENT_MOST << FRACTION_BITS,
                  NOT_A_NUMBER = ((Bits)EXPONENT_MOST << FRACTION_BITS) | (Bits)1 << (FRACTION_BITS - 1);

/* Returns the zero bits in front of the first one of x, which is not 0. */
static int zeros(Bits x) {
  int count = 0;
  for (int step = FLOAT_WIDTH / 2; step; step >>= 1) {
    if (!(x >> (FLOAT_WIDTH - step))) {
      count += step;
      x <<= step;
    }
  }
  return count;
}

/* parts of floats */

static int exponentOf(Bits x) { return (int)(x >> FRACTION_BITS) & EXPONENT_MOST; }
static int isNan(Bits x) { return (x & ~SIGN) > INFINITE; }

/* Returns x >> count, with the last bit set where a one was lost. */
static Bits shiftedRight(Bits x, int count) {
  if (count >= FLOAT_WIDTH) {
    return x != 0;
  }
  return count <= 0 ? x : x >> count | ((x << (FLOAT_WIDTH - count)) != 0);
}

/* Return the significand of a number, with its hidden bit if it has one, and the exponent that fits it. */
static Bits significandOf(Bits x) { return (x & (HIDDEN - 1)) | (exponentOf(x) ? HIDDEN : 0); }
static int scaleOf(Bits x) { return exponentOf(x) ? exponentOf(x) : 1; }

/* Returns the significand of a number that is not 0, with its leading bit where the hidden bit is, also for denormal
 * numbers, and sets the exponent that fits it. */
static Bits normalized(Bits x, int *exponent) {
  Bits significand = significandOf(x);
  int shift = exponentOf(x) ? 0 : zeros(significand) - (FLOAT_WIDTH - 1 - FRACTION_BITS);
  *exponent = scaleOf(x) - shift;
  return significand << shift;
}

/* Puts a float together. The leading bit of the significand, if it has one, is added to the exponent. */
static Bits rounded(Bits sign, int exponent, Bits significand) {
  const Bits half = (Bits)1 << (LOST_BITS - 1);
  if (exponent < 0) {
    significand = shiftedRight(significand, -exponent);
    exponent = 0;
  } else if (exponent > EXPONENT_MOST - 2 || (exponent == EXPONENT_MOST - 2 && significand + half >= SIGN)) {
    return sign | INFINITE;
  }
  Bits isTie = (significand & (2 * half - 1)) == half;
  significand = ((significand + half) >> LOST_BITS) & ~isTie;
  return sign + ((Bits)exponent << FRACTION_BITS) + significand;
}

/* Rounds a significand with its leading bit anywhere; `exponent` is for one at LEADING_BIT. */
static Bits normalizedAndRounded(Bits sign, int exponent, Bits significand) {
  if (!significand) {
    return sign;
  }
  if (significand >> (LEADING_BIT - 1) == 1 || significand >> LEADING_BIT == 1) { /* as sums and products mostly are */
    int isLow = significand >> (LEADING_BIT - 1) == 1;
    return rounded(sign, exponent - isLow, significand << isLow);
  }
  int shift = zeros(significand) - 1;
  return shift < 0 ? rounded(sign, exponent + 1, shiftedRight(significand, 1))
                   : rounded(sign, exponent - shift, significand << shift);
}

/* Returns the upper half of a product, with the last bit set where the lower one is not 0. */
static Bits upperProduct(Bits a, Bits b) {
#if FLOAT_WIDTH == 64
  uint64_t aHigh = a >> 32, aLow = (uint32_t)a, bHigh = b >> 32, bLow = (uint32_t)b;
  uint64_t low = aLow * bLow, middle = aHigh * bLow + (low >> 32), other = aLow * bHigh + (uint32_t)middle;
  uint64_t high = aHigh * bHigh + (middle >> 32) + (other >> 32), lost = (other << 32) | (uint32_t)low;
  return high | (lost != 0);
#else
  uint64_t product = (uint64_t)a * b;
  return (uint32_t)(product >> 32) | ((uint32_t)product != 0);
#endif
}

/* arithmetic */

static Bits addFloats(Bits a, Bits b) {
  if (isNan(a) || isNan(b)) {
    return NOT_A_NUMBER;
  }
  if ((a & ~SIGN) < (b & ~SIGN)) {
    Bits larger = b;
    b = a, a = larger;
  }
  Bits sign = a & SIGN, differs = (a ^ b) & SIGN;
  if (exponentOf(a) == EXPONENT_MOST) {
    return exponentOf(b) == EXPONENT_MOST && differs ? NOT_A_NUMBER : a;
  }
  Bits large = significandOf(a) << (LOST_BITS - 1),
       small = shiftedRight(significandOf(b) << (LOST_BITS - 1), scaleOf(a) - scaleOf(b));
  if (differs && large == small) {
    return 0;
  }
  return normalizedAndRounded(sign, scaleOf(a), differs ? large - small : large + small);
}

static Bits subtractFloats(Bits a, Bits b) { return addFloats(a, b ^ SIGN); }

static Bits multiplyFloats(Bits a, Bits b) {
  Bits sign = (a ^ b) & SIGN;
  a &= ~SIGN, b &= ~SIGN;
  if (a > INFINITE || b > INFINITE || (a == INFINITE && !b) || (b == INFINITE && !a)) {
    return NOT_A_NUMBER;
  }
  if (a == INFINITE || b == INFINITE || !a || !b) {
    return sign | (a && b ? INFINITE : 0);
  }
  int exponent, other;
  a = normalized(a, &exponent) << LOST_BITS, b = normalized(b, &other) << (LOST_BITS + 1);
  return normalizedAndRounded(sign, exponent + other - BIAS, upperProduct(a, b));
}

static Bits divideFloats(Bits a, Bits b) {
  Bits sign = (a ^ b) & SIGN;
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
  Bits quotient = 0;
  b <<= 1;
  for (int bit = 0; bit <= LEADING_BIT; ++bit) {
    a <<= 1;
    quotient <<= 1;
    if (a >= b) {
      a -= b;
      quotient |= 1;
    }
  }
  return rounded(sign, exponent, quotient | (a != 0));
}

/* How two floats stand to each other. */
typedef enum { EQUAL = 1, GREATER = 2, LESS = 4, UNORDERED = 8 } Order;

static Order compareFloats(Bits a, Bits b) {
  if (isNan(a) || isNan(b)) {
    return UNORDERED;
  }
  if (a == b || !((a | b) & ~SIGN)) {
    return EQUAL;
  }
  int isGreater = (a & SIGN) != (b & SIGN) ? !(a & SIGN) : a & SIGN ? a < b : a > b;
  return isGreater ? GREATER : LESS;
}
