// The registry with a target more than the compiler has, the levels and CPUs of x86, and what is said of unknown ones.
#include "compiler/target/Target.h"
#include "targets/x86/Host.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace ingot::target;

static MachineModel resolve(llvm::StringRef spec) {
  llvm::Expected<MachineModel> machine = resolveMachine(spec);
  EXPECT_TRUE(bool(machine)) << spec.str() << ": " << llvm::toString(machine.takeError());
  return machine ? *machine : MachineModel();
}

static std::string refusal(llvm::StringRef spec) {
  llvm::Expected<MachineModel> machine = resolveMachine(spec);
  return machine ? "" : llvm::toString(machine.takeError());
}

TEST(Registry, FoldersInOrder) {
  std::vector<std::string> names;
  for (const std::unique_ptr<Target> &target : allTargets()) {
    names.push_back(target->name().str());
  }
  EXPECT_TRUE(llvm::is_sorted(names));
  EXPECT_TRUE(llvm::is_contained(names, "scalar"));
  EXPECT_TRUE(llvm::is_contained(names, "x86"));
}

TEST(Registry, FindsTheOneThatAccepts) {
  EXPECT_EQ(findTarget("scalar:Relu")->name(), "scalar");
  EXPECT_EQ(findTarget("x86-64-v3")->name(), "x86");
  EXPECT_EQ(findTarget("pdp11"), nullptr);
}

TEST(Registry, EveryLevelResolves) {
  for (const std::unique_ptr<Target> &target : allTargets()) {
    for (const Level &level : target->levels()) {
      EXPECT_EQ(findTarget(level.spec), target.get()) << level.spec;
      EXPECT_NE(resolve(level.spec).triple.empty(), resolve(level.spec).machineCode) << level.spec;
    }
  }
}

TEST(Registry, UnknownTargetListsLevels) {
  std::string text = refusal("pdp11");
  EXPECT_NE(text.find("unknown target 'pdp11'"), std::string::npos) << text;
  EXPECT_NE(text.find("x86-64-v3"), std::string::npos) << text;
}

/// A host whose CPU has all that LLVM tells of a CPU with this name, but the features that begin with `hidden`.
static HostCpu hostOf(llvm::StringRef name, llvm::StringRef hidden) {
  HostCpu host{name.str(), {}};
  for (const char *feature : {"64bit",    "sse4.2",   "popcnt",     "avx",        "avx2",    "fma",      "bmi",
                              "bmi2",     "f16c",     "lzcnt",      "movbe",      "avx512f", "avx512bw", "avx512cd",
                              "avx512dq", "avx512vl", "avx512vnni", "avx512bf16", "gfni",    "sse4a",    "amx-tile"}) {
    llvm::StringRef text(feature);
    host.features[text] = !text.starts_with("amx") && (hidden.empty() || !text.starts_with(hidden));
  }
  return host;
}

TEST(X86, NamesAHostByWhatItHas) {
  using ingot::targets::x86::nameOf;
  EXPECT_EQ(nameOf(hostOf("znver4", "")), "znver4");
  EXPECT_EQ(nameOf(hostOf("znver4", "avx512")), "znver3"); // a virtual machine may hide AVX-512
  EXPECT_EQ(nameOf(hostOf("znver4", "avx512vnni")), "x86-64-v4");
  EXPECT_EQ(nameOf(hostOf("znver4", "avx")), "x86-64-v2");
  EXPECT_EQ(resolve(nameOf(hostOf("znver4", "avx512"))).lanes, 8);
}

TEST(X86, WhatAHostLacks) {
  llvm::StringMap<bool> haswell, old;
  for (const char *name : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vnni", "amx-tile"}) {
    haswell[name] = old[name] = false;
  }
  for (const char *name : {"sse4.2", "popcnt", "64bit"}) {
    haswell[name] = old[name] = true;
  }
  for (const char *name : {"avx", "avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}) {
    haswell[name] = true, old[name] = false;
  }
  using ingot::targets::x86::lacking;
  EXPECT_EQ(lacking(resolve("x86-64-v2"), old), "");
  EXPECT_EQ(lacking(resolve("x86-64-v3"), haswell), "");
  EXPECT_EQ(lacking(resolve("x86-64-v3"), old), "avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe");
  EXPECT_EQ(lacking(resolve("x86-64-v4"), haswell), "avx512bw, avx512cd, avx512dq, avx512f, avx512vl");
  EXPECT_NE(lacking(resolve("sapphirerapids"), haswell).find("avx512vnni"), std::string::npos);
  EXPECT_NE(lacking(resolve("sapphirerapids"), haswell).find("amx-tile"), std::string::npos);
  EXPECT_EQ(findTarget("native")->hostLacks(resolve("native")), "");
}

TEST(X86, Levels) {
  MachineModel v2 = resolve("x86-64-v2"), v3 = resolve("x86-64-v3"), v4 = resolve("x86-64-v4");
  EXPECT_EQ(v2.lanes, 4);
  EXPECT_EQ(v3.lanes, 8);
  EXPECT_EQ(v4.lanes, 16);
  EXPECT_FALSE(v2.fusedMultiplyAdd);
  EXPECT_TRUE(v3.fusedMultiplyAdd);
  EXPECT_FALSE(v3.maskedAccess);
  EXPECT_TRUE(v4.maskedAccess);
  EXPECT_EQ(v4.registers, 32);
  EXPECT_EQ(v4.features, "-prefer-256-bit,+fast-dpwssd");
}

TEST(X86, Tiles) {
  for (llvm::StringRef spec : {"sapphirerapids", "emeraldrapids", "graniterapids"}) {
    EXPECT_EQ(resolve(spec).tiles.count, 8) << spec.str();
    EXPECT_EQ(resolve(spec).tiles.rowBytes, 4 * resolve(spec).lanes) << spec.str();
  }
  for (llvm::StringRef spec : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "cooperlake", "znver5", "sierraforest"}) {
    EXPECT_EQ(resolve(spec).tiles.count, 0) << spec.str();
  }
}

