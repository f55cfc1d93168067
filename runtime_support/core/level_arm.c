/* Finds the level of a 64-bit Arm processor. Each level includes the one before (targets/arm has their features). A
 * program cannot ask the processor, only its operating system. Where there is none to ask, the answer is the lowest
 * level, which every such processor has. */
#include "level.h"

#define BIT(n) ((uint32_t)1 << (n))

/* The features of each level. */
static const uint32_t needs[] = {
    BIT(INGOT_ARM_NEON),
    BIT(INGOT_ARM_CRC) | BIT(INGOT_ARM_ATOMICS) | BIT(INGOT_ARM_RDM) | BIT(INGOT_ARM_HALF) | BIT(INGOT_ARM_DOT),
    BIT(INGOT_ARM_I8MM) | BIT(INGOT_ARM_BF16),
};

int ingot_arm_level_of(uint32_t features) {
  int level = 0;
  for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); ++i) {
    if ((features & needs[i]) != needs[i]) {
      break;
    }
    ++level;
  }
  return level;
}

/* The words are the auxiliary vector's AT_HWCAP and AT_HWCAP2 (asm/hwcap.h). */
uint32_t ingot_arm_features_of(uint64_t hwcap, uint64_t hwcap2) {
  static const struct {
    int feature, second, bit;
  } rows[] = {{INGOT_ARM_NEON, 0, 1},  {INGOT_ARM_CRC, 0, 7},  {INGOT_ARM_ATOMICS, 0, 8}, {INGOT_ARM_RDM, 0, 12},
              {INGOT_ARM_HALF, 0, 10}, {INGOT_ARM_DOT, 0, 20}, {INGOT_ARM_I8MM, 1, 13},   {INGOT_ARM_BF16, 1, 14}};
  uint32_t features = 0;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    features |= (rows[i].second ? hwcap2 : hwcap) >> rows[i].bit & 1 ? BIT(rows[i].feature) : 0;
  }
  return features;
}

#if defined(__aarch64__) || defined(_M_ARM64)
#if defined(__linux__)

/* This is libc's, if the program has one: the core needs none. */
extern unsigned long getauxval(unsigned long type) __attribute__((weak));

int ingot_ask_level(void) {
  return getauxval ? ingot_arm_level_of(ingot_arm_features_of(getauxval(16), getauxval(26))) : 1;
}

#elif defined(__APPLE__)

/* This is libSystem's, which every program there has. */
extern int sysctlbyname(const char *name, void *value, size_t *bytes, void *to, size_t to_bytes);

int ingot_ask_level(void) {
  static const struct {
    int feature;
    const char *name;
  } rows[] = {{INGOT_ARM_CRC, "hw.optional.armv8_crc32"},      {INGOT_ARM_ATOMICS, "hw.optional.arm.FEAT_LSE"},
              {INGOT_ARM_RDM, "hw.optional.arm.FEAT_RDM"},     {INGOT_ARM_HALF, "hw.optional.arm.FEAT_FP16"},
              {INGOT_ARM_DOT, "hw.optional.arm.FEAT_DotProd"}, {INGOT_ARM_I8MM, "hw.optional.arm.FEAT_I8MM"},
              {INGOT_ARM_BF16, "hw.optional.arm.FEAT_BF16"}};
  uint32_t features = BIT(INGOT_ARM_NEON);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    int value = 0;
    size_t bytes = sizeof value;
    features |= !sysctlbyname(rows[i].name, &value, &bytes, 0, 0) && value ? BIT(rows[i].feature) : 0;
  }
  return ingot_arm_level_of(features);
}

#elif defined(_WIN32)

__declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature); /* in kernel32 */

/* Asks by the PF_ARM_... of winnt.h. Windows knows nothing of RDM, which all processors with dot products have. */
int ingot_ask_level(void) {
  static const struct {
    int feature;
    unsigned long number;
  } rows[] = {{INGOT_ARM_CRC, 31},  {INGOT_ARM_ATOMICS, 34}, {INGOT_ARM_DOT, 43}, {INGOT_ARM_RDM, 43},
              {INGOT_ARM_I8MM, 66}, {INGOT_ARM_HALF, 67},    {INGOT_ARM_BF16, 68}};
  uint32_t features = BIT(INGOT_ARM_NEON);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    features |= IsProcessorFeaturePresent(rows[i].number) ? BIT(rows[i].feature) : 0;
  }
  return ingot_arm_level_of(features);
}

#else
int ingot_ask_level(void) { return 1; }
#endif
#endif
