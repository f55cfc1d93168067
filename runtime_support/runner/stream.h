/* Files of words, texts and bytes, as protocol.h describes them. */
#ifndef INGOT_RUNNER_STREAM_H
#define INGOT_RUNNER_STREAM_H

#include "protocol.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Stream {
  FILE *file;
  int failed; /* something could not be read or written; what was read since is 0 */
} Stream;

void putWord(Stream *out, int64_t word);
void putReal(Stream *out, double number);
void putBytes(Stream *out, const void *data, int64_t bytes);
void putText(Stream *out, const char *text);

int64_t getWord(Stream *in);
double getReal(Stream *in);
void getBytes(Stream *in, void *data, int64_t bytes); /* without a length: the caller has read it */
char *getText(Stream *in);                            /* on the heap; null when it cannot be read */

#endif
