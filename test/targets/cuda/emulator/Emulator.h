// A CUDA driver without a GPU: the functions of libcuda.so.1 that targets/cuda/device calls, over device code that was
// compiled for the host (the image `emulated`, targets/cuda/Images.h). Tests name its library in $INGOT_LIBCUDA.
//
//   Driver.cpp      the driver's functions, and the faults that tests ask for
//   Queue.cpp       streams, which work when somebody waits for them, and graphs
//   Memory.cpp      memory of the device, which only copies and kernels may touch
//   Blocks.cpp      a launch: blocks, and threads that take turns
//   Warps.cpp       what threads of a warp do together: shuffles, votes, loads of matrices
//   Matrices.cpp    products of matrices by a warp
//   Phases.cpp      barriers in the block's memory (mbarrier)
//   Warpgroups.cpp  products by four warps, which are under way while these go on (wgmma)
//   Intrinsics.cpp  what a thread does by itself
//   Watch.cpp       accesses of images whose code tells of them
//   Traffic.cpp     what these cost: sectors of memory, conflicts of banks
//
// The driver has one lock, so that one thread of the host is in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ingot::emulator {

/// What tests ask for: `INGOT_EMULATOR=seed=N,memory=BYTES,...`, or ingot_emulator_set.
struct Settings {
  uint64_t seed = 1;                 ///< of the order of blocks and threads
  int64_t memory = int64_t(4) << 30; ///< bytes of the device's memory
  int64_t devices = 1;
  int64_t driver = 12040;  ///< the driver's version
  int64_t capability = 80; ///< the device's compute capability
  int64_t fail = 0;        ///< the number, from 1 on, of the call of the driver that fails; 0: none
  int64_t command = 0;     ///< the number of the command in a stream that fails; 0: none
  int64_t code = 999;      ///< the result of what fails
  int64_t traffic = 0;     ///< whether accesses of warps are counted, of images whose code tells of them
  int64_t gpu = 0;         ///< whether it says that it is a GPU, which takes images by its capability
  std::string log;         ///< a file to which is appended what was done, when the program ends
};
Settings settingsOf(const char *text);

/// Results of the driver (CUresult).
enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  TooManyResources = 701,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  LaunchFailed = 719,
};

/// Writes a line about a mistake of the device's user for who reads the test's output.
void report(const std::string &text);

/// A sequence of numbers, by SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

/// The numbers below `count` in some order, without a list of them.
class Order {
public:
  Order(uint64_t count, Random &random);
  uint64_t operator[](uint64_t i) const { return uint64_t((__uint128_t(i) * step + start) % count); }

private:
  uint64_t count, step, start;
};

/// What accesses of a kernel's warps cost.
struct Traffic {
  int64_t accesses = 0;  ///< to the device's memory
  int64_t wide = 0;      ///< those of 16 bytes for each thread
  int64_t sectors = 0;   ///< of 32 bytes that they touch
  int64_t fewest = 0;    ///< how many would hold the bytes
  int64_t shared = 0;    ///< accesses to the blocks' memory
  int64_t conflicts = 0; ///< how many more times than without conflicts of banks they go there
};

/// What may run at once of a graph.
struct GraphShape {
  int64_t launches, inRow, atOnce;
};

struct Counts {
  int64_t launches = 0, graphLaunches = 0, graphs = 0, uploads = 0, uploadedBytes = 0, downloads = 0,
          downloadedBytes = 0, waits = 0;
  std::vector<GraphShape> shapes;            ///< of graphs, in the order in which they were made ready
  std::map<std::string, int64_t> operations; ///< of blocks and warps, by their names
  std::map<std::string, Traffic> traffic;    ///< by the names of kernels
};

// Memory.cpp

/// The device's memory: blocks with nothing around them, which cannot be touched but between open() and close().
class Memory {
public:
  /// Null where less is left.
  void *allocate(size_t bytes, int64_t most);
  /// False where no block begins there.
  bool release(void *memory);
  void releaseAll();
  void open() const { protect(true); }
  void close() const { protect(false); }
  /// Whether all of these bytes are of one block.
  bool has(const void *at, size_t bytes) const;
  /// Whether an address is one that was given out, or is near to one.
  bool isReserved(const void *at) const { return around(at) != nullptr; }
  /// Says where an address lies, for reports.
  std::string describe(const void *at) const;
  /// Whether something was written beside a block, between it and the pages that are nobody's. Reports it, once.
  bool isSpoiled();
  int64_t heldBytes() const { return held; }

private:
  struct Block {
    char *base; ///< of the addresses, with what is around it
    size_t reserved, bytes;
    char *begin, *pages; ///< the block ends, but for its alignment, where its pages do
    size_t pageBytes;
    bool isFreed;
  };
  std::map<char *, Block> blocks; ///< by `base`, those that were freed as well: their addresses are used by nobody
  int64_t held = 0;

