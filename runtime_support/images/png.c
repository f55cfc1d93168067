/* Decodes PNG by libpng. Palettes and few bits become bytes of red, green and blue; of 16 bits the upper eight are
 * taken, and transparent pixels keep their color. */
#include "formats.h"
#include <png.h>
#include <stdlib.h>
#include <string.h>

static void take(png_structp png, png_bytep to, size_t count) {
  Bytes *rest = (Bytes *)png_get_io_ptr(png);
  if (count > rest->size) {
    png_error(png, "");
  }
  memcpy(to, rest->data, count);
  rest->data += count;
  rest->size -= count;
}
static void fail(png_structp png, png_const_charp message) { png_longjmp(png, 1); }
static void ignore(png_structp png, png_const_charp message) {}

static int begins(Bytes file) { return ingotBeginsWith(file, "\x89PNG\r\n\x1a\n", 8); }

/* Reads the header, and with `rgb` all pixels. */
static int read(Bytes file, Extent *extent, uint8_t *rgb) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  png_bytep *volatile rows = NULL;
  volatile int status = INGOT_ERROR_MEMORY;
  if (!info || setjmp(png_jmpbuf(png))) {
    free(rows);
    png_destroy_read_struct(&png, &info, NULL);
    return status;
  }
  status = INGOT_ERROR_IMAGE;
  png_set_read_fn(png, &file, take);
  png_read_info(png, info);
  const int64_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
  if (rgb) {
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (height != extent->height || width != extent->width || png_get_rowbytes(png, info) != (size_t)width * 3 ||
        !(rows = (png_bytep *)malloc((size_t)height * sizeof *rows))) {
      png_error(png, "");
    }
    for (int64_t row = 0; row < height; ++row) {
      rows[row] = rgb + row * width * 3;
    }
    png_read_image(png, rows);
    png_read_end(png, NULL);
  }
  extent->height = height;
  extent->width = width;
  free(rows);
  png_destroy_read_struct(&png, &info, NULL);
  return 0;
}

static int extent(Bytes file, Extent *extent) { return read(file, extent, NULL); }
static int pixels(Bytes file, Extent extent, uint8_t *rgb) { return read(file, &extent, rgb); }

const Format ingotPng = {begins, extent, pixels};
