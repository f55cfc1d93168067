// Encoded images. What the libraries' own encoders write without loss comes back as it was; damaged and cut files end
// with an error value, and never with a read or write outside: sanitizers look at the same test.
#include "ingot.h"
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <openjpeg.h>
#include <png.h>
#include <random>
#include <string>
#include <tiffio.h>
#include <unistd.h>
#include <vector>
#include <webp/encode.h>

namespace {

using Bytes = std::vector<uint8_t>;

struct Image {
  int64_t height, width;
  Bytes rgb;
};

Image draw(int64_t height, int64_t width) {
  std::mt19937 random(static_cast<unsigned>(height * 1000 + width));
  Image image{height, width, Bytes(static_cast<size_t>(height * width * 3))};
  std::generate(image.rgb.begin(), image.rgb.end(), [&] { return uint8_t(random()); });
  return image;
}

/// What encoders write to files only.
Bytes throughFile(const std::function<void(const std::string &)> &write) {
  std::string path = testing::TempDir() + "/ingot-image-" + std::to_string(getpid());
  write(path);
  FILE *file = fopen(path.c_str(), "rb");
  Bytes bytes;
  for (int c = getc(file); c != EOF; c = getc(file)) {
    bytes.push_back(uint8_t(c));
  }
  fclose(file);
  remove(path.c_str());
  return bytes;
}

void little(Bytes &to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    to.push_back(uint8_t(value >> 8 * i));
  }
}

/// 24 bits, or 16 or 32 with masks; from the top where `height` is told as a negative number.
Bytes bmp(const Image &image, int bits = 24, bool topDown = false) {
  Bytes file = {'B', 'M'};
  int64_t stride = (image.width * bits + 31) / 32 * 4;
  const bool masked = bits != 24;
  little(file, 0, 8), little(file, masked ? 66 : 54, 4), little(file, 40, 4);
  little(file, uint64_t(image.width), 4), little(file, uint64_t(topDown ? -image.height : image.height), 4);
  little(file, 1, 2), little(file, uint64_t(bits), 2), little(file, masked ? 3 : 0, 4);
  file.resize(54);
  if (masked) {
    for (uint32_t mask : bits == 16 ? std::array{0xf800U, 0x07e0U, 0x001fU} : std::array{0xffU, 0xff00U, 0xff0000U}) {
      little(file, mask, 4);
    }
  }
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t *row = &image.rgb[size_t((topDown ? y : image.height - 1 - y) * image.width * 3)];
    size_t begin = file.size();
    for (int64_t x = 0; x < image.width; ++x, row += 3) {
      if (bits == 16) {
        little(file, uint64_t(row[0] >> 3 << 11 | row[1] >> 2 << 5 | row[2] >> 3), 2);
      } else {
        Bytes pixel = bits == 32 ? Bytes{row[0], row[1], row[2], 7} : Bytes{row[2], row[1], row[0]};
        file.insert(file.end(), pixel.begin(), pixel.end());
      }
    }
    file.resize(begin + size_t(stride));
  }
  return file;
}

Bytes ppm(const Image &image, bool text = false) {
  std::string head = std::string(text ? "P3" : "P6") + "\n# a comment\n" + std::to_string(image.width) + " " +
                     std::to_string(image.height) + "\n255\n";
  Bytes file(head.begin(), head.end());
  for (uint8_t sample : image.rgb) {
    std::string digits = std::to_string(sample) + " ";
    text ? (void)file.insert(file.end(), digits.begin(), digits.end()) : file.push_back(sample);
  }
  return file;
}

Bytes png(const Image &image) {
  png_image description = {};
  description.version = PNG_IMAGE_VERSION;
  description.width = png_uint_32(image.width), description.height = png_uint_32(image.height);
  description.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  EXPECT_TRUE(png_image_write_get_memory_size(description, size, 0, image.rgb.data(), 0, nullptr));
  Bytes file(size);
  EXPECT_TRUE(png_image_write_to_memory(&description, file.data(), &size, 0, image.rgb.data(), 0, nullptr));
  file.resize(size);
  return file;
}

Bytes webp(const Image &image) {
  uint8_t *data = nullptr;
  int width = int(image.width);
  size_t size = WebPEncodeLosslessRGB(image.rgb.data(), width, int(image.height), width * 3, &data);
  Bytes file(data, data + size);
  WebPFree(data);
  return file;
}

