#include "stream.h"
#include <stdlib.h>
#include <string.h>

void putWord(Stream *out, int64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = (unsigned char)((uint64_t)word >> (8 * i));
  }
  out->failed |= fwrite(bytes, 1, 8, out->file) != 8;
}

void putReal(Stream *out, double number) {
  int64_t word;
  memcpy(&word, &number, 8);
  putWord(out, word);
}

void putBytes(Stream *out, const void *data, int64_t bytes) {
  putWord(out, bytes);
  out->failed |= bytes > 0 && fwrite(data, 1, (size_t)bytes, out->file) != (size_t)bytes;
}

void putText(Stream *out, const char *text) { putBytes(out, text, (int64_t)strlen(text)); }

int64_t getWord(Stream *in) {
  unsigned char bytes[8];
  uint64_t word = 0;
  if (fread(bytes, 1, 8, in->file) != 8) {
    in->failed = 1;
    return 0;
  }
  for (int i = 0; i < 8; ++i) {
    word |= (uint64_t)bytes[i] << (8 * i);
  }
  return (int64_t)word;
}

double getReal(Stream *in) {
  int64_t word = getWord(in);
  double number;
  memcpy(&number, &word, 8);
  return number;
}

void getBytes(Stream *in, void *data, int64_t bytes) {
  in->failed |= bytes > 0 && fread(data, 1, (size_t)bytes, in->file) != (size_t)bytes;
}

char *getText(Stream *in) {
  int64_t bytes = getWord(in);
  char *text = bytes >= 0 && bytes < 1 << 20 ? malloc((size_t)bytes + 1) : NULL;
  in->failed |= !text;
  if (text) {
    getBytes(in, text, bytes);
    text[bytes] = 0;
  }
  return text;
}
