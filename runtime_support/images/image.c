/* Decodes images for ImageDecoder. The first bytes tell the format, whose file in this folder gives red, green and
 * blue; the other orders of channels are made here. */
#include "formats.h"
#include <stdlib.h>
#include <string.h>

static const Format *const formats[] = {&ingotBmp, &ingotJpeg, &ingotJpeg2000, &ingotPng,
                                        &ingotPnm, &ingotTiff, &ingotWebp};

int ingotBeginsWith(Bytes file, const char *magic, size_t length) {
  return file.size >= length && memcmp(file.data, magic, length) == 0;
}

int ingotIsReasonable(Extent extent) {
  const int64_t most = INGOT_IMAGE_MOST_PIXELS;
  return extent.height > 0 && extent.width > 0 && extent.width <= most && extent.height <= most / extent.width;
}

static const Format *formatOf(Bytes file) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
    if (formats[i]->begins(file)) {
      return formats[i];
    }
  }
  return NULL;
}

int ingot_image_size(const void *data, int64_t bytes, int64_t *height_width) {
  const Bytes file = {(const uint8_t *)data, (size_t)bytes};
  const Format *format = formatOf(file);
  Extent extent = {0, 0};
  int status = format ? format->extent(file, &extent) : 0;
  if (!status && format && !ingotIsReasonable(extent)) {
    status = INGOT_ERROR_IMAGE;
  }
  height_width[0] = status ? 0 : extent.height;
  height_width[1] = status ? 0 : extent.width;
  return status;
}

/* Computes the luminance of ITU-R BT.601, with weights that have 16 bits behind the point. */
static void grayOf(const uint8_t *rgb, int64_t count, uint8_t *gray) {
  for (int64_t i = 0; i < count; ++i, rgb += 3) {
    gray[i] = (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
  }
}

static void swapRedAndBlue(uint8_t *rgb, int64_t count) {
  for (int64_t i = 0; i < count; ++i, rgb += 3) {
    const uint8_t red = rgb[0];
    rgb[0] = rgb[2];
    rgb[2] = red;
  }
}

int ingot_image_decode(const void *data, int64_t bytes, int32_t order, int64_t height, int64_t width, void *pixels) {
  const Bytes file = {(const uint8_t *)data, (size_t)bytes};
  const Format *format = formatOf(file);
  const Extent extent = {height, width};
  const int64_t count = height * width;
  if (count == 0) { /* ingot_image_size gives 0 for files of no known format */
    return 0;
  }
  if (!format || !ingotIsReasonable(extent)) {
    return INGOT_ERROR_IMAGE;
  }
  uint8_t *rgb = order == INGOT_IMAGE_GRAY ? (uint8_t *)malloc((size_t)count * 3) : (uint8_t *)pixels;
  if (!rgb) {
    return INGOT_ERROR_MEMORY;
  }
  const int status = format->pixels(file, extent, rgb);
  if (!status && order == INGOT_IMAGE_GRAY) {
    grayOf(rgb, count, (uint8_t *)pixels);
  } else if (!status && order == INGOT_IMAGE_BGR) {
    swapRedAndBlue(rgb, count);
  }
  if (order == INGOT_IMAGE_GRAY) {
    free(rgb);
  }
  return status;
}
