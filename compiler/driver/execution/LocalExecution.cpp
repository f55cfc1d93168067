#include "compiler/driver/execution/LocalExecution.h"
#include "compiler/driver/Driver.h"
#include "runtime_support/runner/measure.h"
#include "runtime_support/runner/profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <new>

namespace ingot::driver {

static constexpr int64_t kAlignment = 64, kGuard = 64;
static constexpr char kGuardByte = char(0xA5), kUnwrittenByte = char(0xC3);

static int64_t roundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void LocalExecution::Free::operator()(char *data) const { std::free(data); }

LocalExecution::GuardedMemory LocalExecution::allocate(int64_t bytes) {
  constexpr int64_t kMost = int64_t(1) << 62;
  char *data = bytes < kMost ? static_cast<char *>(std::aligned_alloc(kAlignment, roundUp(bytes) + kGuard)) : nullptr;
  if (!data) {
    throw std::bad_alloc();
  }
  ingot_prefer_large_pages(data, bytes);
  std::memset(data, 0, bytes); // pages are touched now, not in the first run
  std::memset(data + bytes, kGuardByte, roundUp(bytes) + kGuard - bytes);
  return {std::unique_ptr<char, Free>(data), bytes};
}

bool LocalExecution::guardIsIntact(const GuardedMemory &memory) {
  return std::all_of(memory.data.get() + memory.bytes, memory.data.get() + roundUp(memory.bytes) + kGuard,
                     [](char byte) { return byte == kGuardByte; });
}

LocalExecution::Tensor LocalExecution::makeTensor(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> dims) {
  int64_t bytes = tensorBytes(info.type, dims);
  return {allocate(bytes), bytes / int64_t(ingot_type_bytes(info.type))};
}

/// Says once in a process that the host runs a model that has code for a device, and why.
static void tellFallback(const std::string &model, const std::string &why) {
  static bool wasTold = false;
  if (!std::exchange(wasTold, true)) {
    llvm::errs() << "warning: model '" << model << "' runs on the host: " << why << "\n";
  }
}

llvm::Error LocalExecution::openDevices() {
  llvm::Error error = devices.open(sizes.data(), exec.weights);
  if (error && model.flags & INGOT_MODEL_HOST_FALLBACK) {
    devices.close();
    tellFallback(model.name, llvm::toString(std::move(error)));
    return llvm::Error::success();
  }
  return error;
}

llvm::Error LocalExecution::prepare(llvm::ArrayRef<HostTensor> given) {
  std::vector<int64_t> dims(outputAxes(model));
  int64_t bytes = 0;
  if (int status = ingot_plan(&model, sizes.data(), dims.data(), &bytes)) {
    return failure(status);
  }
  giveBackHeld();
  if (llvm::Error error = openDevices()) {
    return error;
  }
  exec.devices = devices.uses();
  releaseGiven();
  inputs.clear(), outputTensors.clear(), inputBuffers.clear(), outputBuffers.clear();
  for (auto [info, tensor] : llvm::zip(inputsOf(model), given)) {
    inputs.push_back(tensor.isAbsent ? Tensor() : makeTensor(info, tensor.dims));
    llvm::copy(tensor.bytes, inputs.back().memory.data.get());
    inputs.back().strings = tensor.strings;
    auto *views = reinterpret_cast<ingot_string *>(inputs.back().memory.data.get());
    for (const std::string &text : inputs.back().strings) {
      *views++ = {text.data(), int64_t(text.size())};
    }
    llvm::Expected<ingot_buffer> buffer = bufferOf(info, inputs.back(), /*isInput=*/true);
    if (!buffer) {
      return buffer.takeError();
    }
    inputBuffers.push_back(*buffer);
  }
  outputDims = dims;
  sizes.resize(size_t(model.symbol_count + model.found_count));
  // Runs write the addresses of outputs that they allocate into these, which must not move.
  outputTensors.reserve(size_t(model.output_count));
  for (auto next = dims.begin(); const ingot_tensor_info &info : outputsOf(model)) {
    if (info.flags & INGOT_TENSOR_ALLOCATED) {
      outputTensors.emplace_back();
      outputBuffers.push_back({&outputTensors.back().given, 0});
    } else {
      outputTensors.push_back(makeTensor(info, llvm::ArrayRef(dims.data() + (next - dims.begin()), size_t(info.rank))));
      llvm::Expected<ingot_buffer> buffer = bufferOf(info, outputTensors.back(), /*isInput=*/false);
      if (!buffer) {
        return buffer.takeError();
      }
      outputBuffers.push_back(*buffer);
    }
    next += info.rank;
  }
  workspace = allocate(bytes);
  return llvm::Error::success();
}

llvm::Expected<ingot_buffer> LocalExecution::bufferOf(const ingot_tensor_info &info, Tensor &tensor, bool isInput) {
  char *here = tensor.memory.data.get();
  if (!info.device) {
    return ingot_buffer{here, tensor.elements};
  }
  llvm::Expected<Devices::Held> there = devices.hold(info.device - 1, tensor.memory.bytes, isInput ? here : nullptr);
  if (!there) {
    return there.takeError();
  }
  held.push_back(*there);
  tensor.there = there->memory;
  return ingot_buffer{tensor.there, tensor.elements};
}

void LocalExecution::releaseGiven() {
  for (Tensor &output : outputTensors) {
    host.release(output.given);
    output.given = nullptr;
  }
}

void LocalExecution::giveBackHeld() {
  for (const Devices::Held &each : held) {
    devices.giveBack(each);
  }
  held.clear();
}

void LocalExecution::closeDevices() {
  giveBackHeld();
  devices.close();
}

int LocalExecution::run() {
  releaseGiven();
  ingot_strings_clear(&exec);
  int status = ingot_run(&model, inputBuffers.data(), model.input_count, outputBuffers.data(), model.output_count,
                         sizes.data(), workspace.data.get(), size_t(workspace.bytes), &exec);
  if (status == 0) {
    ingot_found_dims(&model, sizes.data(), outputDims.data());
  }
  return status;
}

void LocalExecution::keepStrings(bool succeeded) {
  auto next = outputDims.begin();
  for (auto [info, output] : llvm::zip(outputsOf(model), outputTensors)) {
    llvm::ArrayRef<int64_t> dims(outputDims.data() + (next - outputDims.begin()), size_t(info.rank));
    next += info.rank;
    output.strings.clear();
    if (info.type != INGOT_STRING || !succeeded) {
      continue;
    }
    const char *data = output.given ? static_cast<const char *>(output.given) : output.memory.data.get();
    const auto *views = reinterpret_cast<const ingot_string *>(data);
    for (int64_t i = 0, count = tensorBytes(info.type, dims) / int64_t(sizeof *views); i < count; ++i) {
      output.strings.emplace_back(views[i].size ? views[i].data : "", size_t(views[i].size));
    }
  }
  ingot_strings_release(&exec);
}

llvm::Error LocalExecution::check(int status) {
  keepStrings(status == 0);
  int64_t given = llvm::count_if(outputTensors, [](const Tensor &output) { return output.given != nullptr; });
  if (host.isOverrun() || host.count() != given) {
    return llvm::make_error<ExitError>(
        2, host.isOverrun() ? "internal error: the compiled model wrote behind memory that it asked for"
                            : "internal error: the compiled model kept memory that it asked for");
  }
  if (status) {
    return failure(status, devices.message(status));
  }
  for (auto [info, tensor] : llvm::zip(outputsOf(model), outputTensors)) {
    if (tensor.there) {
      if (llvm::Error error =
              devices.download(info.device - 1, tensor.memory.data.get(), tensor.there, tensor.memory.bytes)) {
        return error;
      }
    }
    if (tensor.memory.data && !guardIsIntact(tensor.memory)) {
      return llvm::make_error<ExitError>(2, "internal error: the compiled model wrote behind its output '" +
                                                std::string(info.name) + "'");
    }
  }
  if (!guardIsIntact(workspace)) {
    return llvm::make_error<ExitError>(2, "internal error: the compiled model wrote behind its workspace");
  }
  return llvm::Error::success();
}

llvm::Error LocalExecution::runChecked() {
  for (Tensor &output : outputTensors) {
    if (output.memory.data) {
      std::memset(output.memory.data.get(), kUnwrittenByte, output.memory.bytes);
    }
  }
  return check(run());
}

bool LocalExecution::keptOutputs() const {
  return llvm::all_of(llvm::zip(outputsOf(model), outputTensors), [](const auto &pair) {
    const auto &[info, output] = pair;
    const char *data = output.memory.data.get();
    return !data || output.there || info.in_place_of ||
           std::all_of(data, data + output.memory.bytes, [](char byte) { return byte == kUnwrittenByte; });
  });
}

llvm::Expected<RunTimes> LocalExecution::measure(double seconds) {
  ingot_samples measured;
  auto once = [](void *self) { return static_cast<LocalExecution *>(self)->run(); };
  int status = ingot_measure(once, this, seconds, &measured);
  RunTimes samples{{measured.seconds, measured.seconds + measured.count}, measured.batch, 0, 1};
  std::free(measured.seconds);
  if (status == -1) {
    throw std::bad_alloc();
  }
  if (llvm::Error error = check(status)) {
    return error;
  }
  samples.level = ingot_model_level(&model, &exec);
  samples.threads = exec.threads ? exec.threads(exec.context) : 1;
  return samples;
}

llvm::Expected<KernelRunTimes> LocalExecution::profile(double seconds) {
  ingot_exec plain = exec;
  ingot_profile measured;
  ingot_profile_begin(&measured, &plain);
  exec = measured.exec;
  auto once = [](void *self) { return static_cast<LocalExecution *>(self)->run(); };
  int status = ingot_profile_measure(&measured, once, this, seconds);
  exec = plain;
  KernelRunTimes samples;
  samples.seconds.assign(measured.run_seconds, measured.run_seconds + measured.runs);
  samples.launches.resize(size_t(measured.launches));
  for (auto [number, launch] : llvm::enumerate(samples.launches)) {
    launch.calls = measured.calls[number];
    for (int64_t run = 0; run < measured.runs; ++run) {
      launch.seconds.push_back(measured.launch_seconds[run * measured.launches + int64_t(number)]);
    }
  }
  ingot_profile_end(&measured);
  if (status == -1) {
    throw std::bad_alloc();
  }
  if (llvm::Error error = check(status)) {
    return error;
  }
  return samples;
}

std::vector<HostTensor> LocalExecution::outputs() const {
  std::vector<HostTensor> tensors;
  auto next = outputDims.begin();
  for (auto [info, output] : llvm::zip(outputsOf(model), outputTensors)) {
    HostTensor tensor;
    tensor.name = info.name;
    tensor.type = info.type;
    tensor.dims.assign(next, next + info.rank);
    next += info.rank;
    int64_t bytes = tensorBytes(info.type, tensor.dims); // the bytes of what the run found
    const char *data = output.given ? static_cast<const char *>(output.given) : output.memory.data.get();
    if (info.type == INGOT_STRING) {
      tensor.strings = output.strings;
    } else {
      tensor.bytes.assign(data, data + bytes);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

} // namespace ingot::driver
