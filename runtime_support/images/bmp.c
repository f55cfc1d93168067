/* Decodes BMP without compression: 1, 4 or 8 bits of a palette, 16 bits (five a channel, or as masks say), 24 and
 * 32. */
#include "formats.h"

typedef struct Header {
  Extent extent;
  int topDown;
  uint32_t bits;         /* bits of a pixel */
  uint32_t masks[3];     /* masks of red, green and blue, where a pixel has 16 or 32 bits */
  size_t palette, entry; /* where the palette begins, and the bytes of an entry */
  uint32_t colors;       /* entries that the palette has */
  size_t pixels;         /* where the pixels begin */
} Header;

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, MASKS = FILE_HEADER + INFO_HEADER };

static uint32_t number(Bytes file, size_t at, int bytes) {
  uint32_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | file.data[at + (size_t)i];
  }
  return value;
}

/* Reads the rest of a header that has more than sizes. */
static int readInfo(Bytes file, size_t length, Header *header) {
  const uint32_t compression = number(file, 30, 4);
  header->bits = number(file, 28, 2);
  header->colors = number(file, 46, 4);
  const int masked = compression == 3 || compression == 6;
  if (compression != 0 && !masked) {
    return INGOT_ERROR_IMAGE;
  }
  if (masked && (file.size < MASKS + 12 || (header->bits != 16 && header->bits != 32))) {
    return INGOT_ERROR_IMAGE;
  }
  for (int c = 0; c < 3; ++c) {
    header->masks[c] = masked               ? number(file, MASKS + 4 * (size_t)c, 4)
                       : header->bits == 16 ? 0x7c00u >> 5 * c
                                            : 0xff0000u >> 8 * c;
  }
  header->palette = FILE_HEADER + length + (masked && length == INFO_HEADER ? 12 : 0);
  return 0;
}

static int readHeader(Bytes file, Header *header) {
  const size_t length = file.size < FILE_HEADER + CORE_HEADER ? 0 : number(file, FILE_HEADER, 4);
  const int core = length == CORE_HEADER;
  if (length > file.size || (!core && (length < INFO_HEADER || file.size < FILE_HEADER + INFO_HEADER))) {
    return INGOT_ERROR_IMAGE;
  }
  header->pixels = number(file, 10, 4);
  header->entry = core ? 3 : 4;
  header->colors = 0;
  header->extent.width = core ? (int32_t)number(file, 18, 2) : (int32_t)number(file, 18, 4);
  header->extent.height = core ? (int32_t)number(file, 20, 2) : (int32_t)number(file, 22, 4);
  header->topDown = header->extent.height < 0;
  header->extent.height = header->topDown ? -header->extent.height : header->extent.height;
  if (core) {
    header->bits = number(file, 24, 2);
    header->palette = FILE_HEADER + CORE_HEADER;
    return header->bits > 24 || header->bits == 16 ? INGOT_ERROR_IMAGE : 0;
  }
  return readInfo(file, length, header);
}

static int begins(Bytes file) { return ingotBeginsWith(file, "BM", 2); }

static int extent(Bytes file, Extent *extent) {
  Header header;
  const int status = readHeader(file, &header);
  if (!status) {
    *extent = header.extent;
  }
  return status;
}

/* Returns the channel that a mask picks, as a byte. */
static uint8_t channel(uint32_t pixel, uint32_t mask) {
  if (mask == 0) {
    return 0;
  }
  const uint32_t lowest = mask & (~mask + 1);
  return (uint8_t)((uint64_t)((pixel & mask) / lowest) * 255 / (mask / lowest));
}

static void fromPalette(Bytes file, const Header *header, uint32_t index, uint8_t *rgb) {
  const size_t at = header->palette + index * header->entry;
  const uint32_t colors = header->colors ? header->colors : 1u << header->bits;
  const int known = index < colors && at + header->entry <= file.size;
  for (int c = 0; c < 3; ++c) {
    rgb[c] = known ? file.data[at + 2 - (size_t)c] : 0;
  }
}

static void readRow(Bytes file, const Header *header, size_t row, uint8_t *rgb) {
  for (int64_t x = 0; x < header->extent.width; ++x, rgb += 3) {
    const size_t bit = (size_t)x * header->bits, at = row + bit / 8;
    if (header->bits < 16) {
      const uint32_t byte = file.data[at], shift = 8 - header->bits - (uint32_t)(bit % 8);
      fromPalette(file, header, byte >> shift & ((1u << header->bits) - 1), rgb);
    } else if (header->bits == 24) {
      for (int c = 0; c < 3; ++c) {
        rgb[c] = file.data[at + 2 - (size_t)c];
      }
    } else {
      const uint32_t pixel = number(file, at, (int)header->bits / 8);
      for (int c = 0; c < 3; ++c) {
        rgb[c] = channel(pixel, header->masks[c]);
      }
    }
  }
}

static int pixels(Bytes file, Extent expected, uint8_t *rgb) {
  Header header;
  if (readHeader(file, &header) || header.extent.height != expected.height || header.extent.width != expected.width) {
    return INGOT_ERROR_IMAGE;
  }
  const uint32_t bits = header.bits;
  const size_t stride = ((size_t)expected.width * bits + 31) / 32 * 4, all = stride * (size_t)expected.height;
  const int known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!known || header.pixels > file.size || all > file.size - header.pixels) {
    return INGOT_ERROR_IMAGE;
  }
  for (int64_t y = 0; y < expected.height; ++y) {
    const int64_t row = header.topDown ? y : expected.height - 1 - y;
    readRow(file, &header, header.pixels + (size_t)row * stride, rgb + y * expected.width * 3);
  }
  return 0;
}

const Format ingotBmp = {begins, extent, pixels};
