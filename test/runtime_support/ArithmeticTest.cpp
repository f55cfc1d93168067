// The functions of C compilers' libraries that objects without undefined symbols have (--symbols none): bit for bit
// what this host's instructions compute, but for the bits of NaNs.
#include "FloatBits.h"
#include <gtest/gtest.h>
#include <random>

// NOLINTBEGIN(readability-identifier-naming): the names of the ABIs
extern "C" {
uint32_t __aeabi_fadd(uint32_t, uint32_t), __aeabi_fsub(uint32_t, uint32_t), __aeabi_fmul(uint32_t, uint32_t),
    __aeabi_fdiv(uint32_t, uint32_t), __addsf3(uint32_t, uint32_t), __subsf3(uint32_t, uint32_t),
    __mulsf3(uint32_t, uint32_t), __divsf3(uint32_t, uint32_t);
int32_t __aeabi_fcmpeq(uint32_t, uint32_t), __aeabi_fcmplt(uint32_t, uint32_t), __aeabi_fcmple(uint32_t, uint32_t),
    __aeabi_fcmpge(uint32_t, uint32_t), __aeabi_fcmpgt(uint32_t, uint32_t), __aeabi_fcmpun(uint32_t, uint32_t),
    __eqsf2(uint32_t, uint32_t), __nesf2(uint32_t, uint32_t), __ltsf2(uint32_t, uint32_t), __lesf2(uint32_t, uint32_t),
    __gtsf2(uint32_t, uint32_t), __gesf2(uint32_t, uint32_t), __unordsf2(uint32_t, uint32_t);
int32_t __aeabi_f2iz(uint32_t), __fixsfsi(uint32_t);
uint32_t __aeabi_f2uiz(uint32_t), __fixunssfsi(uint32_t), __aeabi_i2f(int32_t), __floatsisf(int32_t),
    __aeabi_ui2f(uint32_t), __floatunsisf(uint32_t);
uint32_t __aeabi_uidiv(uint32_t, uint32_t);
int32_t __aeabi_idiv(int32_t, int32_t);
uint64_t __aeabi_uidivmod(uint32_t, uint32_t), __aeabi_idivmod(int32_t, int32_t), __aeabi_lmul(uint64_t, uint64_t),
    __aeabi_llsl(uint64_t, int32_t), __aeabi_llsr(uint64_t, int32_t), __ashldi3(uint64_t, int32_t),
    __lshrdi3(uint64_t, int32_t);
int64_t __aeabi_lasr(int64_t, int32_t), __ashrdi3(int64_t, int32_t);
int32_t __clzsi2(uint32_t);
}
// NOLINTEND(readability-identifier-naming)

namespace {

constexpr int kCases = 200'000;

class Draw {
public:
  uint32_t any() { return static_cast<uint32_t>(engine()); }
  uint32_t integer() { return any() >> any() % 32; }

  /// Returns the bits of a float: any, one of ends and neighbours, or one near another.
  uint32_t number() {
    static const uint32_t special[] = {0,          1,          0x7fffff,   0x800000,   0x3f800000, 0x7f7fffff,
                                       0x7f800000, 0x7fc00000, 0x4f000000, 0x4f800000, 0x3f7fffff};
    switch (any() % 4) {
    case 0:
      return special[any() % std::size(special)] | (any() & 1) << 31;
    case 1:
      return last = (last & 0xff800000) + (any() & 0xffffff);
    case 2:
      return last ^ (1U << any() % 32);
    default:
      return last = any();
    }
  }

private:
  std::mt19937 engine{1};
  uint32_t last = 0x3f800000;
};

TEST(Arithmetic, Floats) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint32_t a = draw.number(), b = draw.number();
    float x = floatOf(a), y = floatOf(b);
    ASSERT_EQ(canonical(__aeabi_fadd(a, b)), canonical(bitsOf(x + y))) << std::hex << a << ' ' << b;
    ASSERT_EQ(canonical(__aeabi_fsub(a, b)), canonical(bitsOf(x - y))) << std::hex << a << ' ' << b;
    ASSERT_EQ(canonical(__aeabi_fmul(a, b)), canonical(bitsOf(x * y))) << std::hex << a << ' ' << b;
    ASSERT_EQ(canonical(__aeabi_fdiv(a, b)), canonical(bitsOf(x / y))) << std::hex << a << ' ' << b;
    ASSERT_EQ(__addsf3(a, b), __aeabi_fadd(a, b));
    ASSERT_EQ(__subsf3(a, b), __aeabi_fsub(a, b));
    ASSERT_EQ(__mulsf3(a, b), __aeabi_fmul(a, b));
    ASSERT_EQ(__divsf3(a, b), __aeabi_fdiv(a, b));
  }
}

