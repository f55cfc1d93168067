/* What a processor says of itself, apart from asking it. */
#ifndef INGOT_CORE_LEVEL_H
#define INGOT_CORE_LEVEL_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers that CPUID fills, and what the operating system saves. 0 where there is no such leaf. */
typedef struct ingot_cpu_facts {
  uint32_t basic;    /* leaf 1, ECX */
  uint32_t extended; /* leaf 7, EBX */
  uint32_t amd;      /* leaf 0x80000001, ECX */
  uint32_t saved;    /* XCR0, low half; 0 where the operating system has not switched XSAVE on */
} ingot_cpu_facts;

/* The highest x86-64 level that such a machine has, at least 1. */
int ingot_level_of(const ingot_cpu_facts *facts);

#ifdef __cplusplus
}
#endif

#endif
