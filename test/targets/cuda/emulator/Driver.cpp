// The functions of the driver, with NVIDIA's names, numbers and parameters, and those by which tests speak with the
// emulator (ingot_emulator_...).
#include "Emulator.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace ingot::emulator {
namespace {

/// An image that has been loaded.
struct Module {
  void *library = nullptr;
  int file = -1; // it stays open, since libraries that are loaded at once need names that differ
  bool isWatched = false;

  Module() = default;
  Module(const Module &) = delete;
  ~Module() {
    if (library) {
      (void)dlclose(library);
    }
    if (file >= 0) {
      (void)close(file);
    }
  }
};
struct Function {
  Entry entry;
  std::string name;
  bool isWatched;
  int32_t dynamicSharedBytes = 48 << 10;
};
using Graph = std::shared_ptr<std::vector<Command>>;

/// What the driver has given out.
struct Given {
  std::mutex lock;
  bool isInitialized = false;
  int contexts = 0; // references to the primary one
  std::set<Module *> modules;
  std::set<Function *> functions;
  std::set<Stream *> streams;
  std::set<Graph *> graphs, executables;
  std::set<Event *> events;
  std::map<char *, size_t> pinned;
};
Given &given() {
  static Given all;
  return all;
}

thread_local int current = 0; // how often this thread has pushed the context
char contextsAddress;

enum class Needs { Nothing, Init, Context };

/// Begins each function of the driver: takes the lock, and finds what keeps it from doing its work.
class Call {
public:
  Call(const char *name, Needs needs) : guard(given().lock) {
    Device &d = device();
    if (++d.calls == d.settings.fail) {
      report(std::string(name) + " was made to fail");
      result = Result(d.settings.code);
    } else if (needs != Needs::Nothing && !given().isInitialized) {
      result = NotInitialized;
    } else if (needs == Needs::Context && (!current || !given().contexts)) {
      report(std::string(name) + " without a context");
      result = InvalidContext;
    } else {
      result = d.lost;
    }
  }
  Result result;

private:
  std::lock_guard<std::mutex> guard;
};

/// A mistake of the driver's user, which tests want to see.
Result mistake(const std::string &text, Result result = InvalidValue) {
  report(text);
  return result;
}

/// Errors of what is done behind a call end the context; those that tests ask for do if NVIDIA's do.
Result workedOff(Stream &stream) {
  Result result = work(stream);
  Device &d = device();
  if (result == IllegalAddress || (result >= IllegalInstruction && result <= LaunchFailed)) {
    d.lost = result;
  }
  return result;
}

Result workOffAll() {
  Result result = Success;
  for (Stream *stream : given().streams) {
    Result one = workedOff(*stream);
    result = result ? result : one;
  }
  return result;
}

template <class T> bool isGiven(const std::set<T *> &all, const void *handle) {
  return std::any_of(all.begin(), all.end(), [&](const T *one) { return one == handle; });
}

/// How large an ELF file is: its table of sections is the last thing in it.
size_t sizeOfElf(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return size_t(header.e_shoff) + size_t(header.e_shnum) * header.e_shentsize;
}

/// The image as a library of this program, whose undefined functions are those of this one.
Result loadLibrary(const void *image, Module &module, std::string &why) {
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) {
    why = "it is no ELF file";
    return NoBinary;
  }
  Dl_info self;
  size_t bytes = sizeOfElf(image);
  module.file = memfd_create("kernels", MFD_CLOEXEC);
  bool isWritten = module.file >= 0 && write(module.file, image, bytes) == ssize_t(bytes);
  std::string path = "/proc/self/fd/" + std::to_string(module.file);
  bool isGlobal = dladdr(&contextsAddress, &self) && dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  module.library = isWritten && isGlobal ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  why = module.library ? "" : isWritten && isGlobal ? dlerror() : "the emulator cannot write it";
  static const char access[] = "ingot_emulated_access";
  module.isWatched = memmem(image, bytes, access, sizeof access) != nullptr;
  return module.library ? Success : InvalidImage;
}

Stream *streamOf(void *handle) { return isGiven(given().streams, handle) ? static_cast<Stream *>(handle) : nullptr; }

