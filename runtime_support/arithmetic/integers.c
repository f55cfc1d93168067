/* Functions on integers of C compilers' libraries, for objects that may refer to nothing outside (--symbols none) on
 * processors that have no instruction for them: divisions of 32 bits, products, shifts and leading zeros of 64 bits.
 * The names are those of Arm's run-time ABI, and of RISC-V's libraries for shifts.
 *
 * Nothing here may become a call of the function that it is in: shifts are by halves, and products of 16 bits. */
#include <stdint.h>

typedef struct {
  uint32_t quotient, rest;
} Division;

static Division divide(uint32_t number, uint32_t divisor) {
  Division result = {0, number};
  int shift = 0;
  if (!divisor) { /* C does not define the result, which is a quotient of 0 here */
    return result;
  }
  while (shift < 31 && (divisor << shift) >> 31 == 0 && divisor << shift < number) {
    ++shift;
  }
  for (; shift >= 0; --shift) {
    if (result.rest >= divisor << shift) {
      result.rest -= divisor << shift;
      result.quotient |= (uint32_t)1 << shift;
    }
  }
  return result;
}

static uint32_t magnitude(int32_t x) { return x < 0 ? 0 - (uint32_t)x : (uint32_t)x; }
static uint64_t words(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static Division divideSigned(int32_t a, int32_t b) {
  Division result = divide(magnitude(a), magnitude(b));
  result.quotient = (a < 0) != (b < 0) ? 0 - result.quotient : result.quotient;
  result.rest = a < 0 ? 0 - result.rest : result.rest;
  return result;
}

/* NOLINTBEGIN(readability-identifier-naming): the names of the ABIs */
uint32_t __aeabi_uidiv(uint32_t a, uint32_t b);
int32_t __aeabi_idiv(int32_t a, int32_t b);
uint64_t __aeabi_uidivmod(uint32_t a, uint32_t b);
uint64_t __aeabi_idivmod(int32_t a, int32_t b);
uint64_t __aeabi_lmul(uint64_t a, uint64_t b);
uint64_t __aeabi_llsl(uint64_t x, int32_t count);
uint64_t __aeabi_llsr(uint64_t x, int32_t count);
int64_t __aeabi_lasr(int64_t x, int32_t count);
uint64_t __ashldi3(uint64_t x, int32_t count);
uint64_t __lshrdi3(uint64_t x, int32_t count);
int64_t __ashrdi3(int64_t x, int32_t count);
int32_t __clzsi2(uint32_t x);

uint32_t __aeabi_uidiv(uint32_t a, uint32_t b) { return divide(a, b).quotient; }
int32_t __aeabi_idiv(int32_t a, int32_t b) { return (int32_t)divideSigned(a, b).quotient; }

/* These return two words in two registers, as a number of 64 bits is returned. */
uint64_t __aeabi_uidivmod(uint32_t a, uint32_t b) {
  Division result = divide(a, b);
  return words(result.quotient, result.rest);
}
uint64_t __aeabi_idivmod(int32_t a, int32_t b) {
  Division result = divideSigned(a, b);
  return words(result.quotient, result.rest);
}

uint64_t __aeabi_lmul(uint64_t a, uint64_t b) {
  uint32_t x = (uint32_t)a, y = (uint32_t)b;
  uint32_t low = (x & 0xffff) * (y & 0xffff), middle = (x >> 16) * (y & 0xffff) + (low >> 16);
  uint32_t other = (x & 0xffff) * (y >> 16) + (middle & 0xffff);
  uint32_t high = (x >> 16) * (y >> 16) + (middle >> 16) + (other >> 16);
  return words(other << 16 | (low & 0xffff), high + (uint32_t)(a >> 32) * y + x * (uint32_t)(b >> 32));
}

static uint64_t left(uint64_t x, int32_t count) {
  uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
  return count >= 32 ? words(0, low << (count & 31))
         : count     ? words(low << count, high << count | low >> (32 - count))
                     : x;
}
static uint64_t right(uint64_t x, int32_t count, uint32_t sign) {
  uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
  if (!count) {
    return x;
  }
  if (count >= 32) {
    uint32_t shifted = high >> (count & 31);
    return words(count & 31 ? shifted | sign << (32 - (count & 31)) : high, sign);
  }
  return words(low >> count | high << (32 - count), high >> count | sign << (32 - count));
}
static uint32_t signOf(int64_t x) { return x < 0 ? ~(uint32_t)0 : 0; }

uint64_t __aeabi_llsl(uint64_t x, int32_t count) { return left(x, count); }
uint64_t __aeabi_llsr(uint64_t x, int32_t count) { return right(x, count, 0); }
int64_t __aeabi_lasr(int64_t x, int32_t count) { return (int64_t)right((uint64_t)x, count, signOf(x)); }
uint64_t __ashldi3(uint64_t x, int32_t count) { return left(x, count); }
uint64_t __lshrdi3(uint64_t x, int32_t count) { return right(x, count, 0); }
int64_t __ashrdi3(int64_t x, int32_t count) { return (int64_t)right((uint64_t)x, count, signOf(x)); }

int32_t __clzsi2(uint32_t x) {
  int32_t count = x ? 0 : 1;
  for (int step = 16; step; step >>= 1) {
    if (!(x >> (32 - step))) {
      count += step;
      x <<= step;
    }
  }
  return count;
}
/* NOLINTEND(readability-identifier-naming) */
