#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/Crash.h"
#include "compiler/driver/Driver.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <random>

namespace ingot::driver {
namespace {

constexpr int64_t kAlignment = 64, kGuard = 64;
constexpr char kGuardByte = char(0xA5);

llvm::ArrayRef<ingot_tensor_info> inputsOf(const ingot_model &model) {
  return {model.inputs, size_t(model.input_count)};
}
llvm::ArrayRef<ingot_tensor_info> outputsOf(const ingot_model &model) {
  return {model.outputs, size_t(model.output_count)};
}
std::vector<int64_t> dimsOf(const ingot_tensor_info &info) { return {info.dims, info.dims + info.rank}; }

std::string typeText(int32_t type, llvm::ArrayRef<int64_t> dims) {
  return (importer::elementName(type) + importer::dimsText(dims)).str();
}

int64_t roundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

template <typename T> void fillReal(char *data, int64_t elements, std::minstd_rand &random) {
  for (T *value = reinterpret_cast<T *>(data), *end = value + elements; value != end; ++value) {
    *value = T(int(random() % 2001) - 1000) / T(1000);
  }
}

template <typename T> void fillBits(char *data, int64_t elements, std::minstd_rand &random) {
  for (T *value = reinterpret_cast<T *>(data), *end = value + elements; value != end; ++value) {
    *value = T(random() >> 8 & 1);
  }
}

} // namespace

llvm::Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(const std::string &manifestPath) {
  llvm::Expected<Manifest> manifest = readManifest(manifestPath);
  if (!manifest) {
    return manifest.takeError();
  }
  std::unique_ptr<LoadedModel> loaded(new LoadedModel());
  loaded->facts = std::move(*manifest);
  llvm::SmallString<128> path(manifestPath);
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, loaded->facts.name + ".so");
  llvm::sys::fs::make_absolute(path); // a name without a slash would be searched for in the system's folders
  if (!llvm::sys::fs::exists(path)) {
    return llvm::createStringError(path + ": error: not found beside the manifest; compile with --emit shared");
  }
  loaded->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded->library) {
    return llvm::createStringError(path + ": error: cannot be loaded: " + dlerror());
  }
  std::string symbol = loaded->facts.name + "_model";
  auto *function = reinterpret_cast<const ingot_model *(*)()>(dlsym(loaded->library, symbol.c_str()));
  loaded->entry = function ? function() : nullptr;
  if (!loaded->entry) {
    return llvm::createStringError(path + ": error: has no function " + symbol);
  }
  if (loaded->entry->abi != INGOT_ABI) {
    return llvm::createStringError(path + ": error: was compiled by another version of ingot (ABI " +
                                   llvm::Twine(loaded->entry->abi) + ", this one has " + llvm::Twine(INGOT_ABI) + ")");
  }
  return loaded;
}

LoadedModel::~LoadedModel() {
  if (library) {
    dlclose(library);
  }
}

Threads::Threads(int count) : pool(count == 1 ? nullptr : ingot_pool_create(count)) {}

int Threads::count() const { return pool ? exec()->threads(exec()->context) : 1; }

void Execution::Free::operator()(char *data) const { std::free(data); }

Execution::Memory Execution::allocate(int64_t bytes) {
  char *data = static_cast<char *>(std::aligned_alloc(kAlignment, roundUp(bytes) + kGuard));
  if (!data) {
    throw std::bad_alloc();
  }
  std::memset(data, 0, bytes); // touched now, not in the first run
  std::memset(data + bytes, kGuardByte, roundUp(bytes) + kGuard - bytes);
  return Memory(data);
}

bool Execution::guardIsIntact(const Memory &memory, int64_t bytes) {
  return std::all_of(memory.get() + bytes, memory.get() + roundUp(bytes) + kGuard,
                     [](char byte) { return byte == kGuardByte; });
}