  void protect(bool isOpen) const;
  const Block *around(const void *at) const;
};

// Blocks.cpp

using Entry = void (*)(const uint64_t *words);

struct Launch {
  Entry entry = nullptr;
  std::string kernel;
  uint32_t grid[3] = {}, block[3] = {}, sharedBytes = 0;
  std::vector<uint64_t> words;
  bool isWatched = false; ///< whether the code tells of its accesses
};

/// Runs a launch. The result is the failure of the kernel, of which report() has told.
Result run(const Launch &launch, Random &random, const Memory &memory, Counts &counts);

/// What the thread that runs may ask of its launch. Only what an image calls uses these.
struct Place {
  uint32_t thread[3], block[3];
};
const Launch &launchOfThread();
const Place &placeOfThread();
uint32_t numberOfThread();
char *sharedOfThread();
/// Ends the launch with a failure: the text is about what the thread does.
[[noreturn]] void fault(Result result, const std::string &text);

/// Waits for the threads of the block, `count` of them or (0) all, at a barrier of this number.
void waitAtBarrier(int32_t number, uint32_t count);
/// Waits for all of them at a barrier that says for how many `own` is true.
int32_t countAtBarrier(int32_t number, bool own);

/// Waits until wake() is called for the same address.
void waitFor(const void *barrier);
void wake(const void *barrier);

/// An operation of some threads of a warp, called by the last of them that comes. Lanes that are not in `mask` have no
/// operands.
struct Lanes {
  uint32_t mask;
  const void *operands[32];
  void *results[32];
};
using Together = void (*)(Lanes &);
/// Waits for the lanes of `mask` of the thread's warp, all of which have to call this with the same operation.
void together(const char *name, Together operation, uint32_t mask, const void *operands, void *result);

// Intrinsics.cpp

/// The threads of a block are about to begin.
void forgetCopies();

// Phases.cpp

/// The threads of a block are about to begin.
void forgetPhases();

// Warpgroups.cpp

/// The threads of a block are about to begin.
void forgetProducts();
/// Returns what is wrong when the threads of a block have ended; empty: nothing.
std::string whyUnfinished();

// Watch.cpp

/// An access of the thread that runs: kind 0 reads, 1 writes, 2 does both in one atomic step.
void watch(const void *at, int32_t bytes, int32_t kind);
/// The threads of a block are about to begin; all of them passed a barrier; lanes of a warp waited for each other.
void watchBlock();
void watchBarrier();
void watchWarp(uint32_t warp);
/// Returns the number of this stretch between two barriers.
uint32_t stretchOfBlock();
/// By the number of each thread, how much of what it has done is known.
using Clock = std::vector<uint32_t>;
/// Says of what this thread knows that others may know it, and adds to this thread's knowledge.
void release(Clock &clock);
void acquire(const Clock &clock);
/// Tensor cores read 16 bytes of the block's memory for the warp that runs, now or until they are told to be done.
void watchTensorRead(const void *at, bool isDone);
/// The thread has a fence between what it wrote and what tensor cores read.
void watchProxyFence();

// Traffic.cpp

/// An access of the thread that runs, from a place in its code.
void countAccess(const void *site, const void *at, int32_t bytes);
/// An access of tensor cores to eight times 16 bytes of the block's memory, for the warp that runs.
void countMatrix(const void *const *rows);
/// Adds up the accesses of a block, whose threads have ended.
void endTraffic(Traffic &traffic);

// Queue.cpp

/// What a stream does: a launch, a copy within the program's addresses, or a number of these (a graph).
/// When a stream came to it, in seconds; negative: none has yet.
struct Event {
  double seconds = -1;
};

struct Command {
  enum Kind { Kernel, Upload, Download, Graph, Record } kind = Kernel;
  Launch launch;
  char *to = nullptr;
  const char *from = nullptr;
  std::vector<char> staged; ///< where the source is not pinned: what was there when the command came
  size_t bytes = 0;
  std::vector<size_t> after; ///< of a graph's launch: the numbers of those for which it waits
  std::shared_ptr<const std::vector<Command>> graph;
  Event *event = nullptr;
};

struct Stream {
  std::vector<Command> commands;
};

/// The device's state, of which there is one in a process.
struct Device {
  Settings settings = settingsOf(getenv("INGOT_EMULATOR"));
  Memory memory;
  Counts counts;
  Random random{settings.seed};
  Result lost = Success;           ///< what ended the context; all that follows fails with it
  int64_t calls = 0, commands = 0; ///< since tests have asked for a fault
};
Device &device();

/// Does all commands of a stream.
Result work(Stream &stream);

} // namespace ingot::emulator
