// Buffers divided among several memories: what pays most lies in the fastest one, nothing overlaps, nothing is above a
// memory's size unless nothing fits, and small cases cost as little as the best of all divisions.
#include "compiler/memory/DivideBuffers.h"
#include <gtest/gtest.h>
#include <random>

using namespace ingot::memory;

namespace {

struct Case {
  std::vector<BufferLifetime> buffers;
  std::vector<int64_t> traffic;
  std::vector<MemorySize> memories;
};

bool liveTogether(const BufferLifetime &a, const BufferLifetime &b) {
  return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse && a.bytes > 0 && b.bytes > 0;
}

/// Everything that holds for any division; returns it.
Division divided(const Case &c) {
  std::optional<Division> division = divideBuffers(c.buffers, c.traffic, c.memories);
  EXPECT_TRUE(division.has_value());
  for (size_t i = 0; i < c.buffers.size(); ++i) {
    const BufferLifetime &a = c.buffers[i];
    EXPECT_EQ(division->offsets[i] % a.alignment, 0);
    EXPECT_LE(division->offsets[i] + a.bytes, division->peaks[division->memoryOf[i]]);
    for (size_t j = 0; j < i; ++j) {
      const BufferLifetime &b = c.buffers[j];
      if (liveTogether(a, b) && division->memoryOf[i] == division->memoryOf[j]) {
        EXPECT_TRUE(division->offsets[i] + a.bytes <= division->offsets[j] ||
                    division->offsets[j] + b.bytes <= division->offsets[i])
            << "buffers " << i << " and " << j << " overlap";
      }
    }
  }
  return *division;
}

bool fits(const Case &c, const Division &division) {
  for (size_t m = 0; m < c.memories.size(); ++m) {
    if (division.peaks[m] > c.memories[m].bytes) {
      return false;
    }
  }
  return true;
}

int64_t costOf(const Case &c, const std::vector<size_t> &memoryOf) {
  int64_t cost = 0;
  for (size_t i = 0; i < c.buffers.size(); ++i) {
    cost += c.buffers[i].bytes ? c.traffic[i] * c.memories[memoryOf[i]].cycles : 0;
  }
  return cost;
}

/// The least cost of all divisions in which no more lives at one time in a memory than it has: no division that has
/// places can cost less. -1: there is none.
int64_t leastCost(const Case &c) {
  int64_t least = -1;
  std::vector<size_t> memoryOf(c.buffers.size(), 0);
  while (true) {
    bool fitsAll = true;
    for (size_t i = 0; i < c.buffers.size(); ++i) { // most lives where some buffer begins
      std::vector<int64_t> live(c.memories.size(), 0);
      for (size_t j = 0; j < c.buffers.size(); ++j) {
        bool isLive = c.buffers[j].firstUse <= c.buffers[i].firstUse && c.buffers[i].firstUse <= c.buffers[j].lastUse;
        live[memoryOf[j]] += isLive ? (c.buffers[j].bytes + 15) / 16 * 16 : 0;
      }
      for (size_t m = 0; m < live.size(); ++m) {
        fitsAll &= live[m] <= c.memories[m].bytes;
      }
    }
    if (int64_t cost = costOf(c, memoryOf); fitsAll && (least < 0 || cost < least)) {
      least = cost;
    }
    size_t digit = 0;
    while (digit < memoryOf.size() && ++memoryOf[digit] == c.memories.size()) {
      memoryOf[digit++] = 0;
    }
    if (digit == memoryOf.size()) {
      return least;
    }
  }
}

Case randomCase(unsigned seed, int buffers, int memories) {
  std::mt19937 random(seed);
  auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  Case c;
  int64_t all = 0;
  for (int i = 0; i < buffers; ++i) {
    int64_t bytes = below(8) ? 16 * (1 + below(40)) - below(16) : 0, first = below(buffers);
    c.buffers.push_back({bytes, 16, first, first + below(4)});
    c.traffic.push_back(bytes * (1 + below(9)));
    all += bytes;
  }
  for (int m = 0; m < memories; ++m) {
    c.memories.push_back({16 * below(all / 20 + 2), 1 + below(9)});
  }
  return c;
}

} // namespace

