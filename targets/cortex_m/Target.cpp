// Arm's microcontrollers: Thumb code, addresses of 32 bits, no operating system and no C library. A table says what
// each processor is to LLVM and what it computes by instructions. Three kinds of arithmetic come from elsewhere:
//
//   float64, division of 64-bit integers    the support library (runtime_support/core/wide.c), on all of them
//   float32 without a floating-point unit,  the library of the C compiler, by the names that Arm's run-time ABI gives
//   integers of Cortex-M0+                  to these functions (`compilerCalls`)
//
// Kernels are loops of scalars, and one processor runs them; products of bytes take two int16 in a word where the
// processor has the DSP extension, and 16 bytes in a vector on Cortex-M55 and later (MVE). Other kernels do not use
// these vectors: LLVM 22 compares floats in them by instructions for which a NaN is less than any number, so that the
// largest of some would be wrong where one is a NaN (`fcmp olt` becomes `vcmp.f32 lt`).
//
// The objects are for the soft-float calling convention, which every program can link; functions of a model pass no
// floats, so that --triple thumbv7em-none-eabihf changes a mark in the object and nothing else.
#include "compiler/target/LlvmCpus.h"
#include "compiler/target/OneThread.h"
#include "compiler/target/SpecTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using ingot::target::Instruction;
using ingot::target::InstructionRow;
using ingot::target::Level;
using ingot::target::LlvmCpus;
using ingot::target::MachineModel;
using ingot::target::Platform;

namespace {

/// Ops of the math dialect that are instructions, or a few of them. Those that round to whole floats are instructions
/// of Armv8's floating-point unit, which stand behind the others. Without a floating-point unit a square root is the
/// support library's.
constexpr StringLiteral nativeMath[] = {"absf",     "absi",     "sqrt",     "fma",   "ctpop", "ctlz",
                                        "cttz",     "copysign", "isfinite", "isinf", "isnan", "clampf",
                                        "isnormal", "ceil",     "floor",    "trunc", "round", "roundeven"};
constexpr size_t roundingOps = 5;

/// Functions that compute what processors without a floating-point unit do not, and behind them those for the
/// instructions on integers that Cortex-M0+ lacks, too.
constexpr StringLiteral compilerCalls[] = {
    "__aeabi_fadd",     "__aeabi_fsub",   "__aeabi_fmul",   "__aeabi_fdiv",   "__aeabi_fcmpeq", "__aeabi_fcmplt",
    "__aeabi_fcmple",   "__aeabi_fcmpge", "__aeabi_fcmpgt", "__aeabi_fcmpun", "__aeabi_f2iz",   "__aeabi_f2uiz",
    "__aeabi_i2f",      "__aeabi_ui2f",   "__aeabi_idiv",   "__aeabi_uidiv",  "__aeabi_lmul",   "__aeabi_idivmod",
    "__aeabi_uidivmod", "__aeabi_llsl",   "__aeabi_llsr",   "__aeabi_lasr",   "__clzsi2"};
constexpr size_t integerCalls = 9;

/// What computes floats.
enum class Floats { Calls, Unit, RoundingUnit };

/// Cycles of instructions as they are usually given for these cores, in the middle where they depend on data or on what
/// stands around. No board was there to compare them with. Floats without a unit are calls of some tens of
/// instructions. Cortex-M7, M55 and M85 issue two instructions in a cycle where neighbours allow it, of which half of
/// the time is assumed; they have caches, whose lines are of 32 bytes. Flashes beside Cortex-M0+ give a word or two at
/// a time.
///            load, store, multiply, divide, branch, call, floats, float division, others, flash line, caches code
constexpr MachineModel::InstructionCycles cyclesM0 = {2, 2, 1, 40, 2, 4, 60, 400, 1, 8},
                                          cyclesM3 = {2, 2, 1, 7, 3, 4, 40, 200}, cyclesM4 = {2, 1, 1, 7, 3, 4, 1, 14},
                                          cyclesM4Soft = {2, 1, 1, 7, 3, 4, 40, 200},
                                          cyclesM33 = {1.5, 1, 1, 6, 2, 4, 1, 14},
                                          cyclesM33Soft = {1.5, 1, 1, 6, 2, 4, 40, 200},
                                          cyclesM7 = {1, 1, 1, 6, 1, 3, 1, 14, 0.75, 32, true},
                                          cyclesM55 = {1, 1, 1, 6, 1.5, 3, 1, 14, 0.9, 32, true};

constexpr int64_t mveBytes = 16; ///< of a vector of MVE

/// `cpu` and `features` are LLVM's. Features take float64 from where a processor may have it.
struct Row {
  const char *spec, *sentence, *cpu, *triple, *features;
  Floats floats;
  const MachineModel::InstructionCycles &cycles;
  bool dividesIntegers = true;
  int64_t dotBytes = 0;
};

constexpr Row rows[] = {
    {"cortex-m0plus", "Cortex-M0+, and M0: floats and divisions by the C compiler's library", "cortex-m0plus",
     "thumbv6m-none-eabi", "", Floats::Calls, cyclesM0, /*dividesIntegers=*/false},
    {"cortex-m3", "Cortex-M3: floats by the C compiler's library", "cortex-m3", "thumbv7m-none-eabi", "", Floats::Calls,
     cyclesM3},
    {"cortex-m4", "Cortex-M4 with its floating-point unit: microcontrollers", "cortex-m4", "thumbv7em-none-eabi", "",
     Floats::Unit, cyclesM4},
    {"cortex-m4f", "the same, as it is called in data sheets", "cortex-m4", "thumbv7em-none-eabi", "", Floats::Unit,
     cyclesM4},
    {"cortex-m4+nofp", "Cortex-M4 without one: floats by the C compiler's library", "cortex-m4", "thumbv7em-none-eabi",
     "-fpregs", Floats::Calls, cyclesM4Soft},
    {"cortex-m7", "Cortex-M7, in float32", "cortex-m7", "thumbv7em-none-eabi", "-fp64", Floats::RoundingUnit, cyclesM7},
    {"cortex-m33", "Cortex-M33 with its floating-point unit", "cortex-m33", "thumbv8m.main-none-eabi", "",
     Floats::RoundingUnit, cyclesM33},
    {"cortex-m33+nofp", "Cortex-M33 without one: floats by the C compiler's library", "cortex-m33",
     "thumbv8m.main-none-eabi", "-fpregs", Floats::Calls, cyclesM33Soft},
    {"cortex-m55", "Cortex-M55, in float32; products of bytes by its vectors (MVE)", "cortex-m55",
     "thumbv8.1m.main-none-eabi", "-fp64", Floats::RoundingUnit, cyclesM55, /*dividesIntegers=*/true, mveBytes},
    {"cortex-m85", "Cortex-M85, likewise", "cortex-m85", "thumbv8.1m.main-none-eabi", "-fp64", Floats::RoundingUnit,
     cyclesM55, /*dividesIntegers=*/true, mveBytes},
};

/// Words of two int16 and of four bytes: Cortex-M4, M7, M33, M55, M85.
constexpr const char *dsp = "+thumb2,+dsp";
constexpr InstructionRow instructionRows[] = {
    {Instruction::WidenBytes, 1, "llvm.arm.uxtb16", dsp},
    {Instruction::WidenSignedBytes, 1, "llvm.arm.sxtb16", dsp},
    {Instruction::WordDot2, 1, "llvm.arm.smlad", dsp},
    {Instruction::MultiplyLowLow, 1, "llvm.arm.smlabb", dsp},
    {Instruction::MultiplyLowHigh, 1, "llvm.arm.smlabt", dsp},
    {Instruction::MultiplyHighLow, 1, "llvm.arm.smlatb", dsp},
    {Instruction::MultiplyHighHigh, 1, "llvm.arm.smlatt", dsp},
};

const Row *rowOf(StringRef spec) { return ingot::target::rowOf(rows, spec); }

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

