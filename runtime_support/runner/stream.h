/* Reads and writes files of words, texts and bytes, as protocol.h describes them. */
#ifndef INGOT_RUNNER_STREAM_H
#define INGOT_RUNNER_STREAM_H

#include "protocol.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Stream {
  FILE *file;
  int failed; /* whether something could not be read or written; what has been read since is 0 */
} Stream;

void putWord(Stream *out, int64_t word);
void putReal(Stream *out, double number);
void putBytes(Stream *out, const void *data, int64_t bytes);
void putText(Stream *out, const char *text);

int64_t getWord(Stream *in);
double getReal(Stream *in);
void getBytes(Stream *in, void *data, int64_t bytes); /* without a length, which the caller has read */
char *getText(Stream *in);                            /* returns memory on the heap; null when it cannot be read */

#endif
