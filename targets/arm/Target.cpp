// 64-bit Arm CPUs (AArch64) with NEON: 32 vector registers of 128 bits, multiply-adds that take one factor from an
// element of a vector, no masked access. What float kernels need to know is the same of all of them but for the caches;
// the levels are what a program can ask for at run time (runtime_support/core/level_arm.c) and what later kernels of
// integers and 16-bit floats will choose by. Any other CPU that LLVM knows is taken by its name.
//
// SVE is switched off where a CPU has it: kernels are written for vectors of a fixed length, and LLVM would use its
// predicates for parts of them only.
#include "compiler/target/Target.h"
#include "compiler/target/HostCaches.h"
#include "compiler/target/LlvmCpus.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
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

constexpr const char *tripleText = "aarch64-unknown-linux-gnu";

/// The name of the lowest level that people know better.
constexpr StringRef lowestAlias = "aarch64";

/// A level. Features are spelled out and not taken from the version of the architecture, of which LLVM's names imply
/// many that no code here uses and that a machine may lack.
struct LevelRow {
  const char *level, *sentence, *features;
  int32_t number; ///< the number of the level, as a program asks for it
};

constexpr LevelRow levelRows[] = {
    {"armv8-a", "NEON: any 64-bit Arm CPU (or: aarch64)", "", 1},
    {"armv8.2-a+dotprod", "dot products, 16-bit floats: Cortex-A55, A76, Neoverse N1, Apple A13 and later",
     "+v8.2a,+dotprod,+fullfp16", 2},
    {"armv8.6-a", "products of bytes and bfloat16: Cortex-A510, Neoverse V1 and N2, Apple M2 and later",
     "+v8.2a,+dotprod,+fullfp16,+i8mm,+bf16", 3},
};

constexpr InstructionRow instructionRows[] = {{Instruction::ByteDot4, 4, "llvm.aarch64.neon.usdot", "+i8mm"}};

/// The data caches, of which a shared one counts with a core's share. The first row counts that fits a CPU, whose name
/// begins as the row says.
struct CacheRow {
  const char *cpu;
  int64_t l1Kib, l2Kib, l3Kib;
};

constexpr CacheRow cacheRows[] = {
    {"cortex-a34", 32, 128, 0},
    {"cortex-a35", 32, 128, 0},
    {"cortex-a510", 32, 256, 1024},
    {"cortex-a53", 32, 256, 0},
    {"cortex-a55", 32, 128, 512},
    {"cortex-a57", 32, 512, 0},
    {"cortex-a72", 32, 512, 0},
    {"cortex-a73", 64, 512, 0},
    {"cortex-a75", 64, 256, 1024},
    {"cortex-a76", 64, 256, 1024},
    {"cortex-a", 64, 512, 2048},
    {"cortex-x", 64, 1024, 2048},
    {"neoverse-e1", 32, 256, 1024},
    {"neoverse-v2", 64, 2048, 2048},
    {"neoverse-", 64, 1024, 2048},
    {"grace", 64, 1024, 2048},
    {"apple-m", 128, 3072, 2048},
    {"apple-", 64, 2048, 2048},
    {"a64fx", 64, 640, 0},
    {"ampere1", 64, 2048, 1024},
    {"thunderx2t99", 32, 256, 1024},
    {"oryon-", 96, 3072, 2048},
    {"", 32, 256, 1024},
};

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    return true;
  }();
  (void)done;
}

bool isThisHost() { return Triple(sys::getProcessTriple()).getArch() == Triple::aarch64; }

const LlvmCpus &cpus() {
  initializeBackEnd();
  static const LlvmCpus all(tripleText, "generic");
  return all;
}

/// "generic" is a name that other architectures have as well. Some CPUs are another name of one: apple-m1, grace.
bool isKnownCpu(StringRef cpu) { return cpu != "generic" && cpus().knows(AArch64::resolveCPUAlias(cpu)); }

const LevelRow *findLevel(StringRef spec) {
  const auto *row = llvm::find_if(levelRows, [&](const LevelRow &row) { return spec == row.level; });
  return row != std::end(levelRows) ? row : spec == lowestAlias ? levelRows : nullptr;
}