bool isPinned(const void *at, size_t bytes) {
  auto *address = static_cast<const char *>(at);
  return std::any_of(given().pinned.begin(), given().pinned.end(), [&](const auto &block) {
    return address >= block.first && address + bytes <= block.first + block.second;
  });
}

Result enqueue(void *handle, Command command) {
  Stream *stream = streamOf(handle);
  if (!stream) {
    return mistake("a stream that does not exist", InvalidHandle);
  }
  stream->commands.push_back(std::move(command));
  return Success;
}

Result copy(Command command, const void *device, void *handle) {
  if (!emulator::device().memory.has(device, command.bytes)) {
    return mistake("a copy of " + std::to_string(command.bytes) + " bytes " +
                   emulator::device().memory.describe(device));
  }
  bool isUpload = command.kind == Command::Upload;
  bool waits = !isUpload && !isPinned(command.to, command.bytes);
  if (isUpload && !isPinned(command.from, command.bytes)) {
    command.staged.assign(command.from, command.from + command.bytes);
  }
  Result result = enqueue(handle, std::move(command));
  return !result && waits ? workedOff(*streamOf(handle)) : result;
}

/// Whether a word is an address of a page of the host; numbers are not as large.
bool isHosts(uint64_t word) {
  auto page = uint64_t(sysconf(_SC_PAGESIZE));
  unsigned char resident;
  auto *at = reinterpret_cast<void *>(word / page * page); // NOLINT(performance-no-int-to-ptr): that is the question
  return word > UINT32_MAX && mincore(at, page, &resident) == 0;
}

Result checkLaunch(const Function &function, const Launch &launch) {
  const uint32_t *block = launch.block, *grid = launch.grid;
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  std::string name = "kernel " + function.name + " ";
  if (threads == 0 || threads > 1024 || block[2] > 64 || !grid[0] || !grid[1] || !grid[2] || grid[0] > 0x7FFFFFFF ||
      grid[1] > 0xFFFF || grid[2] > 0xFFFF) {
    return mistake(name + "with " + std::to_string(threads) + " threads and " + std::to_string(grid[0]) + " x " +
                   std::to_string(grid[1]) + " x " + std::to_string(grid[2]) + " blocks");
  }
  if (launch.sharedBytes > uint32_t(function.dynamicSharedBytes)) {
    return mistake(name + "with " + std::to_string(launch.sharedBytes) +
                   " bytes of a block's memory, of which it has " + std::to_string(function.dynamicSharedBytes));
  }
  for (size_t i = 0; i < launch.words.size(); ++i) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is the question
    if (isHosts(launch.words[i]) && !device().memory.isReserved(reinterpret_cast<void *>(launch.words[i]))) {
      return mistake(name + "with an address of the host as its argument " + std::to_string(i));
    }
  }
  return Success;
}

/// The words of the list that a launch has its parameters in: a kind and a value, until kind 0.
bool takeWords(void **extra, std::vector<uint64_t> &words) {
  const void *from = nullptr;
  size_t bytes = 0;
  for (; extra && *extra; extra += 2) {
    auto kind = reinterpret_cast<uintptr_t>(*extra);
    if (kind == 1) {
      from = extra[1];
    } else if (kind == 2) {
      bytes = *static_cast<size_t *>(extra[1]);
    }
  }
  if (bytes % sizeof(uint64_t) || (bytes && !from)) {
    return false;
  }
  words.resize(bytes / sizeof(uint64_t));
  std::memcpy(words.data(), from, bytes);
  return true;
}

Result makeLaunch(void *handle, const unsigned *grid, const unsigned *block, unsigned sharedBytes, void **parameters,
                  void **extra, Command &command) {
  if (!isGiven(given().functions, handle)) {
    return mistake("a kernel that does not exist", InvalidHandle);
  }
  const auto *function = static_cast<Function *>(handle);
  command.launch = {
      function->entry,    function->name, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, sharedBytes, {},
      function->isWatched};
  if (parameters || !takeWords(extra, command.launch.words)) {
    return mistake("a launch without the words of its parameters");
  }
  return checkLaunch(*function, command.launch);
}

