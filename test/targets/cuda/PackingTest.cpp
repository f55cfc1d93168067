// Images are packed and unpacked (targets/cuda/Packing.h, device/unpack.c).
#include "targets/cuda/Packing.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
extern "C" {
#include "targets/cuda/device/unpack.h"
}

using namespace ingot;

namespace {

/// Two kernels: one that reads 400 bytes and writes 800, and one without memory.
const std::vector<uint64_t> uses = {2, 800, 1601, 0};
constexpr int32_t kernels = 2;

/// Images as a device finds them. Each lies in memory of its own, of exactly its size.
class Library {
public:
  explicit Library(const std::vector<std::string> &packed) {
    for (const std::string &bytes : packed) {
      copies.emplace_back(bytes.begin(), bytes.end());
      images.push_back({"sm_80", copies.back().data(), int64_t(bytes.size()), nullptr});
    }
    info.image_count = int32_t(images.size());
    info.images = images.data();
    info.kernel_count = kernels;
  }
  Library(const Library &) = delete;

  /// Returns the bytes of image i, of which there have to be `size`; nothing where they cannot be unpacked.
  std::optional<std::string> unpack(size_t i, size_t size) const {
    ingot_cuda_unpacked made = ingot_cuda_unpack(&info, &images[i]);
    std::optional<std::string> bytes;
    if (made.image) {
      bytes.emplace(made.image, size);
      hasUses = std::equal(uses.begin(), uses.end(), made.uses);
    }
    std::free(made.image);
    std::free(made.uses);
    return bytes;
  }
  /// Whether what kernels do with memory was there when an image was unpacked.
  mutable bool hasUses = false;
  bool isPacked(size_t i) const { return ingot_cuda_is_packed(&images[i]) != 0; }
  bool isElf(size_t i) const { return ingot_cuda_is_packed_elf(&images[i]) != 0; }

private:
  std::vector<std::vector<char>> copies;
  std::vector<ingot_image> images;
  ingot_device_info info = {};
};

std::vector<std::string> pack(const std::vector<std::string> &texts) {
  std::vector<target::Image> images;
  images.reserve(texts.size());
  for (const std::string &text : texts) {
    images.push_back({"sm_80", text, {}});
  }
  targets::cuda::pack(images, uses);
  std::vector<std::string> packed;
  packed.reserve(images.size());
  for (const target::Image &image : images) {
    packed.push_back(image.bytes);
  }
  return packed;
}

/// Returns lines as PTX has them; the registers of equal seeds are equal.
std::string lines(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "\tfma.rn.f32 \t%r" + std::to_string(i) + ", %r" + std::to_string(random() % 100) + ", %r7;\n";
  }
  return text;
}

std::string noise(size_t bytes) {
  std::mt19937 random(5);
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    text.push_back(char(random() & 0xff));
  }
  return text;
}

TEST(Packing, BytesStayTheSame) {
  std::string far = lines(3000, 1);
  std::vector<std::string> texts = {"//" + lines(50, 1),
                                    "",
                                    "a",
                                    std::string(7, 'x'),
                                    std::string(1000, '\0'),
                                    noise(13),
                                    noise(15),
                                    noise(270),
                                    noise(271),
                                    noise(5000),
                                    far + noise(300000) + far,
                                    "\x7f"
                                    "ELF" +
                                        noise(100),
                                    "\x7f"
                                    "ELF" +
                                        noise(101)};
  std::vector<std::string> packed = pack(texts);
  Library library(packed);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(library.isPacked(i)) << i;
    EXPECT_EQ(library.unpack(i, texts[i].size()), texts[i]) << i;
    EXPECT_TRUE(library.hasUses) << i;
    EXPECT_EQ(library.isElf(i), texts[i].find("ELF") == 1) << i;
  }
  EXPECT_LT(packed[4].size(), 60U) << "one byte that repeats";
  EXPECT_LT(packed[10].size(), 300000 + far.size() / 2) << "what is further away than 64 KB";
  EXPECT_LT(packed[12].size(), 60U) << "the ELF file before it is its base";
}

TEST(Packing, ImagesShareWhatTheyHaveInCommon) {
  std::string first = lines(5000, 1), second = first;
  second.replace(second.find("fma"), 3, "mul");
  std::vector<std::string> packed = pack({first, second, lines(20, 9) + first});
  EXPECT_LT(packed[0].size(), first.size() / 3);
  EXPECT_LT(packed[1].size(), packed[0].size() / 20);
  EXPECT_LT(packed[2].size(), packed[0].size() / 20);
}

TEST(Packing, DamageIsFound) {
  std::string text = lines(200, 3), other = lines(150, 4);
  std::vector<std::string> packed = pack({text, other});
  size_t found = 0, all = 0;
  for (size_t image : {0, 1}) {
    size_t size = image ? other.size() : text.size();
    for (size_t at = 16; at < packed[image].size(); ++at) {
      for (int bit = 0; bit < 8; ++bit, ++all) {
        std::vector<std::string> damaged = packed;
        damaged[image][at] ^= char(1 << bit);
        found += !Library(damaged).unpack(image, size);
      }
      std::vector<std::string> cut = packed;
      cut[image].resize(at);
      EXPECT_EQ(Library(cut).unpack(image, size), std::nullopt) << "cut at " << at;
    }
  }
  EXPECT_GT(found, all / 10) << "of " << all;
  std::vector<std::string> without = packed;
  without[1][8] = 7;
  EXPECT_EQ(Library(without).unpack(1, other.size()), std::nullopt) << "a base that is not there";
  without[1][8] = 2;
  EXPECT_EQ(Library(without).unpack(1, other.size()), std::nullopt) << "an image is no base of itself";
  without = packed;
  without[0][0] = '/';
  EXPECT_EQ(Library(without).unpack(1, other.size()), std::nullopt) << "a base that is not packed";
}

} // namespace
