// Reads cache sizes from /sys/devices/system/cpu/cpu0/cache/index*. A shared cache counts for one core with its share,
// and the last level is capped, since virtual machines report a whole socket's for two cores.
#include "compiler/target/HostCaches.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using namespace llvm;

static constexpr int64_t l3Cap = 32 << 20;

static std::string readLine(const std::string &path) {
  auto buffer = MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

/// Returns the bytes of "48K", "2048K" or "105M"; 0 for anything else.
static int64_t parseSize(StringRef text) {
  int64_t unit = text.consume_back("K") ? 1 << 10 : text.consume_back("M") ? 1 << 20 : 1;
  int64_t number = 0;
  return text.getAsInteger(10, number) ? 0 : number * unit;
}

/// Returns how many CPUs a list such as "0-3,8" names; at least 1.
static int64_t countCpus(StringRef list) {
  SmallVector<StringRef> ranges;
  list.split(ranges, ',', -1, false);
  int64_t count = 0;
  for (StringRef range : ranges) {
    auto [first, last] = range.split('-');
    int64_t from = 0, to = 0;
    if (!first.getAsInteger(10, from)) {
      count += !last.empty() && !last.getAsInteger(10, to) ? to - from + 1 : 1;
    }
  }
  return std::max<int64_t>(count, 1);
}

void ingot::target::readHostCaches(MachineModel &machine) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string type = readLine(folder + "type");
    int64_t bytes = parseSize(readLine(folder + "size"));
    if (type == "Instruction" || bytes <= 0) {
      continue;
    }
    std::string level = readLine(folder + "level");
    if (level == "1") {
      machine.l1Bytes = bytes;
    } else if (level == "2") {
      machine.l2Bytes = bytes;
    } else if (level == "3") {
      machine.l3Bytes = std::min(bytes / countCpus(readLine(folder + "shared_cpu_list")), l3Cap);
    }
  }
}