/// A launch as a node of a graph (CUDA_KERNEL_NODE_PARAMS_v1).
struct KernelNode {
  void *function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters, **extra;
};

/// How many launches a graph has, how many of them wait for each other in a row, and how many run at once at the most,
/// where each begins as soon as it may and all take equally long.
GraphShape shapeOf(const std::vector<Command> &launches) {
  std::vector<int64_t> begins(launches.size(), 0);
  std::map<int64_t, int64_t> atOnce;
  GraphShape shape = {int64_t(launches.size()), 0, 0};
  for (size_t i = 0; i < launches.size(); ++i) {
    for (size_t before : launches[i].after) {
      begins[i] = std::max(begins[i], begins[before] + 1);
    }
    shape.inRow = std::max(shape.inRow, begins[i] + 1);
    shape.atOnce = std::max(shape.atOnce, ++atOnce[begins[i]]);
  }
  return shape;
}

/// Writes what was done to the file of the settings when the program ends.
struct Log {
  Log() { // what it reads ends after it, since it begins before it
    (void)device();
    (void)given();
  }
  ~Log() {
    Device &d = device();
    if (d.settings.log.empty()) {
      return;
    }
    const Counts &c = d.counts;
    std::ofstream out(d.settings.log, std::ios::app);
    out << c.launches << " launches, " << c.graphs << " graphs, " << c.graphLaunches << " launches of graphs, "
        << c.uploads << " uploads of " << c.uploadedBytes << " bytes, " << c.downloads << " downloads of "
        << c.downloadedBytes << " bytes, " << c.waits << " waits, " << d.memory.heldBytes() << " bytes held, "
        << given().pinned.size() << " pinned blocks";
    for (const auto &[name, number] : c.operations) {
      out << ", " << number << " " << name;
    }
    out << "\n";
    for (const GraphShape &graph : c.shapes) {
      out << "graph: " << graph.launches << " launches, " << graph.inRow << " in a row, " << graph.atOnce
          << " at once\n";
    }
    for (const auto &[kernel, t] : c.traffic) {
      out << "kernel " << kernel << ": " << t.accesses << " accesses to memory, " << t.wide << " of them wide, "
          << t.sectors << " sectors, " << t.fewest << " at the least; " << t.shared << " accesses to shared memory, "
          << t.conflicts << " conflicts\n";
    }
  }
};

} // namespace
} // namespace ingot::emulator

using namespace ingot::emulator;

// Returns from a function of the driver that has nothing to do, or may not.
#define BEGIN(name, needs)                                                                                             \
  Call call(name, needs);                                                                                              \
  if (call.result) {                                                                                                   \
    return call.result;                                                                                                \
  }

