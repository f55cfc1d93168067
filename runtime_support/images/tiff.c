/* Decodes TIFF by libtiff, whose interface for pictures knows all of its colors and compressions. Only the first
 * picture of a file is read. */
#include "formats.h"
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct Stream {
  Bytes file;
  size_t at;
} Stream;

static tmsize_t take(thandle_t handle, void *to, tmsize_t count) {
  Stream *stream = (Stream *)handle;
  const size_t rest = stream->at < stream->file.size ? stream->file.size - stream->at : 0;
  const size_t taken = (size_t)count < rest ? (size_t)count : rest;
  memcpy(to, stream->file.data + stream->at, taken);
  stream->at += taken;
  return (tmsize_t)taken;
}
static tmsize_t put(thandle_t handle, void *from, tmsize_t count) { return -1; }
static toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Stream *stream = (Stream *)handle;
  const size_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? stream->at : stream->file.size;
  stream->at = from + (size_t)offset;
  return stream->at;
}
static int end(thandle_t handle) { return 0; }
static toff_t size(thandle_t handle) { return ((Stream *)handle)->file.size; }
static int silent(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) { return 1; }

static int begins(Bytes file) {
  return ingotBeginsWith(file, "II*\0", 4) || ingotBeginsWith(file, "MM\0*", 4) || ingotBeginsWith(file, "II+\0", 4) ||
         ingotBeginsWith(file, "MM\0+", 4);
}

static TIFF *begin(Stream *stream) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) {
    return NULL;
  }
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)INGOT_IMAGE_MOST_PIXELS * 8);
  TIFFOpenOptionsSetErrorHandlerExtR(options, silent, NULL);
  TIFFOpenOptionsSetWarningHandlerExtR(options, silent, NULL);
  TIFF *tiff = TIFFClientOpenExt("", "rm", (thandle_t)stream, take, put, seek, end, size, NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

static int extentOf(TIFF *tiff, Extent *extent) {
  uint32_t width = 0, height = 0;
  if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height)) {
    return INGOT_ERROR_IMAGE;
  }
  extent->height = height;
  extent->width = width;
  return 0;
}

static int extent(Bytes file, Extent *extent) {
  Stream stream = {file, 0};
  TIFF *tiff = begin(&stream);
  const int status = tiff ? extentOf(tiff, extent) : INGOT_ERROR_IMAGE;
  if (tiff) {
    TIFFClose(tiff);
  }
  return status;
}

static int pixels(Bytes file, Extent expected, uint8_t *rgb) {
  const int64_t count = expected.height * expected.width;
  uint32_t *packed = (uint32_t *)malloc((size_t)count * sizeof *packed);
  Stream stream = {file, 0};
  TIFF *tiff = packed ? begin(&stream) : NULL;
  Extent own;
  int status = packed ? INGOT_ERROR_IMAGE : INGOT_ERROR_MEMORY;
  if (tiff && !extentOf(tiff, &own) && own.height == expected.height && own.width == expected.width &&
      TIFFReadRGBAImageOriented(tiff, (uint32_t)own.width, (uint32_t)own.height, packed, ORIENTATION_TOPLEFT, 1)) {
    status = 0;
    for (int64_t i = 0; i < count; ++i, rgb += 3) {
      rgb[0] = (uint8_t)TIFFGetR(packed[i]);
      rgb[1] = (uint8_t)TIFFGetG(packed[i]);
      rgb[2] = (uint8_t)TIFFGetB(packed[i]);
    }
  }
  if (tiff) {
    TIFFClose(tiff);
  }
  free(packed);
  return status;
}

const Format ingotTiff = {begins, extent, pixels};
