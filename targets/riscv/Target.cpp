// RISC-V: microcontrollers of 32 bits, with and without a floating-point unit, whose objects need no operating system;
// and processors of 64 bits under Linux, with and without vectors. The names are those of the extensions that a
// processor has, as C compilers take them for -march. A processor that has more than a name says runs the code, too.
//
// Kernels for vectors (V) count on 128 bits in a register, which every processor for applications has, and set the
// length that they compute with; so the same code is right, and no faster, where registers are longer. A vector of
// theirs is two registers, which one instruction computes (LMUL = 2): half as many instructions, each of which takes a
// number from a scalar register that it would be read for twice.
#include "compiler/target/OneThread.h"
#include "compiler/target/SpecTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using ingot::target::Level;
using ingot::target::MachineModel;
using ingot::target::Platform;

namespace {

constexpr const char *smallTriple = "riscv32-unknown-elf", *linuxTriple = "riscv64-unknown-linux-gnu";

/// Ops of the math dialect that are instructions, or a few of them. Rounding to whole floats is neither (it is one of
/// the extension Zfa).
constexpr StringLiteral nativeMath[] = {"absf",     "absi",     "sqrt",  "fma",   "ctpop",  "ctlz",    "cttz",
                                        "copysign", "isfinite", "isinf", "isnan", "clampf", "isnormal"};

/// What a processor without a floating-point unit calls of the C compiler's library. A square root is the support
/// library's.
constexpr StringLiteral compilerCalls[] = {"__addsf3",   "__subsf3",  "__mulsf3",     "__divsf3",    "__eqsf2",
                                           "__nesf2",    "__ltsf2",   "__lesf2",      "__gtsf2",     "__gesf2",
                                           "__unordsf2", "__fixsfsi", "__fixunssfsi", "__floatsisf", "__floatunsisf"};

/// Cycles of instructions of a small core that executes them in order, with a division of a bit in each cycle; floats
/// without a unit are calls.                            load  store multiply divide branch call floats float division
constexpr MachineModel::InstructionCycles cyclesWithFloats = {2, 1, 1, 34, 2, 3, 2, 20},
                                          cyclesWithoutFloats = {2, 1, 1, 34, 2, 3, 40, 300};

constexpr int64_t vectorBytes = 32; ///< of two registers

struct Row {
  const char *spec, *sentence, *triple, *cpu, *features;
  bool floats, vectors;
  bool isSmall() const { return triple == StringRef(smallTriple); }
};

constexpr Row rows[] = {
    {"rv32imc", "RISC-V microcontrollers of 32 bits: floats by the C compiler's library", smallTriple, "generic-rv32",
     "+m,+c", false, false},
    {"rv32imafc", "the same with a floating-point unit for float32", smallTriple, "generic-rv32", "+m,+a,+f,+c", true,
     false},
    {"rv64gc", "64-bit RISC-V under Linux", linuxTriple, "generic-rv64", "+m,+a,+f,+d,+c", true, false},
    {"rv64gcv", "the same with vectors (V), of any length", linuxTriple, "generic-rv64", "+m,+a,+f,+d,+c,+v", true,
     true},
};

const Row *rowOf(StringRef spec) { return ingot::target::rowOf(rows, spec); }

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser();
    return true;
  }();
  (void)done;
}

class RiscvTarget final : public ingot::target::Target {
public:
  StringRef name() const override { return "riscv"; }

  std::vector<Level> levels() const override { return ingot::target::levelsOf(rows); }

  bool accepts(StringRef spec) const override { return spec.starts_with("rv32") || spec.starts_with("rv64"); }

  Expected<MachineModel> machine(StringRef spec) const override {
    const Row *row = rowOf(spec);
    if (!row) {
      return ingot::target::unknownSpec(rows, "RISC-V processor", spec);
    }
    initializeBackEnd();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = row->triple;
    machine.cpu = machine.anyCpu = row->cpu;
    machine.features = row->features;
    machine.lanes = row->vectors ? vectorBytes / 4 : 1;
    machine.registers = row->vectors ? 16 : 32;
    machine.elementRegisters = row->vectors ? 1 : 4; // vectors are multiplied with elements in registers of floats
    machine.gatherLoads = false;
    machine.memoryOperands = false;
    machine.fusedMultiplyAdd = row->floats;
    machine.matmulTile = row->vectors ? MachineModel::Tile{6, 2} : MachineModel::Tile{4, 4};
    machine.l1Bytes = row->isSmall() ? 16 << 10 : 32 << 10;
    machine.l2Bytes = row->isSmall() ? 64 << 10 : 256 << 10;
    machine.l3Bytes = row->isSmall() ? 256 << 10 : 2 << 20;
    if (row->isSmall()) {
      machine.instructionCycles = row->floats ? cyclesWithFloats : cyclesWithoutFloats;
      setOneThread(machine);
    }
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.nativeMath = nativeMath;
    const Row *row = rowOf(machine.spec);
    if (row && row->isSmall()) {
      platform.alignment = 16; // the stack's, and that of an ingot_string
      platform.stackBytes = 4 << 10;
      platform.doubles = platform.longDivision = platform.positionIndependent = false;
      platform.smallCode = platform.boundsStack = true;
    }
    if (row && !row->floats) {
      platform.floats = false;
      platform.compilerCalls = compilerCalls;
    }
    return platform;
  }

  std::string hostLacks(const MachineModel &machine) const override {
    const Row *row = rowOf(machine.spec);
    if (!row || row->isSmall() || Triple(sys::getProcessTriple()).getArch() != Triple::riscv64) {
      return row && row->isSmall() ? "a RISC-V processor of 32 bits" : "a RISC-V processor of 64 bits";
    }
    return row->vectors && !sys::getHostCPUFeatures().lookup("v") ? "v" : "";
  }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::riscv {
std::unique_ptr<target::Target> create() { return std::make_unique<RiscvTarget>(); }
} // namespace ingot::targets::riscv