TEST(DivideBuffers, NothingToDivide) {
  Division none = divided({{}, {}, {{64, 1}, {64, 2}}});
  EXPECT_EQ(none.peaks, (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(none.isBest);
  Division empty = divided({{{0, 16, 0, 9}}, {0}, {{0, 1}}});
  EXPECT_EQ(empty.peaks, std::vector<int64_t>{0});
}

TEST(DivideBuffers, WhatIsUsedMostLiesInTheFastestMemory) {
  // All three live at one time, and the fast memory has room for one.
  Case c{{{64, 16, 0, 2}, {64, 16, 0, 2}, {64, 16, 0, 2}}, {100, 300, 200}, {{1024, 4}, {64, 1}}};
  Division division = divided(c);
  EXPECT_EQ(division.memoryOf, (std::vector<size_t>{0, 1, 0}));
  EXPECT_EQ(division.peaks, (std::vector<int64_t>{128, 64}));
  EXPECT_TRUE(division.isBest);
}

TEST(DivideBuffers, BuffersTakeTurnsInTheFastMemory) {
  Case c{{{64, 16, 0, 1}, {64, 16, 2, 3}, {64, 16, 4, 5}}, {9, 9, 9}, {{64, 1}, {1024, 4}}};
  EXPECT_EQ(divided(c).memoryOf, (std::vector<size_t>{0, 0, 0}));
}

TEST(DivideBuffers, TwoSmallOnesMayPayMoreThanTheOneThatIsUsedMost) {
  Case c{{{128, 16, 0, 2}, {64, 16, 0, 2}, {64, 16, 0, 2}}, {300, 200, 200}, {{128, 1}, {1024, 10}}};
  EXPECT_EQ(divided(c).memoryOf, (std::vector<size_t>{1, 0, 0}));
}

TEST(DivideBuffers, OnlyTogetherTheMemoriesAreLargeEnough) {
  // The buffer that pays most has to leave the fast memory to the one that fits nowhere else.
  Case c{{{96, 16, 0, 0}, {64, 16, 0, 0}}, {10, 1000}, {{96, 1}, {64, 2}}};
  Division division = divided(c);
  EXPECT_EQ(division.memoryOf, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(fits(c, division) && division.isBest);
}

TEST(DivideBuffers, WhatFitsNowhereIsTooMuchForTheLargest) {
  Case c{{{96, 16, 0, 0}, {64, 16, 0, 0}}, {10, 1000}, {{64, 1}, {80, 2}}};
  Division division = divided(c);
  EXPECT_FALSE(fits(c, division) || division.isBest);
  EXPECT_EQ(division.peaks, (std::vector<int64_t>{64, 96}));
}

TEST(DivideBuffers, SmallOnesAreTheBest) {
  int fitting = 0, tight = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Case c = randomCase(seed, 1 + int(seed % 8), 1 + int(seed % 3));
    Division division = divided(c);
    int64_t least = leastCost(c), cost = costOf(c, division.memoryOf);
    if (least < 0) {
      EXPECT_FALSE(fits(c, division)) << "case " << seed;
      continue;
    }
    ++fitting;
    bool isTight = fits(c, division) && cost == least;
    tight += isTight;
    EXPECT_TRUE(!isTight || division.isBest) << "case " << seed;
    EXPECT_GE(cost, fits(c, division) ? least : 0) << "case " << seed;
  }
  // Where the buffers of the cheapest division have no places, another one costs a little more.
  EXPECT_GT(fitting, 100);
  EXPECT_GT(tight, fitting * 95 / 100);
}

TEST(DivideBuffers, LargeOnesFitAndRepeat) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Case c = randomCase(seed, 300, 3);
    int64_t all = 0;
    for (const BufferLifetime &buffer : c.buffers) {
      all += buffer.bytes;
    }
    c.memories[2] = {all * 2 / 16 * 16, 10}; // has room for all
    Division division = divided(c), again = divided(c);
    EXPECT_TRUE(fits(c, division)) << "case " << seed;
    EXPECT_EQ(division.memoryOf, again.memoryOf);
    EXPECT_EQ(division.offsets, again.offsets);
    // The slowest memory alone would cost more, unless the others have no room at all.
    int64_t slow = costOf(c, std::vector<size_t>(c.buffers.size(), 2));
    EXPECT_LT(costOf(c, division.memoryOf), slow) << "case " << seed;
  }
}
