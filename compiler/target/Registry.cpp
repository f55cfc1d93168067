// Look-up among the targets of this build. allTargets() itself is in the target set that the executable links
// (targets/CMakeLists.txt).
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"

using namespace ingot::target;

llvm::Expected<std::unique_ptr<OpenDevice>> Target::open(const MachineModel &machine) const {
  return llvm::createStringError("target '" + machine.spec + "' opens no devices in this process");
}

const Target *ingot::target::findTarget(llvm::StringRef spec) {
  for (const std::unique_ptr<Target> &target : allTargets()) {
    if (target->accepts(spec)) {
      return target.get();
    }
  }
  return nullptr;
}

llvm::Expected<MachineModel> ingot::target::resolveMachine(llvm::StringRef spec) {
  if (const Target *target = findTarget(spec)) {
    return target->machine(spec);
  }
  std::string known;
  for (const std::unique_ptr<Target> &target : allTargets()) {
    for (const Level &level : target->levels()) {
      known += (known.empty() ? "" : ", ") + level.spec;
    }
  }
  return llvm::createStringError("unknown target '" + spec + "'; known are " + known + " and the names of CPUs");
}
