// Runs a launch block by block. Each thread of a block is a stack with registers; it runs until it waits for others, or
// ends. Blocks, threads of a block, and those that may go on come in an order that the seed decides. An access beyond
// the device's memory is a signal, which ends the launch.
#include "Emulator.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unordered_map>

// Saves the registers that a call keeps and the stack's address in *from, and goes on where `to` was saved.
extern "C" void ingotEmulatorSwitch(void **from, void *to);
__asm__(".text\n"
        ".p2align 4\n"
        ".type ingotEmulatorSwitch,@function\n"
        "ingotEmulatorSwitch:\n"
        "  push %rbp\n"
        "  push %rbx\n"
        "  push %r12\n"
        "  push %r13\n"
        "  push %r14\n"
        "  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15\n"
        "  pop %r14\n"
        "  pop %r13\n"
        "  pop %r12\n"
        "  pop %rbx\n"
        "  pop %rbp\n"
        "  ret\n"
        ".size ingotEmulatorSwitch, .-ingotEmulatorSwitch\n");

namespace ingot::emulator {
namespace {

constexpr size_t stackBytes = 192 << 10, warpLanes = 32;

struct Waiting {
  enum What { Nothing, Barrier, Warp, Phase } what = Nothing;
  int32_t barrier = 0;
  uint32_t count = 0; // of threads at the barrier; 0: all
  const char *name = nullptr;
  Together operation = nullptr;
  uint32_t mask = 0;
  const void *operands = nullptr;
  void *result = nullptr;
  const void *phase = nullptr;    // of which barrier in the block's memory
  bool asks = false, own = false; // whether the barrier answers for how many threads `own` is true
};

struct Thread {
  uint32_t number;
  Place place;
  void *stack = nullptr; // where it goes on; null: it has not begun
  char *memory = nullptr;
  Waiting waiting;
  bool ended = false;
  int32_t answer = 0; // of a barrier
};

/// The launch that runs; there is one at a time (Emulator.h).
struct Running {
  const Launch *launch;
  const Memory *memory;
  Random *random;
  std::vector<Thread> threads;
  std::vector<uint32_t> ready; // the last one is next
  uint32_t ended = 0;
  Thread *thread = nullptr;
  void *scheduler = nullptr;
  char *shared = nullptr;
  Result result = Success;
  std::unordered_map<std::string_view, int64_t> operations; // of warps and blocks
};
Running *running = nullptr;

/// Stacks that no thread has, each with a page below that is nobody's.
std::vector<char *> &stacks() {
  static std::vector<char *> all;
  return all;
}

char *takeStack() {
  if (!stacks().empty()) {
    char *stack = stacks().back();
    stacks().pop_back();
    return stack;
  }
  auto page = size_t(sysconf(_SC_PAGESIZE));
  void *memory =
      mmap(nullptr, stackBytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    report("no memory for the stacks of threads");
    std::abort();
  }
  (void)mprotect(memory, page, PROT_NONE);
  return static_cast<char *>(memory) + page;
}

/// A block's memory, which ends where a page does, with nothing behind it.
class Shared {
public:
  explicit Shared(size_t bytes) : bytes(bytes), page(size_t(sysconf(_SC_PAGESIZE))) {
    pages = (bytes + page - 1) / page * page;
    void *memory = mmap(nullptr, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
    if (base) {
      (void)mprotect(base + page, pages, PROT_READ | PROT_WRITE);
    }
  }
  ~Shared() {
    if (base) {
      (void)munmap(base, pages + 2 * page);
    }
  }
  Shared(const Shared &) = delete;
  char *begin() const { return base ? base + page + pages - (bytes + align - 1) / align * align : nullptr; }
  /// Nothing is in it that a kernel could take for a number.
  void forget() const { std::memset(base + page, 0xFF, pages); }

private:
  static constexpr size_t align = 128;
  size_t bytes, page, pages;
  char *base;
};

void leaveThread() { ingotEmulatorSwitch(&running->thread->stack, running->scheduler); }

std::string nameOf(const Thread &thread) {
  const uint32_t *t = thread.place.thread, *b = thread.place.block;
  auto triple = [](const uint32_t *n) {
    return "(" + std::to_string(n[0]) + ", " + std::to_string(n[1]) + ", " + std::to_string(n[2]) + ")";
  };
  return "kernel " + running->launch->kernel + ", block " + triple(b) + ", thread " + triple(t);
}

void beginThread() {
  Thread *thread = running->thread;
  running->launch->entry(running->launch->words.data());
  thread->ended = true;
  leaveThread();
  std::abort();
}

/// Makes a stack on which ingotEmulatorSwitch finds six registers and the beginning of the thread.
void prepare(Thread &thread) {
  thread.memory = takeStack();
  auto *top = reinterpret_cast<uint64_t *>(thread.memory + stackBytes);
  uint64_t *frame = top - 8; // at the beginning of a function the stack is 8 beside a multiple of 16
  std::fill(frame, top, 0);
  frame[6] = reinterpret_cast<uintptr_t>(&beginThread);
  thread.stack = frame;
}

void goOn(Thread &thread) {
  running->thread = &thread;
  if (!thread.stack) {
    prepare(thread);
  }
  ingotEmulatorSwitch(&running->scheduler, thread.stack);
  running->thread = nullptr;
  if (thread.ended) {
    stacks().push_back(thread.memory);
    ++running->ended;
  }
}

void setReady(Thread &thread) {
  thread.waiting = {};
  running->ready.push_back(thread.number);
}

std::string describe(const Thread &thread) {
  const Waiting &waiting = thread.waiting;
  return thread.ended                       ? "has ended"
         : waiting.what == Waiting::Barrier ? "waits at barrier " + std::to_string(waiting.barrier)
         : waiting.what == Waiting::Phase
             ? "waits for a phase of the barrier at byte " +
                   std::to_string(static_cast<const char *>(waiting.phase) - running->shared) + " of the block's memory"
             : "waits in " + std::string(waiting.name);
}

/// The threads of the block wait for each other in vain: reports one, and one that it waits for.
void failDivergent(const Thread &thread, const Thread &other) {
  running->result = LaunchFailed;
  report("divergent threads: " + nameOf(thread) + ", " + describe(thread) + ", and thread " +
         std::to_string(other.number) + " of the block " + describe(other));
}

/// Nobody may go on any more: all wait at one barrier, and pass it, or the kernel is wrong.
void passBarrier() {
  std::vector<Thread> &all = running->threads;
  auto inWarp = std::find_if(all.begin(), all.end(), [](const Thread &t) { return t.waiting.what == Waiting::Warp; });
  if (inWarp != all.end()) {
    const Waiting &waiting = inWarp->waiting;
    auto isMissing = [&](const Thread &other) {
      return other.number / warpLanes == inWarp->number / warpLanes && (waiting.mask >> other.number % warpLanes & 1) &&
             (other.ended || other.waiting.operation != waiting.operation || other.waiting.mask != waiting.mask);
    };
    auto missing = std::find_if(all.begin(), all.end(), isMissing);
    return failDivergent(*inWarp, missing == all.end() ? *inWarp : *missing);
  }
  auto inPhase = std::find_if(all.begin(), all.end(), [](const Thread &t) { return t.waiting.what == Waiting::Phase; });
  if (inPhase != all.end()) {
    auto other = std::find_if(all.begin(), all.end(), [&](const Thread &t) {
      return t.ended || t.waiting.what != Waiting::Phase || t.waiting.phase != inPhase->waiting.phase;
    });
    return failDivergent(*inPhase, other == all.end() ? *inPhase : *other);
  }
  auto first = std::find_if(all.begin(), all.end(), [](const Thread &t) { return !t.ended; });
  auto isElsewhere = [&](const Thread &other) {
    return other.ended || other.waiting.barrier != first->waiting.barrier || other.waiting.count ||
           other.waiting.asks != first->waiting.asks;
  };
  auto elsewhere = std::find_if(all.begin(), all.end(), isElsewhere);
  if (elsewhere != all.end()) {
    return failDivergent(*first, *elsewhere);
  }
  watchBarrier();
  ++running->operations["barrier"];
  auto count = int32_t(std::count_if(all.begin(), all.end(), [](const Thread &t) { return t.waiting.own; }));
  Order order(all.size(), *running->random);
  for (size_t i = 0; i < all.size(); ++i) {
    all[order[i]].answer = count;
    setReady(all[order[i]]);
  }
}

/// Threads of a barrier that is not for all go on as soon as they are complete.
void passPartialBarrier(const Waiting &barrier) {
  std::vector<Thread *> waiting;
  for (Thread &thread : running->threads) {
    if (!thread.ended && thread.waiting.what == Waiting::Barrier && thread.waiting.barrier == barrier.barrier) {
      waiting.push_back(&thread);
    }
  }
  if (waiting.size() == barrier.count) {
    watchBarrier();
    for (Thread *thread : waiting) {
      setReady(*thread);
    }
  }
}

void beginBlock(uint64_t number) {
  const Launch &launch = *running->launch;
  auto count = uint32_t(running->threads.size());
  uint32_t x = launch.grid[0], y = launch.grid[1];
  Order order(count, *running->random);
  running->ready.clear();
  running->ended = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Thread &thread = running->threads[i];
    thread = {};
    thread.number = i;
    thread.place = {{i % launch.block[0], i / launch.block[0] % launch.block[1], i / launch.block[0] / launch.block[1]},
                    {uint32_t(number % x), uint32_t(number / x % y), uint32_t(number / x / y)}};
    running->ready.push_back(uint32_t(order[i]));
  }
  forgetCopies();
  forgetPhases();
  forgetProducts();
  watchBlock();
}

/// Stacks of threads that will not go on are free, too.
void runBlock() {
  while (running->result == Success && running->ended < running->threads.size()) {
    if (running->ready.empty()) {
      passBarrier();
      continue;
    }
    Thread &next = running->threads[running->ready.back()];
    running->ready.pop_back();
    goOn(next);
  }
  if (std::string why = running->result == Success ? whyUnfinished() : ""; !why.empty()) {
    running->result = LaunchFailed;
    report("kernel " + running->launch->kernel + ": " + why);
  }
  for (Thread &thread : running->threads) {
    if (thread.stack && !thread.ended) {
      stacks().push_back(thread.memory);
    }
  }
}

/// What the signals of a kernel's mistakes were for before.
struct sigaction earlier[5];
constexpr int signals[5] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};

void onSignal(int signal, siginfo_t *info, void *context) {
  if (!running || !running->thread) { // the host's mistake: it happens again, without this handler
    for (int i = 0; i < 5; ++i) {
      (void)sigaction(signals[i], &earlier[i], nullptr);
    }
    return;
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    const auto *machine = static_cast<ucontext_t *>(context);
    bool writes = machine->uc_mcontext.gregs[REG_ERR] & 2;
    auto *at = static_cast<char *>(info->si_addr);
    const char *stack = running->thread->memory;
    std::string where = at < stack && at >= stack - 4096 ? "below its stack" : running->memory->describe(at);
    auto beyond = at - running->shared;
    if (running->launch->sharedBytes && beyond >= -4096 && beyond < int64_t(running->launch->sharedBytes) + 8192) {
      where = "at byte " + std::to_string(beyond) + " of the block's memory, which has " +
              std::to_string(running->launch->sharedBytes);
    }
    fault(IllegalAddress, (writes ? "writes " : "reads ") + where);
  }
  fault(IllegalInstruction, signal == SIGFPE ? "divides by zero" : "has an instruction that does not exist");
}

/// Handles signals while a kernel runs, on a stack of its own: that of the thread may be full.
class Signals {
public:
  Signals() : memory(size_t(64) << 10) {
    stack_t own = {};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    (void)sigaltstack(&own, &stack);
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; // fault() does not return from the handler
    for (int i = 0; i < 5; ++i) {
      (void)sigaction(signals[i], &action, &earlier[i]);
    }
  }
  ~Signals() {
    for (int i = 0; i < 5; ++i) {
      (void)sigaction(signals[i], &earlier[i], nullptr);
    }
    (void)sigaltstack(&stack, nullptr);
  }
  Signals(const Signals &) = delete;

private:
  std::vector<char> memory;
  stack_t stack;
};

} // namespace

