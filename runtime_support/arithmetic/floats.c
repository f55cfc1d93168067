/* float32 of C compilers' libraries, for objects that may refer to nothing outside (--symbols none) on processors
 * without a floating-point unit, by the names of Arm's run-time ABI and of RISC-V's libraries. Floats are passed as
 * their bits, as these conventions have them. Results are those of IEEE 754, rounded to nearest, ties to even; NaNs are
 * quiet ones.
 *
 * The intermediate values are those of core/wide.c at half the length: a significand with its leading bit at bit 30, of
 * which the low seven bits are rounded away, and an exponent that is one less than the biased one, because the leading
 * bit is added to it. */
#include <stdint.h>

enum { EXPONENT_MOST = 0xff, BIAS = 0x7f, FRACTION_BITS = 23 };
#define SIGN ((uint32_t)1 << 31)
#define HIDDEN ((uint32_t)1 << FRACTION_BITS)
#define INFINITE ((uint32_t)EXPONENT_MOST << FRACTION_BITS)
#define NOT_A_NUMBER ((uint32_t)0x7fc00000)

static int exponentOf(uint32_t x) { return (int)(x >> FRACTION_BITS) & EXPONENT_MOST; }
static int isNan(uint32_t x) { return (x & ~SIGN) > INFINITE; }
static uint32_t significandOf(uint32_t x) { return (x & (HIDDEN - 1)) | (exponentOf(x) ? HIDDEN : 0); }
static int scaleOf(uint32_t x) { return exponentOf(x) ? exponentOf(x) : 1; }

/* Returns the zero bits in front of the first one of x, which is not 0. */
static int zeros(uint32_t x) {
  int count = 0;
  for (int step = 16; step; step >>= 1) {
    if (!(x >> (32 - step))) {
      count += step;
      x <<= step;
    }
  }
  return count;
}

/* Returns x >> count, with the last bit set where a one was lost. */
static uint32_t shiftedRight(uint32_t x, int count) {
  return count >= 32 ? x != 0 : count <= 0 ? x : x >> count | ((x << (32 - count)) != 0);
}

static uint32_t rounded(uint32_t sign, int exponent, uint32_t significand) {
  if (exponent < 0) {
    significand = shiftedRight(significand, -exponent);
    exponent = 0;
  } else if (exponent > EXPONENT_MOST - 2 || (exponent == EXPONENT_MOST - 2 && significand + 0x40 >= SIGN)) {
    return sign | INFINITE;
  }
  int isTie = (significand & 0x7f) == 0x40;
  significand = ((significand + 0x40) >> 7) & ~(uint32_t)isTie;
  return sign + (significand ? (uint32_t)exponent << FRACTION_BITS : 0) + significand;
}

/* Rounds a significand with its leading bit anywhere; `exponent` is for one at bit 30. */
static uint32_t normalizedAndRounded(uint32_t sign, int exponent, uint32_t significand) {
  if (!significand) {
    return sign;
  }
  if (significand >> 29 == 1 || significand >> 30 == 1) { /* as sums and products mostly are */
    int isLow = significand >> 29 == 1;
    return rounded(sign, exponent - isLow, significand << isLow);
  }
  int shift = zeros(significand) - 1;
  return shift < 0 ? rounded(sign, exponent + 1, shiftedRight(significand, 1))
                   : rounded(sign, exponent - shift, significand << shift);
}

/* Returns the significand of a number that is not 0, with its leading bit where the hidden bit is, and sets its
 * exponent. */
static uint32_t normalized(uint32_t x, int *exponent) {
  uint32_t significand = significandOf(x);
  int shift = exponentOf(x) ? 0 : zeros(significand) - (31 - FRACTION_BITS);
  *exponent = scaleOf(x) - shift;
  return significand << shift;
}

static uint32_t add(uint32_t a, uint32_t b) {
  if (isNan(a) || isNan(b)) {
    return NOT_A_NUMBER;
  }
  if ((a & ~SIGN) < (b & ~SIGN)) {
    uint32_t larger = b;
    b = a, a = larger;
  }
  uint32_t sign = a & SIGN, differs = (a ^ b) & SIGN;
  if (exponentOf(a) == EXPONENT_MOST) {
    return exponentOf(b) == EXPONENT_MOST && differs ? NOT_A_NUMBER : a;
  }
  uint32_t large = significandOf(a) << 6, small = shiftedRight(significandOf(b) << 6, scaleOf(a) - scaleOf(b));
  if (differs && large == small) {
    return 0;
  }
  return normalizedAndRounded(sign, scaleOf(a), differs ? large - small : large + small);
}

static uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t sign = (a ^ b) & SIGN;
  a &= ~SIGN, b &= ~SIGN;
  if (a > INFINITE || b > INFINITE || (a == INFINITE && !b) || (b == INFINITE && !a)) {
    return NOT_A_NUMBER;
  }
  if (a == INFINITE || b == INFINITE || !a || !b) {
    return sign | (a && b ? INFINITE : 0);
  }
  int exponent, other;
  a = normalized(a, &exponent) << 7, b = normalized(b, &other) << 8;
  uint64_t product = (uint64_t)a * b;
  return normalizedAndRounded(sign, exponent + other - BIAS, (uint32_t)(product >> 32) | ((uint32_t)product != 0));
}

