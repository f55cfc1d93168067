// Plans the arenas in which the buffers of Places.cpp lie: one for the host, and one for each device. Where the host
// has several memories (--memories), its arena consists of a part for each, one behind the other, and a buffer lies in
// the part in which its traffic costs least (DivideBuffers.cpp).
//
// The traffic of a buffer is what launches and copies read and write of it, in a loop as often as it runs. How often a
// kernel reads an operand is counted in its code (Traffic.cpp): a convolution its image several times, and what it has
// in scratch memory more often still.
#include "compiler/memory/DivideBuffers.h"
#include "compiler/memory/Places.h"
#include "compiler/plan/KernelAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot::memory {

/// Plans an arena for the host and one for each device. Returns false if one of them fits no memory. A device that may
/// run branches at once has an arena in which these do not wait for each other's memory, if it is at most a quarter, or
/// 16 MB, larger than the smallest.
bool Places::planArenas() {
  plan.arena.offsets.assign(plan.buffers.size(), 0);
  int64_t devices = static_cast<int64_t>(ingot::plan::devicesOf(function).size());
  for (int64_t device = 0; device <= devices; ++device) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.devices[i] == device) {
        numbers.push_back(i);
      }
    }
    if (!(device == 0 && !plan.memories.empty() ? divideArena(numbers) : planArena(device, numbers))) {
      return false;
    }
  }
  return true;
}

/// Returns the elements of a list that have these numbers.
template <typename T> static std::vector<T> pick(llvm::ArrayRef<T> all, llvm::ArrayRef<size_t> numbers) {
  auto picked = llvm::map_range(numbers, [&](size_t number) { return all[number]; });
  return {picked.begin(), picked.end()};
}

/// Plans the arena of a device, of which these are the buffers. Returns false if it fits no memory.
bool Places::planArena(int64_t device, llvm::ArrayRef<size_t> numbers) {
  std::vector<BufferLifetime> own = pick<BufferLifetime>(plan.buffers, numbers);
  std::optional<ArenaPlan> arena = memory::planArena(own);
  if (!arena) {
    return false;
  }
  if (std::vector<BufferLifetime> apart = own; separateBranches(numbers, apart)) {
    std::optional<ArenaPlan> larger = memory::planArena(apart);
    constexpr int64_t little = 16 << 20;
    if (larger && larger->peakBytes <= arena->peakBytes + std::max(little, arena->peakBytes / 4)) {
      arena = std::move(larger);
      for (auto [number, buffer] : llvm::zip_equal(numbers, apart)) {
        plan.buffers[number] = buffer;
      }
    }
  }
  for (auto [number, offset] : llvm::zip_equal(numbers, arena->offsets)) {
    plan.arena.offsets[number] = offset;
  }
  if (device == 0) {
    plan.arena.peakBytes = arena->peakBytes, plan.arena.lowerBound = arena->lowerBound;
  }
  return true;
}

/// Divides the host's buffers among its memories. Returns false if they fit no memory at all.
bool Places::divideArena(llvm::ArrayRef<size_t> numbers) {
  std::vector<BufferLifetime> own = pick<BufferLifetime>(plan.buffers, numbers);
  std::vector<MemorySize> sizes;
  for (const ingot::plan::MemoryInfo &memory : plan.memories) {
    int64_t forBuffers = std::max<int64_t>(0, memory.mostBytes - alignment);
    sizes.push_back({forBuffers & -alignment, memory.wordCycles});
  }
  std::optional<Division> division = divideBuffers(own, pick<int64_t>(plan.traffic, numbers), sizes);
  std::optional<int64_t> bound = lowerBoundOf(own);
  if (!division || !bound) {
    return false;
  }
  int64_t end = 0;
  for (auto [memory, peak] : llvm::zip_equal(plan.memories, division->peaks)) {
    memory.workspaceAt = end, memory.workspaceBytes = peak ? peak + alignment : 0;
    end += memory.workspaceBytes;
  }
  plan.memoryOf.assign(plan.buffers.size(), 0);
  for (auto [number, memory, offset] : llvm::zip_equal(numbers, division->memoryOf, division->offsets)) {
    plan.memoryOf[number] = memory;
    plan.arena.offsets[number] = plan.memories[memory].workspaceAt + offset;
    plan.memories[memory].trafficBytes += plan.buffers[number].bytes ? plan.traffic[number] : 0;
  }
  plan.arena.peakBytes = end ? end - alignment : 0, plan.arena.lowerBound = *bound;
  return true;
}

/// Returns whether a device may run the launch beside others: its kernel says which memory it reads.
static bool mayRunBeside(ingot::plan::LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getCalleeAttr());
  return launch.getDevice() && kernel && kernel->hasAttr(ingot::plan::readsName);
}