Result run(const Launch &launch, Random &random, const Memory &memory, Counts &counts) {
  Shared shared(launch.sharedBytes);
  if (!shared.begin()) {
    return OutOfMemory;
  }
  Running here{};
  here.launch = &launch;
  here.memory = &memory;
  here.random = &random;
  here.shared = shared.begin();
  here.threads.resize(size_t(launch.block[0]) * launch.block[1] * launch.block[2]);
  running = &here;
  {
    Signals handled;
    uint64_t blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    Order order(blocks, random);
    for (uint64_t i = 0; i < blocks && here.result == Success; ++i) {
      if (launch.sharedBytes) {
        shared.forget();
      }
      beginBlock(order[i]);
      runBlock();
      if (launch.isWatched && device().settings.traffic) {
        endTraffic(counts.traffic[launch.kernel]);
      }
    }
  }
  running = nullptr;
  ++counts.launches;
  for (const auto &[name, number] : here.operations) {
    counts.operations[std::string(name)] += number;
  }
  return here.result;
}

const Launch &launchOfThread() { return *running->launch; }
const Place &placeOfThread() { return running->thread->place; }
uint32_t numberOfThread() { return running->thread->number; }
char *sharedOfThread() { return running->shared; }

void fault(Result result, const std::string &text) {
  running->result = result;
  report(nameOf(*running->thread) + ": " + text);
  leaveThread();
  std::abort();
}