extern "C" { // NOLINTBEGIN(readability-identifier-naming): NVIDIA's names

Result cuInit(unsigned) {
  static Log log;
  BEGIN("cuInit", Needs::Nothing)
  given().isInitialized = true;
  return device().settings.devices < 0 ? NoDevice : Success;
}

Result cuDriverGetVersion(int *version) {
  BEGIN("cuDriverGetVersion", Needs::Nothing)
  *version = int(device().settings.driver);
  return Success;
}

Result cuGetErrorName(int result, const char **name) {
  static const std::map<int, const char *> names = {{InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {NoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
                                                    {NoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                    {NotFound, "CUDA_ERROR_NOT_FOUND"},
                                                    {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                    {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? InvalidValue : Success;
}

Result cuGetErrorString(int, const char **text) {
  *text = "the emulator says so";
  return Success;
}

Result cuDeviceGetCount(int *count) {
  BEGIN("cuDeviceGetCount", Needs::Init)
  *count = int(device().settings.devices);
  return Success;
}

Result cuDeviceGet(int *handle, int number) {
  BEGIN("cuDeviceGet", Needs::Init)
  *handle = number;
  return number >= 0 && number < device().settings.devices ? Success : InvalidDevice;
}

Result cuDeviceGetAttribute(int *value, int attribute, int) {
  BEGIN("cuDeviceGetAttribute", Needs::Init)
  int64_t capability = device().settings.capability;
  *value = int(attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 0);
  return Success;
}

Result cuDevicePrimaryCtxRetain(void **context, int) {
  BEGIN("cuDevicePrimaryCtxRetain", Needs::Init)
  ++given().contexts;
  *context = &contextsAddress;
  return Success;
}

Result cuDevicePrimaryCtxRelease_v2(int) {
  std::lock_guard<std::mutex> guard(given().lock);
  if (--given().contexts == 0) { // with all that is in it
    device().lost = Success;
    device().memory.releaseAll();
    for (auto &[memory, bytes] : given().pinned) {
      (void)munmap(memory, bytes);
    }
    given().pinned.clear();
    given().streams.clear();
    for (Module *module : given().modules) {
      delete module;
    }
    given().modules.clear();
  }
  return Success;
}

Result cuCtxPushCurrent_v2(void *context) {
  BEGIN("cuCtxPushCurrent", Needs::Init)
  if (context != &contextsAddress || !given().contexts) {
    return mistake("a context that does not exist", InvalidContext);
  }
  ++current;
  return Success;
}

Result cuCtxPopCurrent_v2(void **context) {
  *context = &contextsAddress;
  current -= current > 0;
  BEGIN("cuCtxPopCurrent", Needs::Init)
  return Success;
}

Result cuModuleLoadDataEx(void **handle, const void *image, unsigned count, int *options, void **values) {
  BEGIN("cuModuleLoadDataEx", Needs::Context)
  auto module = std::make_unique<Module>();
  std::string why;
  Result result = loadLibrary(image, *module, why);
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    log = options[i] == 5 ? static_cast<char *>(values[i]) : log;
    bytes = options[i] == 6 ? reinterpret_cast<uintptr_t>(values[i]) : bytes;
  }
  if (result && log && bytes) {
    log[why.copy(log, bytes - 1)] = 0;
  }
  if (!result) {
    *handle = module.get();
    given().modules.insert(module.release());
  }
  return result;
}

Result cuModuleUnload(void *handle) {
  BEGIN("cuModuleUnload", Needs::Context)
  if (!isGiven(given().modules, handle)) {
    return mistake("a module that does not exist", InvalidHandle);
  }
  Result result = workOffAll();
  auto *module = static_cast<Module *>(handle);
  given().modules.erase(module);
  delete module;
  return result;
}

Result cuModuleGetFunction(void **function, void *handle, const char *name) {
  BEGIN("cuModuleGetFunction", Needs::Context)
  if (!isGiven(given().modules, handle)) {
    return mistake("a module that does not exist", InvalidHandle);
  }
  auto *module = static_cast<Module *>(handle);
  void *found = dlsym(module->library, name);
  if (!found) {
    return NotFound;
  }
  auto made = std::make_unique<Function>(Function{reinterpret_cast<Entry>(found), name, module->isWatched});
  *function = made.get();
  given().functions.insert(made.release());
  return Success;
}

Result cuFuncSetAttribute(void *handle, int attribute, int value) {
  BEGIN("cuFuncSetAttribute", Needs::Context)
  constexpr int mostOfAmpere = 163 << 10;
  if (!isGiven(given().functions, handle) || attribute != 8 || value > mostOfAmpere) {
    return InvalidValue;
  }
  static_cast<Function *>(handle)->dynamicSharedBytes = value;
  return Success;
}

Result cuMemGetInfo_v2(size_t *unused, size_t *total) {
  BEGIN("cuMemGetInfo", Needs::Context)
  *total = size_t(device().settings.memory);
  *unused = *total - size_t(device().memory.heldBytes());
  return Success;
}

Result cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  BEGIN("cuMemAlloc", Needs::Context)
  if (bytes == 0) {
    return mistake("an allocation of no bytes");
  }
  void *memory = device().memory.allocate(bytes, device().settings.memory);
  *address = reinterpret_cast<uintptr_t>(memory);
  return memory ? Success : OutOfMemory;
}

Result cuMemFree_v2(uint64_t address) {
  BEGIN("cuMemFree", Needs::Context)
  Result result = workOffAll();
  auto *memory = reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr): it was one
  if (!device().memory.release(memory)) {
    return mistake("memory is freed that is none, " + device().memory.describe(memory));
  }
  return result;
}

Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc", Needs::Context)
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return OutOfMemory;
  }
  given().pinned[static_cast<char *>(pages)] = bytes;
  *memory = pages;
  return Success;
}

Result cuMemFreeHost(void *memory) {
  BEGIN("cuMemFreeHost", Needs::Context)
  Result result = workOffAll();
  auto block = given().pinned.find(static_cast<char *>(memory));
  if (block == given().pinned.end()) {
    return mistake("pinned memory is freed that is none");
  }
  (void)munmap(memory, block->second);
  given().pinned.erase(block);
  return result;
}

Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  BEGIN("cuMemcpyHtoDAsync", Needs::Context)
  Command command;
  command.kind = Command::Upload;
  command.to = reinterpret_cast<char *>(to); // NOLINT(performance-no-int-to-ptr): it was one
  command.from = static_cast<const char *>(from);
  command.bytes = bytes;
  return copy(command, command.to, stream);
}

Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  BEGIN("cuMemcpyDtoHAsync", Needs::Context)
  Command command;
  command.kind = Command::Download;
  command.to = static_cast<char *>(to);
  command.from = reinterpret_cast<char *>(from); // NOLINT(performance-no-int-to-ptr): it was one
  command.bytes = bytes;
  return copy(command, command.from, stream);
}