// The accumulators, a vector of each column, the broadcast, and without FMA the product.
TEST(X86, TilesFitTheRegisters) {
  for (llvm::StringRef spec : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "native"}) {
    MachineModel machine = resolve(spec);
    int64_t rows = machine.matmulTile.rows, vectors = machine.matmulTile.vectors;
    int64_t needed = rows * vectors + vectors + 1 + (machine.fusedMultiplyAdd ? 0 : 1);
    EXPECT_LE(needed, machine.registers - 1) << spec.str();
  }
}

TEST(X86, CpuNamesGetTheBestClass) {
  EXPECT_EQ(resolve("nehalem").lanes, 4);
  EXPECT_EQ(resolve("sandybridge").lanes, 4); // AVX without AVX2
  EXPECT_EQ(resolve("haswell").lanes, 8);
  EXPECT_EQ(resolve("znver3").lanes, 8);
  EXPECT_EQ(resolve("skylake-avx512").lanes, 16);
  EXPECT_EQ(resolve("znver4").lanes, 16);
  EXPECT_EQ(resolve("znver4").cpu, "znver4");
}

TEST(X86, CpusBringTheirCaches) {
  EXPECT_EQ(resolve("znver3").l2Bytes, 512 << 10);
  EXPECT_EQ(resolve("haswell").l2Bytes, 256 << 10);
  EXPECT_EQ(resolve("skylake").l2Bytes, 256 << 10); // not those of skylake-avx512
  EXPECT_EQ(resolve("skylake-avx512").l2Bytes, 1 << 20);
  EXPECT_EQ(resolve("sapphirerapids").l1Bytes, 48 << 10);
  EXPECT_EQ(resolve("znver5").l1Bytes, 48 << 10);
  EXPECT_EQ(resolve("silvermont").l2Bytes, resolve("x86-64-v2").l2Bytes); // what its class says
}

TEST(X86, RefusesWithAReason) {
  EXPECT_NE(refusal("x86-64-v9").find("use x86-64-v2, x86-64-v3, x86-64-v4, native"), std::string::npos);
  EXPECT_NE(refusal("core2").find("no SSE4.2"), std::string::npos);
  EXPECT_NE(refusal("i486").find("x86-64-v2 is the least"), std::string::npos);
  EXPECT_NE(refusal("generic").find("no SSE4.2"), std::string::npos);
  EXPECT_NE(refusal("scalar:").find("names no op"), std::string::npos);
}

TEST(Arm, Levels) {
  MachineModel lowest = resolve("armv8-a"), dots = resolve("armv8.2-a+dotprod"), bytes = resolve("armv8.6-a");
  EXPECT_EQ(resolve("aarch64").spec, "armv8-a");
  EXPECT_EQ(lowest.level, 1);
  EXPECT_EQ(dots.level, 2);
  EXPECT_EQ(bytes.level, 3);
  for (const MachineModel &machine : {lowest, dots, bytes}) {
    EXPECT_EQ(machine.cpu, "generic");
    EXPECT_EQ(machine.lanes, 4);
    EXPECT_EQ(machine.registers, 32);
    EXPECT_TRUE(machine.fusedMultiplyAdd);
    EXPECT_FALSE(machine.maskedAccess);
    EXPECT_EQ(machine.anyCpu, "generic");
  }
}

TEST(Arm, CpusByName) {
  for (llvm::StringRef cpu : {"cortex-a53", "cortex-a55", "cortex-a76", "neoverse-n1", "apple-m1"}) {
    MachineModel machine = resolve(cpu);
    EXPECT_EQ(machine.spec, cpu);
    EXPECT_EQ(machine.level, 0);
    EXPECT_EQ(machine.features, "") << cpu.str();
    int64_t rows = machine.matmulTile.rows, vectors = machine.matmulTile.vectors;
    EXPECT_LE(rows * vectors + vectors + 1, machine.registers - 1);
  }
  for (llvm::StringRef cpu : {"neoverse-v1", "neoverse-v2", "a64fx"}) {
    EXPECT_EQ(resolve(cpu).features, "-sve") << cpu.str();
  }
  EXPECT_EQ(resolve("cortex-a53").l1Bytes, 32 << 10);
  EXPECT_EQ(resolve("apple-m1").cpu, "apple-a14") << "LLVM's name of the same core";
  EXPECT_EQ(resolve("apple-m1").l1Bytes, 128 << 10);
  EXPECT_EQ(resolve("neoverse-v2").l2Bytes, 2 << 20);
}

TEST(Arm, RefusesWithAReason) {
  EXPECT_NE(refusal("armv9-a").find("use armv8-a, armv8.2-a+dotprod, armv8.6-a"), std::string::npos);
  EXPECT_NE(refusal("cortex-r5").find("unknown target"), std::string::npos);
}

TEST(X86, NativeKnowsItsCaches) {
  MachineModel machine = resolve("native");
  EXPECT_GE(machine.l1Bytes, 8 << 10);
  EXPECT_GE(machine.l2Bytes, machine.l1Bytes);
  EXPECT_LE(machine.l3Bytes, 32 << 20);
  EXPECT_FALSE(machine.features.empty());
}
