// Arm's microcontrollers with a floating-point unit, Cortex-M4 and later: Thumb code, addresses of 32 bits, float32 by
// instructions and float64 not, no operating system and no C library. What they lack the support library computes
// (runtime_support/core/wide.c). Kernels are loops of scalars; one processor runs them.
//
// The objects are for the soft-float calling convention, which every program can link; functions of a model pass no
// floats, so that --triple thumbv7em-none-eabihf changes a mark in the object and nothing else.
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"

extern "C" { // NOLINTBEGIN(readability-identifier-naming): LLVM's names
void LLVMInitializeARMTargetInfo();
void LLVMInitializeARMTarget();
void LLVMInitializeARMTargetMC();
void LLVMInitializeARMAsmPrinter();
void LLVMInitializeARMAsmParser();
} // NOLINTEND(readability-identifier-naming)

using namespace llvm;
using ingot::target::Level;
using ingot::target::MachineModel;
using ingot::target::Platform;

namespace {

/// Ops of the math dialect that are instructions. Those that round to whole floats are instructions of Armv8's
/// floating-point unit, which stand behind the others.
constexpr StringLiteral nativeMath[] = {"absf",     "absi",     "sqrt",     "fma",   "ctpop", "ctlz",
                                        "cttz",     "copysign", "isfinite", "isinf", "isnan", "clampf",
                                        "isnormal", "ceil",     "floor",    "trunc", "round", "roundeven"};
constexpr size_t roundingOps = 5;

/// `features` takes float64 from where a processor may have it.
struct Row {
  const char *cpu, *sentence, *triple, *features;
  bool rounds;
};

constexpr Row rows[] = {
    {"cortex-m4", "Cortex-M4 with its floating-point unit: microcontrollers", "thumbv7em-none-eabi", "", false},
    {"cortex-m7", "Cortex-M7, in float32", "thumbv7em-none-eabi", "-fp64", true},
    {"cortex-m33", "Cortex-M33 with its floating-point unit", "thumbv8m.main-none-eabi", "", true},
};

const Row *rowOf(StringRef cpu) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return cpu == each.cpu; });
  return row == std::end(rows) ? nullptr : row;
}

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeARMTargetInfo();
    LLVMInitializeARMTarget();
    LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter();
    LLVMInitializeARMAsmParser();
    return true;
  }();
  (void)done;
}

class CortexMTarget final : public ingot::target::Target {
public:
  StringRef name() const override { return "cortex_m"; }

  std::vector<Level> levels() const override {
    std::vector<Level> levels;
    for (const Row &row : rows) {
      levels.push_back({row.cpu, row.sentence});
    }
    return levels;
  }

  bool accepts(StringRef spec) const override { return spec.starts_with("cortex-m"); }

  Expected<MachineModel> machine(StringRef spec) const override {
    const Row *row = rowOf(spec);
    if (!row) {
      return createStringError("unknown microcontroller '" + spec + "'; use cortex-m4, cortex-m7 or cortex-m33");
    }
    initializeBackEnd();
    MachineModel machine;
    machine.spec = machine.cpu = machine.anyCpu = spec.str();
    machine.triple = row->triple;
    machine.features = row->features;
    machine.lanes = 1;
    machine.registers = 32;
    machine.elementRegisters = 4;
    machine.gatherLoads = false;
    machine.memoryOperands = false;
    machine.matmulTile = {4, 4};
    machine.l1Bytes = 16 << 10;
    machine.l2Bytes = 64 << 10;
    machine.l3Bytes = 256 << 10;
    machine.tuning.leastWorkToSplit = 1 << 30; // nobody else would run a part of a kernel
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.alignment = 16; // of an ingot_string; other elements ask for less
    platform.stackBytes = 4 << 10;
    platform.doubles = platform.longDivision = platform.positionIndependent = false;
    platform.smallCode = true;
    const Row *row = rowOf(machine.cpu);
    platform.nativeMath = row && row->rounds ? ArrayRef(nativeMath) : ArrayRef(nativeMath).drop_back(roundingOps);
    return platform;
  }

  std::string hostLacks(const MachineModel &machine) const override { return "a Cortex-M processor"; }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::cortex_m {
std::unique_ptr<target::Target> create() { return std::make_unique<CortexMTarget>(); }
} // namespace ingot::targets::cortex_m
