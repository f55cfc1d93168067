// wgmma: four warps multiply factors that lie in the block's memory. Each warp has 16 of the 64 rows, and is asked by
// itself here; the accumulators of lane and number n are those of row lane / 4 + n % 4 / 2 * 8, column n / 4 * 8 + lane
// % 4 * 2 + n % 2.
//
// A product is under way until its group has been waited for. The registers hold no numbers until then, but a mark
// (bits of a NaN) that says which sums these will be; and what the factors had when the product began must be there
// when it ends. So a kernel that uses sums too early computes NaN, and one that overwrites a factor too early is found.
//
// A descriptor says where a factor lies, in units of 16 bytes: bits 0 to 13 where it begins (the lower 18 bits of the
// address), 16 to 29 the "leading" and 32 to 45 the "stride" offset; bits 62 and 63 how vectors of 16 bytes are
// swizzled, in rows of 128 (1), 64 (2) or 32 (3) bytes, or not at all (0, rows of 16 bytes). With r rows of b bytes in
// groups of eight, a vector is
//
//   along the depth  in row line % 8 of group line / 8; groups are `stride` apart. Without swizzle the second vector of
//                    a row is `leading` behind the first.
//   else             in row k % 8 of group k / 8; groups are `stride` apart, and b bytes of lines from the next ones
//                    `leading`. Without swizzle these two change places.
//
// and swizzling exchanges the vector's number in its row, bits 4 to 6 of the address, by the row's, bits 7 to 9.
#include "Emulator.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <immintrin.h>

