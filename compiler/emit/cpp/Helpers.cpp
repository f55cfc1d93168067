// Has the table of helpers. Its rows stand in an order in which each comes behind those that it needs, so that text()
// writes those that are used in the order of the table and needs no other.
//
//   {"absolute$", "", "... $ ..."}     one for each width: use("absolute64") writes it with 64 in the place of $
//   {"at_$", "", ...}                  one for each type of elements: use("at_f32")
//
// A helper defines what the IR defines and C++ leaves undefined, such as conversions of numbers that do not fit and
// maximums of NaN, or gives the C++ compiler a fact by which it generates better code.
#include "compiler/emit/cpp/Helpers.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace {

/// A helper. `needs` are other rows, with blanks between; `$` in a row's name and text stands for what its user has put
/// there: the bits of an integer, or the name of an element type.
struct Row {
  const char *name, *needs, *text;
  bool math = false;
};

constexpr Row rows[] = {
    {"INGOT_INLINE", "", R"(
/// No vector is handed over where processors differ in how they do that.
#if defined(__GNUC__)
#define INGOT_INLINE inline __attribute__((__always_inline__))
#else
#define INGOT_INLINE inline
#endif
)"},
    {"INGOT_LANES", "", R"(
/// In front of a loop over the lanes of vectors: g++ is to make vectors of it, and not to unroll it before that.
#if defined(__GNUC__) && !defined(__clang__)
#define INGOT_LANES _Pragma("GCC unroll 1")
#else
#define INGOT_LANES
#endif
)"},
    {"INGOT_WHOLE", "", R"(
/// In front of a short loop whose lanes a branch asks for: clang++ would unroll it, and then make no vectors.
#if defined(__clang__)
#define INGOT_WHOLE _Pragma("clang loop unroll(disable) ")
#elif defined(__GNUC__)
#define INGOT_WHOLE _Pragma("GCC unroll 1")
#else
#define INGOT_WHOLE
#endif
)"},
    {"raw", "", R"(
/// The caller's memory.
inline u8 *raw(const void *memory) { return static_cast<u8 *>(const_cast<void *>(memory)); }
)"},
    {"at_$", "", R"(
inline $ *at_$(u8 *memory, uint64_t offset) { return reinterpret_cast<$ *>(memory + offset); }
)"},
    {"addressOf", "", R"(
inline uint64_t addressOf(const void *memory) { return reinterpret_cast<uintptr_t>(memory); }
)"},
    {"toBits32", "", R"(
inline uint32_t toBits32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
)"},
    {"toBits64", "", R"(
inline uint64_t toBits64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
)"},
    {"fromBits32", "", R"(
inline float fromBits32(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
)"},
    {"fromBits64", "", R"(
inline double fromBits64(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
)"},
    {"fromFloat16", "fromBits32", R"(
/// A 16-bit float with 5 bits of exponent.
inline float fromFloat16(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) { // infinite or NaN
    return fromBits32(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  }
  const float magnitude = rest < 0x400 ? float(rest) * 0x1p-24f : fromBits32((rest << 13) + 0x38000000);
  return sign ? -magnitude : magnitude;
}
)"},
    {"toFloat16", "toBits64", R"(
/// The nearest 16-bit float, of two the even one.
inline uint16_t toFloat16(double value) {
  const uint64_t bits = toBits64(value), rest = bits & 0x7fffffffffffffff;
  const uint16_t sign = uint16_t(bits >> 48 & 0x8000);
  if (rest > 0x7ff0000000000000) {
    return uint16_t(sign | 0x7e00 | (rest >> 42 & 0x3ff));
  }
  const int exponent = int(rest >> 52) - 1023;
  if (exponent > 15) {
    return uint16_t(sign | 0x7c00);
  }
  if (exponent < -25) {
    return sign;
  }
  const int dropped = exponent < -14 ? 28 - exponent : 42; // of the 53 bits of the mantissa
  const uint64_t mantissa = (rest & 0xfffffffffffff) | 0x10000000000000;
  uint64_t kept = mantissa >> dropped;
  const uint64_t lost = mantissa & ((uint64_t(1) << dropped) - 1), half = uint64_t(1) << (dropped - 1);
  kept += lost > half || (lost == half && (kept & 1));
  return uint16_t(sign | (exponent < -14 ? kept : kept + (uint64_t(exponent + 14) << 10)));
}
)"},
    {"fromBfloat16", "fromBits32", R"(
inline float fromBfloat16(uint16_t half) { return fromBits32(uint32_t(half) << 16); }
)"},
    {"toBfloat16", "toBits32", R"(
/// The upper half of a float, rounded.
inline uint16_t toBfloat16(float value) {
  const uint32_t bits = toBits32(value);
  return uint16_t(value != value ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
)"},
    {"maxSigned$", "", R"(
inline uint$_t maxSigned$(uint$_t a, uint$_t b) { return int$_t(a) > int$_t(b) ? a : b; }
)"},
    {"minSigned$", "", R"(
inline uint$_t minSigned$(uint$_t a, uint$_t b) { return int$_t(a) < int$_t(b) ? a : b; }
)"},
    {"maxUnsigned$", "", R"(
inline uint$_t maxUnsigned$(uint$_t a, uint$_t b) { return a > b ? a : b; }
)"},
    {"minUnsigned$", "", R"(
inline uint$_t minUnsigned$(uint$_t a, uint$_t b) { return a < b ? a : b; }
)"},
    {"absolute$", "", R"(
inline uint$_t absolute$(uint$_t a) { return int$_t(a) < 0 ? uint$_t(-uint64_t(a)) : a; }
)"},
    {"highUnsigned", "", R"(
/// The upper half of a product.
inline uint64_t highUnsigned(uint64_t a, uint64_t b) {
  const uint64_t aLow = uint32_t(a), aHigh = a >> 32, bLow = uint32_t(b), bHigh = b >> 32;
  const uint64_t middle = aHigh * bLow + (aLow * bLow >> 32), other = aLow * bHigh + uint32_t(middle);
  return aHigh * bHigh + (middle >> 32) + (other >> 32);
}
)"},
    {"highSigned", "highUnsigned", R"(
inline uint64_t highSigned(uint64_t a, uint64_t b) {
  return highUnsigned(a, b) - (int64_t(a) < 0 ? b : 0) - (int64_t(b) < 0 ? a : 0);
}
)"},
    {"leadingZeros$", "", R"(
inline uint$_t leadingZeros$(uint$_t a) {
  uint$_t count = $;
  for (; a; a = uint$_t(a >> 1)) {
    --count;
  }
  return count;
}
)"},
    {"trailingZeros$", "", R"(
inline uint$_t trailingZeros$(uint$_t a) {
  uint$_t count = 0;
  for (; count < $ && !(a >> count & 1); ++count) {
  }
  return count;
}
)"},
    {"ones$", "", R"(
inline uint$_t ones$(uint$_t a) {
  uint$_t count = 0;
  for (; a; a = uint$_t(a & (a - 1))) {
    ++count;
  }
  return count;
}
)"},
    {"toSigned64", "", R"(
/// Towards zero; what does not fit becomes the smallest number, as most processors have it.
template <typename Float> inline uint64_t toSigned64(Float a) {
  return a >= Float(-0x1p63) && a < Float(0x1p63) ? uint64_t(int64_t(a)) : uint64_t(1) << 63;
}
)"},
    {"toSigned32", "", R"(
/// Towards zero; what does not fit becomes the smallest number, as most processors have it.
template <typename Float> inline uint32_t toSigned32(Float a) {
  return double(a) > -2147483649.0 && double(a) < 2147483648.0 ? uint32_t(int32_t(a)) : uint32_t(1) << 31;
}
)"},
    {"toUnsigned64", "toSigned64", R"(
template <typename Float> inline uint64_t toUnsigned64(Float a) {
  return a < Float(0x1p63) ? toSigned64(a) : toSigned64(a - Float(0x1p63)) ^ uint64_t(1) << 63;
}
)"},
    {"maximum", "", R"(
/// NaN where an operand is; 0 is more than -0.
template <typename Float> inline Float maximum(Float a, Float b) {
  return a > b ? a : a < b ? b : a != b ? a + b : std::signbit(a) ? b : a;
}
)",
     true},
    {"minimum", "", R"(
/// NaN where an operand is; -0 is less than 0.
template <typename Float> inline Float minimum(Float a, Float b) {
  return a < b ? a : a > b ? b : a != b ? a + b : std::signbit(a) ? a : b;
}
)",
     true},
    {"atLeast", "", R"(
/// The larger one; NaN stays.
template <typename Float> inline Float atLeast(Float a, Float least) { return a <= least ? least : a; }
)"},
    {"atMost", "", R"(
/// The smaller one; NaN stays.
template <typename Float> inline Float atMost(Float a, Float most) { return a >= most ? most : a; }
)"},
    {"maxNumber", "", R"(
template <typename Float> inline Float maxNumber(Float a, Float b) { return a > b || b != b ? a : b; }
)"},
    {"minNumber", "", R"(
template <typename Float> inline Float minNumber(Float a, Float b) { return a < b || b != b ? a : b; }
)"},
    {"isOrdered", "", R"(
template <typename Float> inline bool isOrdered(Float a, Float b) { return a == a && b == b; }
)"},
    {"isOther", "", R"(
/// Unequal, and neither is NaN.
template <typename Float> inline bool isOther(Float a, Float b) { return a < b || a > b; }
)"},
    {"Lane", "", R"(
template <typename Vector> using Lane = std::remove_reference_t<decltype(std::declval<Vector &>()[0])>;
template <typename Vector> constexpr int lanes() { return sizeof(Vector) / sizeof(Lane<Vector>); }
)"},
    {"splat", "Lane", R"(
/// The same in all lanes.
template <typename Vector> INGOT_INLINE Vector splat(Lane<Vector> lane) { return lane - Vector{}; }
)"},
    {"load", "", R"(
template <typename Vector> INGOT_INLINE Vector load(const void *from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}
)"},
    {"store", "", R"(
template <typename Vector> INGOT_INLINE void store(const Vector &vector, void *to) {
  std::memcpy(to, &vector, sizeof(vector));
}
)"},
    {"eachLane", "Lane", R"(
template <typename To, typename From, typename Body> INGOT_INLINE To eachLane(const From &from, Body body) {
  To to = {};
  for (int i = 0; i < lanes<To>(); ++i) {
    to[i] = Lane<To>(body(from[i]));
  }
  return to;
}
)"},
    {"across", "Lane", R"(
/// From the first lane to the last.
template <typename Vector, typename Body> INGOT_INLINE Lane<Vector> across(const Vector &vector, Body body) {
  Lane<Vector> all = vector[0];
  for (int i = 1; i < lanes<Vector>(); ++i) {
    all = Lane<Vector>(body(all, vector[i]));
  }
  return all;
}
)"},
    {"withLane", "Lane", R"(
template <typename Vector> INGOT_INLINE Vector withLane(const Vector &others, uint64_t number, Lane<Vector> lane) {
  Vector vector = others;
  vector[number] = lane;
  return vector;
}
)"},
    {"loadSome", "Lane", R"(
/// Lanes whose mask is set; the others have what `others` has.
template <typename Element, typename Mask, typename Vector>
INGOT_INLINE Vector loadSome(const Element *from, const Mask &mask, const Vector &others) {
  Vector vector = others;
  for (int i = 0; i < lanes<Vector>(); ++i) {
    if (mask[i]) {
      vector[i] = from[i];
    }
  }
  return vector;
}
)"},
    {"storeSome", "Lane", R"(
template <typename Element, typename Mask, typename Vector>
INGOT_INLINE void storeSome(const Vector &vector, Element *to, const Mask &mask) {
  for (int i = 0; i < lanes<Vector>(); ++i) {
    if (mask[i]) {
      to[i] = vector[i];
    }
  }
}
)"},
    {"gather", "Lane", R"(
template <typename Element, typename Index, typename Mask, typename Vector>
INGOT_INLINE Vector gather(const Element *from, const Index &index, const Mask &mask, const Vector &others) {
  Vector vector = others;
  for (int i = 0; i < lanes<Vector>(); ++i) {
    if (mask[i]) {
      vector[i] = from[std::make_signed_t<Lane<Index>>(index[i])];
    }
  }
  return vector;
}
)"},
    {"scatter", "Lane", R"(
template <typename Element, typename Index, typename Mask, typename Vector>
INGOT_INLINE void scatter(const Vector &vector, Element *to, const Index &index, const Mask &mask) {
  for (int i = 0; i < lanes<Vector>(); ++i) {
    if (mask[i]) {
      to[std::make_signed_t<Lane<Index>>(index[i])] = vector[i];
    }
  }
}
)"},
    {"int16Dot2", "", R"(
/// Lane by lane the sum of two neighbouring products of 16-bit integers.
template <typename Sums, typename Vector> INGOT_INLINE Sums int16Dot2(const Vector &a, const Vector &b) {
  Sums sums;
  for (size_t i = 0; i < sizeof(Sums) / 4; ++i) {
    sums[i] = int32_t(int16_t(a[2 * i])) * int16_t(b[2 * i]) + int32_t(int16_t(a[2 * i + 1])) * int16_t(b[2 * i + 1]);
  }
  return sums;
}
)"},
    {"byteDot4", "", R"(
/// Adds to each lane four neighbouring products of unsigned by signed bytes.
template <typename Sums, typename Vector> INGOT_INLINE Sums byteDot4(Sums sums, const Vector &a, const Vector &b) {
  for (size_t i = 0; i < sizeof(Sums) / 4; ++i) {
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) {
      sums[i] += int32_t(uint8_t(a[k])) * int8_t(b[k]);
    }
  }
  return sums;
}
)"},
    {"larger", "", R"(
template <typename Vector> INGOT_INLINE Vector larger(const Vector &a, const Vector &b) { return a > b ? a : b; }
)"},
    {"smaller", "", R"(
template <typename Vector> INGOT_INLINE Vector smaller(const Vector &a, const Vector &b) { return a < b ? a : b; }
)"},
    {"maximumOf", "", R"(
/// NaN where an operand is; 0 is more than -0.
template <typename Bits, typename Vector> INGOT_INLINE Vector maximumOf(const Vector &a, const Vector &b) {
  return a > b ? a : a < b ? b : a != b ? a + b : (Vector)((Bits)a & (Bits)b);
}
)"},
    {"minimumOf", "", R"(
/// NaN where an operand is; -0 is less than 0.
template <typename Bits, typename Vector> INGOT_INLINE Vector minimumOf(const Vector &a, const Vector &b) {
  return a < b ? a : a > b ? b : a != b ? a + b : (Vector)((Bits)a | (Bits)b);
}
)"},
    {"magnitude", "", R"(
template <typename Bits, typename Vector> INGOT_INLINE Vector magnitude(const Vector &a) {
  return (Vector)((Bits)a << 1 >> 1);
}
)"},
    {"withSign", "magnitude", R"(
template <typename Bits, typename Vector> INGOT_INLINE Vector withSign(const Vector &a, const Vector &sign) {
  return (Vector)((Bits)magnitude<Bits>(a) | ((Bits)sign ^ (Bits)magnitude<Bits>(sign)));
}
)"},
    {"areOther", "", R"(
/// Unequal, and neither is NaN.
template <typename Vector> INGOT_INLINE auto areOther(const Vector &a, const Vector &b) { return (a < b) | (a > b); }
)"},
    {"areOrdered", "", R"(
template <typename Vector> INGOT_INLINE auto areOrdered(const Vector &a, const Vector &b) {
  return (a == a) & (b == b);
}
)"},
    {"rootOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector rootOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::sqrt(lane); });
}
)",
     true},
    {"floorOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector floorOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::floor(lane); });
}
)",
     true},
    {"ceilOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector ceilOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::ceil(lane); });
}
)",
     true},
    {"truncOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector truncOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::trunc(lane); });
}
)",
     true},
    {"roundOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector roundOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::round(lane); });
}
)",
     true},
    {"evenOf", "eachLane", R"(
template <typename Vector> INGOT_INLINE Vector evenOf(const Vector &a) {
  return eachLane<Vector>(a, [](auto lane) { return std::nearbyint(lane); });
}
)",
     true},
    {"overItems", "", R"(
/// Runs a kernel on all of its work items, on the threads that exec has; without any, here. 0, or what ended the run.
template <typename Body> inline int overItems(const ingot_exec *exec, uint64_t items, Body body) {
  if (!exec) {
    return int64_t(items) > 0 ? body(0, items) : 0;
  }
  auto call = [](void *kernel, int64_t begin, int64_t end) {
    return (*static_cast<Body *>(kernel))(uint64_t(begin), uint64_t(end));
  };
  return ingot_parallel_for(exec, call, &body, int64_t(items));
}
)"},
    {"memoryAt", "", R"(
inline u8 *memoryAt(uint64_t address) { return reinterpret_cast<u8 *>(uintptr_t(address)); }
)"},
    {"noteStatus", "memoryAt", R"(
/// Writes what a kernel has found wrong, if it is the first.
inline void noteStatus(uint32_t status, uint64_t place, uint64_t node) {
  u32 *const word = reinterpret_cast<u32 *>(memoryAt(place));
  if (status && !*word) {
    *word = status | uint32_t(node);
  }
}
)"},
};

