// mma.sync: the lanes of a warp hold parts of the matrices A (16 rows), B (8 columns) and C, and get those of A * B +
// C. Which lane has what is PTX's description of the shapes m16n8kK, of which m8n8kK has the even registers of A and
// the first two elements of C: with g = lane / 4 and q = lane % 4, registers hold elements that are next to each other
// along k, `perRegister` of them, and
//
//   A   register r is of row g + 8 * (r % 2), along k from (4 * (r / 2) + q) * perRegister
//   B   register r is of column g, along k from (4 * r + q) * perRegister
//   C   element e is of row g + 8 * (e / 2), column 2 * q + e % 2
//
// Sums are exact within a step, as far as doubles are, and rounded at its end: tensor cores round otherwise, and not
// all of them alike.
#include "Emulator.h"
#include <bit>
#include <cstring>
#include <immintrin.h>

namespace ingot::emulator {
namespace {

constexpr int columns = 8;

float halfOf(uint16_t bits) { return _cvtsh_ss(bits); }
uint16_t halfBitsOf(float value) { return uint16_t(_cvtss_sh(value, 0)); }

struct Half {
  static constexpr int perRegister = 2;
  static double element(uint32_t bits, int i) { return halfOf(uint16_t(bits >> 16 * i)); }
};
struct BFloat {
  static constexpr int perRegister = 2;
  static double element(uint32_t bits, int i) { return std::bit_cast<float>((bits >> 16 * i & 0xFFFF) << 16); }
};
struct TFloat { // floats, of which the lowest 13 bits are not looked at
  static constexpr int perRegister = 1;
  static double element(uint32_t bits, int) { return std::bit_cast<float>(bits & ~0x1FFFu); }
};
struct Signed {
  static constexpr int perRegister = 4;
  static int64_t element(uint32_t bits, int i) { return int8_t(bits >> 8 * i); }
};
struct Unsigned {
  static constexpr int perRegister = 4;
  static int64_t element(uint32_t bits, int i) { return uint8_t(bits >> 8 * i); }
};

/// Reads and writes element `e` of registers, which need not be aligned.
template <typename T> T get(const void *registers, int e) {
  T value;
  std::memcpy(&value, static_cast<const T *>(registers) + e, sizeof value);
  return value;
}
template <typename T> void set(void *registers, int e, T value) {
  std::memcpy(static_cast<T *>(registers) + e, &value, sizeof value);
}

struct Floats { // C and D
  using Sum = double;
  static double get(const void *registers, int e) { return emulator::get<float>(registers, e); }
  static void set(void *registers, int e, double sum) { emulator::set(registers, e, float(sum)); }
};
struct Halves {
  using Sum = double;
  static double get(const void *registers, int e) { return halfOf(emulator::get<uint16_t>(registers, e)); }
  static void set(void *registers, int e, double sum) { emulator::set(registers, e, halfBitsOf(float(sum))); }
};
struct Integers {
  using Sum = int64_t;
  static int64_t get(const void *registers, int e) { return emulator::get<int32_t>(registers, e); }
  static void set(void *registers, int e, int64_t sum) { // modulo 2 to the 32nd
    emulator::set(registers, e, int32_t(uint32_t(sum)));
  }
};

struct Operands {
  uint32_t a[4], b[2], c[4];
};

template <class A, class B, class Sums, int k, int rows = 16> void multiply(Lanes &lanes) {
  using Sum = typename Sums::Sum;
  constexpr int per = A::perRegister, groups = k / (4 * per);
  static_assert(per == B::perRegister);
  Sum a[rows][k], b[columns][k];
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, q = lane % 4;
    const auto &own = *static_cast<const Operands *>(lanes.operands[lane]);
    for (int group = 0; group < groups; ++group) {
      for (int i = 0; i < per; ++i) {
        int at = (4 * group + q) * per + i;
        for (int row = g; row < rows; row += 8) {
          a[row][at] = A::element(own.a[2 * group + row / 8], i);
        }
        b[g][at] = B::element(own.b[group], i);
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, q = lane % 4;
    const auto &own = *static_cast<const Operands *>(lanes.operands[lane]);
    for (int e = 0; e < rows / 4; ++e) {
      int row = g + 8 * (e / 2), column = 2 * q + e % 2;
      Sum sum = Sums::get(own.c, e);
      for (int i = 0; i < k; ++i) {
        sum += a[row][i] * b[column][i];
      }
      Sums::set(lanes.results[lane], e, sum);
    }
  }
}

/// A register by its address: a pair of halves, or an integer.
uint32_t registerOf(const void *bits) {
  uint32_t value;
  std::memcpy(&value, bits, sizeof value);
  return value;
}

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

} // namespace
} // namespace ingot::emulator

using namespace ingot::emulator;

extern "C" {

#define MMA(name) ingot_emulated_llvm_nvvm_mma_##name

void MMA(m16n8k16_row_col_f32_f32)(void *result, const void *a0, const void *a1, const void *a2, const void *a3,
                                   const void *b0, const void *b1, float c0, float c1, float c2, float c3) {
  Operands all = {{registerOf(a0), registerOf(a1), registerOf(a2), registerOf(a3)},
                  {registerOf(b0), registerOf(b1)},
                  {bitsOf(c0), bitsOf(c1), bitsOf(c2), bitsOf(c3)}};
  together("mma.m16n8k16.f32.f16", multiply<Half, Half, Floats, 16>, ~0u, &all, result);
}
void MMA(m16n8k8_row_col_f32_f32)(void *result, const void *a0, const void *a1, const void *b0, float c0, float c1,
                                  float c2, float c3) {
  Operands all = {{registerOf(a0), registerOf(a1)}, {registerOf(b0)}, {bitsOf(c0), bitsOf(c1), bitsOf(c2), bitsOf(c3)}};
  together("mma.m16n8k8.f32.f16", multiply<Half, Half, Floats, 8>, ~0u, &all, result);
}
void MMA(m16n8k16_row_col_f16_f16)(void *result, const void *a0, const void *a1, const void *a2, const void *a3,
                                   const void *b0, const void *b1, const void *c0, const void *c1) {
  Operands all = {{registerOf(a0), registerOf(a1), registerOf(a2), registerOf(a3)},
                  {registerOf(b0), registerOf(b1)},
                  {registerOf(c0), registerOf(c1)}};
  together("mma.m16n8k16.f16.f16", multiply<Half, Half, Halves, 16>, ~0u, &all, result);
}
void MMA(m16n8k8_row_col_f16_f16)(void *result, const void *a0, const void *a1, const void *b0, const void *c0,
                                  const void *c1) {
  Operands all = {{registerOf(a0), registerOf(a1)}, {registerOf(b0)}, {registerOf(c0), registerOf(c1)}};
  together("mma.m16n8k8.f16.f16", multiply<Half, Half, Halves, 8>, ~0u, &all, result);
}

// Operands of these are integers, whatever they hold.
#define MMA_WIDE(name, C, bits, operation)                                                                             \
  void MMA(name)(void *result, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1, C c0,     \
                 C c1, C c2, C c3) {                                                                                   \
    Operands all = {{a0, a1, a2, a3}, {b0, b1}, {bits(c0), bits(c1), bits(c2), bits(c3)}};                             \
    together("mma." #name, operation, ~0u, &all, result);                                                              \
  }
#define MMA_NARROW(name, C, bits, operation)                                                                           \
  void MMA(name)(void *result, uint32_t a0, uint32_t a1, uint32_t b0, C c0, C c1, C c2, C c3) {                        \
    Operands all = {{a0, a1}, {b0}, {bits(c0), bits(c1), bits(c2), bits(c3)}};                                         \
    together("mma." #name, operation, ~0u, &all, result);                                                              \
  }
MMA_WIDE(m16n8k16_row_col_bf16, float, bitsOf, (multiply<BFloat, BFloat, Floats, 16>))
MMA_NARROW(m16n8k8_row_col_bf16, float, bitsOf, (multiply<BFloat, BFloat, Floats, 8>))
MMA_WIDE(m16n8k8_row_col_tf32, float, bitsOf, (multiply<TFloat, TFloat, Floats, 8>))
MMA_NARROW(m16n8k4_row_col_tf32, float, bitsOf, (multiply<TFloat, TFloat, Floats, 4>))
MMA_WIDE(m16n8k32_row_col_s8, int32_t, uint32_t, (multiply<Signed, Signed, Integers, 32>))
MMA_WIDE(m16n8k32_row_col_u8, int32_t, uint32_t, (multiply<Unsigned, Unsigned, Integers, 32>))
MMA_WIDE(m16n8k32_row_col_s8_u8, int32_t, uint32_t, (multiply<Signed, Unsigned, Integers, 32>))
MMA_WIDE(m16n8k32_row_col_u8_s8, int32_t, uint32_t, (multiply<Unsigned, Signed, Integers, 32>))
MMA_NARROW(m16n8k16_row_col_s8, int32_t, uint32_t, (multiply<Signed, Signed, Integers, 16>))
MMA_NARROW(m16n8k16_row_col_u8, int32_t, uint32_t, (multiply<Unsigned, Unsigned, Integers, 16>))
MMA_NARROW(m16n8k16_row_col_s8_u8, int32_t, uint32_t, (multiply<Signed, Unsigned, Integers, 16>))
MMA_NARROW(m16n8k16_row_col_u8_s8, int32_t, uint32_t, (multiply<Unsigned, Signed, Integers, 16>))

#define MMA_OF_8_ROWS(name, operation)                                                                                 \
  void MMA(name)(void *result, uint32_t a, uint32_t b, int32_t c0, int32_t c1) {                                       \
    Operands all = {{a}, {b}, {uint32_t(c0), uint32_t(c1)}};                                                           \
    together("mma." #name, operation, ~0u, &all, result);                                                              \
  }
MMA_OF_8_ROWS(m8n8k16_row_col_s8, (multiply<Signed, Signed, Integers, 16, 8>))
MMA_OF_8_ROWS(m8n8k16_row_col_u8, (multiply<Unsigned, Unsigned, Integers, 16, 8>))
MMA_OF_8_ROWS(m8n8k16_row_col_s8_u8, (multiply<Signed, Unsigned, Integers, 16, 8>))
MMA_OF_8_ROWS(m8n8k16_row_col_u8_s8, (multiply<Unsigned, Signed, Integers, 16, 8>))

} // extern "C"
