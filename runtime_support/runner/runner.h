/* The parts of ingot-runner. */
#ifndef INGOT_RUNNER_RUNNER_H
#define INGOT_RUNNER_RUNNER_H

#include "ingot.h"
#include "stream.h"

/* Writes the descriptor. */
void describe(const ingot_model *model, Stream *out);

/* Reads what to run and how from `in`, does it and writes what came of it. Null, or a sentence about what kept it from
 * running the model, and then nothing was written. */
const char *execute(const ingot_model *model, Stream *in, Stream *out);

/* Memory with guards behind it: what the run gets, and what it asks for. */
void *guardedNew(int64_t bytes, int64_t align);
int guardIsIntact(const void *memory, int64_t bytes);

#endif