Result cuStreamCreate(void **stream, unsigned) {
  BEGIN("cuStreamCreate", Needs::Context)
  *stream = *given().streams.insert(new Stream).first;
  return Success;
}

Result cuStreamDestroy_v2(void *handle) {
  BEGIN("cuStreamDestroy", Needs::Context)
  Stream *stream = streamOf(handle);
  if (!stream) {
    return mistake("a stream that does not exist", InvalidHandle);
  }
  Result result = workedOff(*stream);
  given().streams.erase(stream);
  delete stream;
  return result;
}

Result cuStreamSynchronize(void *handle) {
  BEGIN("cuStreamSynchronize", Needs::Context)
  Stream *stream = streamOf(handle);
  if (!stream) {
    return mistake("a stream that does not exist", InvalidHandle);
  }
  ++device().counts.waits;
  return workedOff(*stream);
}

Result cuEventCreate(void **event, unsigned) {
  BEGIN("cuEventCreate", Needs::Context)
  *event = *given().events.insert(new Event).first;
  return Success;
}

Result cuEventRecord(void *handle, void *stream) {
  BEGIN("cuEventRecord", Needs::Context)
  if (!isGiven(given().events, handle)) {
    return mistake("an event that does not exist", InvalidHandle);
  }
  Command command;
  command.kind = Command::Record;
  command.event = static_cast<Event *>(handle);
  command.event->seconds = -1;
  return enqueue(stream, std::move(command));
}

Result cuEventSynchronize(void *handle) {
  BEGIN("cuEventSynchronize", Needs::Context)
  return isGiven(given().events, handle) ? workOffAll() : mistake("an event that does not exist", InvalidHandle);
}

Result cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  BEGIN("cuEventElapsedTime", Needs::Context)
  if (!isGiven(given().events, from) || !isGiven(given().events, to)) {
    return mistake("an event that does not exist", InvalidHandle);
  }
  double begin = static_cast<Event *>(from)->seconds, end = static_cast<Event *>(to)->seconds;
  *milliseconds = float(1e3 * (end - begin));
  return begin < 0 || end < 0 ? NotReady : Success;
}

Result cuEventDestroy_v2(void *handle) {
  BEGIN("cuEventDestroy", Needs::Context)
  if (!given().events.erase(static_cast<Event *>(handle))) {
    return mistake("an event that does not exist", InvalidHandle);
  }
  Result result = workOffAll(); // a stream may still come to it
  delete static_cast<Event *>(handle);
  return result;
}

