// Describes x86-64 CPUs. What kernels need to know of a CPU's instructions depends on its vector extension only, so
// there are three classes (SSE4.2, AVX2 with FMA, AVX-512) and each is a row of a table; the levels are the classes by
// their own names, and any other CPU that LLVM knows is put into the best class whose features it has. Its caches are a
// table of their own, and so is what was measured of a core that differs from the others of its class.
//
// AVX-512 machines get -prefer-256-bit: kernels choose 512-bit vectors themselves and must not be split. For Intel's
// CPUs LLVM makes two instructions of vpdpwssd, whose chains of additions are shorter; tiles have chains enough, and
// are bound by how many instructions there are: +fast-dpwssd. AVX2 has masked loads and stores for 32- and 64-bit
// elements only, not for bytes, and builders ask one question for all types: maskedAccess is false there, and tails are
// scalar.
#include "compiler/target/Target.h"
#include "compiler/target/HostCaches.h"
#include "compiler/target/LlvmCpus.h"
#include "targets/x86/Host.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using ingot::target::HostCpu;
using ingot::target::Instruction;
using ingot::target::InstructionRow;
using ingot::target::Level;
using ingot::target::LlvmCpus;
using ingot::target::MachineModel;

namespace {

/// The bits of the control word of SSE and what followed it, for results and for operands.
constexpr int32_t flushToZero = 1 << 15, denormalsAreZero = 1 << 6;

constexpr const char *tripleText = "x86_64-unknown-linux-gnu";

/// A class of CPUs. `needs` is what LLVM must report of a CPU for it to be in the class.
struct ClassRow {
  const char *level, *sentence, *needs, *features;
  int32_t number; ///< the number of the level, as a program asks for it
  int64_t lanes, registers;
  bool maskedAccess, fusedMultiplyAdd, scaleByPowerOfTwo, f16Conversions;
  MachineModel::Tile matmulTile; ///< leaves a register for the broadcast and, without FMA, one for the product
  /// MachineModel::Tuning::convUnroll. A block of 8 channels is best without a loop; a fourth of one of 16 was as fast.
  int64_t convUnroll;
  int64_t l1Kib, l2Kib, l3Kib; ///< caches of any CPU of the class: what most have
};

// clang-format off
constexpr ClassRow classes[] = {
    {"x86-64-v4", "AVX-512: servers since Skylake, desktops since Zen 4",
     "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+fma", "-prefer-256-bit,+fast-dpwssd", 4,
     16, 32, true, true, true, true, {14, 2}, 4, 32, 1024, 4096},
    {"x86-64-v3", "AVX2 and FMA: Haswell, Zen and later", "+avx2,+fma,+f16c", "+fast-dpwssd", 3,
     8, 16, false, true, false, true, {6, 2}, 8, 32, 512, 4096},
    {"x86-64-v2", "SSE4.2: any x86-64 CPU since 2009", "+sse4.2", "", 2,
     4, 16, false, false, false, false, {4, 2}, 4, 32, 256, 2048},
};

/// The features of AMX; they count where vectors are as long as rows of tiles.
constexpr const char *tileNeeds = "+amx-tile,+amx-int8,+amx-bf16";

constexpr InstructionRow instructionRows[] = {
    {Instruction::ByteDot4, 16, "llvm.x86.avx512.vpdpbusd.512", "+avx512vnni"},
    {Instruction::ByteDot4, 8, "llvm.x86.avx512.vpdpbusd.256", "+avxvnni"},
    {Instruction::Int16Dot2, 16, "llvm.x86.avx512.pmaddw.d.512"},
    {Instruction::Int16Dot2, 8, "llvm.x86.avx2.pmadd.wd"},
    {Instruction::Int16Dot2, 4, "llvm.x86.sse2.pmadd.wd"},
    {Instruction::ByteDot2, 16, "llvm.x86.avx512.pmaddubs.w.512"},
    {Instruction::ByteDot2, 8, "llvm.x86.avx2.pmadd.ub.sw"},
    {Instruction::ByteDot2, 4, "llvm.x86.ssse3.pmadd.ub.sw.128"},
    {Instruction::Bfloat16Dot, 16, "llvm.x86.avx512bf16.dpbf16ps.512", "+avx512bf16"},
    {Instruction::PackInt32, 16, "llvm.x86.avx512.packssdw.512"},
    {Instruction::PackInt32, 8, "llvm.x86.avx2.packssdw"},
    {Instruction::PackInt32, 4, "llvm.x86.sse2.packssdw.128"},
    {Instruction::PackInt16, 16, "llvm.x86.avx512.packsswb.512"},
    {Instruction::PackInt16, 8, "llvm.x86.avx2.packsswb"},
    {Instruction::PackInt16, 4, "llvm.x86.sse2.packsswb.128"},
    {Instruction::PackUnsigned, 16, "llvm.x86.avx512.packuswb.512"},
    {Instruction::PackUnsigned, 8, "llvm.x86.avx2.packuswb"},
    {Instruction::PackUnsigned, 4, "llvm.x86.sse2.packuswb.128"},
    {Instruction::PermuteFloats, 16, "llvm.x86.avx512.vpermi2var.ps.512"},
    {Instruction::PermuteInt16, 16, "llvm.x86.avx512.vpermi2var.hi.512"},
    {Instruction::ShuffleBytes, 8, "llvm.x86.avx2.pshuf.b"},
    {Instruction::ShuffleBytes, 4, "llvm.x86.ssse3.pshuf.b.128"},
    {Instruction::MultiplyInt16, 16, "llvm.x86.avx512.pmul.hr.sw.512"},
    {Instruction::MultiplyInt16, 8, "llvm.x86.avx2.pmul.hr.sw"},
    {Instruction::MultiplyInt16, 4, "llvm.x86.ssse3.pmul.hr.sw.128"},
    {Instruction::StoreControl, 0, "llvm.x86.sse.stmxcsr"},
    {Instruction::LoadControl, 0, "llvm.x86.sse.ldmxcsr"},
    {Instruction::TileConfigure, 16, "llvm.x86.ldtilecfg", tileNeeds},
    {Instruction::TileRelease, 16, "llvm.x86.tilerelease", tileNeeds},
    {Instruction::TileZero, 16, "llvm.x86.tilezero", tileNeeds},
    {Instruction::TileLoad, 16, "llvm.x86.tileloadd64", tileNeeds},
    {Instruction::TileStore, 16, "llvm.x86.tilestored64", tileNeeds},
    {Instruction::TileByteDot, 16, "llvm.x86.tdpbusd", tileNeeds},
    {Instruction::TileBfloat16Dot, 16, "llvm.x86.tdpbf16ps", tileNeeds},
};

/// Data caches that a core has for itself, and its share of the last one where all cores are at work. The first row whose
/// name a CPU's begins with counts.
struct CacheRow {
  const char *cpu;
  int64_t l1Kib, l2Kib, l3Kib;
};
constexpr CacheRow cacheRows[] = {
    {"nehalem", 32, 256, 2048},         {"westmere", 32, 256, 2048},       {"sandybridge", 32, 256, 2048},
    {"ivybridge", 32, 256, 2048},       {"haswell", 32, 256, 2048},        {"broadwell", 32, 256, 2048},
    {"skylake-avx512", 32, 1024, 1408}, {"skylake", 32, 256, 2048},        {"cascadelake", 32, 1024, 1408},
    {"cooperlake", 32, 1024, 1408},     {"icelake-client", 48, 512, 2048}, {"icelake-server", 48, 1280, 1536},
    {"rocketlake", 48, 512, 2048},      {"tigerlake", 48, 1280, 3072},     {"alderlake", 48, 1280, 3072},
    {"raptorlake", 48, 2048, 3072},     {"meteorlake", 48, 2048, 3072},    {"arrowlake", 48, 3072, 3072},
    {"lunarlake", 48, 2560, 3072},      {"sapphirerapids", 48, 2048, 1920}, {"emeraldrapids", 48, 2048, 5120},
    {"graniterapids", 48, 2048, 4096},  {"gracemont", 32, 512, 3072},      {"sierraforest", 32, 1024, 768},
    {"znver1", 32, 512, 2048},          {"znver2", 32, 512, 4096},         {"znver3", 32, 512, 4096},
    {"znver4", 32, 1024, 4096},         {"znver5", 48, 1024, 4096},        {"btver2", 32, 512, 0},
};
// clang-format on

/// Cores that differ from what their class and MachineModel say: the register tile, what a load takes from a
/// multiply-add, bytes a cycle from the third cache and from memory, how many tiles share the prefetches of a panel (16
/// lines are on their way at a time, each for 180 ns, so that a burst of prefetches holds up all other loads), and from
/// how many cycles on a stream of weights is prefetched.
/// Measured on a Xeon with AMX in the cloud (bench/README.md). The first row whose name a CPU's begins with counts.
struct CoreRow {
  const char *cpu;
  MachineModel::Tile matmulTile;
  double loadCycles, l3Rate, memoryRate;
  int64_t fetchingTiles, streamCycles;
};
constexpr CoreRow coreRows[] = {
    {"sapphirerapids", {9, 3}, 0.2, 8, 4, 6, 1},
    {"emeraldrapids", {9, 3}, 0.2, 8, 4, 6, 1},
    {"graniterapids", {9, 3}, 0.2, 8, 4, 6, 1},
};

/// Returns the row of a table for a CPU, by the beginning of its name; null: it has none.
template <typename Row, size_t N> const Row *rowOf(const Row (&rows)[N], StringRef cpu) {
  const Row *row = llvm::find_if(rows, [&](const Row &known) { return cpu.starts_with(known.cpu); });
  return row == std::end(rows) ? nullptr : row;
}

/// AMX, as all CPUs that have it have it: palette 1.
constexpr MachineModel::Tiles amx = {8, 16, 64, 300};

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return true;
  }();
  (void)done;
}

