// What the lanes of a warp do together, by NVIDIA's description of PTX. Operands come as the image gives them
// (targets/cuda/Images.h): each function packs its own, and the last lane computes for all.
#include "Emulator.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace ingot::emulator {
namespace {

template <class T> const T &operandOf(const Lanes &lanes, uint32_t lane) {
  return *static_cast<const T *>(lanes.operands[lane]);
}
template <class T> T &resultOf(const Lanes &lanes, uint32_t lane) { return *static_cast<T *>(lanes.results[lane]); }

/// Calls `what` for each lane of the mask.
template <class What> void forLanes(const Lanes &lanes, What what) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lanes.mask >> lane & 1) {
      what(lane);
    }
  }
}

struct Shuffle {
  uint32_t value;
  int32_t lanes, clamp;
};
struct Shuffled {
  uint32_t value;
  bool inRange;
};
enum class From { Up, Down, Butterfly, Index };

/// The clamp has the last lane of a segment in its low bits, and which bits tell segments apart above.
template <From from> void shuffle(Lanes &lanes) {
  forLanes(lanes, [&](uint32_t lane) {
    const auto &own = operandOf<Shuffle>(lanes, lane);
    int32_t clamp = own.clamp & 31, segment = own.clamp >> 8 & 31, b = own.lanes & 31, self = int32_t(lane);
    int32_t most = (self & segment) | (clamp & ~segment), least = self & segment, source = 0;
    bool inRange = false;
    switch (from) {
    case From::Up:
      source = self - b;
      inRange = source >= most;
      break;
    case From::Down:
      source = self + b;
      inRange = source <= most;
      break;
    case From::Butterfly:
      source = self ^ b;
      inRange = source <= most;
      break;
    case From::Index:
      source = least | (b & ~segment);
      inRange = source <= most;
      break;
    }
    source = inRange ? source : self;
    // What a lane has that is not among them is undefined.
    uint32_t value = lanes.mask >> source & 1 ? operandOf<Shuffle>(lanes, uint32_t(source)).value : 0xFFFFFFFF;
    resultOf<Shuffled>(lanes, lane) = {value, inRange};
  });
}

template <From from> Shuffled shuffled(const char *name, int32_t mask, uint32_t value, int32_t lanes, int32_t clamp) {
  Shuffle operands = {value, lanes, clamp};
  Shuffled result = {};
  together(name, shuffle<from>, uint32_t(mask), &operands, &result);
  return result;
}

uint32_t ballotOf(const Lanes &lanes) {
  uint32_t ballot = 0;
  forLanes(lanes, [&](uint32_t lane) { ballot |= uint32_t(operandOf<bool>(lanes, lane)) << lane; });
  return ballot;
}

void ballot(Lanes &lanes) {
  uint32_t all = ballotOf(lanes);
  forLanes(lanes, [&](uint32_t lane) { resultOf<uint32_t>(lanes, lane) = all; });
}

uint32_t balloted(const char *name, int32_t mask, bool own) {
  uint32_t result = 0;
  together(name, ballot, uint32_t(mask), &own, &result);
  return result;
}

void matchAny(Lanes &lanes) {
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t &same = resultOf<uint32_t>(lanes, lane);
    same = 0;
    forLanes(lanes, [&](uint32_t other) {
      same |= uint32_t(operandOf<uint32_t>(lanes, lane) == operandOf<uint32_t>(lanes, other)) << other;
    });
  });
}

enum class Reduce { Add, Min, Max, UnsignedMin, UnsignedMax, And, Or, Xor };

template <Reduce how> uint32_t reducedPair(uint32_t a, uint32_t b) {
  switch (how) {
  case Reduce::Add:
    return a + b;
  case Reduce::Min:
    return uint32_t(std::min(int32_t(a), int32_t(b)));
  case Reduce::Max:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case Reduce::UnsignedMin:
    return std::min(a, b);
  case Reduce::UnsignedMax:
    return std::max(a, b);
  case Reduce::And:
    return a & b;
  case Reduce::Or:
    return a | b;
  case Reduce::Xor:
    return a ^ b;
  }
}

template <Reduce how> void reduce(Lanes &lanes) {
  auto first = uint32_t(std::countr_zero(lanes.mask));
  uint32_t all = operandOf<uint32_t>(lanes, first);
  forLanes(lanes,
           [&](uint32_t lane) { all = lane == first ? all : reducedPair<how>(all, operandOf<uint32_t>(lanes, lane)); });
  forLanes(lanes, [&](uint32_t lane) { resultOf<uint32_t>(lanes, lane) = all; });
}

void meet(Lanes &) { watchWarp(numberOfThread() / 32); }

/// ldmatrix: 8 lanes say where the 8 rows of a matrix of 16-bit elements are, and each lane gets two of its elements.
struct Load {
  const void *row;
};
template <int matrices, bool isTransposed> void loadMatrix(Lanes &lanes) {
  forLanes(lanes, [&](uint32_t lane) {
    for (uint32_t m = 0; m < matrices; ++m) {
      uint16_t pair[2];
      for (uint32_t k = 0; k < 2; ++k) {
        uint32_t row = lane / 4, column = lane % 4 * 2 + k;
        if (isTransposed) {
          std::swap(row, column);
        }
        pair[k] = static_cast<const uint16_t *>(operandOf<Load>(lanes, m * 8 + row).row)[column];
      }
      std::memcpy(static_cast<char *>(lanes.results[lane]) + m * sizeof pair, pair, sizeof pair);
    }
  });
}