void waitAtBarrier(int32_t number, uint32_t count) {
  Waiting &waiting = running->thread->waiting;
  waiting.what = Waiting::Barrier;
  waiting.barrier = number;
  waiting.count = count == running->threads.size() ? 0 : count;
  if (waiting.count) {
    passPartialBarrier(waiting);
  }
  leaveThread();
}

void waitFor(const void *barrier) {
  Waiting &waiting = running->thread->waiting;
  waiting.what = Waiting::Phase;
  waiting.phase = barrier;
  leaveThread();
}

void wake(const void *barrier) {
  Order order(running->threads.size(), *running->random);
  for (size_t i = 0; i < running->threads.size(); ++i) {
    Thread &thread = running->threads[order[i]];
    if (thread.waiting.what == Waiting::Phase && thread.waiting.phase == barrier) {
      setReady(thread);
    }
  }
}

int32_t countAtBarrier(int32_t number, bool own) {
  Thread &thread = *running->thread;
  thread.waiting.asks = true, thread.waiting.own = own;
  waitAtBarrier(number, 0);
  return thread.answer;
}

void together(const char *name, Together operation, uint32_t mask, const void *operands, void *result) {
  Thread &self = *running->thread;
  uint32_t warp = self.number / warpLanes * warpLanes, lane = self.number % warpLanes;
  auto all = uint32_t(std::min(running->threads.size() - warp, warpLanes));
  mask &= all == warpLanes ? ~0u : (1u << all) - 1;
  if (!(mask >> lane & 1)) {
    fault(LaunchFailed, std::string(name) + " is for lanes without the one that calls it");
  }
  self.waiting = {Waiting::Warp, 0, 0, name, operation, mask, operands, result};
  Lanes lanes = {mask, {}, {}};
  for (uint32_t i = 0; i < warpLanes; ++i) {
    if (mask >> i & 1) {
      const Thread &other = running->threads[warp + i];
      const Waiting &theirs = other.waiting;
      if (other.ended || theirs.operation != operation || theirs.mask != mask || theirs.name != name) {
        leaveThread(); // until the last one comes
        return;
      }
      lanes.operands[i] = theirs.operands;
      lanes.results[i] = theirs.result;
    }
  }
  operation(lanes);
  ++running->operations[name];
  Order order(warpLanes, *running->random);
  for (uint32_t i = 0; i < warpLanes; ++i) {
    auto other = uint32_t(order[i]);
    if (other != lane && (mask >> other & 1)) {
      setReady(running->threads[warp + other]);
    }
  }
  self.waiting = {};
}

} // namespace ingot::emulator