bool isThisHost() { return Triple(sys::getProcessTriple()).getArch() == Triple::x86_64; }

const LlvmCpus &cpus() {
  initializeBackEnd();
  static const LlvmCpus all(tripleText, "x86-64");
  return all;
}

const ClassRow *classOf(StringRef cpu, StringRef features) {
  const auto *row = llvm::find_if(classes, [&](const ClassRow &row) {
    return cpus().has(cpu, features, "+64bit") && cpus().has(cpu, features, row.needs);
  });
  return row == std::end(classes) ? nullptr : row;
}

Expected<MachineModel> makeMachine(StringRef spec, StringRef cpu, std::string features) {
  const ClassRow *row = classOf(cpu, features);
  if (!row) {
    return createStringError("CPU '" + cpu + "' has no SSE4.2; x86-64-v2 is the least that kernels are built for");
  }
  MachineModel machine;
  machine.spec = spec.str();
  machine.triple = tripleText;
  machine.cpu = cpu.str();
  machine.features = std::move(features);
  if (*row->features) {
    machine.features += (machine.features.empty() ? "" : ",") + std::string(row->features);
  }
  machine.level = spec == row->level ? row->number : 0; // more is expected of a CPU by its name than its class has
  machine.anyCpu = "x86-64";
  machine.lanes = row->lanes;
  machine.registers = row->registers;
  machine.maskedAccess = row->maskedAccess;
  machine.fusedMultiplyAdd = row->fusedMultiplyAdd;
  machine.scaleByPowerOfTwo = row->scaleByPowerOfTwo;
  machine.f16Conversions = row->f16Conversions;
  machine.roundsToInteger = true;
  machine.matmulTile = row->matmulTile;
  machine.tuning.convUnroll = row->convUnroll;
  // Three times the rows read keys and values of long inputs a third as often from the third cache: on Zen 4 with AVX2
  // 12 x 64 with 2048 keys takes 0.90 of the time, and none of shorter inputs takes more. Scores are 27 KiB.
  machine.tuning.attentionRows = 96, machine.tuning.attentionKeys = 64;
  machine.denormalBits = flushToZero | denormalsAreZero;
  cpus().takeInstructions(machine, instructionRows);
  if (machine.has(Instruction::TileConfigure)) {
    machine.tiles = amx;
  }
  const CacheRow *caches = rowOf(cacheRows, cpu);
  machine.l1Bytes = (caches ? caches->l1Kib : row->l1Kib) << 10;
  machine.l2Bytes = (caches ? caches->l2Kib : row->l2Kib) << 10;
  machine.l3Bytes = (caches ? caches->l3Kib : row->l3Kib) << 10;
  if (const CoreRow *core = rowOf(coreRows, cpu)) {
    machine.matmulTile = core->matmulTile;
    machine.tuning.loadCycles = core->loadCycles;
    machine.tuning.fetchingTiles = core->fetchingTiles, machine.tuning.streamCycles = core->streamCycles;
    machine.l3Rate = core->l3Rate, machine.memoryRate = core->memoryRate;
  }
  return machine;
}

