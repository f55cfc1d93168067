// The emulator against loops that are written from the definition once more, in another way: encodings that LLVM's
// assembler made, every refusal, and real instructions in a child process that has the emulator preloaded.
#include "test/amx/Tiles.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

struct Size {
  int rows, bytes;
};

/// Returns a configuration with tiles of these sizes.
std::vector<uint8_t> configOf(std::initializer_list<Size> sizes) {
  std::vector<uint8_t> config(AMX_CONFIG_BYTES);
  config[0] = 1;
  int tile = 0;
  for (Size size : sizes) {
    config[16 + 2 * tile] = uint8_t(size.bytes), config[48 + tile] = uint8_t(size.rows);
    ++tile;
  }
  return config;
}

class Tiles : public testing::Test {
protected:
  AmxState state = {};
  std::mt19937 random{1};

  std::string execute(AmxOperation operation, int tile = 0, int left = 0, int right = 0, const void *memory = nullptr,
                      uint64_t stride = 0) {
    AmxInstruction what = {};
    what.operation = operation, what.tile = tile, what.left = left, what.right = right;
    what.address = addressOf(memory), what.stride = stride;
    const char *why = amxExecute(&state, &what);
    return why ? why : "";
  }
  std::string configure(const std::vector<uint8_t> &config) { return execute(AMX_LDTILECFG, 0, 0, 0, config.data()); }

  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> all(count);
    for (uint8_t &byte : all) {
      byte = uint8_t(random());
    }
    return all;
  }
};

TEST_F(Tiles, ProductsOfBytes) {
  struct Case {
    AmxOperation operation;
    bool leftSigned, rightSigned;
  };
  for (Case c : {Case{AMX_TDPBSSD, true, true}, Case{AMX_TDPBSUD, true, false}, Case{AMX_TDPBUSD, false, true},
                 Case{AMX_TDPBUUD, false, false}}) {
    for (auto [m, n, k] : {std::array{16, 16, 16}, {1, 1, 1}, {7, 13, 5}, {16, 1, 16}, {3, 16, 11}}) {
      ASSERT_EQ(configure(configOf({{m, 4 * n}, {m, 4 * k}, {k, 4 * n}})), "");
      size_t rowA = 70, rowB = 81, rowC = 96;
      std::vector<uint8_t> a = bytes(rowA * m), b = bytes(rowB * k), sums = bytes(rowC * m), to(rowC * m);
      ASSERT_EQ(execute(AMX_TILELOADD, 0, 0, 0, sums.data(), rowC), "");
      ASSERT_EQ(execute(AMX_TILELOADD, 1, 0, 0, a.data(), rowA), "");
      ASSERT_EQ(execute(AMX_TILELOADD, 2, 0, 0, b.data(), rowB), "");
      ASSERT_EQ(execute(c.operation, 0, 1, 2), "");
      ASSERT_EQ(execute(AMX_TILESTORED, 0, 0, 0, to.data(), rowC), "");
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          int32_t before, got;
          std::memcpy(&before, &sums[i * rowC + 4 * j], 4), std::memcpy(&got, &to[i * rowC + 4 * j], 4);
          int64_t want = before;
          for (int d = 0; d < 4 * k; ++d) {
            int x = a[i * rowA + d], y = b[d / 4 * rowB + 4 * j + d % 4];
            want += int64_t(c.leftSigned && x > 127 ? x - 256 : x) * (c.rightSigned && y > 127 ? y - 256 : y);
          }
          EXPECT_EQ(got, int32_t(uint32_t(want))) << amxName(c.operation) << ' ' << m << 'x' << n << 'x' << k;
        }
      }
    }
  }
}

