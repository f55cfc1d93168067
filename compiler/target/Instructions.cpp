#include "compiler/target/Instructions.h"

namespace ingot::target {

const InstructionInfo &infoOf(Instruction which) {
  using enum OperandType;
  static constexpr InstructionInfo infos[] = {
#define INSTRUCTION(NAME, SOURCE, ...) {#NAME, SOURCE, {__VA_ARGS__}},
#include "compiler/target/Instructions.def"
#undef INSTRUCTION
  };
  return infos[static_cast<size_t>(which)];
}

} // namespace ingot::target
