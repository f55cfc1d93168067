// Which level a machine has: by made-up answers of a processor, and by what Linux says of this one.
#include "level.h"
#include "FakeModel.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace ingot::test;

namespace {

constexpr uint32_t all = ~uint32_t(0);
constexpr uint32_t avx = 1u << 28, osSaves = 1u << 27, avx2 = 1u << 5, avx512vl = 1u << 31, lahf = 1, sse42 = 1u << 20;

int levelOf(uint32_t basic, uint32_t extended, uint32_t amd, uint32_t saved) {
  ingot_cpu_facts facts = {basic, extended, amd, saved};
  return ingot_x86_level_of(&facts);
}

TEST(Level, OfProcessors) {
  EXPECT_EQ(levelOf(0, 0, 0, 0), 1);
  EXPECT_EQ(levelOf(all, all, all, all), 4);
  EXPECT_EQ(levelOf(all & ~avx & ~osSaves, 0, lahf, 0), 2);
  EXPECT_EQ(levelOf(all, avx2 | 1u << 3 | 1u << 8, all, 7), 3);
  EXPECT_EQ(levelOf(all, all & ~avx2, all, all), 2) << "v4 without AVX2 is v2";
  EXPECT_EQ(levelOf(all, all & ~avx512vl, all, all), 3);
  EXPECT_EQ(levelOf(all & ~sse42, all, all, all), 1) << "a level holds all below it";
  EXPECT_EQ(levelOf(all, all, all & ~lahf, all), 1);
  EXPECT_EQ(levelOf(all, all, lahf, all), 2) << "no LZCNT";
}

TEST(Level, OfOperatingSystemsThatDoNotSaveRegisters) {
  EXPECT_EQ(levelOf(all & ~osSaves, all, all, 0), 2);
  EXPECT_EQ(levelOf(all, all, all, 0), 2);
  EXPECT_EQ(levelOf(all, all, all, 1 << 1), 2) << "XMM only";
  EXPECT_EQ(levelOf(all, all, all, 7), 3) << "no ZMM";
  EXPECT_EQ(levelOf(all, all, all, 0x67), 3) << "only half of them";
  EXPECT_EQ(levelOf(all, all, all, 0xe7), 4);
}

// Bits of AT_HWCAP and AT_HWCAP2 as Linux gave them on such boards.
TEST(Level, OfArmProcessors) {
  auto levelOf = [](uint64_t hwcap, uint64_t hwcap2) {
    return ingot_arm_level_of(ingot_arm_features_of(hwcap, hwcap2));
  };
  constexpr uint64_t dot = 1 << 20, half = 1 << 10, a53 = 0xff, a76 = 0x11ff | dot | half | 1 << 9, i8mm = 1 << 13,
                     bf16 = 1 << 14;
  EXPECT_EQ(levelOf(0, 0), 0) << "a kernel without NEON";
  EXPECT_EQ(levelOf(a53, 0), 1);
  EXPECT_EQ(levelOf(a76, 0), 2);
  EXPECT_EQ(levelOf(a76 & ~dot, i8mm | bf16), 1) << "a64fx; and a level holds all below it";
  EXPECT_EQ(levelOf(a76 & ~half, 0), 1);
  EXPECT_EQ(levelOf(a76, i8mm), 2);
  EXPECT_EQ(levelOf(a76, i8mm | bf16), 3);
}

/// What /proc/cpuinfo lists, by which the kernel means that processor and system have it.
std::set<std::string> flagsOfLinux() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  }
  return {};
}

TEST(Level, OfThisMachine) {
  std::set<std::string> flags = flagsOfLinux();
  if (flags.empty()) {
    GTEST_SKIP() << "no /proc/cpuinfo of an x86 processor";
  }
  const std::vector<std::string> needs[] = {{"pni", "ssse3", "cx16", "sse4_1", "sse4_2", "popcnt", "lahf_lm"},
                                            {"fma", "movbe", "xsave", "avx", "f16c", "bmi1", "avx2", "bmi2", "abm"},
                                            {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"}};
  int level = 1;
  for (const std::vector<std::string> &need : needs) {
    bool whole = true;
    for (const std::string &flag : need) {
      whole &= flags.count(flag) > 0;
    }
    if (!whole) {
      break;
    }
    ++level;
  }
  EXPECT_EQ(ingot_machine_level(), level);
  EXPECT_EQ(ingot_machine_level(), level) << "from memory";
}

TEST(Level, FromManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] { EXPECT_EQ(ingot_run_level(nullptr), ingot_machine_level()); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST(Level, OfARun) {
  int machine = ingot_machine_level();
  ingot_exec exec = {};
  EXPECT_EQ(ingot_run_level(&exec), machine);
  exec.level = 1;
  EXPECT_EQ(ingot_run_level(&exec), machine < 1 ? machine : 1);
  exec.level = 99;
  EXPECT_EQ(ingot_run_level(&exec), machine) << "it can only be lowered";
  exec.level = -3;
  EXPECT_EQ(ingot_run_level(&exec), -3);
}

TEST(Level, OfAModel) {
  const int32_t levels[] = {99, 1, 0};
  ingot_model model = fakeModel;
  EXPECT_EQ(ingot_model_level(&model, nullptr), 0);
  model.level_count = 2, model.levels = levels;
  ingot_exec exec = {};
  EXPECT_EQ(ingot_model_level(&model, &exec), ingot_machine_level() >= 1 ? 1 : -INGOT_ERROR_TARGET);
  exec.level = -1;
  EXPECT_EQ(ingot_model_level(&model, &exec), -INGOT_ERROR_TARGET);
  model.level_count = 1;
  EXPECT_EQ(ingot_model_level(&model, nullptr), -INGOT_ERROR_TARGET);
}

} // namespace