TEST_F(Tiles, ProductsOfBf16) {
  auto half = [&](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return uint16_t(bits >> 16);
  };
  std::uniform_real_distribution<float> numbers(-2, 2);
  int m = 9, n = 5, k = 13;
  ASSERT_EQ(configure(configOf({{m, 4 * n}, {m, 4 * k}, {k, 4 * n}})), "");
  std::vector<uint16_t> a(2 * k * m), b(2 * n * k);
  for (std::vector<uint16_t> *all : {&a, &b}) {
    for (uint16_t &value : *all) {
      value = half(numbers(random));
    }
  }
  a[3] = 1; // a denormal number counts as zero, and its product with infinity is none
  b[0] = half(INFINITY), a[2 * k] = half(0);
  std::vector<float> sums(m * n);
  ASSERT_EQ(execute(AMX_TILEZERO, 0), "");
  ASSERT_EQ(execute(AMX_TILELOADD, 1, 0, 0, a.data(), 4 * k), "");
  ASSERT_EQ(execute(AMX_TILELOADD, 2, 0, 0, b.data(), 4 * n), "");
  ASSERT_EQ(execute(AMX_TDPBF16PS, 0, 1, 2), "");
  ASSERT_EQ(execute(AMX_TILESTORED, 0, 0, 0, sums.data(), 4 * n), "");
  auto wide = [](uint16_t value) {
    uint32_t bits = uint32_t(value) << 16;
    float result;
    std::memcpy(&result, &bits, 4);
    return double(result);
  };
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int d = 0; d < 2 * k; ++d) {
        want += wide(a[i * 2 * k + d]) * wide(b[d / 2 * 2 * n + 2 * j + d % 2]);
      }
      if (std::isfinite(want)) {
        EXPECT_NEAR(sums[i * n + j], want, 1e-5) << i << ' ' << j;
      } else {
        EXPECT_TRUE(std::isnan(want) ? std::isnan(sums[i * n + j]) : sums[i * n + j] == want) << i << ' ' << j;
      }
    }
  }
}

TEST_F(Tiles, RowsBehindTheLastOneAreZero) {
  std::vector<uint8_t> ones(16 * 64, 0xff), zeros(64);
  std::vector<uint8_t> config = configOf({{3, 12}, {16, 64}});
  ASSERT_EQ(configure(config), "");
  std::memset(state.data, 0x55, sizeof(state.data));
  ASSERT_EQ(execute(AMX_TILELOADD, 0, 0, 0, ones.data(), 64), "");
  EXPECT_EQ(std::memcmp(state.data[0][2], ones.data(), 12), 0);
  EXPECT_EQ(std::memcmp(state.data[0][2] + 12, zeros.data(), 52), 0);
  EXPECT_EQ(std::memcmp(state.data[0][3], zeros.data(), 64), 0);
  std::vector<uint8_t> saved(64, 1);
  ASSERT_EQ(execute(AMX_STTILECFG, 0, 0, 0, saved.data()), "");
  EXPECT_EQ(saved, config);
  ASSERT_EQ(execute(AMX_TILERELEASE), "");
  ASSERT_EQ(execute(AMX_STTILECFG, 0, 0, 0, saved.data()), "");
  EXPECT_EQ(saved, zeros);
}

TEST_F(Tiles, RefusesConfigurations) {
  auto refused = [&](size_t at, int value) {
    std::vector<uint8_t> config = configOf({{16, 64}, {16, 64}});
    config[at] = uint8_t(value);
    std::string why = configure(config);
    return why;
  };
  EXPECT_NE(refused(0, 2).find("#GP"), std::string::npos);
  EXPECT_NE(refused(2, 1).find("reserved"), std::string::npos);
  EXPECT_NE(refused(48 + 8, 1).find("palette does not have"), std::string::npos);
  EXPECT_NE(refused(16, 65).find("larger"), std::string::npos);
  EXPECT_NE(refused(17, 1).find("larger"), std::string::npos);
  EXPECT_NE(refused(48, 17).find("larger"), std::string::npos);
  EXPECT_NE(refused(48, 0).find("no columns"), std::string::npos);
  EXPECT_NE(refused(16, 0).find("no columns"), std::string::npos);
  EXPECT_EQ(state.palette, 0) << "a refused configuration changes nothing";
}

