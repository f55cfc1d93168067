#include "compiler/driver/execution/Devices.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::driver {

std::string Devices::message(int status) const {
  int32_t number = INGOT_STATUS_NUMBER(status);
  if (INGOT_STATUS_KIND(status) != INGOT_ERROR_DEVICE || number < 0 || size_t(number) >= opened.size()) {
    return "";
  }
  const ingot_device &device = opened[size_t(number)]->device();
  const char *text = device.message ? device.message(device.context) : nullptr;
  return text ? text : "";
}

llvm::Error Devices::openDevices() {
  for (int32_t number = int32_t(opened.size()); number < model.device_count; ++number) {
    std::string spec = model.devices[number].target;
    llvm::Expected<target::MachineModel> machine = target::resolveMachine(spec);
    if (!machine) {
      return machine.takeError();
    }
    llvm::Expected<std::unique_ptr<target::OpenDevice>> device = target::findTarget(spec)->open(*machine);
    if (!device) {
      return device.takeError();
    }
    opened.push_back(std::move(*device));
  }
  return llvm::Error::success();
}

llvm::Error Devices::open(const int64_t *sizes, const void *weights) {
  if (llvm::Error error = openDevices()) {
    return error;
  }
  all.resize(opened.size());
  workspaceBytes.resize(opened.size());
  for (int32_t number = 0; number < model.device_count; ++number) {
    ingot_device_use &use = all[size_t(number)];
    int64_t bytes = 0;
    int status = ingot_device_bytes(&model, sizes, number, &bytes);
    if (!status && use.device && bytes == workspaceBytes[size_t(number)]) {
      continue;
    }
    if (use.device) {
      ingot_device_close(&use);
    }
    if (!status) {
      status = ingot_device_open(&model, number, bytes, weights, &opened[size_t(number)]->device(), &use);
    }
    workspaceBytes[size_t(number)] = bytes;
    if (status) {
      return failure(number, status);
    }
  }
  return llvm::Error::success();
}

llvm::Error Devices::failure(int32_t number, int status) const {
  bool isDevices = INGOT_STATUS_KIND(status) == INGOT_ERROR_DEVICE;
  int located = isDevices ? INGOT_STATUS(INGOT_ERROR_DEVICE, number) : status;
  char text[512];
  ingot_error_text(&model, located, text, sizeof(text));
  std::string more = message(located);
  return llvm::createStringError(std::string(text) + (more.empty() ? "" : ": " + more));
}

llvm::Expected<Devices::Held> Devices::take(int32_t number, int64_t bytes) {
  auto known = llvm::find_if(unused, [&](const Held &held) { return held.number == number && held.bytes == bytes; });
  if (known != unused.end()) {
    Held held = *known;
    unused.erase(known);
    return held;
  }
  const ingot_device &device = opened[size_t(number)]->device();
  void *memory = device.allocate(device.context, std::max<int64_t>(bytes, 1), 64);
  if (!memory) {
    return failure(number, INGOT_ERROR_DEVICE);
  }
  return Held{number, bytes, memory};
}

llvm::Expected<Devices::Held> Devices::hold(int32_t number, int64_t bytes, const void *data) {
  llvm::Expected<Held> held = take(number, bytes);
  if (!held) {
    return held;
  }
  const ingot_device &device = opened[size_t(number)]->device();
  int status = data && bytes ? device.upload(device.context, held->memory, data, bytes) : 0;
  int waited = device.wait(device.context);
  if (status || waited) {
    giveBack(*held);
    return failure(number, status ? status : waited);
  }
  return held;
}

llvm::Error Devices::download(int32_t number, void *to, const void *from, int64_t bytes) const {
  const ingot_device &device = opened[size_t(number)]->device();
  int status = bytes ? device.download(device.context, to, from, bytes) : 0;
  int waited = device.wait(device.context);
  return status || waited ? failure(number, status ? status : waited) : llvm::Error::success();
}

void Devices::close() {
  for (const Held &held : unused) {
    const ingot_device &device = opened[size_t(held.number)]->device();
    device.release(device.context, held.memory);
  }
  unused.clear();
  for (ingot_device_use &use : all) {
    ingot_device_close(&use);
  }
  all.clear();
  workspaceBytes.clear();
}

} // namespace ingot::driver
