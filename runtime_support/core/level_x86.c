/* Finds the level of an x86-64 processor, by the levels of the psABI. Each includes the one before, so a feature of
 * v2 that is missing leaves v1, whatever else there is. The table can be used on any machine; only asking the
 * processor needs one. */
#include "level.h"

#define BIT(n) ((uint32_t)1 << (n))

/* The features of each level, from v2 on. */
static const ingot_cpu_facts needs[] = {
    /* v2 has SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF */
    {BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23), 0, BIT(0), 0},
    /* v3 has FMA, MOVBE, XSAVE of the operating system, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; XMM and YMM registers */
    {BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29), BIT(3) | BIT(5) | BIT(8), BIT(5), BIT(1) | BIT(2)},
    /* v4 has AVX-512 F, DQ, CD, BW, VL; mask registers, both parts of ZMM */
    {0, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), 0, BIT(5) | BIT(6) | BIT(7)},
};

static int has(uint32_t all, uint32_t wanted) { return (all & wanted) == wanted; }

int ingot_x86_level_of(const ingot_cpu_facts *facts) {
  int level = 1;
  for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); ++i) {
    if (!has(facts->basic, needs[i].basic) || !has(facts->extended, needs[i].extended) ||
        !has(facts->amd, needs[i].amd) || !has(facts->saved, needs[i].saved)) {
      break;
    }
    ++level;
  }
  return level;
}

#if defined(__x86_64__)
#include <cpuid.h>

int ingot_ask_level(void) {
  ingot_cpu_facts facts = {0, 0, 0, 0};
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    facts.basic = c;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    facts.extended = b;
  }
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) {
    facts.amd = c;
  }
  if (has(facts.basic, BIT(27))) { /* without this bit XGETBV is no instruction */
    __asm__ volatile("xgetbv" : "=a"(facts.saved), "=d"(d) : "c"(0));
  }
  return ingot_x86_level_of(&facts);
}
#endif