Execution::Execution(const LoadedModel &loaded, const ingot_exec *exec)
    : model(loaded.model()), exec(exec), workspace(allocate(loaded.model().workspace_bytes)) {
  for (const ingot_tensor_info &info : inputsOf(model)) {
    inputMemory.push_back(allocate(info.bytes));
    inputs.push_back({inputMemory.back().get(), info.elements});
  }
  for (const ingot_tensor_info &info : outputsOf(model)) {
    outputMemory.push_back(allocate(info.bytes));
    outputBuffers.push_back({outputMemory.back().get(), info.elements});
  }
}

llvm::Error Execution::setInputs(llvm::ArrayRef<HostTensor> tensors, const std::string &folder) {
  if (int64_t(tensors.size()) != model.input_count) {
    return llvm::createStringError(folder + ": error: the folder has " + llvm::Twine(tensors.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(model.input_count) + " inputs");
  }
  for (auto [tensor, info, memory] : llvm::zip(tensors, inputsOf(model), inputMemory)) {
    if (tensor.type != info.type || tensor.dims != dimsOf(info) || int64_t(tensor.bytes.size()) != info.bytes) {
      return llvm::createStringError(folder + ": error: input '" + llvm::Twine(info.name) + "' is " +
                                     typeText(info.type, dimsOf(info)) + ", but the recorded one is " +
                                     typeText(tensor.type, tensor.dims));
    }
    std::memcpy(memory.get(), tensor.bytes.data(), tensor.bytes.size());
  }
  return llvm::Error::success();
}

void Execution::setRandomInputs() {
  std::minstd_rand random(1);
  for (auto [info, memory] : llvm::zip(inputsOf(model), inputMemory)) {
    switch (info.type) {
    case INGOT_FLOAT32:
      fillReal<float>(memory.get(), info.elements, random);
      break;
    case INGOT_FLOAT64:
      fillReal<double>(memory.get(), info.elements, random);
      break;
    case INGOT_INT32:
    case INGOT_UINT32:
      fillBits<int32_t>(memory.get(), info.elements, random);
      break;
    case INGOT_INT64:
    case INGOT_UINT64:
      fillBits<int64_t>(memory.get(), info.elements, random);
      break;
    case INGOT_UINT8:
    case INGOT_INT8:
    case INGOT_BOOL:
      fillBits<char>(memory.get(), info.elements, random);
      break;
    default: // 16-bit types: 0 or the smallest positive number is a poor sample of floats, so zeros
      std::memset(memory.get(), 0, info.bytes);
    }
  }
}

int Execution::run() {
  return ingot_run(&model, inputs.data(), model.input_count, outputBuffers.data(), model.output_count, nullptr,
                   workspace.get(), size_t(model.workspace_bytes), exec);
}

llvm::Error Execution::check(int status) const {
  if (status) {
    char text[512];
    ingot_error_text(&model, status, text, sizeof(text));
    return llvm::createStringError(llvm::Twine("model '") + model.name + "' failed: " + text);
  }
  for (auto [info, memory] : llvm::zip(outputsOf(model), outputMemory)) {
    if (!guardIsIntact(memory, info.bytes)) {
      return llvm::make_error<ExitError>(2, "internal error: the compiled model wrote behind its output '" +
                                                std::string(info.name) + "'");
    }
  }
  if (!guardIsIntact(workspace, model.workspace_bytes)) {
    return llvm::make_error<ExitError>(2, "internal error: the compiled model wrote behind its workspace");
  }
  return llvm::Error::success();
}

std::vector<HostTensor> Execution::outputs() const {
  std::vector<HostTensor> tensors;
  for (auto [info, memory] : llvm::zip(outputsOf(model), outputMemory)) {
    HostTensor tensor;
    tensor.name = info.name;
    tensor.type = info.type;
    tensor.dims = dimsOf(info);
    tensor.bytes.assign(memory.get(), memory.get() + info.bytes);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<HostTensor>> runOnce(const LoadedModel &model, const Threads &threads, const DataSet &data) {
  Execution execution(model, threads.exec());
  if (llvm::Error error = execution.setInputs(data.inputs, data.folder)) {
    return error;
  }
  setCrashContext("in the compiled model, on " + data.folder);
  int status = execution.run();
  setCrashContext("");
  if (llvm::Error error = execution.check(status)) {
    return error;
  }
  return execution.outputs();
}

} // namespace ingot::driver
