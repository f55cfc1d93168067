/* Declares the parts of ingot-runner. */
#ifndef INGOT_RUNNER_RUNNER_H
#define INGOT_RUNNER_RUNNER_H

#include "ingot.h"
#include "stream.h"

/* Writes the descriptor. */
void describe(const ingot_model *model, Stream *out);

/* Reads from `in` what to run and how, does it, and writes the results. Returns null, or a sentence about what kept
 * it from running the model, in which case nothing was written. */
const char *execute(const ingot_model *model, Stream *in, Stream *out);

/* Make memory with guards behind it, and check the guards: for what the run gets, and what it asks for. */
void *guardedNew(int64_t bytes, int64_t align);
int guardIsIntact(const void *memory, int64_t bytes);

#endif