/// Makes buffers of a device, `lives[i]` being that of number `numbers[i]`, live until the last launch that may run
/// beside one that uses them: such a launch would have to wait for their memory. Returns whether it changed one.
///
/// Launches that follow each other in a block, without a copy between them, are a row. Within a row a launch has to
/// follow those that write what it reads or writes, those that read what it writes, and what these follow.
bool Places::separateBranches(llvm::ArrayRef<size_t> numbers, std::vector<BufferLifetime> &lives) {
  std::vector<LaunchRow> rows = launchRows();
  bool isChanged = false;
  for (auto [number, life] : llvm::zip_equal(numbers, lives)) {
    for (const LaunchRow &row : rows) {
      if (auto used = row.users.find(number); used != row.users.end() && life.lastUse < row.end()) {
        for (int64_t step = row.end() - 1; step > life.lastUse; --step) {
          llvm::BitVector notBehind = used->second;
          notBehind.reset(row.behind[step - row.begin]);
          if (notBehind.any()) {
            life.lastUse = step, isChanged = true;
            break;
          }
        }
      }
    }
  }
  return isChanged;
}

/// A row of so many launches takes a second, and one of more much longer: it is taken for several.
static constexpr size_t mostOfRow = 2000;

/// Returns the rows that devices may run in another order than their launches have.
std::vector<Places::LaunchRow> Places::launchRows() {
  std::vector<LaunchRow> rows;
  function.walk([&](Block *block) {
    SmallVector<ingot::plan::LaunchOp> row;
    auto end = [&] {
      if (row.size() > 1) {
        rows.push_back(launchRowOf(row));
      }
      row.clear();
    };
    for (Operation &op : *block) {
      auto launch = dyn_cast<ingot::plan::LaunchOp>(op);
      if (launch && mayRunBeside(launch) && (row.empty() || row.front().getDevice() == launch.getDevice())) {
        row.push_back(launch);
        if (row.size() == mostOfRow) {
          end();
        }
      } else if (launch || op.getNumRegions() > 0 || isa<ingot::plan::TransferOp, ingot::plan::StageOp>(op)) {
        end();
      }
    }
    end();
  });
  return rows;
}

Places::LaunchRow Places::launchRowOf(llvm::ArrayRef<ingot::plan::LaunchOp> launches) {
  auto count = static_cast<unsigned>(launches.size());
  LaunchRow row = {stepOf.at(launches.front()), {}, {}};
  struct Users {
    llvm::BitVector all, writers;
  };
  llvm::DenseMap<Value, Users> usersOf;
  for (unsigned i = 0; i < count; ++i) {
    ingot::plan::LaunchOp launch = launches[i];
    llvm::BitVector behind(count);
    auto use = [&](Value v, bool isWritten) {
      Value base = homeOf(v).base;
      Users &users = usersOf.try_emplace(base, Users{llvm::BitVector(count), llvm::BitVector(count)}).first->second;
      if (!isWritten || !isa_and_nonnull<ingot::plan::JoinOp>(base.getDefiningOp())) { // whose parts have each a writer
        behind |= isWritten ? users.all : users.writers;
      }
      users.all.set(i);
      if (isWritten) {
        users.writers.set(i);
      }
      if (auto buffer = bufferOf.find(base); buffer != bufferOf.end()) {
        row.users.try_emplace(buffer->second, count).first->second.set(i);
      }
    };
    for (Value v : launch.getIns()) {
      use(v, false);
    }
    for (Value v : launch.getOuts()) {
      use(v, true);
    }
    if (auto scratch = scratchOf.find(launch); scratch != scratchOf.end()) {
      row.users.try_emplace(scratch->second, count).first->second.set(i);
    }
    behind.reset(i);
    const llvm::BitVector direct = behind;
    for (unsigned before : direct.set_bits()) {
      behind |= row.behind[before];
    }
    row.behind.push_back(std::move(behind));
  }
  return row;
}

std::string renderMemoryPlan(const MemoryPlan &plan) {
  if (plan.memories.empty()) {
    return renderArenaPlan(plan.buffers, plan.names, plan.arena);
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  for (auto [number, memory] : llvm::enumerate(plan.memories)) {
    std::vector<BufferLifetime> own;
    std::vector<std::string> names;
    ArenaPlan part;
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.devices[i] == 0 && plan.memoryOf[i] == number && plan.buffers[i].bytes > 0) {
        own.push_back(plan.buffers[i]), names.push_back(plan.names[i]);
        part.offsets.push_back(plan.arena.offsets[i] - memory.workspaceAt);
        part.peakBytes = std::max(part.peakBytes, part.offsets.back() + own.back().bytes);
      }
    }
    part.lowerBound = lowerBoundOf(own).value_or(0);
    out << memory.name << ": " << memory.workspaceBytes << " of " << memory.mostBytes << " bytes, "
        << memory.trafficBytes << " bytes read and written in a run\n"
        << renderArenaPlan(own, names, part);
  }
  return text;
}

} // namespace ingot::memory
