// The arena planner: edge cases, random instances (never an overlap, never above the sum), networks of known form (near
// the bound), and the buffers of real networks (within 3 % of it).
#include "compiler/memory/ArenaPlanner.h"
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace ingot::memory;

namespace {

/// Everything that holds for any plan.
void expectValid(const std::vector<BufferLifetime> &buffers, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  EXPECT_GE(plan.peakBytes, plan.lowerBound);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferLifetime &a = buffers[i];
    ASSERT_EQ(plan.offsets[i] % a.alignment, 0);
    ASSERT_GE(plan.offsets[i], 0);
    ASSERT_LE(plan.offsets[i] + a.bytes, plan.peakBytes);
    for (size_t j = 0; j < i; ++j) {
      const BufferLifetime &b = buffers[j];
      bool together = a.firstUse <= b.lastUse && b.firstUse <= a.lastUse && a.bytes && b.bytes;
      ASSERT_TRUE(!together || plan.offsets[i] + a.bytes <= plan.offsets[j] ||
                  plan.offsets[j] + b.bytes <= plan.offsets[i])
          << "buffers " << i << " and " << j << " overlap";
    }
  }
}

ArenaPlan planned(const std::vector<BufferLifetime> &buffers) {
  std::optional<ArenaPlan> plan = planArena(buffers);
  EXPECT_TRUE(plan.has_value());
  expectValid(buffers, *plan);
  return *plan;
}

double excess(const ArenaPlan &plan) { return double(plan.peakBytes) / double(plan.lowerBound) - 1; }

/// Activations of a network: buffer k is made in step k and read by the given later steps.
struct Network {
  std::vector<BufferLifetime> buffers;
  int add(int64_t bytes, std::vector<int> inputs) {
    int64_t step = buffers.size();
    for (int input : inputs) {
      buffers[input].lastUse = step;
    }
    buffers.push_back({bytes, 64, step, step});
    return step;
  }
};

} // namespace