TEST_F(Tiles, RefusesUses) {
  std::vector<uint8_t> memory(1024);
  auto load = [&](int tile) { return execute(AMX_TILELOADD, tile, 0, 0, memory.data(), 64); };
  EXPECT_EQ(load(0), "#UD: no tiles are configured");
  EXPECT_EQ(execute(AMX_TILEZERO, 0), "#UD: no tiles are configured");
  ASSERT_EQ(configure(configOf({{16, 64}, {16, 64}, {16, 64}, {15, 64}, {16, 60}, {16, 62}})), "");
  EXPECT_EQ(load(6), "#UD: this tile is not configured");
  EXPECT_EQ(load(5), "");
  EXPECT_EQ(execute(AMX_TDPBUSD, 0, 1, 2), "");
  EXPECT_NE(execute(AMX_TDPBUSD, 0, 1, 1).find("the same"), std::string::npos);
  EXPECT_NE(execute(AMX_TDPBUSD, 0, 0, 1).find("the same"), std::string::npos);
  EXPECT_NE(execute(AMX_TDPBUSD, 3, 1, 2).find("do not fit"), std::string::npos) << "rows of the sums";
  EXPECT_NE(execute(AMX_TDPBUSD, 4, 1, 2).find("do not fit"), std::string::npos) << "columns of the sums";
  EXPECT_NE(execute(AMX_TDPBUSD, 0, 4, 2).find("do not fit"), std::string::npos) << "columns and rows of the factors";
  EXPECT_NE(execute(AMX_TDPBUSD, 0, 5, 2).find("multiple of 4"), std::string::npos);
  state.start_row = 16;
  EXPECT_NE(load(0).find("#GP"), std::string::npos);
}

