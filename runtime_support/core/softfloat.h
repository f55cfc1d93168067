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

/* Puts a float together. The leading bit of the significand, if it has one, is added to the exponent; so is what
 * rounding up adds, of which infinity comes, too. */
static Bits rounded(Bits sign, int exponent, Bits significand) {
  const Bits half = (Bits)1 << (LOST_BITS - 1);
  if ((unsigned)exponent > EXPONENT_MOST - 2) {
    if (exponent > 0) {
      return sign | INFINITE;
    }
    significand = shiftedRight(significand, -exponent);
    exponent = 0;
  }
  Bits isTie = (significand & (2 * half - 1)) == half;
  significand = ((significand + half) >> LOST_BITS) & ~isTie;
  return sign + ((Bits)exponent << FRACTION_BITS) + significand;
}

/* Rounds a significand that is not 0, with its leading bit at LEADING_BIT, for which `exponent` is, or below it: those
 * of sums and products mostly are below by one bit at most. */
static Bits normalizedAndRounded(Bits sign, int exponent, Bits significand) {
  if (!(significand >> LEADING_BIT)) {
    significand <<= 1, --exponent;
    if (!(significand >> LEADING_BIT)) {
      int shift = zeros(significand) - 1;
      significand <<= shift, exponent -= shift;
    }
  }
  return rounded(sign, exponent, significand);
}

/* Rounds any number of units, of which 1 << LEADING_BIT are a number whose exponent is `exponent`. */
static Bits fromUnits(Bits sign, int exponent, Bits units) {
  if (!units) {
    return sign;
  }
  return units & SIGN ? rounded(sign, exponent + 1, shiftedRight(units, 1))
                      : normalizedAndRounded(sign, exponent, units);
}

/* Returns the upper half of a product, with the last bit set where the lower one is not 0. */
static Bits upperProduct(Bits a, Bits b) {
#if FLOAT_WIDTH == 64
  uint64_t aHigh = a >> 32, aLow = (uint32_t)a, bHigh = b >> 32, bLow = (uint32_t)b;
  uint64_t low = aLow * bLow, middle = aHigh * bLow + (low >> 32), other = aLow * bHigh + (uint32_t)middle;
  uint64_t high = aHigh * bHigh + (middle >> 32) + (other >> 32), lost = (other << 32) | (uint32_t)low;
  return high | (lost != 0);
#elif defined(__ARM_ARCH_6M__) /* has products of 32 bits alone; the factors end in zeros, of which they have 15 */
  uint32_t aWhole = a >> LOST_BITS, bWhole = b >> (LOST_BITS + 1);
  uint32_t aHigh = aWhole >> 16, aLow = aWhole & 0xffff, bHigh = bWhole >> 16, bLow = bWhole & 0xffff;
  uint32_t low = aLow * bLow, middle = aHigh * bLow + aLow * bHigh + (low >> 16), lost = (low & 0xffff) | (middle & 1);
  return (aHigh * bHigh << 15) + (middle >> 1) | (lost != 0);
#else
  uint64_t product = (uint64_t)a * b;
  return (uint32_t)(product >> 32) | ((uint32_t)product != 0);
#endif
}

/* arithmetic */

static Bits addFloats(Bits a, Bits b) {
  if ((a & ~SIGN) < (b & ~SIGN)) {
    Bits larger = b;
    b = a, a = larger;
  }
  Bits sign = a & SIGN, differs = (a ^ b) & SIGN, fraction = HIDDEN - 1;
  int exponent = exponentOf(a), other = exponentOf(b);
  if (exponent == EXPONENT_MOST) { /* a NaN is larger than infinity */
    return (a & ~SIGN) > INFINITE || (other == EXPONENT_MOST && differs) ? NOT_A_NUMBER : a;
  }
  Bits large = (a & fraction) | HIDDEN, small = (b & fraction) | HIDDEN;
  if (!other) {
    small = b & fraction;
    if (!exponent) { /* the sum is exact, and may reach the hidden bit */
      large = differs ? (a & fraction) - small : (a & ~SIGN) + small;
      return differs && !large ? 0 : sign | large;
    }
    other = 1;
  }
  large <<= LOST_BITS - 1, small = shiftedRight(small << (LOST_BITS - 1), exponent - other);
  if (!differs) {
    return normalizedAndRounded(sign, exponent, large + small);
  }
  return large == small ? 0 : normalizedAndRounded(sign, exponent, large - small);
}

static Bits multiplyFloats(Bits a, Bits b) {
  Bits sign = (a ^ b) & SIGN, fraction = HIDDEN - 1;
  int exponent = exponentOf(a), other = exponentOf(b);
  if ((unsigned)exponent - 1 < EXPONENT_MOST - 1 && (unsigned)other - 1 < EXPONENT_MOST - 1) { /* normal ones */
    a = (a & fraction) | HIDDEN, b = (b & fraction) | HIDDEN;
  } else {
    a &= ~SIGN, b &= ~SIGN;
    if (a > INFINITE || b > INFINITE || (a == INFINITE && !b) || (b == INFINITE && !a)) {
      return NOT_A_NUMBER;
    }
    if (a == INFINITE || b == INFINITE || !a || !b) {
      return sign | (a && b ? INFINITE : 0);
    }
    a = normalized(a, &exponent), b = normalized(b, &other);
  }
  return normalizedAndRounded(sign, exponent + other - BIAS, upperProduct(a << LOST_BITS, b << (LOST_BITS + 1)));
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
