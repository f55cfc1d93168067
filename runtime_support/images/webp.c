/* Decodes WebP by libwebp, which decodes no animation. */
#include "formats.h"
#include <webp/decode.h>

static int begins(Bytes file) {
  if (!ingotBeginsWith(file, "RIFF", 4) || file.size < 12) {
    return 0;
  }
  const Bytes kind = {file.data + 8, 4};
  return ingotBeginsWith(kind, "WEBP", 4);
}

static int extent(Bytes file, Extent *extent) {
  int width, height;
  if (!WebPGetInfo(file.data, file.size, &width, &height)) {
    return INGOT_ERROR_IMAGE;
  }
  extent->height = height;
  extent->width = width;
  return 0;
}

static int pixels(Bytes file, Extent expected, uint8_t *rgb) {
  Extent own;
  if (extent(file, &own) || own.height != expected.height || own.width != expected.width) {
    return INGOT_ERROR_IMAGE;
  }
  const size_t bytes = (size_t)(own.height * own.width * 3);
  return WebPDecodeRGBInto(file.data, file.size, rgb, bytes, (int)own.width * 3) ? 0 : INGOT_ERROR_IMAGE;
}

const Format ingotWebp = {begins, extent, pixels};
