/* Decodes JPEG 2000 by OpenJPEG, as a file (JP2) or a bare codestream. Components may have any number of bits, and
 * fewer samples than the image has pixels. In an image of one or two components the first is gray. */
#include "formats.h"
#include <openjpeg.h>
#include <string.h>

typedef struct Stream {
  Bytes file;
  size_t at;
} Stream;

static OPJ_SIZE_T take(void *to, OPJ_SIZE_T count, void *data) {
  Stream *stream = (Stream *)data;
  const size_t rest = stream->file.size - stream->at;
  const size_t taken = count < rest ? count : rest;
  if (taken == 0) {
    return (OPJ_SIZE_T)-1;
  }
  memcpy(to, stream->file.data + stream->at, taken);
  stream->at += taken;
  return taken;
}
static OPJ_OFF_T skip(OPJ_OFF_T count, void *data) {
  Stream *stream = (Stream *)data;
  const size_t rest = stream->file.size - stream->at;
  if (count < 0) {
    return -1;
  }
  const size_t skipped = (uint64_t)count < rest ? (size_t)count : rest;
  stream->at += skipped;
  return (OPJ_OFF_T)skipped;
}
static OPJ_BOOL seek(OPJ_OFF_T place, void *data) {
  Stream *stream = (Stream *)data;
  if (place < 0 || (uint64_t)place > stream->file.size) {
    return OPJ_FALSE;
  }
  stream->at = (size_t)place;
  return OPJ_TRUE;
}

typedef struct Decoder {
  Stream source;
  opj_stream_t *stream;
  opj_codec_t *codec;
  opj_image_t *image;
} Decoder;

static int isBare(Bytes file) { return ingotBeginsWith(file, "\xff\x4f\xff\x51", 4); }
static int begins(Bytes file) { return isBare(file) || ingotBeginsWith(file, "\0\0\0\x0cjP  \r\n\x87\n", 12); }

static void end(Decoder *decoder) {
  opj_image_destroy(decoder->image);
  opj_destroy_codec(decoder->codec);
  opj_stream_destroy(decoder->stream);
}

/* Reads the header. Whatever is returned, `end` has to follow. */
static int begin(Decoder *decoder, Bytes file, Extent *extent) {
  opj_dparameters_t parameters;
  memset(decoder, 0, sizeof *decoder);
  decoder->source.file = file;
  decoder->stream = opj_stream_default_create(OPJ_TRUE);
  decoder->codec = opj_create_decompress(isBare(file) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  if (!decoder->stream || !decoder->codec) {
    return INGOT_ERROR_MEMORY;
  }
  opj_stream_set_read_function(decoder->stream, take);
  opj_stream_set_skip_function(decoder->stream, skip);
  opj_stream_set_seek_function(decoder->stream, seek);
  opj_stream_set_user_data(decoder->stream, &decoder->source, NULL);
  opj_stream_set_user_data_length(decoder->stream, file.size);
  opj_set_default_decoder_parameters(&parameters);
  if (!opj_setup_decoder(decoder->codec, &parameters) ||
      !opj_read_header(decoder->stream, decoder->codec, &decoder->image)) {
    return INGOT_ERROR_IMAGE;
  }
  const opj_image_t *image = decoder->image;
  extent->height = (int64_t)image->y1 - image->y0;
  extent->width = (int64_t)image->x1 - image->x0;
  return 0;
}

static int extent(Bytes file, Extent *extent) {
  Decoder decoder;
  const int status = begin(&decoder, file, extent);
  end(&decoder);
  return status;
}

/* Returns the sample of a component at a pixel, as a byte. */
static int sample(const opj_image_comp_t *component, int64_t row, int64_t column) {
  const int64_t y = row / component->dy, x = column / component->dx;
  const int64_t inside = (y < component->h ? y : (int64_t)component->h - 1) * component->w +
                         (x < component->w ? x : (int64_t)component->w - 1);
  const int64_t most = ((int64_t)1 << component->prec) - 1;
  int64_t value = component->data[inside];
  value += component->sgnd ? (int64_t)1 << (component->prec - 1) : 0;
  value = value < 0 ? 0 : value > most ? most : value;
  return (int)(component->prec >= 8 ? value >> (component->prec - 8) : value * 255 / most);
}

static int isReadable(const opj_image_t *image) {
  for (OPJ_UINT32 c = 0; c < image->numcomps; ++c) {
    const opj_image_comp_t *component = &image->comps[c];
    if (!component->data || !component->w || !component->h || !component->dx || !component->dy || component->prec < 1 ||
        component->prec > 31) {
      return 0;
    }
  }
  return image->numcomps > 0;
}

static uint8_t clamp(double value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5); }

static void write(const opj_image_t *image, Extent extent, uint8_t *rgb) {
  const int colors = image->numcomps >= 3;
  for (int64_t row = 0; row < extent.height; ++row) {
    for (int64_t column = 0; column < extent.width; ++column, rgb += 3) {
      int values[3];
      for (int c = 0; c < 3; ++c) {
        values[c] = sample(&image->comps[colors ? c : 0], row, column);
      }
      if (colors && image->color_space == OPJ_CLRSPC_SYCC) {
        const double y = values[0], blue = values[1] - 128, red = values[2] - 128;
        rgb[0] = clamp(y + 1.402 * red);
        rgb[1] = clamp(y - 0.344136 * blue - 0.714136 * red);
        rgb[2] = clamp(y + 1.772 * blue);
      } else {
        for (int c = 0; c < 3; ++c) {
          rgb[c] = (uint8_t)values[c];
        }
      }
    }
  }
}

static int pixels(Bytes file, Extent expected, uint8_t *rgb) {
  Decoder decoder;
  Extent own;
  int status = begin(&decoder, file, &own);
  if (!status && (own.height != expected.height || own.width != expected.width ||
                  !opj_decode(decoder.codec, decoder.stream, decoder.image) ||
                  !opj_end_decompress(decoder.codec, decoder.stream) || !isReadable(decoder.image))) {
    status = INGOT_ERROR_IMAGE;
  }
  if (!status) {
    write(decoder.image, own, rgb);
  }
  end(&decoder);
  return status;
}

const Format ingotJpeg2000 = {begins, extent, pixels};
