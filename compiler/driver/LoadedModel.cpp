#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/Crash.h"
#include "compiler/driver/Driver.h"
#include "compiler/importer/ElementType.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
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

std::string typeText(int32_t type, llvm::ArrayRef<int64_t> dims) {
  return (importer::elementName(type) + importer::dimsText(dims)).str();
}

/// "float32[batch, 3]"
std::string typeText(const ingot_model &model, const ingot_tensor_info &info) {
  std::string text = importer::elementName(info.type).str() + "[";
  for (int64_t dim : llvm::ArrayRef(info.dims, size_t(info.rank))) {
    text += text.back() == '[' ? "" : ", ";
    text += dim >= 0 ? std::to_string(dim) : INGOT_DIM_IS_SYMBOL(dim) ? model.symbols[INGOT_DIM_SYMBOL(dim)].name : "?";
  }
  return text + "]";
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

std::string hostLacks(const std::string &spec) {
  const target::Target *target = target::findTarget(spec);
  if (!target) {
    return "";
  }
  llvm::Expected<target::MachineModel> machine = target->machine(spec);
  if (!machine) { // whoever compiles for it says so
    llvm::consumeError(machine.takeError());
    return "";
  }
  return target->hostLacks(*machine);
}

llvm::Error checkTargets(llvm::ArrayRef<std::string> specs) {
  for (const std::string &spec : specs) {
    if (std::string lacking = hostLacks(spec); !lacking.empty()) {
      return llvm::createStringError("--target " + spec + ": this host cannot run it, it lacks " + lacking +
                                     "; compile makes code for other machines");
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(const std::string &manifestPath) {
  llvm::Expected<Manifest> manifest = readManifest(manifestPath);
  if (!manifest) {
    return manifest.takeError();
  }
  std::unique_ptr<LoadedModel> loaded(new LoadedModel());
  loaded->facts = std::move(*manifest);
  // Of several levels a run takes one that the machine has, or says that it has none.
  if (std::string lacking = hostLacks(loaded->facts.target); !lacking.empty()) {
    return llvm::createStringError(manifestPath + ": error: model '" + loaded->facts.name + "' is compiled for " +
                                   loaded->facts.target + ", which this host cannot run: it lacks " + lacking);
  }
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
  path.pop_back_n(3);
  path += ".weights";
  if (int status = ingot_weights_load(loaded->entry, path.c_str(), &loaded->mapped)) {
    return llvm::createStringError(path + ": error: " + ingot_error_kind_text(status));
  }
  return loaded;
}

LoadedModel::~LoadedModel() {
  ingot_weights_unmap(&mapped);
  if (library) {
    dlclose(library);
  }
}

Threads::Threads(int count, int32_t level) : pool(count == 1 ? nullptr : ingot_pool_create(count)) {
  if (pool) {
    host = *ingot_pool_exec(pool);
  }
  host.level = level;
}

int Threads::count() const { return pool ? host.threads(host.context) : 1; }

void Execution::Free::operator()(char *data) const { std::free(data); }

Execution::Memory Execution::allocate(int64_t bytes) {
  constexpr int64_t kMost = int64_t(1) << 62;
  char *data = bytes < kMost ? static_cast<char *>(std::aligned_alloc(kAlignment, roundUp(bytes) + kGuard)) : nullptr;
  if (!data) {
    throw std::bad_alloc();
  }
  std::memset(data, 0, bytes); // touched now, not in the first run
  std::memset(data + bytes, kGuardByte, roundUp(bytes) + kGuard - bytes);
  return {std::unique_ptr<char, Free>(data), bytes};
}

bool Execution::guardIsIntact(const Memory &memory) {
  return std::all_of(memory.data.get() + memory.bytes, memory.data.get() + roundUp(memory.bytes) + kGuard,
                     [](char byte) { return byte == kGuardByte; });
}

Execution::Tensor Execution::makeTensor(const ingot_tensor_info &info, std::vector<int64_t> dims) {
  Tensor tensor;
  tensor.dims = std::move(dims);
  tensor.elements = llvm::is_contained(tensor.dims, 0) ? 0 : 1; // whatever the other axes are
  int64_t bytes = tensor.elements * int64_t(ingot_type_bytes(info.type));
  for (int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      throw std::bad_alloc();
    }
    tensor.elements *= dim; // not more than the bytes
  }
  tensor.memory = allocate(bytes);
  return tensor;
}

llvm::Error Execution::failure(int status) const {
  char text[512];
  ingot_error_text(&model, status, text, sizeof(text));
  return llvm::createStringError(llvm::Twine("model '") + model.name + "' failed: " + text);
}

llvm::Error Execution::prepare() {
  size_t axes = 0;
  for (const ingot_tensor_info &info : outputsOf(model)) {
    axes += size_t(info.rank);
  }
  std::vector<int64_t> dims(axes);
  int64_t bytes = 0;
  if (int status = ingot_plan(&model, sizes.data(), dims.data(), &bytes)) {
    return failure(status);
  }
  releaseGiven();
  inputs.clear(), outputTensors.clear(), inputBuffers.clear(), outputBuffers.clear();
  for (const ingot_tensor_info &info : inputsOf(model)) {
    std::vector<int64_t> shape(info.dims, info.dims + info.rank);
    for (int64_t &dim : shape) {
      dim = INGOT_DIM_IS_SYMBOL(dim) ? sizes[INGOT_DIM_SYMBOL(dim)] : dim;
    }
    inputs.push_back(makeTensor(info, std::move(shape)));
    inputBuffers.push_back({inputs.back().memory.data.get(), inputs.back().elements});
  }
  outputDims = dims;
  sizes.resize(size_t(model.symbol_count + model.found_count));
  outputTensors.reserve(size_t(model.output_count)); // runs write the addresses of those that they allocate into them
  for (auto next = dims.begin(); const ingot_tensor_info &info : outputsOf(model)) {
    if (info.flags & INGOT_TENSOR_ALLOCATED) {
      outputTensors.emplace_back();
      outputBuffers.push_back({&outputTensors.back().given, 0});
    } else {
      outputTensors.push_back(makeTensor(info, {next, next + info.rank}));
      outputBuffers.push_back({outputTensors.back().memory.data.get(), outputTensors.back().elements});
    }
    next += info.rank;
  }
  workspace = allocate(bytes);
  return llvm::Error::success();
}

/// What is known of the symbols of an input: "; here batch is 9 (at most 4), rows is 5".
std::string Execution::sizesText(const ingot_tensor_info &info) const {
  std::string text;
  for (int64_t dim : llvm::ArrayRef(info.dims, size_t(info.rank))) {
    int32_t symbol = INGOT_DIM_IS_SYMBOL(dim) ? INGOT_DIM_SYMBOL(dim) : -1;
    if (symbol < 0 || sizes[symbol] < 0) {
      continue;
    }
    const ingot_symbol_info &known = model.symbols[symbol];
    text += (text.empty() ? "; here " : ", ") + std::string(known.name) + " is " + std::to_string(sizes[symbol]);
    if (sizes[symbol] < known.least) {
      text += " (at least " + std::to_string(known.least) + ")";
    } else if (known.most >= 0 && sizes[symbol] > known.most) {
      text += " (at most " + std::to_string(known.most) + ")";
    }
  }
  return text;
}

llvm::Error Execution::bind(llvm::ArrayRef<HostTensor> tensors, const std::string &folder) {
  std::vector<ingot_shape> shapes;
  for (const HostTensor &tensor : tensors) {
    shapes.push_back({tensor.dims.data(), tensor.isAbsent ? -1 : int32_t(tensor.dims.size())});
  }
  sizes.assign(size_t(model.symbol_count), -1);
  int status = ingot_bind(&model, shapes.data(), int32_t(shapes.size()), sizes.data());
  int number = INGOT_STATUS_NUMBER(status);
  for (auto [index, info, tensor] : llvm::enumerate(inputsOf(model), tensors)) {
    bool optional = info.flags & INGOT_TENSOR_OPTIONAL;
    if (tensor.isOptional && !optional) {
      return llvm::createStringError(folder + ": error: input '" + llvm::Twine(info.name) +
                                     "' is a tensor, but the recorded one is an optional value or a sequence");
    }
    if (tensor.isAbsent) {
      continue;
    }
    if (tensor.type != info.type || number == int(index)) {
      return llvm::createStringError(folder + ": error: input '" + llvm::Twine(info.name) + "' is " +
                                     typeText(model, info) + ", but the recorded one is " +
                                     typeText(tensor.type, tensor.dims) + sizesText(info));
    }
  }
  return status ? failure(status) : llvm::Error::success();
}

llvm::Error Execution::setInputs(llvm::ArrayRef<HostTensor> tensors, const std::string &folder) {
  if (int64_t(tensors.size()) != model.input_count) {
    return llvm::createStringError(folder + ": error: the folder has " + llvm::Twine(tensors.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(model.input_count) + " inputs");
  }
  if (llvm::Error error = bind(tensors, folder)) {
    return error;
  }
  if (llvm::Error error = prepare()) {
    return error;
  }
  for (auto [tensor, input, buffer] : llvm::zip(tensors, inputs, inputBuffers)) {
    if (tensor.isAbsent) {
      buffer = {nullptr, 0};
      continue;
    }
    llvm::copy(tensor.bytes, input.memory.data.get());
  }
  return llvm::Error::success();
}

/// Gives sizes to the symbols of an input; whether the shape is one that it can have.
static bool takeShape(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> shape, std::vector<int64_t> &sizes) {
  if (shape.size() != size_t(info.rank)) {
    return false;
  }
  for (auto [dim, size] : llvm::zip(llvm::ArrayRef(info.dims, size_t(info.rank)), shape)) {
    int64_t wanted = dim;
    if (INGOT_DIM_IS_SYMBOL(dim)) {
      int64_t &known = sizes[INGOT_DIM_SYMBOL(dim)];
      wanted = known = known < 0 ? size : known;
    }
    if (wanted != size) {
      return false;
    }
  }
  return true;
}

/// The sizes of the model's symbols that `given` says.
static llvm::Expected<std::vector<int64_t>> sizesFrom(const ingot_model &model, const GivenSizes &given) {
  llvm::ArrayRef<ingot_symbol_info> symbols(model.symbols, size_t(model.symbol_count));
  std::vector<int64_t> sizes(symbols.size(), -1);
  for (const auto &[name, size] : given.dims) {
    const auto *symbol = llvm::find_if(symbols, [&](const ingot_symbol_info &s) { return name == s.name; });
    if (symbol == symbols.end()) {
      return llvm::createStringError("--dim " + name + ": the model has no such size");
    }
    sizes[symbol - symbols.begin()] = size;
  }
  for (const auto &[name, shape] : given.shapes) {
    llvm::ArrayRef<ingot_tensor_info> all = inputsOf(model);
    const auto *info = llvm::find_if(all, [&](const ingot_tensor_info &i) { return name == i.name; });
    if (info == all.end()) {
      return llvm::createStringError("--shape " + name + ": the model has no such input");
    }
    if (!takeShape(*info, shape, sizes)) {
      return llvm::createStringError("--shape " + name + ": the input is " + typeText(model, *info) +
                                     ", of which --dim or another --shape gives other sizes");
    }
  }
  for (auto [symbol, size] : llvm::zip(symbols, sizes)) {
    if (size < 0) {
      size = std::max<int64_t>(symbol.least, symbol.most < 0 ? 1 : std::min<int64_t>(symbol.most, 1));
      llvm::errs() << "warning: the size '" << symbol.name << "' is open and taken as " << size
                   << "; give another with --dim " << symbol.name << "=SIZE, --shape or --data\n";
    }
  }
  return sizes;
}

static void fillRandomly(const ingot_tensor_info &info, char *data, int64_t elements, std::minstd_rand &random) {
  switch (info.type) {
  case INGOT_FLOAT32:
    fillReal<float>(data, elements, random);
    break;
  case INGOT_FLOAT64:
    fillReal<double>(data, elements, random);
    break;
  case INGOT_INT32:
  case INGOT_UINT32:
    fillBits<int32_t>(data, elements, random);
    break;
  case INGOT_INT64:
  case INGOT_UINT64:
    fillBits<int64_t>(data, elements, random);
    break;
  case INGOT_UINT8:
  case INGOT_INT8:
  case INGOT_BOOL:
    fillBits<char>(data, elements, random);
    break;
  default: // 16-bit types: 0 or the smallest positive number is a poor sample of floats, so zeros
    break;
  }
}

llvm::Error Execution::setRandomInputs(const GivenSizes &given) {
  llvm::Expected<std::vector<int64_t>> chosen = sizesFrom(model, given);
  if (!chosen) {
    return chosen.takeError();
  }
  sizes = std::move(*chosen);
  if (llvm::Error error = prepare()) {
    return error;
  }
  std::minstd_rand random(1);
  for (auto [info, input] : llvm::zip(inputsOf(model), inputs)) {
    fillRandomly(info, input.memory.data.get(), input.elements, random);
  }
  return llvm::Error::success();
}

int64_t Execution::evaluate(const support::Size &size) const {
  auto symbol = [&](llvm::StringRef name) -> std::optional<int64_t> {
    for (int32_t i = 0; i < model.symbol_count; ++i) {
      if (name == model.symbols[i].name) {
        return sizes[size_t(i)];
      }
    }
    return std::nullopt;
  };
  return size.evaluate(symbol).value_or(0);
}

void Execution::releaseGiven() {
  for (Tensor &output : outputTensors) {
    host.release(output.given);
    output.given = nullptr;
  }
}

int Execution::run() {
  releaseGiven();
  int status = ingot_run(&model, inputBuffers.data(), model.input_count, outputBuffers.data(), model.output_count,
                         sizes.data(), workspace.data.get(), size_t(workspace.bytes), &exec);
  if (status == 0) {
    ingot_found_dims(&model, sizes.data(), outputDims.data());
  }
  return status;
}

llvm::Error Execution::check(int status) const {
  int64_t given = llvm::count_if(outputTensors, [](const Tensor &output) { return output.given != nullptr; });
  if (host.isOverrun() || host.count() != given) {
    return llvm::make_error<ExitError>(
        2, host.isOverrun() ? "internal error: the compiled model wrote behind memory that it asked for"
                            : "internal error: the compiled model kept memory that it asked for");
  }
  if (status) {
    return failure(status);
  }
  for (auto [info, tensor] : llvm::zip(outputsOf(model), outputTensors)) {
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

std::vector<HostTensor> Execution::outputs() const {
  std::vector<HostTensor> tensors;
  auto next = outputDims.begin();
  for (auto [info, output] : llvm::zip(outputsOf(model), outputTensors)) {
    HostTensor tensor;
    tensor.name = info.name;
    tensor.type = info.type;
    tensor.dims.assign(next, next + info.rank);
    next += info.rank;
    int64_t bytes = int64_t(ingot_type_bytes(info.type)); // of what the run found, not more than there is memory
    for (int64_t dim : tensor.dims) {
      bytes *= dim;
    }
    const char *data = output.given ? static_cast<const char *>(output.given) : output.memory.data.get();
    tensor.bytes.assign(data, data + bytes);
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
