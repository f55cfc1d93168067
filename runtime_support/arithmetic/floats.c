/* float32 of C compilers' libraries, for objects that may refer to nothing outside (--symbols none) on processors
 * without a floating-point unit, by the names of Arm's run-time ABI and of RISC-V's libraries. Floats are passed as
 * their bits, as these conventions have them; softfloat.h computes them. */
#include <stdint.h>

/* Most of a sum's or a product's instructions were those of calls among these. */
#define INLINE __attribute__((always_inline))
static uint32_t addFloats(uint32_t a, uint32_t b) INLINE;
static uint32_t multiplyFloats(uint32_t a, uint32_t b) INLINE;
static uint32_t rounded(uint32_t sign, int exponent, uint32_t significand) INLINE;

#define FLOAT_WIDTH 32
#include "../core/softfloat.h"

/* Rounds towards zero, to the nearest integer that there is; NaN becomes 0. */
static uint32_t toInteger(uint32_t x, uint32_t most) {
  int exponent = exponentOf(x) - BIAS;
  if (exponent < 0) {
    return 0;
  }
  if (exponent > 31) {
    return isNan(x) ? 0 : most;
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

static uint32_t fromUnsigned(uint32_t x) { return fromUnits(0, BIAS - 1 + LEADING_BIT, x); }
static uint32_t fromSigned(int32_t x) {
  uint32_t magnitude = x < 0 ? 0 - (uint32_t)x : (uint32_t)x;
  return fromUnsigned(magnitude) | (x < 0 ? SIGN : 0);
}

/* The functions have two names, Arm's and RISC-V's. NOLINTBEGIN(readability-identifier-naming) */
#define BINARY(ARM, RISCV, FUNCTION)                                                                                   \
  uint32_t ARM(uint32_t a, uint32_t b);                                                                                \
  uint32_t ARM(uint32_t a, uint32_t b) { return FUNCTION(a, b); }                                                      \
  uint32_t RISCV(uint32_t a, uint32_t b);                                                                              \
  uint32_t RISCV(uint32_t a, uint32_t b) { return FUNCTION(a, b); }
BINARY(__aeabi_fadd, __addsf3, addFloats)
BINARY(__aeabi_fmul, __mulsf3, multiplyFloats)
BINARY(__aeabi_fdiv, __divsf3, divideFloats)

uint32_t __aeabi_fsub(uint32_t a, uint32_t b);
uint32_t __aeabi_fsub(uint32_t a, uint32_t b) { return __aeabi_fadd(a, b ^ SIGN); }
uint32_t __subsf3(uint32_t a, uint32_t b);
uint32_t __subsf3(uint32_t a, uint32_t b) { return __addsf3(a, b ^ SIGN); }

/* Arm's comparisons return a truth, RISC-V's a number that is compared with 0. */
#define COMPARISON(NAME, RESULT)                                                                                       \
  int32_t NAME(uint32_t a, uint32_t b);                                                                                \
  int32_t NAME(uint32_t a, uint32_t b) {                                                                               \
    Order order = compareFloats(a, b);                                                                                 \
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
