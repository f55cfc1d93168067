// The instructions of Instructions.def, and the rows of a target's table of them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace ingot::target {

enum class Instruction : uint8_t {
#define INSTRUCTION(NAME, ...) NAME,
#include "compiler/target/Instructions.def"
#undef INSTRUCTION
  End
};

/// LLVM's names, by Instruction; null: there is none.
using Intrinsics = std::array<const char *, static_cast<size_t>(Instruction::End)>;

/// Which machines of a target have an instruction, and what LLVM calls it there.
struct InstructionRow {
  Instruction instruction;
  int64_t lanes;          ///< MachineModel::lanes; 0: any
  const char *intrinsic;  ///< "llvm.x86..."; test/targets compares its type with Instructions.def
  const char *needs = ""; ///< features that LLVM has to report of the CPU: "+a,+b"
};

/// What a result or an operand is. Those in the plural are vectors that fill a register, Tile is the number of one.
enum class OperandType : uint8_t { None, Int8s, Int16s, Int32s, Bfloat16s, Floats, Tile, Int64, Pointer };

struct InstructionInfo {
  const char *name;
  const char *source;               ///< in C++; empty: C++ source has no such thing
  std::array<OperandType, 4> types; ///< of the result and of the operands, behind which there are Nones
};

const InstructionInfo &infoOf(Instruction which);

} // namespace ingot::target
