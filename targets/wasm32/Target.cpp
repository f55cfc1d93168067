// WebAssembly: code for browsers, Node and other engines, with addresses of 32 bits, scalar or with vectors of 128 bits
// (simd128). Objects are those of LLVM's WebAssembly linker; they import nothing but what that defines, the support
// library, and one function of the C compiler's where sizes are open. Kernels are loops for one thread, but for modules
// whose memory is shared. Multiply-adds are two instructions, or one of the relaxed ones (f32x4.relaxed_madd), of which
// an engine decides whether it rounds once or twice. Relaxed products of bytes are not used: one factor has to fit 7
// bits, which those of quantized models do not. Products of bytes are those of int16, of which an instruction adds two
// (i32x4.dot_i16x8_s).
#include "compiler/target/LlvmCpus.h"
#include "compiler/target/OneThread.h"
#include "compiler/target/SpecTable.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using ingot::target::Instruction;
using ingot::target::InstructionRow;
using ingot::target::Level;
using ingot::target::LlvmCpus;
using ingot::target::MachineModel;
using ingot::target::Platform;

namespace {

/// Ops of the math dialect that are instructions, or a few of them. A fused multiply-add is neither and becomes two
/// instructions; rounding halves away from zero is none.
constexpr StringLiteral nativeMath[] = {"absf",     "absi",  "ceil",  "floor",  "trunc",   "roundeven",
                                        "sqrt",     "fma",   "ctpop", "ctlz",   "cttz",    "copysign",
                                        "isfinite", "isinf", "isnan", "clampf", "isnormal"};

/// The product of 64-bit integers in 128 bits, by which sizes that a run chooses are checked.
constexpr StringLiteral compilerCalls[] = {"__multi3"};

struct Row {
  const char *spec, *sentence, *features;
  bool vectors, fuses, splits;
};

constexpr Row rows[] = {
    {"wasm32", "WebAssembly: any engine", "", false, false, false},
    {"wasm32+simd128", "WebAssembly with vectors of 128 bits: browsers since 2021, Node since 16.4", "+simd128", true,
     false, false},
    {"wasm32+relaxed-simd",
     "the same with fused multiply-adds where the engine has them: Chromium 114, Firefox 145, Node 21",
     "+simd128,+relaxed-simd", true, true, false},
    {"wasm32+threads", "WebAssembly with vectors, for workers that share a memory", "+simd128,+atomics,+bulk-memory",
     true, false, true},
};

/// The swizzle gives zeros for numbers beyond the vector, negative ones among them, as ShuffleBytes wants it.
constexpr InstructionRow instructionRows[] = {
    {Instruction::Int16Dot2, 4, "llvm.wasm.dot"},
    {Instruction::PackInt32, 4, "llvm.wasm.narrow.signed.v8i16.v4i32"},
    {Instruction::PackInt16, 4, "llvm.wasm.narrow.signed.v16i8.v8i16"},
    {Instruction::PackUnsigned, 4, "llvm.wasm.narrow.unsigned.v16i8.v8i16"},
    {Instruction::ShuffleBytes, 4, "llvm.wasm.swizzle"},
    {Instruction::MultiplyInt16, 4, "llvm.wasm.q15mulr.sat.signed"},
};

const Row *rowOf(StringRef spec) { return ingot::target::rowOf(rows, spec); }

void initializeBackEnd() {
  static const bool done = [] {
    LLVMInitializeWebAssemblyTargetInfo();
    LLVMInitializeWebAssemblyTarget();
    LLVMInitializeWebAssemblyTargetMC();
    LLVMInitializeWebAssemblyAsmPrinter();
    LLVMInitializeWebAssemblyAsmParser();
    return true;
  }();
  (void)done;
}

class WasmTarget final : public ingot::target::Target {
public:
  StringRef name() const override { return "wasm32"; }

  std::vector<Level> levels() const override { return ingot::target::levelsOf(rows); }

  ArrayRef<InstructionRow> instructions() const override { return instructionRows; }

  bool accepts(StringRef spec) const override { return spec.starts_with("wasm"); }

  Expected<MachineModel> machine(StringRef spec) const override {
    const Row *row = rowOf(spec);
    if (!row) {
      return ingot::target::unknownSpec(rows, "kind of WebAssembly", spec);
    }
    initializeBackEnd();
    MachineModel machine;
    machine.spec = spec.str();
    machine.triple = "wasm32-unknown-unknown";
    machine.cpu = machine.anyCpu = "generic";
    machine.features = row->features;
    machine.lanes = row->vectors ? 4 : 1;
    machine.registers = 16; // engines run on processors that have at least these
    machine.gatherLoads = false;
    machine.memoryOperands = false;
    machine.fusedMultiplyAdd = row->fuses;
    machine.matmulTile = row->vectors ? MachineModel::Tile{4, 2} : MachineModel::Tile{4, 4};
    LlvmCpus(machine.triple, machine.cpu).takeInstructions(machine, instructionRows);
    machine.l1Bytes = 32 << 10;
    machine.l2Bytes = 256 << 10;
    machine.l3Bytes = 2 << 20;
    if (!row->splits) {
      setOneThread(machine);
    }
    return machine;
  }

  Platform platform(const MachineModel &machine) const override {
    Platform platform = Platform::of(machine.triple);
    platform.alignment = 16; // the stack's, and that of a vector
    platform.positionIndependent = false;
    platform.sharesCode = true; // it is downloaded
    platform.nativeMath = nativeMath;
    platform.compilerCalls = compilerCalls;
    return platform;
  }

  std::string hostLacks(const MachineModel &machine) const override { return "an engine for WebAssembly"; }

  std::string refuses(mlir::Operation *op, const MachineModel &machine) const override { return ""; }
};

} // namespace

namespace ingot::targets::wasm32 {
std::unique_ptr<target::Target> create() { return std::make_unique<WasmTarget>(); }
} // namespace ingot::targets::wasm32