TEST(ArenaPlanner, NothingToPlan) {
  ArenaPlan plan = planned({});
  EXPECT_EQ(plan.peakBytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(ArenaPlanner, EmptyBuffersTakeNoRoom) {
  ArenaPlan plan = planned({{0, 64, 0, 9}, {0, 64, 3, 3}});
  EXPECT_EQ(plan.peakBytes, 0);
  EXPECT_EQ(planned({{0, 64, 0, 9}, {100, 64, 0, 9}}).peakBytes, 128);
}

TEST(ArenaPlanner, WhatIsEnoughIsNotImproved) {
  // Whatever is enough, all buffers have places, and the bound is known.
  std::vector<BufferLifetime> buffers = {{64, 64, 0, 3}, {128, 64, 1, 2}, {64, 64, 2, 3}};
  for (int64_t enough : {int64_t(0), int64_t(256), std::numeric_limits<int64_t>::max()}) {
    std::optional<ArenaPlan> plan = planArena(buffers, {enough, 0});
    ASSERT_TRUE(plan.has_value());
    expectValid(buffers, *plan);
    EXPECT_EQ(plan->lowerBound, 256);
  }
}

TEST(ArenaPlanner, OneBufferOneStep) {
  ArenaPlan plan = planned({{1, 64, 5, 5}});
  EXPECT_EQ(plan.offsets[0], 0);
  EXPECT_EQ(plan.peakBytes, 64);
  EXPECT_EQ(plan.lowerBound, 64);
}

TEST(ArenaPlanner, TouchingStepsConflict) {
  // The last use of the one is the first of the other: input and output of one kernel.
  EXPECT_EQ(planned({{64, 64, 0, 1}, {64, 64, 1, 2}}).peakBytes, 128);
  EXPECT_EQ(planned({{64, 64, 0, 1}, {64, 64, 2, 3}}).peakBytes, 64);
}

TEST(ArenaPlanner, HonoursEachAlignment) {
  ArenaPlan plan = planned({{4, 4, 0, 1}, {100, 4096, 0, 1}, {8, 8, 0, 1}, {3, 1, 0, 1}});
  EXPECT_EQ(plan.offsets[1] % 4096, 0);
  EXPECT_EQ(plan.lowerBound, 115);
  EXPECT_EQ(plan.peakBytes, 115);
}

TEST(ArenaPlanner, SizesThatDoNotAddUpAreRefused) {
  int64_t huge = int64_t(1) << 61;
  EXPECT_FALSE(
      planArena(std::vector<BufferLifetime>{{huge, 64, 0, 1}, {huge, 64, 2, 3}, {huge, 64, 4, 5}}).has_value());
  EXPECT_FALSE(planArena(std::vector<BufferLifetime>{{INT64_MAX, 64, 0, 1}}).has_value());
}

TEST(ArenaPlanner, ChainReachesTheBound) {
  Network net;
  int last = net.add(100352, {});
  for (int i = 0; i < 50; ++i) {
    last = net.add(64 * (1 + (i * 7919) % 1000), {last});
  }
  EXPECT_LE(excess(planned(net.buffers)), 0.01);
}

TEST(ArenaPlanner, ResidualNetworkIsNearTheBound) {
  Network net;
  int x = net.add(802816 * 4, {});
  for (int stage = 0; stage < 4; ++stage) {
    int64_t bytes = (802816 * 4) >> stage;
    for (int block = 0; block < 6; ++block) {
      int a = net.add(bytes / 4, {x});
      int b = net.add(bytes / 4, {a});
      x = net.add(bytes, {b, x});
    }
    x = net.add(bytes / 2, {x});
  }
  EXPECT_LE(excess(planned(net.buffers)), 0.01);
}

TEST(ArenaPlanner, UNetIsNearTheBound) {
  Network net;
  std::vector<int> skips;
  int x = net.add(256 * 256 * 4 * 3, {});
  for (int level = 0; level < 5; ++level) {
    int64_t bytes = (256 * 256 * 4 * 32) >> level;
    x = net.add(bytes, {x});
    x = net.add(bytes, {x});
    skips.push_back(x);
    x = net.add(bytes / 4, {x});
  }
  for (int level = 4; level >= 0; --level) {
    int64_t bytes = (256 * 256 * 4 * 32) >> level;
    int up = net.add(bytes, {x});
    int joined = net.add(2 * bytes, {up, skips[level]});
    x = net.add(bytes, {joined});
    x = net.add(bytes, {x});
  }
  EXPECT_LE(excess(planned(net.buffers)), 0.03);
}

TEST(ArenaPlanner, DenseBlocksAreNearTheBound) {
  Network net;
  int64_t pixels = 56 * 56;
  int x = net.add(pixels * 64 * 4, {});
  for (int block = 0; block < 4; ++block, pixels /= 4) {
    std::vector<int> features = {x};
    for (int layer = 0; layer < 6 * (block + 1); ++layer) {
      int joined = net.add(pixels * 4 * (64 + 32 * layer), features);
      int squeezed = net.add(pixels * 4 * 128, {joined});
      features.push_back(net.add(pixels * 4 * 32, {squeezed}));
    }
    int joined = net.add(pixels * 4 * (64 + 32 * features.size()), features);
    x = net.add(pixels / 4 * 4 * 64, {joined});
  }
  EXPECT_LE(excess(planned(net.buffers)), 0.03);
}

TEST(ArenaPlanner, BranchesAreNearTheBound) {
  Network net;
  std::mt19937 random(7);
  int x = net.add(147 * 147 * 64 * 4, {});
  for (int block = 0; block < 12; ++block) {
    int64_t unit = (147 * 147 * 16 * 4) >> (block / 2);
    std::vector<int> ends;
    for (int branch = 0; branch < 4; ++branch) {
      int y = x;
      for (int depth = 0; depth <= branch; ++depth) {
        y = net.add(unit * int64_t(1 + random() % 4), {y});
      }
      ends.push_back(y);
    }
    x = net.add(unit * 6, ends);
  }
  EXPECT_LE(excess(planned(net.buffers)), 0.03);
}

// lives/NAME.txt has a line "bytes first last" for each buffer, as `ingot inspect --memory` printed them.
TEST(ArenaPlanner, RealNetworksAreWithinThreePercent) {
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(LIVES_FOLDER)) {
    std::ifstream file(entry.path());
    std::vector<BufferLifetime> buffers;
    for (BufferLifetime buffer; file >> buffer.bytes >> buffer.firstUse >> buffer.lastUse;) {
      buffers.push_back(buffer);
    }
    EXPECT_GT(buffers.size(), 50u) << entry.path();
    EXPECT_LE(excess(planned(buffers)), 0.03) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 7);
}

TEST(ArenaPlanner, RandomIntervalsNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 120; ++round) {
    std::vector<BufferLifetime> buffers;
    int count = 1 + random() % 60, steps = 1 + random() % 40, longest = 1 + random() % steps;
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % steps, bytes = random() % 5 ? random() % 10000 : 0;
      buffers.push_back({bytes, int64_t(1) << (random() % 9), first, first + int64_t(random() % longest)});
    }
    planned(buffers);
  }
}

