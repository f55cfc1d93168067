#include "compiler/target/Reproducible.h"

ingot::target::MachineModel ingot::target::reproducible(const MachineModel &machine) {
  MachineModel common;
  // Eight lanes are a register with AVX2, two of SSE and of Neon, and as many loops or scalars elsewhere. A product
  // that is rounded before it is added up takes two instructions, which every machine has; a fused one would have to be
  // emulated where there is no instruction for it.
  common.lanes = 8;
  common.registers = 16;
  common.matmulTile = {6, 2};
  common.fusedMultiplyAdd = false;
  common.l2Bytes = 512 << 10;
  common.l3Bytes = 4 << 20;

  // The rest says how the same operations on the same numbers become code, and where.
  common.target = machine.target;
  common.spec = machine.spec;
  common.triple = machine.triple;
  common.cpu = machine.cpu;
  common.features = machine.features;
  common.machineCode = machine.machineCode;
  common.vectorTypes = machine.vectorTypes;
  common.level = machine.level;
  common.anyCpu = machine.anyCpu;
  common.gatherLoads = machine.gatherLoads;
  common.f16Conversions = machine.f16Conversions; // as exact as integer arithmetic is
  common.tuning.leastWorkToSplit = machine.tuning.leastWorkToSplit;
  common.instructionCycles = machine.instructionCycles;
  return common;
}
