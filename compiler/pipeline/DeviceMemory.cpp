#include "compiler/pipeline/DeviceMemory.h"

using namespace mlir;

namespace ingot::pipeline {

void Retry::save(const State &state) {
  bool limited = llvm::any_of(state.devices, [](const partition::Device &d) { return d.machine.memoryBytes > 0; });
  if (limited) {
    before.take(state);
  }
}

/// Returns the workspace of a device, as the memory phase has planned it for the variant that needs most.
static int64_t workspaceOf(const State &state, int64_t device) {
  int64_t most = 0;
  for (const Variant &variant : state.variants) {
    bool uses = static_cast<size_t>(device) <= variant.info.devices.size();
    most = uses ? std::max(most, variant.info.devices[device - 1].workspaceBytes) : most;
  }
  return most;
}

FailureOr<bool> Retry::isWanted(State &state) {
  constexpr int most = 8;
  bool wanted = false;
  int64_t number = 0; // the number among the devices with memories of their own
  state.policy.reserved.resize(state.devices.size(), 0);
  for (auto [device, reserved] : llvm::zip_equal(state.devices, state.policy.reserved)) {
    const target::MachineModel &machine = device.machine;
    number += machine.hasOwnMemory;
    int64_t needed = machine.hasOwnMemory ? state.weights.part(number).second + workspaceOf(state, number) : 0;
    if (machine.memoryBytes == 0 || needed <= machine.memoryBytes) {
      continue;
    }
    if (tries == most) {
      return emitError(state.model().function().getLoc())
             << "target '" << machine.spec << "': what it runs needs " << needed << " bytes of its memory, which has "
             << machine.memoryBytes;
    }
    reserved += (needed - machine.memoryBytes) << tries; // other pieces may be larger than their estimates, too
    wanted = true;
  }
  if (wanted) {
    ++tries;
    before.restore(state);
  }
  return wanted;
}

} // namespace ingot::pipeline