/// `name` is a CPU's, as users know it.
MachineModel makeMachine(StringRef spec, StringRef name, std::string features) {
  StringRef cpu = AArch64::resolveCPUAlias(name);
  MachineModel machine;
  machine.spec = spec.str();
  machine.triple = tripleText;
  machine.cpu = cpu.str();
  machine.features = std::move(features);
  if (cpus().has(cpu, machine.features, "+sve")) {
    machine.features += machine.features.empty() ? "-sve" : ",-sve";
  }
  machine.anyCpu = "generic";
  machine.lanes = 4;
  machine.registers = 32;
  machine.gatherLoads = false;
  machine.memoryOperands = false;
  machine.elementRegisters = cpus().reorders(cpu) ? 1 : 4;
  machine.maskedAccess = false;
  machine.fusedMultiplyAdd = true;
  machine.scaleByPowerOfTwo = false;
  cpus().takeInstructions(machine, instructionRows);
  machine.f16Conversions = true;
  // 24 accumulators and 3 vectors of a row of B.
  machine.matmulTile = {8, 3};
  const auto *caches = llvm::find_if(cacheRows, [&](const CacheRow &row) { return name.starts_with(row.cpu); });
  machine.l1Bytes = caches->l1Kib << 10;
  machine.l2Bytes = caches->l2Kib << 10;
  machine.l3Bytes = caches->l3Kib << 10;
  return machine;
}

Expected<MachineModel> nativeMachine() {
  Expected<HostCpu> host = cpus().host();
  if (!host) {
    return host.takeError();
  }
  MachineModel machine = makeMachine("native", host->name, host->featureList());
  machine.spec = host->name;
  ingot::target::readHostCaches(machine);
  return machine;
}

/// Whether LLVM uses such instructions in any code, not only where a program asks for them by name.
bool isForAnyCode(StringRef feature) {
  return llvm::is_contained(
      {"neon", "fp-armv8", "crc", "lse", "rdm", "fullfp16", "dotprod", "i8mm", "bf16", "complxnum", "fp16fml"},
      feature);
}

class ArmTarget final : public ingot::target::Target {
public:
  StringRef name() const override { return "arm"; }

  std::vector<Level> levels() const override {
    std::vector<Level> levels;
    for (const LevelRow &row : levelRows) {
      levels.push_back({row.level, row.sentence});
    }
    if (isThisHost()) {
      levels.push_back({"native", "this host, with its own caches"});
    }
    return levels;
  }

  ArrayRef<InstructionRow> instructions() const override { return instructionRows; }

  bool accepts(StringRef spec) const override {
    return spec == "native" ? isThisHost()
                            : spec.starts_with("armv") || spec.starts_with(lowestAlias) || isKnownCpu(spec);
  }

  Expected<MachineModel> machine(StringRef spec) const override {
    if (spec == "native") {
      return nativeMachine();
    }
    if (const LevelRow *row = findLevel(spec)) {
      MachineModel machine = makeMachine(row->level, "generic", row->features);
      machine.level = row->number;
      return machine;
    }
    if (!isKnownCpu(spec)) {
      return createStringError("unknown Arm level '" + spec +
                               "'; use armv8-a, armv8.2-a+dotprod, armv8.6-a or the name of a 64-bit CPU, such as "
                               "cortex-a76");
    }
    return makeMachine(spec, spec, "");
  }

  std::string hostLacks(const MachineModel &machine) const override {
    if (!isThisHost()) {
      return "a 64-bit Arm CPU";
    }
    Expected<HostCpu> host = cpus().host();
    if (!host) {
      return toString(host.takeError());
    }
    return machine.cpu == AArch64::resolveCPUAlias(host->name) ? ""
                                                               : cpus().lacking(machine, host->features, isForAnyCode);
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::arm {
std::unique_ptr<target::Target> create() { return std::make_unique<ArmTarget>(); }
} // namespace ingot::targets::arm