TEST(ArenaPlanner, RandomShortLivesAreNearTheBound) {
  std::mt19937 random(2);
  for (int round = 0; round < 10; ++round) {
    std::vector<BufferLifetime> buffers;
    for (int step = 0; step < 300; ++step) {
      int64_t last = step + 1 + (random() % 8 ? random() % 3 : random() % 40);
      buffers.push_back({int64_t(1 + random() % 64) << (6 + random() % 8), 64, step, last});
    }
    EXPECT_LE(excess(planned(buffers)), 0.03) << "round " << round;
  }
}

TEST(ArenaPlanner, SameInputSamePlan) {
  std::mt19937 random(3);
  std::vector<BufferLifetime> buffers;
  buffers.reserve(200);
  for (int i = 0; i < 200; ++i) {
    int64_t first = random() % 100;
    buffers.push_back({int64_t(random() % 100000), 64, first, first + int64_t(random() % 20)});
  }
  EXPECT_EQ(planned(buffers).offsets, planned(buffers).offsets);
}

TEST(ArenaPlanner, TenThousandBuffers) {
  // Short lives, and lives that all overlap (where conflicts are too many to list). A generous limit, of processor
  // time: test machines are busy.
  for (int longest : {30, 10000}) {
    std::mt19937 random(4);
    std::vector<BufferLifetime> buffers;
    buffers.reserve(10000);
    for (int64_t i = 0; i < 10000; ++i) {
      buffers.push_back({int64_t(1 + random() % 100000), 64, i, i + int64_t(random() % longest)});
    }
    std::clock_t start = std::clock();
    std::optional<ArenaPlan> plan = planArena(buffers);
    double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_TRUE(plan.has_value());
    expectValid(buffers, *plan);
    RecordProperty("seconds", std::to_string(seconds));
    EXPECT_LT(seconds, 10) << "lives up to " << longest;
    EXPECT_LE(excess(*plan), 0.03);
  }
}

TEST(ArenaPlanner, RendersATable) {
  std::vector<BufferLifetime> buffers = {{128, 64, 2, 3}, {100, 64, 0, 2}};
  std::vector<std::string> names = {"conv2"};
  std::string text = renderArenaPlan(buffers, names, planned(buffers));
  EXPECT_NE(text.find("conv2\n"), std::string::npos);
  EXPECT_LT(text.find("buffer 1\n"), text.find("conv2\n")) << "in the order of first use";
  EXPECT_NE(text.find("peak 256 bytes, largest live set 256 bytes, 100.0 %\n"), std::string::npos);
}