/// Returns this CPU. Some virtual machines report the family and model of a CPU that has less than is there, as a
/// Rocket Lake with AMX: that is the first CPU with AMX.
Expected<HostCpu> hostCpu() {
  Expected<HostCpu> host = cpus().host();
  if (host && cpus().has(host->name, host->featureList(), tileNeeds) && !cpus().has(host->name, "", tileNeeds)) {
    host->name = "sapphirerapids";
  }
  return host;
}

/// Whether kernels for both machines are the same.
bool haveSameKernels(const MachineModel &a, const MachineModel &b) {
  return a.lanes == b.lanes && llvm::equal(a.intrinsics, b.intrinsics, [](const char *x, const char *y) {
           return !x == !y; // a lane count has one intrinsic for an instruction
         });
}

/// Returns the CPU by whose name one asks for code like that for `host`. It is another one than the host's where a
/// virtual machine hides what the host's CPU has, as AVX-512 of a Zen 4.
std::string nameOf(const HostCpu &host) {
  // Those of a maker are in order, the newest one first.
  constexpr StringLiteral others[] = {"znver4",         "znver3",      "graniterapids",  "sapphirerapids",
                                      "icelake-server", "cascadelake", "skylake-avx512", "alderlake",
                                      "haswell",        "x86-64-v4",   "x86-64-v3",      "x86-64-v2"};
  Expected<MachineModel> own = makeMachine("native", host.name, host.featureList());
  Expected<MachineModel> named = makeMachine(host.name, host.name, "");
  if (!own || !named) {
    consumeError(own.takeError()), consumeError(named.takeError());
    return host.name;
  }
  if (haveSameKernels(*own, *named)) {
    return host.name;
  }
  for (StringRef name : others) {
    MachineModel other = cantFail(makeMachine(name, name, ""));
    if (haveSameKernels(*own, other) && ingot::targets::x86::lacking(other, host.features).empty()) {
      return name.str();
    }
  }
  return classOf(host.name, host.featureList())->level;
}

