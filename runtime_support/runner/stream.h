/* Files of words, texts and bytes, as protocol.h describes them. */
#ifndef INGOT_RUNNER_STREAM_H
#define INGOT_RUNNER_STREAM_H

#include "protocol.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct stream {
  FILE *file;
  int failed; /* something could not be read or written; what was read since is 0 */
} stream;

void putWord(stream *out, int64_t word);
void putReal(stream *out, double number);
void putBytes(stream *out, const void *data, int64_t bytes);
void putText(stream *out, const char *text);

int64_t getWord(stream *in);
double getReal(stream *in);
void getBytes(stream *in, void *data, int64_t bytes); /* without a length: the caller has read it */
char *getText(stream *in);                            /* on the heap; null when it cannot be read */

#endif
