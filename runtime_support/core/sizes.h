/* Declares what run.c and sizes.c have in common. The names have the prefix of the library because both files are
 * linked into the user's program. */
#ifndef INGOT_CORE_SIZES_H
#define INGOT_CORE_SIZES_H

#include "ingot.h"

#if defined(__cplusplus) && defined(__clang__)
#pragma clang diagnostic ignored "-Wvla-extension" /* compiled as C++: docs/using/source.md */
#endif

/* Returns the number of dims of all outputs together. */
int32_t ingot_sizes_count(const ingot_model *model);

/* Returns the elements of a tensor of these dims, which are not negative; -1 when its bytes are more than a program
 * can address. */
int64_t ingot_sizes_elements(const int64_t *dims, int32_t rank, int32_t type);

#endif