/// What llvm-mc makes of the text behind each.
TEST(Decoding, Encodings) {
  struct Case {
    std::vector<uint8_t> code;
    AmxOperation operation;
    int tile, left, right;
    uint64_t address, stride;
  };
  uint64_t registers[16];
  for (int i = 0; i < 16; ++i) {
    registers[i] = uint64_t(i + 1) << 32;
  }
  auto at = [&](int i) { return registers[i]; };
  const Case cases[] = {
      {{0xc4, 0xe2, 0x78, 0x49, 0x07}, AMX_LDTILECFG, 0, 0, 0, at(7), 0},                          // (%rdi)
      {{0xc4, 0xe2, 0x78, 0x49, 0x44, 0x24, 0x40}, AMX_LDTILECFG, 0, 0, 0, at(4) + 64, 0},         // 64(%rsp)
      {{0xc4, 0xc2, 0x79, 0x49, 0x44, 0x24, 0x40}, AMX_STTILECFG, 0, 0, 0, at(12) + 64, 0},        // 64(%r12)
      {{0xc4, 0xe2, 0x78, 0x49, 0xc0}, AMX_TILERELEASE, 0, 0, 0, 0, 0},                            //
      {{0xc4, 0xe2, 0x7b, 0x49, 0xf8}, AMX_TILEZERO, 7, 0, 0, 0, 0},                               // %tmm7
      {{0xc4, 0xa2, 0x7b, 0x4b, 0x1c, 0x0e}, AMX_TILELOADD, 3, 0, 0, at(6), at(9)},                // (%rsi,%r9), %tmm3
      {{0xc4, 0xa2, 0x7b, 0x4b, 0x5c, 0x8e, 0x10}, AMX_TILELOADD, 3, 0, 0, at(6) + 16, 4 * at(9)}, // 16(%rsi,%r9,4)
      {{0xc4, 0xc2, 0x79, 0x4b, 0x9c, 0x45, 0xe8, 0x03, 0, 0}, AMX_TILELOADD, 3, 0, 0, at(13) + 1000, 2 * at(0)}, // t1
      {{0xc4, 0xa2, 0x7b, 0x4b, 0x34, 0x3d, 0, 0x10, 0, 0}, AMX_TILELOADD, 6, 0, 0, 4096, at(15)}, // 4096(,%r15)
      {{0xc4, 0xc2, 0x7a, 0x4b, 0x2c, 0x08}, AMX_TILESTORED, 5, 0, 0, at(8), at(1)},               // %tmm5, (%r8,%rcx)
      {{0xc4, 0xe2, 0x59, 0x5e, 0xf5}, AMX_TDPBUSD, 6, 5, 4, 0, 0}, // %tmm4, %tmm5, %tmm6
      {{0xc4, 0xe2, 0x5b, 0x5e, 0xf5}, AMX_TDPBSSD, 6, 5, 4, 0, 0},
      {{0xc4, 0xe2, 0x5a, 0x5e, 0xf5}, AMX_TDPBSUD, 6, 5, 4, 0, 0},
      {{0xc4, 0xe2, 0x58, 0x5e, 0xf5}, AMX_TDPBUUD, 6, 5, 4, 0, 0},
      {{0xc4, 0xe2, 0x5a, 0x5c, 0xf5}, AMX_TDPBF16PS, 6, 5, 4, 0, 0},
  };
  for (const Case &c : cases) {
    AmxInstruction got = {};
    ASSERT_TRUE(amxDecode(c.code.data(), registers, &got)) << amxName(c.operation);
    EXPECT_EQ(got.operation, c.operation);
    EXPECT_EQ(got.length, int(c.code.size())) << amxName(c.operation);
    if (c.operation != AMX_LDTILECFG && c.operation != AMX_STTILECFG && c.operation != AMX_TILERELEASE) {
      EXPECT_EQ(got.tile, c.tile) << amxName(c.operation);
    }
    if (c.operation >= AMX_TDPBSSD) {
      EXPECT_EQ(got.left, c.left);
      EXPECT_EQ(got.right, c.right);
    } else if (c.operation != AMX_TILERELEASE && c.operation != AMX_TILEZERO) {
      EXPECT_EQ(got.address, c.address) << amxName(c.operation);
    }
    if (c.operation == AMX_TILELOADD || c.operation == AMX_TILESTORED) {
      EXPECT_EQ(got.stride, c.stride) << amxName(c.operation);
    }
  }
  AmxInstruction got;
  const uint8_t relative[] = {0xc4, 0xe2, 0x78, 0x49, 0x05, 0x10, 0, 0, 0}; // ldtilecfg 16(%rip)
  ASSERT_TRUE(amxDecode(relative, registers, &got));
  EXPECT_EQ(got.address, addressOf(relative) + sizeof(relative) + 16);
}

TEST(Decoding, OtherInstructions) {
  const uint64_t registers[16] = {};
  const std::vector<uint8_t> others[] = {
      {0x0f, 0x0b, 0, 0, 0},                // ud2
      {0xc4, 0xe2, 0x7c, 0x49, 0x07},       // 256 bits
      {0xc4, 0xe2, 0xf8, 0x49, 0x07},       // W1
      {0xc4, 0xe1, 0x78, 0x49, 0x07},       // 0F
      {0xc4, 0x62, 0x7b, 0x49, 0xf8},       // tile 15
      {0xc4, 0xe2, 0x7b, 0x4b, 0x1e, 0, 0}, // no SIB byte
      {0xc4, 0xe2, 0x19, 0x5e, 0xf5},       // the third tile is 12
      {0xc4, 0xe2, 0x5b, 0x5c, 0xf5},       // tdpfp16ps: of later machines
  };
  AmxInstruction got;
  for (const std::vector<uint8_t> &code : others) {
    EXPECT_FALSE(amxDecode(code.data(), registers, &got)) << int(code[2]);
  }
}

} // namespace
