/* Decodes JPEG by libjpeg-turbo with its defaults: the accurate inverse transform and the smooth upsampling. Colors
 * of print (CMYK) are taken to be inverted, as Adobe's are. */
#include "formats.h"
#include <stdio.h>
#include <stdlib.h>

#include <jerror.h> /* after <stdio.h>, which the library's headers need */
#include <jpeglib.h>
#include <setjmp.h>

/* The library reports errors by a function that may not return. */
typedef struct Errors {
  struct jpeg_error_mgr manager;
  jmp_buf out;
  int ended; /* the data ended before the image */
} Errors;

static void fail(j_common_ptr info) { longjmp(((Errors *)info->err)->out, 1); }
static void warn(j_common_ptr info, int level) {
  Errors *errors = (Errors *)info->err;
  errors->ended |= level < 0 && errors->manager.msg_code == JWRN_JPEG_EOF;
}

static void begin(struct jpeg_decompress_struct *info, Errors *errors, Bytes file) {
  jpeg_create_decompress(info);
  jpeg_mem_src(info, file.data, (unsigned long)file.size);
  jpeg_read_header(info, TRUE);
}

static struct jpeg_error_mgr *prepare(Errors *errors) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&errors->manager);
  manager->error_exit = fail;
  manager->emit_message = warn;
  errors->ended = 0;
  return manager;
}

static int begins(Bytes file) { return ingotBeginsWith(file, "\xff\xd8\xff", 3); }

static int extent(Bytes file, Extent *extent) {
  struct jpeg_decompress_struct info;
  Errors errors;
  info.err = prepare(&errors);
  if (setjmp(errors.out)) {
    jpeg_destroy_decompress(&info);
    return INGOT_ERROR_IMAGE;
  }
  begin(&info, &errors, file);
  extent->height = info.image_height;
  extent->width = info.image_width;
  jpeg_destroy_decompress(&info);
  return 0;
}

/* Converts a row of pixels with four inverted colors. */
static void rgbOfCmyk(const uint8_t *cmyk, int64_t count, uint8_t *rgb) {
  for (int64_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      const unsigned product = (255u - cmyk[c]) * cmyk[3] + 128;
      const int value = (int)cmyk[3] - (int)(((product >> 8) + product) >> 8);
      rgb[c] = (uint8_t)(value < 0 ? 0 : value);
    }
  }
}

static int pixels(Bytes file, Extent extent, uint8_t *rgb) {
  struct jpeg_decompress_struct info;
  Errors errors;
  uint8_t *volatile four = NULL;
  info.err = prepare(&errors);
  if (setjmp(errors.out)) {
    free(four);
    jpeg_destroy_decompress(&info);
    return INGOT_ERROR_IMAGE;
  }
  begin(&info, &errors, file);
  const int print = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = print ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  if ((int64_t)info.output_width != extent.width || (int64_t)info.output_height != extent.height ||
      info.output_components != (print ? 4 : 3) || (print && !(four = (uint8_t *)malloc((size_t)extent.width * 4)))) {
    fail((j_common_ptr)&info);
  }
  for (int64_t row = 0; row < extent.height; ++row) {
    uint8_t *to = rgb + row * extent.width * 3;
    JSAMPROW line = print ? four : to;
    jpeg_read_scanlines(&info, &line, 1);
    if (print) {
      rgbOfCmyk(four, extent.width, to);
    }
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  free(four);
  return errors.ended ? INGOT_ERROR_IMAGE : 0;
}

const Format ingotJpeg = {begins, extent, pixels};