Result cuLaunchKernel(void *handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, void *stream, void **parameters, void **extra) {
  BEGIN("cuLaunchKernel", Needs::Context)
  const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  Command command;
  Result result = makeLaunch(handle, grid, block, sharedBytes, parameters, extra, command);
  return result ? result : enqueue(stream, std::move(command));
}

Result cuGraphCreate(void **graph, unsigned) {
  BEGIN("cuGraphCreate", Needs::Context)
  *graph = *given().graphs.insert(new Graph(std::make_shared<std::vector<Command>>())).first;
  return Success;
}

/// A node is the number of its launch, counted from 1.
Result cuGraphAddKernelNode(void **node, void *handle, void *const *after, size_t count, const KernelNode *launch) {
  BEGIN("cuGraphAddKernelNode", Needs::Context)
  if (!isGiven(given().graphs, handle)) {
    return mistake("a graph that does not exist", InvalidHandle);
  }
  std::vector<Command> &commands = **static_cast<Graph *>(handle);
  Command command;
  Result result = makeLaunch(launch->function, launch->grid, launch->block, launch->sharedBytes, launch->parameters,
                             launch->extra, command);
  for (size_t i = 0; i < count; ++i) {
    auto before = reinterpret_cast<uintptr_t>(after[i]);
    if (before == 0 || before > commands.size()) {
      return mistake("a launch behind one that is not in its graph");
    }
    command.after.push_back(before - 1);
  }
  if (!result) {
    commands.push_back(std::move(command));
    *node = reinterpret_cast<void *>(commands.size()); // NOLINT(performance-no-int-to-ptr): a handle
  }
  return result;
}

Result cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  BEGIN("cuGraphInstantiateWithFlags", Needs::Context)
  if (!isGiven(given().graphs, graph)) {
    return mistake("a graph that does not exist", InvalidHandle);
  }
  *executable = *given().executables.insert(new Graph(*static_cast<Graph *>(graph))).first;
  ++device().counts.graphs;
  device().counts.shapes.push_back(shapeOf(**static_cast<Graph *>(graph)));
  return Success;
}

Result cuGraphDestroy(void *graph) {
  BEGIN("cuGraphDestroy", Needs::Context)
  if (!given().graphs.erase(static_cast<Graph *>(graph))) {
    return mistake("a graph that does not exist", InvalidHandle);
  }
  delete static_cast<Graph *>(graph);
  return Success;
}

Result cuGraphLaunch(void *executable, void *stream) {
  BEGIN("cuGraphLaunch", Needs::Context)
  if (!isGiven(given().executables, executable)) {
    return mistake("a graph that does not exist", InvalidHandle);
  }
  Command command;
  command.kind = Command::Graph;
  command.graph = *static_cast<Graph *>(executable);
  return enqueue(stream, std::move(command));
}

Result cuGraphExecDestroy(void *executable) {
  BEGIN("cuGraphExecDestroy", Needs::Context)
  if (!given().executables.erase(static_cast<Graph *>(executable))) {
    return mistake("a graph that does not exist", InvalidHandle);
  }
  delete static_cast<Graph *>(executable);
  return Success;
}

// NOLINTEND(readability-identifier-naming)

// What tests say and ask. The device library knows the emulator by the first one.

/// Sets what the text names, as $INGOT_EMULATOR does, and all else to what it is without it. Calls and commands are
/// counted from 1 again.
void ingot_emulator_set(const char *text) {
  Device &d = device();
  d.settings = settingsOf(text);
  d.random = Random(d.settings.seed);
  d.calls = d.commands = 0;
}
/// Returns whether the device says that it is the emulator's, which takes the image that is for that alone.
int ingot_emulator_emulates() { return device().settings.gpu == 0; }
int64_t ingot_emulator_calls() { return device().calls; }
int64_t ingot_emulator_commands() { return device().commands; }
int64_t ingot_emulator_held_bytes() { return device().memory.heldBytes(); }
int64_t ingot_emulator_graph_launches() { return device().counts.graphLaunches; }
int64_t ingot_emulator_launches() { return device().counts.launches; }
int64_t ingot_emulator_pinned_blocks() { return int64_t(given().pinned.size()); }
}