namespace ingot::emulator {
namespace {

constexpr int warpRows = 16, vectorBytes = 16, stepBytes = 32; // a product has two vectors of each line
constexpr uint32_t markBits = 0x7FC00000, mostMarks = 0xFFF;   // no NaN that comes of float16 or bfloat16 has low bits

// These are the numbers of factors. All are exact in doubles.
struct Half {
  using Bits = uint16_t;
  static double of(Bits bits) { return _cvtsh_ss(bits); }
};
struct Brain {
  using Bits = uint16_t;
  static double of(Bits bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
struct Signed {
  using Bits = uint8_t;
  static double of(Bits bits) { return int8_t(bits); }
};
struct Unsigned {
  using Bits = uint8_t;
  static double of(Bits bits) { return bits; }
};

// These are sums, as registers have them.
struct Floats {
  static double of(uint32_t bits) { return std::bit_cast<float>(bits); }
  static uint32_t bitsOf(double sum) { return std::bit_cast<uint32_t>(float(sum)); }
};
struct Integers {
  static double of(uint32_t bits) { return int32_t(bits); }
  static uint32_t bitsOf(double sum) { return uint32_t(int64_t(sum)); } // modulo 2 to the 32nd
};

/// What of the block's memory a product reads.
struct Vector {
  const char *at;
  std::array<char, vectorBytes> bytes;
};
struct Product {
  std::vector<Vector> read;
  int32_t group;
};
/// The sums of all lanes, lane by lane.
struct Sums {
  std::vector<uint32_t> registers;
  int32_t group; // that adds to them last
};
struct Warp {
  std::vector<Product> products; // under way
  std::map<uint32_t, Sums> sums; // by the mark in the registers
  uint32_t marks = 0;
  int32_t groups = 0; // that have ended
  bool isFenced = false;
  int64_t count = 0; // of products
};
std::map<uint32_t, Warp> warps; // of this block

Warp &ownWarp() { return warps[numberOfThread() / 32]; }

/// A factor's descriptor, and whether its lines are contiguous.
class Factor {
public:
  Factor(uint64_t bits, bool areLinesContiguous)
      : begin(field(bits, 0)), leading(field(bits, 16)), stride(field(bits, 32)),
        rowBytes(std::array<uint64_t, 4>{16, 128, 64, 32}[bits >> 62]), areLinesContiguous(areLinesContiguous) {
    if (bits >> 49 & 7) {
      fault(LaunchFailed, "wgmma has a factor with a base offset, which the emulator does not know");
    }
  }

  /// Returns where a vector is: the first or second one of a line, or that with a line in step k.
  const char *vectorOf(uint64_t line, uint64_t k) const {
    uint64_t inRow = rowBytes / vectorBytes, offset = 0;
    if (!areLinesContiguous) {
      offset = line % 8 * rowBytes + line / 8 * stride + k * (rowBytes == 16 ? leading : vectorBytes);
    } else if (rowBytes == 16) {
      offset = k % 8 * rowBytes + k / 8 * leading + line / 8 * stride;
    } else {
      offset = k % 8 * rowBytes + k / 8 * stride + line / 8 % inRow * vectorBytes + line / 8 / inRow * leading;
    }
    uint64_t address = begin + offset;
    address ^= address >> 3 & (rowBytes - 16);
    auto base = reinterpret_cast<uintptr_t>(sharedOfThread());
    uint64_t place = (address - base) & window;
    if (place + vectorBytes > launchOfThread().sharedBytes) {
      fault(IllegalAddress, "wgmma reads at byte " + std::to_string(place) + " of the block's memory, which has " +
                                std::to_string(launchOfThread().sharedBytes));
    }
    return sharedOfThread() + place;
  }

  /// Reads so many lines from `first` on, into [line][step].
  template <class Number>
  void read(uint64_t first, int lines, std::vector<double> &to, Product &product, bool isCounted) const {
    using Bits = typename Number::Bits;
    constexpr int inVector = vectorBytes / sizeof(Bits), depth = stepBytes / sizeof(Bits);
    to.resize(size_t(lines) * depth);
    for (int line = 0; line < lines; line += areLinesContiguous ? inVector : 1) {
      for (int k = 0; k < (areLinesContiguous ? depth : 2); ++k) {
        Vector vector = {vectorOf(first + uint64_t(line), uint64_t(k)), {}};
        if (launchOfThread().isWatched) {
          watchTensorRead(vector.at, /*isDone=*/false);
        }
        std::memcpy(vector.bytes.data(), vector.at, vectorBytes);
        for (int i = 0; i < inVector; ++i) {
          int ownLine = areLinesContiguous ? line + i : line, ownStep = areLinesContiguous ? k : k * inVector + i;
          Bits bits;
          std::memcpy(&bits, &vector.bytes[size_t(i) * sizeof bits], sizeof bits);
          to[size_t(ownLine) * depth + size_t(ownStep)] = Number::of(bits);
        }
        product.read.push_back(vector);
      }
    }
    if (isCounted) {
      count(first, lines);
    }
  }

private:
  static constexpr uint64_t window = 0x3FFFF;
  uint64_t begin, leading, stride, rowBytes;
  bool areLinesContiguous;

  static uint64_t field(uint64_t bits, int at) { return (bits >> at & 0x3FFF) << 4; }

  /// The banks give eight vectors at a time: of eight lines, or of eight steps.
  void count(uint64_t first, int lines) const {
    for (uint64_t line = first; line < first + uint64_t(lines); line += 8) {
      for (uint64_t half = 0; half < 2; ++half) {
        const void *rows[8];
        for (uint64_t i = 0; i < 8; ++i) {
          rows[i] = areLinesContiguous ? vectorOf(line, half * 8 + i) : vectorOf(line + i, half);
        }
        countMatrix(rows);
      }
    }
  }
};

/// What an instruction gets: of floats with whether lines are contiguous.
template <int columns> struct OfFloats {
  uint64_t a, b;
  bool isSum;
  int32_t areLinesOfAContiguous, areLinesOfBContiguous;
  uint32_t sums[columns / 2];
};
template <int columns> struct OfBytes {
  uint64_t a, b;
  bool isSum;
  uint32_t sums[columns / 2];
  static constexpr int32_t areLinesOfAContiguous = 0, areLinesOfBContiguous = 0;
};

/// Takes the sums of a product, under a new mark where they are numbers.
template <class Operands> std::pair<const uint32_t, Sums> &sumsOf(Warp &warp, const Lanes &lanes, bool isSum) {
  Sums sums = {{}, 0};
  for (const void *each : lanes.operands) {
    const auto &own = static_cast<const Operands *>(each)->sums;
    sums.registers.insert(sums.registers.end(), std::begin(own), std::end(own));
  }
  uint32_t mark = sums.registers.front();
  if (auto found = warp.sums.find(mark); isSum && found != warp.sums.end()) {
    if (std::any_of(sums.registers.begin(), sums.registers.end(), [&](uint32_t other) { return other != mark; })) {
      fault(LaunchFailed, "wgmma adds to sums of which others are under way");
    }
    return *found;
  }
  if (!warp.isFenced) {
    fault(LaunchFailed, "wgmma takes registers without a fence (wgmma.fence) behind what was done with them");
  }
  if (!isSum) {
    std::fill(sums.registers.begin(), sums.registers.end(), 0); // also as a float
  }
  warp.marks = warp.marks % mostMarks + 1;
  return *warp.sums.insert_or_assign(markBits | warp.marks, std::move(sums)).first;
}

template <class A, class B, class Number, class Operands> void multiply(Lanes &lanes) {
  constexpr int inThread = sizeof(Operands::sums) / sizeof(uint32_t), columns = 2 * inThread;
  constexpr int depth = stepBytes / sizeof(typename A::Bits);
  const auto &first = *static_cast<const Operands *>(lanes.operands[0]);
  for (const void *each : lanes.operands) {
    if (std::memcmp(each, &first, offsetof(Operands, isSum)) != 0) {
      fault(LaunchFailed, "wgmma has other factors in some lanes of a warp");
    }
  }
  Warp &warp = ownWarp();
  auto &[mark, sums] = sumsOf<Operands>(warp, lanes, first.isSum);
  uint32_t ofGroup = numberOfThread() / 32 % 4;
  Product product = {{}, warp.groups};
  std::vector<double> a, b;
  Factor(first.a, first.areLinesOfAContiguous).read<A>(ofGroup * warpRows, warpRows, a, product, /*isCounted=*/true);
  Factor(first.b, first.areLinesOfBContiguous).read<B>(0, columns, b, product, /*isCounted=*/ofGroup == 0);
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < inThread; ++n) {
      const double *row = &a[size_t(lane / 4 + n % 4 / 2 * 8) * depth];
      const double *column = &b[size_t(n / 4 * 8 + lane % 4 * 2 + n % 2) * depth];
      uint32_t &bits = sums.registers[size_t(lane * inThread + n)];
      double sum = Number::of(bits);
      for (int k = 0; k < depth; ++k) {
        sum += row[k] * column[k];
      }
      bits = Number::bitsOf(sum);
      std::memcpy(static_cast<uint32_t *>(lanes.results[lane]) + n, &mark, sizeof mark);
    }
  }
  sums.group = warp.groups;
  warp.products.push_back(std::move(product));
  ++warp.count;
}

void fence(Lanes &) { ownWarp().isFenced = true; }
void endGroup(Lanes &) { ++ownWarp().groups; }

struct Wait {
  int32_t left;
  const uint32_t *sums;
  size_t count;
};

void finish(const Product &product) {
  for (const Vector &vector : product.read) {
    if (std::memcmp(vector.at, vector.bytes.data(), vectorBytes) != 0) {
      fault(LaunchFailed, "byte " + std::to_string(vector.at - sharedOfThread()) +
                              " of the block's memory was written while wgmma read it");
    }
    if (launchOfThread().isWatched) {
      watchTensorRead(vector.at, /*isDone=*/true);
    }
  }
}

void wait(Lanes &lanes) {
  Warp &warp = ownWarp();
  int32_t done = warp.groups - static_cast<const Wait *>(lanes.operands[0])->left;
  for (const Product &product : warp.products) {
    if (product.group < done) {
      finish(product);
    }
  }
  std::erase_if(warp.products, [&](const Product &product) { return product.group < done; });
  warp.isFenced = false;
  const auto &first = *static_cast<const Wait *>(lanes.operands[0]);
  auto found = first.count ? warp.sums.find(first.sums[0]) : warp.sums.end();
  bool areThere = found != warp.sums.end() && found->second.group < done;
  for (size_t lane = 0; lane < 32; ++lane) {
    const uint32_t *own = static_cast<const Wait *>(lanes.operands[lane])->sums;
    std::memcpy(lanes.results[lane], areThere ? &found->second.registers[lane * first.count] : own,
                first.count * sizeof(uint32_t));
  }
  if (areThere) {
    warp.sums.erase(found);
  }
  watchWarp(numberOfThread() / 32);
}

} // namespace

void forgetProducts() { warps.clear(); }

std::string whyUnfinished() {
  for (const auto &[number, warp] : warps) {
    if (!warp.products.empty()) {
      return "warp " + std::to_string(number) + " ends while wgmma is under way";
    }
    for (uint32_t other = number / 4 * 4; other < number / 4 * 4 + 4; ++other) {
      if (warps[other].count != warp.count) {
        return "warps " + std::to_string(number) + " and " + std::to_string(other) +
               " of a warpgroup have different numbers of wgmma";
      }
    }
  }
  return "";
}

} // namespace ingot::emulator

