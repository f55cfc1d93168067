// Describes the memory plan of a variant: for the library's manifest, and for reports.
#include "compiler/memory/PlanMemory.h"
#include "compiler/pipeline/State.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Plan.h"

using namespace mlir;

namespace ingot::pipeline {

/// Returns the name of the memory in which a buffer of the plan lies, and where its part of the arena begins; no name
/// where there are not several.
static std::pair<std::string, int64_t> memoryOf(const memory::MemoryPlan &plan, size_t buffer) {
  if (plan.memories.empty() || plan.devices[buffer] != 0) {
    return {"", 0};
  }
  const plan::MemoryInfo &memory = plan.memories[plan.memoryOf[buffer]];
  return {memory.name, memory.workspaceAt};
}

void describeMemory(const memory::MemoryPlan &plan, Variant &variant, Result &report) {
  plan::ModelInfo &info = variant.info;
  report.arenaBytes = info.arenaBytes = plan.arena.peakBytes;
  report.arenaLowerBound = plan.arena.lowerBound;
  report.allocations = info.allocations = plan.allocations;
  report.memories = info.memories = plan.memories;
  info.streamBytes = plan.streamBytes;
  variant.function().walk([&](plan::LaunchOp launch) {
    auto text = launch->getAttrOfType<BoolAttr>(plan::textName);
    info.makesStrings |= text && text.getValue();
  });
  for (auto [output, input] : llvm::zip_equal(info.outputs, plan.inPlaceOf)) {
    output.inPlaceOf = input;
  }
  SmallVector<StringRef> devices = {""};
  devices.append(plan::devicesOf(variant.function()));
  info.devices.clear();
  for (StringRef spec : plan::devicesOf(variant.function())) {
    info.devices.push_back({spec.str()});
  }
  for (auto [i, buffer, name, device, offset] :
       llvm::enumerate(plan.buffers, plan.names, plan.devices, plan.arena.offsets)) {
    if (buffer.bytes > 0) {
      auto [memory, at] = memoryOf(plan, i);
      report.buffers.push_back(
          {name, offset - at, buffer.bytes, int(buffer.firstUse), int(buffer.lastUse), devices[device].str(), memory});
    }
    if (device) {
      int64_t &workspace = info.devices[device - 1].workspaceBytes;
      int64_t end = llvm::alignTo(offset + buffer.bytes, info.workspaceAlign) + info.workspaceAlign;
      workspace = std::max(workspace, end);
    }
  }
  report.memoryPlan = memory::renderMemoryPlan(plan);
}

} // namespace ingot::pipeline
