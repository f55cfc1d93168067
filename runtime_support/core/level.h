/* Declares what a processor says of itself, separately from asking it, so that tests need no such processor. */
#ifndef INGOT_CORE_LEVEL_H
#define INGOT_CORE_LEVEL_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers that CPUID fills, and which registers the operating system saves. They are 0 where there is no such
 * leaf. */
typedef struct ingot_cpu_facts {
  uint32_t basic;    /* leaf 1, ECX */
  uint32_t extended; /* leaf 7, EBX */
  uint32_t amd;      /* leaf 0x80000001, ECX */
  uint32_t saved;    /* XCR0, low half; 0 where the operating system has not switched XSAVE on */
} ingot_cpu_facts;

/* Returns the highest x86-64 level that such a machine has, at least 1. */
int ingot_x86_level_of(const ingot_cpu_facts *facts);

/* The features that an operating system tells of a 64-bit Arm processor, as numbers of bits. */
enum {
  INGOT_ARM_NEON,
  INGOT_ARM_CRC,
  INGOT_ARM_ATOMICS,
  INGOT_ARM_RDM,
  INGOT_ARM_HALF, /* arithmetic of 16-bit floats */
  INGOT_ARM_DOT,
  INGOT_ARM_I8MM,
  INGOT_ARM_BF16
};

/* Returns the highest level of such a processor, 0 without NEON. */
int ingot_arm_level_of(uint32_t features);
/// Returns the features that Linux tells by two words of bits.
uint32_t ingot_arm_features_of(uint64_t hwcap, uint64_t hwcap2);

/* Returns the level of this machine, for its architecture; 0: there are no levels for it. */
int ingot_ask_level(void);

#ifdef __cplusplus
}
#endif

#endif
