#include "compiler/target/Platform.h"
#include "compiler/target/Target.h"

ingot::target::Platform ingot::target::platformOf(const MachineModel &machine) {
  return machine.target ? machine.target->platform(machine) : Platform::of(machine.triple);
}
