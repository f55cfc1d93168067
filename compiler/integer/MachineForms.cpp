#include "compiler/integer/MachineForms.h"
#include "llvm/ADT/STLExtras.h"

using ingot::target::Instruction, ingot::target::MachineModel;

namespace ingot::integer {

/// Measured on Zen 5: a machine that multiplies bytes gains with any R. Pairs take more instructions than floats, and
/// pay where R as floats is not in the second cache (with vectors of 512 bits: not in the first one). Bytes that become
/// floats pay where R is in no cache; those of short vectors become so at a higher price.
static StateProducts statesOf(const MachineModel &machine) {
  if (machine.has(Instruction::QuadDot)) {
    return {};
  }
  int64_t last = std::max(machine.l3Bytes, machine.l2Bytes) * (machine.lanes >= 8 ? 2 : 16);
  int64_t ofPairs = machine.lanes >= 16 ? 4 * machine.l1Bytes : machine.l2Bytes;
  return {machine.has(Instruction::PairDot) ? ofPairs : last, last};
}

MachineForms formsFor(llvm::ArrayRef<const MachineModel *> machines, bool isFast) {
  auto all = [&](auto has) {
    return llvm::all_of(machines, [&](const MachineModel *machine) { return has(*machine); });
  };
  auto quads = [](const MachineModel &m) { return m.has(Instruction::QuadDot); };
  auto bytePairs = [](const MachineModel &m) { return m.has(Instruction::BytePairDot); };
  auto pairs = [](const MachineModel &m) { return m.has(Instruction::PairDot); };
  MachineForms forms;
  forms.digits.ofRows = all(quads);
  forms.digits.bits = all(quads) ? 8 : all([&](const MachineModel &m) { return quads(m) || bytePairs(m); }) ? 4 : 0;
  for (const MachineModel *machine : machines) {
    StateProducts states = statesOf(*machine);
    forms.states.ofOneRow = std::max(forms.states.ofOneRow, states.ofOneRow);
    forms.states.ofRows = std::max(forms.states.ofRows, states.ofRows);
  }
  forms.twoDigits = isFast;
  forms.foldsTaps = all(pairs);
  forms.widens = all([&](const MachineModel &m) { return pairs(m) && !quads(m); });
  forms.shortSums = forms.widens && all(bytePairs);
  forms.halves = isFast && all([](const MachineModel &m) { return m.has(Instruction::Bfloat16Dot); });
  forms.halfConvolutions =
      forms.halves && all([](const MachineModel &m) { return m.has(Instruction::TileBfloat16Dot); });
  return forms;
}

} // namespace ingot::integer