static uint32_t divide(uint32_t a, uint32_t b) {
  uint32_t sign = (a ^ b) & SIGN;
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
  uint32_t quotient = 0;
  b <<= 1;
  for (int bit = 0; bit < 31; ++bit) {
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
typedef enum { LESS, EQUAL, GREATER, UNORDERED } Order;

static Order compare(uint32_t a, uint32_t b) {
  if (isNan(a) || isNan(b)) {
    return UNORDERED;
  }
  if (a == b || !((a | b) & ~SIGN)) {
    return EQUAL;
  }
  int isGreater = (a & SIGN) != (b & SIGN) ? !(a & SIGN) : a & SIGN ? a < b : a > b;
  return isGreater ? GREATER : LESS;
}

/* Rounds towards zero, to the nearest integer that there is; NaN becomes 0. */
static uint32_t toInteger(uint32_t x, uint32_t most) {
  int exponent = exponentOf(x) - BIAS;
  if (isNan(x) || exponent < 0) {
    return 0;
  }
  if (exponent > 31) {
    return most;
  }
  uint32_t significand = significandOf(x);
  uint32_t whole =
      exponent < FRACTION_BITS ? significand >> (FRACTION_BITS - exponent) : significand << (exponent - FRACTION_BITS);
  return whole > most ? most : whole;
}

static int32_t toSigned(uint32_t x) {
  return x & SIGN ? (int32_t)(0 - toInteger(x & ~SIGN, SIGN)) : (int32_t)toInteger(x, SIGN - 1);
}
static uint32_t toUnsigned(uint32_t x) { return x & SIGN ? 0 : toInteger(x, ~(uint32_t)0); }

static uint32_t fromUnsigned(uint32_t x) { return normalizedAndRounded(0, BIAS - 1 + 30, x) & (x ? ~(uint32_t)0 : 0); }
static uint32_t fromSigned(int32_t x) {
  uint32_t magnitude = x < 0 ? 0 - (uint32_t)x : (uint32_t)x;
  return fromUnsigned(magnitude) | (x < 0 ? SIGN : 0);
}

/* The functions have two names, Arm's and RISC-V's. NOLINTBEGIN(readability-identifier-naming) */
#define BINARY(ARM, RISCV, RESULT)                                                                                     \
  uint32_t ARM(uint32_t a, uint32_t b);                                                                                \
  uint32_t ARM(uint32_t a, uint32_t b) { return RESULT; }                                                              \
  uint32_t RISCV(uint32_t a, uint32_t b);                                                                              \
  uint32_t RISCV(uint32_t a, uint32_t b) { return RESULT; }
BINARY(__aeabi_fadd, __addsf3, add(a, b))
BINARY(__aeabi_fsub, __subsf3, add(a, isNan(b) ? b : b ^ SIGN))
BINARY(__aeabi_fmul, __mulsf3, multiply(a, b))
BINARY(__aeabi_fdiv, __divsf3, divide(a, b))

/* Arm's comparisons return a truth, RISC-V's a number that is compared with 0. */
#define COMPARISON(NAME, RESULT)                                                                                       \
  int32_t NAME(uint32_t a, uint32_t b);                                                                                \
  int32_t NAME(uint32_t a, uint32_t b) {                                                                               \
    Order order = compare(a, b);                                                                                       \
    return RESULT;                                                                                                     \
  }
COMPARISON(__aeabi_fcmpeq, order == EQUAL)
COMPARISON(__aeabi_fcmplt, order == LESS)
COMPARISON(__aeabi_fcmple, order == LESS || order == EQUAL)
COMPARISON(__aeabi_fcmpge, order == GREATER || order == EQUAL)
COMPARISON(__aeabi_fcmpgt, order == GREATER)
COMPARISON(__aeabi_fcmpun, order == UNORDERED)
COMPARISON(__eqsf2, order != EQUAL)
COMPARISON(__nesf2, order != EQUAL)
COMPARISON(__ltsf2, order == LESS ? -1 : order != EQUAL)
COMPARISON(__lesf2, order == LESS ? -1 : order != EQUAL)
COMPARISON(__gtsf2, order == GREATER ? 1 : order == EQUAL ? 0 : -1)
COMPARISON(__gesf2, order == GREATER ? 1 : order == EQUAL ? 0 : -1)
COMPARISON(__unordsf2, order == UNORDERED)

#define UNARY(ARM, RISCV, TYPE, FROM, RESULT)                                                                          \
  TYPE ARM(FROM x);                                                                                                    \
  TYPE ARM(FROM x) { return RESULT; }                                                                                  \
  TYPE RISCV(FROM x);                                                                                                  \
  TYPE RISCV(FROM x) { return RESULT; }
UNARY(__aeabi_f2iz, __fixsfsi, int32_t, uint32_t, toSigned(x))
UNARY(__aeabi_f2uiz, __fixunssfsi, uint32_t, uint32_t, toUnsigned(x))
UNARY(__aeabi_i2f, __floatsisf, uint32_t, int32_t, fromSigned(x))
UNARY(__aeabi_ui2f, __floatunsisf, uint32_t, uint32_t, fromUnsigned(x))
/* NOLINTEND(readability-identifier-naming) */