/// Returns this very machine, with the features that are really there.
Expected<MachineModel> nativeMachine() {
  Expected<HostCpu> host = hostCpu();
  if (!host) {
    return host.takeError();
  }
  Expected<MachineModel> machine = makeMachine("native", host->name, host->featureList());
  if (machine) {
    machine->spec = nameOf(*host);
    ingot::target::readHostCaches(*machine);
  }
  return machine;
}

/// Whether LLVM uses such instructions in any code, not only where a program asks for them by name; or kernels do.
bool isForAnyCode(StringRef feature) {
  return feature == "64bit" ||
         llvm::any_of(ArrayRef<StringRef>{"avx", "sse", "ssse", "fma", "f16c", "bmi", "lzcnt", "popcnt", "movbe",
                                          "gfni", "cx16", "sahf", "xop", "tbm", "amx-tile", "amx-int8", "amx-bf16"},
                      [&](StringRef name) { return feature.starts_with(name); });
}

class X86Target final : public ingot::target::Target {
public:
  StringRef name() const override { return "x86"; }

  std::vector<Level> levels() const override {
    std::vector<Level> levels;
    for (const ClassRow &row : llvm::reverse(classes)) {
      levels.push_back({row.level, row.sentence});
    }
    if (isThisHost()) {
      levels.push_back({"native", "this host, with its own caches"});
    }
    return levels;
  }

  ArrayRef<InstructionRow> instructions() const override { return instructionRows; }

  bool accepts(StringRef spec) const override {
    return spec == "native" ? isThisHost() : spec.starts_with("x86-64") || cpus().knows(spec);
  }

  Expected<MachineModel> machine(StringRef spec) const override {
    if (spec == "native") {
      return nativeMachine();
    }
    if (!cpus().knows(spec)) {
      return createStringError("unknown x86-64 level '" + spec +
                               "'; use x86-64-v2, x86-64-v3, x86-64-v4, native or the name of a CPU, such as haswell");
    }
    return makeMachine(spec, spec, "");
  }

  std::string hostLacks(const MachineModel &machine) const override {
    if (!isThisHost()) {
      return "an x86-64 CPU";
    }
    Expected<HostCpu> host = hostCpu();
    if (!host) {
      return toString(host.takeError());
    }
    return machine.cpu == nameOf(*host) ? "" : ingot::targets::x86::lacking(machine, host->features);
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::x86 {

std::string lacking(const MachineModel &machine, const StringMap<bool> &host) {
  return cpus().lacking(machine, host, isForAnyCode);
}

std::string nameOf(const HostCpu &host) { return ::nameOf(host); }

std::unique_ptr<target::Target> create() { return std::make_unique<X86Target>(); }
} // namespace ingot::targets::x86
