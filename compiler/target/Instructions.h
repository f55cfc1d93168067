// Has the instructions of Instructions.def as an enum, and the rows of a target's table of them.
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

/// The names that LLVM has, by Instruction; null: there is none.
using Intrinsics = std::array<const char *, static_cast<size_t>(Instruction::End)>;

/// Which machines of a target have an instruction, and what LLVM calls it there.
struct InstructionRow {
  Instruction instruction;
  int64_t lanes;          ///< MachineModel::lanes of the machines; 0: any
  const char *intrinsic;  ///< "llvm.x86..."; test/targets compares its type with Instructions.def
  const char *needs = ""; ///< features that LLVM has to report of the CPU: "+a,+b"
};

/// The type of a result or an operand. Those in the plural are vectors that fill a register, Tile is the number of
/// one, and a Word is a register of 32 bits.
enum class OperandType : uint8_t { None, Int8s, Int16s, Int32s, Bfloat16s, Floats, Tile, Word, Int64, Pointer };

struct InstructionInfo {
  const char *name;
  const char *source;               ///< its form in C++; empty: C++ source has none
  std::array<OperandType, 4> types; ///< the types of the result and of the operands, behind which there are Nones
};

const InstructionInfo &infoOf(Instruction which);

} // namespace ingot::target