/// Returns a row's name or text with its `$` filled in.
std::string filled(StringRef text, StringRef with) {
  std::string result;
  for (char c : text) {
    result += c == '$' ? with.str() : std::string(1, c);
  }
  return result;
}

/// Whether `name` means the row, and with which filling.
bool isMeant(const Row &row, StringRef name, StringRef &with) {
  auto [before, behind] = StringRef(row.name).split('$');
  bool open = StringRef(row.name).contains('$');
  with = name.substr(before.size());
  return open ? name.starts_with(before) && !with.empty() : name == row.name;
}

} // namespace

namespace ingot::emit::cpp {

std::string Helpers::use(StringRef name) {
  StringRef with;
  for (const Row &row : rows) {
    if (!isMeant(row, name, with)) {
      continue;
    }
    if (used.insert(name.str()).second) {
      math |= row.math;
      if (StringRef(row.text).contains("INGOT_INLINE ")) {
        use("INGOT_INLINE");
      }
      SmallVector<StringRef> needs;
      StringRef(row.needs).split(needs, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef need : needs) {
        use(need);
      }
    }
    return name.str();
  }
  llvm_unreachable("no such helper");
}

std::string Helpers::text() const {
  std::string all;
  StringRef with;
  for (const Row &row : rows) {
    for (const std::string &name : used) {
      if (isMeant(row, name, with)) {
        all += filled(row.text, with);
      }
    }
  }
  return all;
}

} // namespace ingot::emit::cpp