using namespace ingot::emulator;

extern "C" {

void ingot_emulated_llvm_nvvm_wgmma_fence_sync_aligned() { together("wgmma.fence", fence, ~0u, nullptr, nullptr); }
void ingot_emulated_llvm_nvvm_wgmma_commit_group_sync_aligned() {
  together("wgmma.commit_group", endGroup, ~0u, nullptr, nullptr);
}

void ingot_emulated_wgmma_wait_group_sync_aligned(void *results, const void *operands, int64_t bytes) {
  const auto *sums = static_cast<const uint32_t *>(operands) + 1; // behind the number of groups
  Wait own = {*static_cast<const int32_t *>(operands), sums, size_t(bytes) / sizeof(uint32_t)};
  together("wgmma.wait_group", wait, ~0u, &own, results);
}

#define WGMMA(columns, k, sum, a, b, ...)                                                                              \
  void ingot_emulated_wgmma_mma_async_sync_aligned_m64n##columns##k##_##sum##_##a##_##b(                               \
      void *results, const void *operands, int64_t) {                                                                  \
    together("wgmma.m64n" #columns #k "." #a, multiply<__VA_ARGS__>, ~0u, operands, results);                          \
  }
#define WGMMA_OF(columns)                                                                                              \
  WGMMA(columns, k16, f32, f16, f16, Half, Half, Floats, OfFloats<columns>)                                            \
  WGMMA(columns, k16, f32, bf16, bf16, Brain, Brain, Floats, OfFloats<columns>)                                        \
  WGMMA(columns, k32, s32, u8, s8, Unsigned, Signed, Integers, OfBytes<columns>)                                       \
  WGMMA(columns, k32, s32, s8, u8, Signed, Unsigned, Integers, OfBytes<columns>)
WGMMA_OF(64)
WGMMA_OF(128)
WGMMA_OF(256)

} // extern "C"
