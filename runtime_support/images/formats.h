/* The formats of ImageDecoder: what each file of this folder gives image.c. Bytes come from anywhere: nothing is read
 * behind their end, whatever they say of themselves. */
#ifndef INGOT_IMAGES_FORMATS_H
#define INGOT_IMAGES_FORMATS_H

#include "ingot.h"

typedef struct Bytes {
  const uint8_t *data;
  size_t size;
} Bytes;

typedef struct Extent {
  int64_t height, width;
} Extent;

/* Functions return 0, INGOT_ERROR_IMAGE or INGOT_ERROR_MEMORY. */
typedef struct Format {
  /* Whether the file begins as those of the format do. */
  int (*begins)(Bytes file);
  /* Reads no more than the header. */
  int (*extent)(Bytes file, Extent *extent);
  /* Writes red, green and blue of every pixel, row by row from the top; `extent` is what the function above gave, one
   * that isReasonable. */
  int (*pixels)(Bytes file, Extent extent, uint8_t *rgb);
} Format;

extern const Format ingotBmp, ingotJpeg, ingotJpeg2000, ingotPng, ingotPnm, ingotTiff, ingotWebp;

/* Whether the file begins with these bytes. */
int ingotBeginsWith(Bytes file, const char *magic, size_t length);

/* Whether an image has pixels, and no more than somebody may have meant. */
int ingotIsReasonable(Extent extent);

#endif