Bytes tiff(const Image &image) {
  return throughFile([&](const std::string &path) {
    TIFF *file = TIFFOpen(path.c_str(), "w");
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, uint32_t(image.width));
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, uint32_t(image.height));
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    for (int64_t y = 0; y < image.height; ++y) {
      TIFFWriteScanline(file, const_cast<uint8_t *>(&image.rgb[size_t(y * image.width * 3)]), uint32_t(y));
    }
    TIFFClose(file);
  });
}

Bytes jpeg2000(const Image &image) {
  return throughFile([&](const std::string &path) {
    opj_cparameters_t parameters;
    opj_set_default_encoder_parameters(&parameters);
    parameters.numresolution = 1;
    opj_image_cmptparm_t components[3] = {};
    for (opj_image_cmptparm_t &component : components) {
      component.w = OPJ_UINT32(image.width), component.h = OPJ_UINT32(image.height);
      component.dx = component.dy = 1, component.prec = 8;
    }
    opj_image_t *planes = opj_image_create(3, components, OPJ_CLRSPC_SRGB);
    planes->x1 = OPJ_UINT32(image.width), planes->y1 = OPJ_UINT32(image.height);
    for (size_t i = 0; i < image.rgb.size(); ++i) {
      planes->comps[i % 3].data[i / 3] = image.rgb[i];
    }
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_JP2);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path.c_str(), OPJ_FALSE);
    EXPECT_TRUE(opj_setup_encoder(codec, &parameters, planes) && opj_start_compress(codec, planes, stream) &&
                opj_encode(codec, stream) && opj_end_compress(codec, stream));
    opj_stream_destroy(stream), opj_destroy_codec(codec), opj_image_destroy(planes);
  });
}

Bytes jpeg(const Image &image) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = JDIMENSION(image.width), info.image_height = JDIMENSION(image.height);
  info.input_components = 3, info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<uint8_t *>(&image.rgb[size_t(info.next_scanline) * size_t(image.width) * 3]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes file(data, data + size);
  jpeg_destroy_compress(&info);
  free(data);
  return file;
}

/// Of files that lie at the very end of their memory, so that sanitizers see a read behind it. `pixels` likewise.
int decode(const Bytes &file, int32_t order, int64_t *size, Bytes &pixels) {
  Bytes exact(file);
  exact.shrink_to_fit();
  if (int status = ingot_image_size(exact.data(), int64_t(exact.size()), size)) {
    EXPECT_EQ(size[0] + size[1], 0);
    return status;
  }
  pixels = Bytes(size_t(size[0] * size[1] * (order == INGOT_IMAGE_GRAY ? 1 : 3)));
  return ingot_image_decode(exact.data(), int64_t(exact.size()), order, size[0], size[1], pixels.data());
}

struct Kind {
  const char *name;
  Bytes (*encode)(const Image &);
};
const Kind kinds[] = {{"bmp", [](const Image &image) { return bmp(image); }},
                      {"bmp of 32 bits", [](const Image &image) { return bmp(image, 32, true); }},
                      {"ppm", [](const Image &image) { return ppm(image); }},
                      {"ppm as text", [](const Image &image) { return ppm(image, true); }},
                      {"png", png},
                      {"webp", webp},
                      {"tiff", tiff},
                      {"jpeg2000", jpeg2000}};

TEST(Image, ComesBackAsItWas) {
  for (auto [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {7, 13}, {32, 5}, {64, 33}}) {
    Image image = draw(height, width);
    for (const Kind &kind : kinds) {
      int64_t size[2] = {-1, -1};
      Bytes pixels;
      ASSERT_EQ(decode(kind.encode(image), INGOT_IMAGE_RGB, size, pixels), 0) << kind.name;
      EXPECT_EQ(size[0], height) << kind.name;
      EXPECT_EQ(size[1], width) << kind.name;
      EXPECT_EQ(pixels, image.rgb) << kind.name;
    }
  }
}

TEST(Image, HasItsChannelsInAnyOrder) {
  Image image = draw(9, 4);
  int64_t size[2];
  Bytes bgr, gray;
  ASSERT_EQ(decode(png(image), INGOT_IMAGE_BGR, size, bgr), 0);
  ASSERT_EQ(decode(png(image), INGOT_IMAGE_GRAY, size, gray), 0);
  ASSERT_EQ(gray.size(), 36U);
  for (size_t i = 0; i < 36; ++i) {
    const uint8_t *rgb = &image.rgb[3 * i];
    EXPECT_EQ(bgr[3 * i], rgb[2]);
    EXPECT_EQ(bgr[3 * i + 1], rgb[1]);
    EXPECT_EQ(bgr[3 * i + 2], rgb[0]);
    EXPECT_NEAR(gray[i], 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2], 0.51);
  }
}

