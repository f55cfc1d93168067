// Writes what a run wants of devices with a memory of their own. That is a call of the support library (core/device.c),
// whose status ends the run where it is not 0. A launch carries attributes of which the exit makes such a call
// (emit/Emit.h).
#include "compiler/entry/Entry.h"
#include "compiler/onnx/Optional.h"
#include "compiler/plan/CallAttributes.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::entry {

Value Entry::deviceMemory(StringRef name, uint64_t device) {
  Value &memory = deviceMemories[(name + Twine(device)).str()];
  if (!memory) {
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(&entry.getBody().front());
    memory = w.callLibrary(name, {exec(), deviceNumber(device)}, bytesType(Size::unknown()));
  }
  return memory;
}

void Entry::enqueue(plan::LaunchOp launch, func::CallOp call) {
  call->setAttr(plan::callDeviceName, w.b.getI32IntegerAttr(static_cast<int32_t>(launch.getDevice()) - 1));
  if (launch.getChecked()) {
    call->setAttr(plan::callNodeName, w.b.getI32IntegerAttr(nodeNumber(onnx::nodeOf(launch.getLoc()))));
  }
  if (auto number = launch->getAttrOfType<IntegerAttr>(plan::numberName)) {
    call->setAttr(plan::launchName, w.b.getI64IntegerAttr(firstLaunch + number.getInt()));
    // The profile measures the kernel, and not how long enqueuing it takes.
    call->setAttr(plan::awaitedName, w.b.getUnitAttr());
  }
}

void Entry::build(plan::WaitOp wait) {
  returnIfBad(entry, w.callLibrary("ingot_device_wait", {exec(), deviceNumber(wait.getDevice())}, w.b.getI32Type()));
}

/// Returns the bytes of a buffer that crosses: none of an input that the run leaves out.
static Size bytesAcross(Value buffer) {
  Size bytes = plan::physicalBytes(cast<plan::BufferType>(buffer.getType()).getTensor());
  while (auto inside = buffer.getDefiningOp<plan::BufferOp>()) {
    buffer = inside.getMemory();
  }
  std::optional<unsigned> input = onnx::optionalInput(buffer);
  return input ? bytes * support::Symbol::presence(*input) : bytes;
}

void Entry::copyAcross(plan::CopyOp copy) {
  int64_t to = copy.getTo().getType().getDevice();
  Type any = bytesType(Size::unknown());
  Value bytes = w.integer(bytesAcross(copy.getFrom()), w.b.getI64Type());
  Value device = deviceNumber(to ? to : copy.getFrom().getType().getDevice());
  Value arguments[] = {exec(), device, address(copy.getTo(), any), address(copy.getFrom(), any), bytes};
  returnIfBad(entry, w.callLibrary(to ? "ingot_device_upload" : "ingot_device_download", arguments, w.b.getI32Type()));
}

void Entry::beginDevices(func::FuncOp holder) {
  Value exec = holder.getArguments().back();
  Value bad = w.callLibrary("ingot_devices_begin", {exec, number(deviceCount, 32)}, w.b.getI32Type());
  returnIfBad(holder, bad, [&] {
    // The number says which argument is null, counted over inputs, outputs, workspace, weights, the functions that give
    // memory, and then the devices.
    return status(INGOT_ERROR_NULL, static_cast<int64_t>(info.inputs.size() + info.outputs.size()) + 3);
  });
}

} // namespace ingot::entry
