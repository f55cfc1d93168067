// Has the list of targets, and looks them up in it. makeTargets() is in the target set that the executable links
// (targets/CMakeLists.txt).
#include "compiler/target/Registry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace ingot::target;

static std::vector<std::unique_ptr<Target>> &targets() {
  static std::vector<std::unique_ptr<Target>> all = makeTargets();
  return all;
}

const std::vector<std::unique_ptr<Target>> &ingot::target::allTargets() { return targets(); }

void ingot::target::addTarget(std::unique_ptr<Target> target) { targets().push_back(std::move(target)); }

const Target *ingot::target::findTarget(llvm::StringRef spec) {
  for (const std::unique_ptr<Target> &target : allTargets()) {
    if (target->accepts(spec)) {
      return target.get();
    }
  }
  return nullptr;
}

std::optional<Instruction> ingot::target::instructionOf(llvm::StringRef intrinsic) {
  for (const std::unique_ptr<Target> &target : allTargets()) {
    for (const InstructionRow &row : target->instructions()) {
      if (row.intrinsic == intrinsic) {
        return row.instruction;
      }
    }
  }
  return std::nullopt;
}

llvm::Expected<MachineModel> ingot::target::resolveMachine(llvm::StringRef spec) {
  if (const Target *target = findTarget(spec)) {
    llvm::Expected<MachineModel> machine = target->machine(spec);
    if (machine) {
      machine->target = target;
    }
    return machine;
  }
  std::string known;
  for (const std::unique_ptr<Target> &target : allTargets()) {
    for (const Level &level : target->levels()) {
      known += (known.empty() ? "" : ", ") + level.spec;
    }
  }
  return llvm::createStringError("unknown target '" + spec + "'; known are " + known + " and the names of CPUs");
}

std::optional<MachineModel> ingot::target::hostMachine() {
  if (findTarget("native")) {
    if (llvm::Expected<MachineModel> machine = resolveMachine("native")) {
      return std::move(*machine);
    } else {
      llvm::consumeError(machine.takeError());
    }
  }
  return std::nullopt;
}

int32_t ingot::target::hostLevel() {
  int32_t highest = 0;
  const Target *target = findTarget("native");
  for (const Level &level : target ? target->levels() : std::vector<Level>()) {
    llvm::Expected<MachineModel> machine = target->machine(level.spec);
    if (!machine) {
      llvm::consumeError(machine.takeError());
    } else if (target->hostLacks(*machine).empty()) {
      highest = std::max(highest, machine->level);
    }
  }
  return highest;
}

std::string ingot::target::hostCpu() {
  std::optional<MachineModel> host = hostMachine();
  return host ? host->spec : llvm::sys::getHostCPUName().str();
}