TEST(Image, OfFewBitsIsSpreadOverAByte) {
  Image image = draw(3, 5);
  int64_t size[2];
  Bytes pixels;
  ASSERT_EQ(decode(bmp(image, 16), INGOT_IMAGE_RGB, size, pixels), 0);
  for (size_t i = 0; i < pixels.size(); ++i) {
    int most = i % 3 == 1 ? 63 : 31;
    EXPECT_EQ(pixels[i], (image.rgb[i] * (most + 1) / 256) * 255 / most);
  }
  std::string bits = "P4\n10 2\n\xaa\x80\x0f\x40", wide = "P5 2 1 1023 ";
  ASSERT_EQ(decode(Bytes(bits.begin(), bits.end()), INGOT_IMAGE_GRAY, size, pixels), 0);
  EXPECT_EQ(pixels, (Bytes{0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 255, 255, 255, 255, 0, 0, 0, 0, 255, 0}));
  Bytes file(wide.begin(), wide.end());
  file.insert(file.end(), {0x03, 0xff, 0x01, 0x00});
  ASSERT_EQ(decode(file, INGOT_IMAGE_GRAY, size, pixels), 0);
  EXPECT_EQ(pixels, (Bytes{255, 64}));
}

TEST(Image, OfJpegIsNear) {
  Image image{16, 24, Bytes(size_t(16 * 24 * 3))};
  for (size_t i = 0; i < image.rgb.size(); ++i) {
    image.rgb[i] = uint8_t(i / 3 % 24 * 8 + i % 3 * 10);
  }
  int64_t size[2];
  Bytes pixels;
  ASSERT_EQ(decode(jpeg(image), INGOT_IMAGE_RGB, size, pixels), 0);
  for (size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_NEAR(pixels[i], image.rgb[i], 6);
  }
}

TEST(Image, OfNoKnownFormatHasNoPixels) {
  for (const std::string &text : {"", "P", "GIF89a", "P7\n", "plain text"}) {
    int64_t size[2] = {-1, -1};
    Bytes pixels;
    EXPECT_EQ(decode(Bytes(text.begin(), text.end()), INGOT_IMAGE_RGB, size, pixels), 0) << text;
    EXPECT_EQ(size[0] + size[1], 0);
  }
}

TEST(Image, TooLargeIsRefused) {
  int64_t size[2];
  Bytes pixels;
  for (const std::string &text : {"P6 100000 100000 255 ", "P6 0 5 255 ", "P6 999999999 999999999 255 "}) {
    EXPECT_EQ(decode(Bytes(text.begin(), text.end()), INGOT_IMAGE_RGB, size, pixels), INGOT_ERROR_IMAGE) << text;
  }
  Bytes file = bmp(draw(2, 2));
  for (size_t at : {21, 25}) { // the highest bytes of width and height
    Bytes large(file);
    large[at] = 0x7f;
    EXPECT_EQ(decode(large, INGOT_IMAGE_RGB, size, pixels), INGOT_ERROR_IMAGE);
  }
}

TEST(Image, CutShortIsAnError) {
  Image image = draw(20, 20);
  for (const Kind &kind : kinds) {
    Bytes file = kind.encode(image), pixels;
    int64_t size[2];
    file.resize(file.size() / 2);
    EXPECT_EQ(decode(file, INGOT_IMAGE_RGB, size, pixels), INGOT_ERROR_IMAGE) << kind.name;
  }
  Bytes file = jpeg(image), pixels;
  int64_t size[2];
  file.resize(file.size() / 2);
  EXPECT_EQ(decode(file, INGOT_IMAGE_RGB, size, pixels), INGOT_ERROR_IMAGE);
}

/// Bytes changed, and files cut, anywhere.
TEST(Image, DamagedIsNeverReadOutside) {
  std::mt19937 random(7);
  Image image = draw(11, 6);
  std::vector<Bytes> files = {jpeg(image), bmp(image, 16)};
  for (const Kind &kind : kinds) {
    files.push_back(kind.encode(image));
  }
  for (const Bytes &whole : files) {
    for (int turn = 0; turn < 300; ++turn) {
      Bytes file(whole), pixels;
      for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
        // most of what matters stands in front
        file[(random() % 2 ? random() % std::min<size_t>(file.size(), 120) : random()) % file.size()] =
            uint8_t(random());
      }
      file.resize(random() % 3 ? file.size() : random() % file.size());
      int64_t size[2];
      if (ingot_image_size(file.data(), int64_t(file.size()), size) == 0 && size[0] * size[1] < 1 << 22) {
        (void)decode(file, int32_t(random() % 3), size, pixels);
      }
    }
  }
}

} // namespace