  std::vector<Level> levels() const override { return ingot::target::levelsOf(rows); }

  ArrayRef<InstructionRow> instructions() const override { return instructionRows; }

  bool accepts(StringRef spec) const override { return spec.starts_with("cortex-m"); }

  Expected<MachineModel> machine(StringRef spec) const override {
    const Row *row = rowOf(spec);
    if (!row) {
      return ingot::target::unknownSpec(rows, "microcontroller", spec);
    }
    initializeBackEnd();
    MachineModel machine;
    machine.spec = spec.str();
    machine.cpu = machine.anyCpu = row->cpu;
    machine.triple = row->triple;
    machine.features = row->features;
    machine.lanes = 1;
    machine.registers = 32;
    machine.elementRegisters = 4;
    machine.gatherLoads = false;
    machine.memoryOperands = false;
    machine.fusedMultiplyAdd = row->floats != Floats::Calls;
    machine.matmulTile = {4, 4};
    machine.l1Bytes = 16 << 10;
    machine.l2Bytes = 64 << 10;
    machine.l3Bytes = 256 << 10;
    LlvmCpus(row->triple, row->cpu).takeInstructions(machine, instructionRows);
    machine.instructionCycles = row->cycles;
    setOneThread(machine);
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.alignment = 16; // of an ingot_string; other elements ask for less
    platform.stackBytes = 4 << 10;
    platform.doubles = platform.longDivision = platform.positionIndependent = false;
    platform.smallCode = platform.boundsStack = true;
    const Row *row = rowOf(machine.spec);
    platform.dotBytes = row ? row->dotBytes : 0;
    bool rounds = row && row->floats == Floats::RoundingUnit;
    platform.nativeMath = rounds ? ArrayRef(nativeMath) : ArrayRef(nativeMath).drop_back(roundingOps);
    if (row && row->floats == Floats::Calls) {
      platform.floats = false;
      platform.compilerCalls =
          row->dividesIntegers ? ArrayRef(compilerCalls).drop_back(integerCalls) : ArrayRef(compilerCalls);
    }
    return platform;
  }

  /// A float that is rounded to the nearest int32 is one instruction (vcvtr), of which LLVM makes no other code.
  bool replaceMath(mlir::Operation *op, const MachineModel &machine) const override {
    const Row *row = rowOf(machine.spec);
    auto rounded = dyn_cast<mlir::math::RoundEvenOp>(op);
    auto integer = rounded && rounded->hasOneUse() ? dyn_cast<mlir::arith::FPToSIOp>(*rounded->user_begin()) : nullptr;
    if (!row || row->floats == Floats::Calls || !integer || !rounded.getType().isF32() ||
        !integer.getType().isSignlessInteger(32)) {
      return false;
    }
    mlir::OpBuilder b(integer);
    mlir::Location loc = integer.getLoc();
    mlir::Value bits = mlir::LLVM::CallIntrinsicOp::create(b, loc, rounded.getType(), b.getStringAttr("llvm.arm.vcvtr"),
                                                           mlir::ValueRange(rounded.getOperand()))
                           .getResult(0);
    integer.replaceAllUsesWith(mlir::arith::BitcastOp::create(b, loc, integer.getType(), bits).getResult());
    integer.erase(), rounded.erase();
    return true;
  }

  std::string hostLacks(const MachineModel &machine) const override { return "a Cortex-M processor"; }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::cortex_m {
std::unique_ptr<target::Target> create() { return std::make_unique<CortexMTarget>(); }
} // namespace ingot::targets::cortex_m