template <int matrices, bool isTransposed>
void loadedMatrix(const char *name, const void *site, void *result, const void *row) {
  if (reinterpret_cast<uintptr_t>(row) % 16 && numberOfThread() % 32 < uint32_t(matrices) * 8) {
    fault(MisalignedAddress, std::string(name) + " of a row that does not begin at a multiple of 16 bytes");
  }
  if (launchOfThread().isWatched && numberOfThread() % 32 < uint32_t(matrices) * 8) {
    countAccess(site, row, 16);
    watch(row, 16, 0);
  }
  Load operands = {row};
  together(name, loadMatrix<matrices, isTransposed>, ~0u, &operands, result);
}

} // namespace
} // namespace ingot::emulator

using namespace ingot::emulator;

// An i1 comes in the lowest bit of its register, and what is above means nothing.
extern "C" {

#define SHUFFLE(name, from)                                                                                            \
  int32_t ingot_emulated_llvm_nvvm_shfl_sync_##name##_i32(int32_t mask, int32_t value, int32_t lanes, int32_t clamp) { \
    return int32_t(shuffled<from>("shfl.sync." #name, mask, uint32_t(value), lanes, clamp).value);                     \
  }                                                                                                                    \
  float ingot_emulated_llvm_nvvm_shfl_sync_##name##_f32(int32_t mask, float value, int32_t lanes, int32_t clamp) {     \
    return std::bit_cast<float>(                                                                                       \
        shuffled<from>("shfl.sync." #name, mask, std::bit_cast<uint32_t>(value), lanes, clamp).value);                 \
  }                                                                                                                    \
  void ingot_emulated_llvm_nvvm_shfl_sync_##name##_i32p(Shuffled *result, int32_t mask, int32_t value, int32_t lanes,  \
                                                        int32_t clamp) {                                               \
    *result = shuffled<from>("shfl.sync." #name, mask, uint32_t(value), lanes, clamp);                                 \
  }                                                                                                                    \
  void ingot_emulated_llvm_nvvm_shfl_sync_##name##_f32p(Shuffled *result, int32_t mask, float value, int32_t lanes,    \
                                                        int32_t clamp) {                                               \
    *result = shuffled<from>("shfl.sync." #name, mask, std::bit_cast<uint32_t>(value), lanes, clamp);                  \
  }
SHUFFLE(up, From::Up)
SHUFFLE(down, From::Down)
SHUFFLE(bfly, From::Butterfly)
SHUFFLE(idx, From::Index)

uint32_t ingot_emulated_llvm_nvvm_vote_ballot_sync(int32_t mask, int32_t own) {
  return balloted("vote.sync.ballot", mask, own & 1);
}
bool ingot_emulated_llvm_nvvm_vote_any_sync(int32_t mask, int32_t own) {
  return balloted("vote.sync.any", mask, own & 1) != 0;
}
bool ingot_emulated_llvm_nvvm_vote_all_sync(int32_t mask, int32_t own) {
  return balloted("vote.sync.all", mask, !(own & 1)) == 0;
}
bool ingot_emulated_llvm_nvvm_vote_uni_sync(int32_t mask, int32_t own) {
  bool some = balloted("vote.sync.uni", mask, own & 1) != 0, others = balloted("vote.sync.uni", mask, !(own & 1)) != 0;
  return !some || !others;
}
uint32_t ingot_emulated_llvm_nvvm_match_any_sync_i32(int32_t mask, int32_t value) {
  uint32_t result = 0;
  together("match.any.sync", matchAny, uint32_t(mask), &value, &result);
  return result;
}

#define REDUCE(name, how)                                                                                              \
  int32_t ingot_emulated_llvm_nvvm_redux_sync_##name(int32_t value, int32_t mask) {                                    \
    int32_t result = 0;                                                                                                \
    together("redux.sync." #name, reduce<how>, uint32_t(mask), &value, &result);                                       \
    return result;                                                                                                     \
  }
REDUCE(add, Reduce::Add)
REDUCE(min, Reduce::Min)
REDUCE(max, Reduce::Max)
REDUCE(umin, Reduce::UnsignedMin)
REDUCE(umax, Reduce::UnsignedMax)
REDUCE(and, Reduce::And)
REDUCE(or, Reduce::Or)
REDUCE(xor, Reduce::Xor)

void ingot_emulated_llvm_nvvm_bar_warp_sync(int32_t mask) {
  together("bar.warp.sync", meet, uint32_t(mask), nullptr, nullptr);
}

#define LOAD_MATRIX(count, suffix, isTransposed, space)                                                                \
  void ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x##count##suffix##_b16##space(void *result,                 \
                                                                                         const void *row) {            \
    loadedMatrix<count, isTransposed>("ldmatrix.x" #count, __builtin_return_address(0), result, row);                  \
  }
#define LOAD_ONE_MATRIX(suffix, isTransposed, space)                                                                   \
  int32_t ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x1##suffix##_b16##space(const void *row) {               \
    int32_t result = 0;                                                                                                \
    loadedMatrix<1, isTransposed>("ldmatrix.x1", __builtin_return_address(0), &result, row);                           \
    return result;                                                                                                     \
  }
// The address space is a part of the intrinsic's name.
#define LOAD_MATRICES(space)                                                                                           \
  LOAD_ONE_MATRIX(, false, space)                                                                                      \
  LOAD_ONE_MATRIX(_trans, true, space)                                                                                 \
  LOAD_MATRIX(2, , false, space)                                                                                       \
  LOAD_MATRIX(2, _trans, true, space)                                                                                  \
  LOAD_MATRIX(4, , false, space)                                                                                       \
  LOAD_MATRIX(4, _trans, true, space)
LOAD_MATRICES(_p0)
LOAD_MATRICES(_p3)

} // extern "C"
