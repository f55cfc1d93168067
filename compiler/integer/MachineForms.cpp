#include "compiler/integer/MachineForms.h"
#include "llvm/ADT/STLExtras.h"

using ingot::target::Instruction, ingot::target::MachineModel;

namespace ingot::integer {

/// Returns from which size of R on a recurrence takes integers. Measured on Zen 5: a machine that multiplies bytes
/// gains with any R. Pairs of int16 take more instructions than floats, and pay where R as floats is not in the second
/// cache (with vectors of 512 bits: not in the first one). Bytes that become floats pay where R is in no cache; with
/// short vectors they cost more. A GPU's blocks of threads read all of R in each step, which is what they wait for.
static StateProducts statesOf(const MachineModel &machine) {
  if (machine.has(Instruction::ByteDot4) || machine.itemsAreThreads) {
    return {0, 0};
  }
  int64_t last = std::max(machine.l3Bytes, machine.l2Bytes) * (machine.lanes >= 8 ? 2 : 16);
  int64_t ofInt16 = machine.lanes >= 16 ? 4 * machine.l1Bytes : machine.l2Bytes;
  return {machine.has(Instruction::Int16Dot2) ? ofInt16 : last, last};
}

MachineForms formsFor(llvm::ArrayRef<const MachineModel *> machines, bool isFast) {
  auto all = [&](auto has) {
    return llvm::all_of(machines, [&](const MachineModel *machine) { return has(*machine); });
  };
  auto byteDots = [](const MachineModel &m) { return m.has(Instruction::ByteDot4); };
  auto bytePairDots = [](const MachineModel &m) { return m.has(Instruction::ByteDot2); };
  auto int16Dots = [](const MachineModel &m) { return m.has(Instruction::Int16Dot2); };
  MachineForms forms;
  forms.splitProducts.ofRows = all(byteDots);
  forms.splitProducts.bits = all(byteDots)                                                                ? 8
                             : all([&](const MachineModel &m) { return byteDots(m) || bytePairDots(m); }) ? 4
                                                                                                          : 0;
  forms.states = {0, 0};
  for (const MachineModel *machine : machines) {
    StateProducts states = statesOf(*machine);
    forms.states.ofOneRow = std::max(forms.states.ofOneRow, states.ofOneRow);
    forms.states.ofRows = std::max(forms.states.ofRows, states.ofRows);
  }
  forms.twoDigits = isFast;
  forms.foldsTaps = all(int16Dots);
  forms.int16Factors = all([&](const MachineModel &m) { return int16Dots(m) && !byteDots(m); });
  forms.int16Sums = forms.int16Factors && all(bytePairDots);
  forms.bf16Products = isFast && all([](const MachineModel &m) { return m.has(Instruction::Bfloat16Dot); });
  forms.bf16Convolutions =
      forms.bf16Products && all([](const MachineModel &m) { return m.has(Instruction::TileBfloat16Dot); });
  return forms;
}

} // namespace ingot::integer
