// A stream does nothing until somebody waits for it: whoever reads too early, or changes too early what a copy reads,
// sees it.
#include "Emulator.h"
#include <chrono>
#include <cstring>

namespace ingot::emulator {
namespace {

bool failsNow(Result &result) {
  Device &d = device();
  bool fails = ++d.commands == d.settings.command;
  result = fails ? Result(d.settings.code) : Success;
  return fails;
}

Result copy(const Command &command) {
  Counts &counts = device().counts;
  bool isUpload = command.kind == Command::Upload;
  const char *device = isUpload ? command.to : command.from;
  if (!emulator::device().memory.has(device, command.bytes)) {
    report("a copy of " + std::to_string(command.bytes) + " bytes " + emulator::device().memory.describe(device));
    return IllegalAddress;
  }
  std::memcpy(command.to, command.staged.empty() ? command.from : command.staged.data(), command.bytes);
  ++(isUpload ? counts.uploads : counts.downloads);
  (isUpload ? counts.uploadedBytes : counts.downloadedBytes) += int64_t(command.bytes);
  return Success;
}

Result doCommand(const Command &command);

/// Does the launches of a graph in some order in which each comes behind those for which it waits.
Result doGraph(const std::vector<Command> &launches) {
  std::vector<size_t> waits, ready;
  std::vector<std::vector<size_t>> behind(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    waits.push_back(launches[i].after.size());
    for (size_t before : launches[i].after) {
      behind[before].push_back(i);
    }
    if (waits.back() == 0) {
      ready.push_back(i);
    }
  }
  Result result = Success;
  while (!result && !ready.empty()) {
    std::swap(ready[device().random.below(ready.size())], ready.back());
    size_t next = ready.back();
    ready.pop_back();
    result = doCommand(launches[next]);
    for (size_t i : behind[next]) {
      if (--waits[i] == 0) {
        ready.push_back(i);
      }
    }
  }
  return result;
}

Result doCommand(const Command &command) {
  Device &d = device();
  Result result;
  if (failsNow(result)) {
    return result;
  }
  switch (command.kind) {
  case Command::Kernel:
    result = run(command.launch, d.random, d.memory, d.counts);
    return !result && d.memory.isSpoiled() ? IllegalAddress : result;
  case Command::Graph:
    result = doGraph(*command.graph);
    ++d.counts.graphLaunches;
    return result;
  case Command::Record:
    command.event->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    return Success;
  default:
    return copy(command);
  }
}

} // namespace

Device &device() {
  static Device one;
  return one;
}

Result work(Stream &stream) {
  Device &d = device();
  d.memory.open();
  Result result = d.lost;
  for (const Command &command : stream.commands) {
    result = result ? result : doCommand(command);
  }
  stream.commands.clear();
  d.memory.close();
  return result;
}

} // namespace ingot::emulator
