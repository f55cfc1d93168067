/* Declares the formats of ImageDecoder: what each file of this folder gives image.c. Bytes may come from anywhere,
 * so nothing is read behind their end, whatever they say of themselves. */
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

/* A format. Functions return 0, INGOT_ERROR_IMAGE or INGOT_ERROR_MEMORY. */
typedef struct Format {
  /* Returns whether the file begins as files of the format do. */
  int (*begins)(Bytes file);
  /* Reads the height and width, and no more than the header for that. */
  int (*extent)(Bytes file, Extent *extent);
  /* Writes red, green and blue of every pixel, row by row from the top. `extent` is what the function above gave,
   * and passed ingotIsReasonable. */
  int (*pixels)(Bytes file, Extent extent, uint8_t *rgb);
} Format;

extern const Format ingotBmp, ingotJpeg, ingotJpeg2000, ingotPng, ingotPnm, ingotTiff, ingotWebp;

/* Returns whether the file begins with these bytes. */
int ingotBeginsWith(Bytes file, const char *magic, size_t length);

/* Returns whether an image has pixels, and no more than INGOT_IMAGE_MOST_PIXELS. */
int ingotIsReasonable(Extent extent);

#endif