TEST(Arithmetic, Comparisons) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint32_t a = draw.number(), b = i % 8 ? draw.number() : a;
    float x = floatOf(a), y = floatOf(b);
    ASSERT_EQ(__aeabi_fcmpeq(a, b), x == y);
    ASSERT_EQ(__aeabi_fcmplt(a, b), x < y);
    ASSERT_EQ(__aeabi_fcmple(a, b), x <= y);
    ASSERT_EQ(__aeabi_fcmpge(a, b), x >= y);
    ASSERT_EQ(__aeabi_fcmpgt(a, b), x > y);
    ASSERT_EQ(__aeabi_fcmpun(a, b), std::isunordered(x, y));
    ASSERT_EQ(__eqsf2(a, b) == 0, x == y);
    ASSERT_EQ(__nesf2(a, b) != 0, x != y);
    ASSERT_EQ(__ltsf2(a, b) < 0, x < y);
    ASSERT_EQ(__lesf2(a, b) <= 0, x <= y);
    ASSERT_EQ(__gtsf2(a, b) > 0, x > y);
    ASSERT_EQ(__gesf2(a, b) >= 0, x >= y);
    ASSERT_EQ(__unordsf2(a, b) != 0, std::isunordered(x, y));
  }
}

TEST(Arithmetic, Conversions) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint32_t n = draw.integer(), a = draw.number();
    float x = floatOf(a);
    ASSERT_EQ(__aeabi_ui2f(n), bitsOf(static_cast<float>(n))) << n;
    ASSERT_EQ(__aeabi_i2f(static_cast<int32_t>(n)), bitsOf(static_cast<float>(static_cast<int32_t>(n)))) << n;
    int64_t low = std::isnan(x) ? 0 : x <= -0x1p31F ? INT32_MIN : x >= 0x1p31F ? INT32_MAX : static_cast<int64_t>(x);
    int64_t whole = std::isnan(x) || x <= 0 ? 0 : x >= 0x1p32F ? UINT32_MAX : static_cast<int64_t>(x);
    ASSERT_EQ(__aeabi_f2iz(a), low) << x;
    ASSERT_EQ(__aeabi_f2uiz(a), whole) << x;
    ASSERT_EQ(__fixsfsi(a), __aeabi_f2iz(a));
    ASSERT_EQ(__fixunssfsi(a), __aeabi_f2uiz(a));
    ASSERT_EQ(__floatsisf(static_cast<int32_t>(n)), __aeabi_i2f(static_cast<int32_t>(n)));
    ASSERT_EQ(__floatunsisf(n), __aeabi_ui2f(n));
  }
}

TEST(Arithmetic, Integers) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint32_t a = draw.integer(), b = draw.integer() | (i % 2 ? 1 : 0);
    b = b ? b : 7;
    auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
    x = x == INT32_MIN && y == -1 ? 1 : x;
    ASSERT_EQ(__aeabi_uidiv(a, b), a / b);
    ASSERT_EQ(__aeabi_uidivmod(a, b), static_cast<uint64_t>(a % b) << 32 | a / b);
    ASSERT_EQ(__aeabi_idiv(x, y), x / y);
    ASSERT_EQ(__aeabi_idivmod(x, y),
              static_cast<uint64_t>(static_cast<uint32_t>(x % y)) << 32 | static_cast<uint32_t>(x / y));
    uint64_t wide = static_cast<uint64_t>(draw.any()) << 32 | draw.any(), other = static_cast<uint64_t>(a) << 32 | b;
    auto count = static_cast<int32_t>(draw.any() % 64);
    ASSERT_EQ(__aeabi_lmul(wide, other), wide * other);
    ASSERT_EQ(__aeabi_llsl(wide, count), wide << count) << count;
    ASSERT_EQ(__aeabi_llsr(wide, count), wide >> count) << count;
    ASSERT_EQ(__aeabi_lasr(static_cast<int64_t>(wide), count), static_cast<int64_t>(wide) >> count) << count;
    ASSERT_EQ(__ashldi3(wide, count), wide << count);
    ASSERT_EQ(__lshrdi3(wide, count), wide >> count);
    ASSERT_EQ(__ashrdi3(static_cast<int64_t>(wide), count), static_cast<int64_t>(wide) >> count);
    ASSERT_EQ(__clzsi2(a), a ? __builtin_clz(a) : 32);
  }
}

} // namespace
