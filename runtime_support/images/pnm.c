/* Decodes PBM, PGM and PPM (P1 to P6), as text and as bytes, with samples of one or two bytes. */
#include "formats.h"

typedef struct Reader {
  Bytes file;
  size_t at;
  int kind; /* 1 to 6 */
  Extent extent;
  uint32_t most; /* the largest sample */
} Reader;

static int isSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Skips white space, and comments up to the end of their lines. */
static void skip(Reader *reader) {
  int comment = 0;
  for (; reader->at < reader->file.size; ++reader->at) {
    const uint8_t c = reader->file.data[reader->at];
    comment = comment ? c != '\n' && c != '\r' : c == '#';
    if (!comment && !isSpace(c)) {
      return;
    }
  }
}

/* Reads a number as text, of at most so many digits. */
static int number(Reader *reader, int digits, uint32_t *value) {
  skip(reader);
  int count = 0;
  *value = 0;
  for (; count < digits && reader->at < reader->file.size; ++count, ++reader->at) {
    const uint8_t c = reader->file.data[reader->at];
    if (c < '0' || c > '9') {
      break;
    }
    *value = *value * 10 + (c - '0');
  }
  return count > 0;
}

static int isBits(const Reader *reader) { return reader->kind == 1 || reader->kind == 4; }
static int isText(const Reader *reader) { return reader->kind <= 3; }

static int begins(Bytes file) {
  return file.size > 2 && file.data[0] == 'P' && file.data[1] >= '1' && file.data[1] <= '6' &&
         (isSpace(file.data[2]) || file.data[2] == '#');
}

static int readHeader(Reader *reader) {
  uint32_t width, height;
  reader->kind = reader->file.data[1] - '0';
  reader->at = 2;
  reader->most = 1;
  if (!number(reader, 9, &width) || !number(reader, 9, &height) ||
      (!isBits(reader) && (!number(reader, 5, &reader->most) || reader->most < 1 || reader->most > 65535))) {
    return INGOT_ERROR_IMAGE;
  }
  reader->extent.height = height;
  reader->extent.width = width;
  ++reader->at; /* one white space stands before the bytes */
  return 0;
}

static int extent(Bytes file, Extent *extent) {
  Reader reader = {file, 0, 0, {0, 0}, 0};
  const int status = readHeader(&reader);
  *extent = reader.extent;
  return status;
}

/* Reads the next sample of a text, or of bytes. `bit` is the place of a pixel in its row, for pixels that share a
 * byte. */
static int sample(Reader *reader, int64_t bit, uint32_t *value) {
  if (isText(reader)) {
    return number(reader, isBits(reader) ? 1 : 5, value) && *value <= reader->most;
  }
  const size_t bytes = reader->most > 255 ? 2 : 1;
  if (isBits(reader)) {
    const int there = reader->at < reader->file.size;
    *value = there ? reader->file.data[reader->at] >> (7 - bit % 8) & 1 : 0;
    reader->at += bit % 8 == 7 || bit == reader->extent.width - 1;
    return there;
  }
  if (reader->at >= reader->file.size || reader->file.size - reader->at < bytes) {
    return 0;
  }
  *value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    *value = *value << 8 | reader->file.data[reader->at++];
  }
  return *value <= reader->most;
}

static int pixels(Bytes file, Extent expected, uint8_t *rgb) {
  Reader reader = {file, 0, 0, {0, 0}, 0};
  if (readHeader(&reader) || reader.extent.height != expected.height || reader.extent.width != expected.width) {
    return INGOT_ERROR_IMAGE;
  }
  const int channels = reader.kind == 3 || reader.kind == 6 ? 3 : 1;
  for (int64_t i = 0; i < expected.height * expected.width; ++i, rgb += 3) {
    for (int c = 0; c < channels; ++c) {
      uint32_t value;
      if (!sample(&reader, i % expected.width, &value)) {
        return INGOT_ERROR_IMAGE;
      }
      value = isBits(&reader) ? 1 - value : value; /* in a bitmap 1 is black */
      rgb[c] = (uint8_t)((value * 255 + reader.most / 2) / reader.most);
    }
    for (int c = channels; c < 3; ++c) {
      rgb[c] = rgb[0];
    }
  }
  return 0;
}

const Format ingotPnm = {begins, extent, pixels};
