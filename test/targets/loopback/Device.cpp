// A device in a process of its own, which has the code of this one because it is forked from it. Its memory is shared
// with it at the same address, but only the device may touch it: the host's first access would end the program. The
// other way round the device has copies of the host's pages, old ones, so that every argument of a launch is looked at:
// none may be an address of the host.
//
// The queue is a socket; the host goes on while the device works (with a delay, if a test wants to see that). What is
// copied goes through a staging area that both may touch. Downloads are under way until a wait: only then they are
// copied to where they belong, so that whoever forgets to wait reads what was there before, each time.
#include "Device.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::targets::loopback {

static constexpr int64_t stagingBytes = int64_t(1) << 30;

struct Device::Command {
  enum Kind : int64_t { Copy, Launch, Fail, Wait, End } kind;
  void *to = nullptr;
  const void *from = nullptr;
  int (*body)(void *, int64_t, int64_t) = nullptr;
  int64_t bytes = 0, count = 0;
};

Settings settingsFromEnvironment() {
  Settings settings;
  const char *text = getenv("INGOT_LOOPBACK");
  std::istringstream all(text ? text : "");
  for (std::string one; std::getline(all, one, ',');) {
    std::string name = one.substr(0, one.find('=')), value = one.substr(std::min(one.size(), name.size() + 1));
    if (name == "log") {
      settings.log = value;
    } else {
      (name == "memory"  ? settings.memoryBytes
       : name == "delay" ? settings.delayMicroseconds
                         : settings.failingCall) = std::atoll(value.c_str());
    }
  }
  return settings;
}

static bool transfer(ssize_t (*how)(int, void *, size_t), int file, void *data, size_t bytes) {
  for (char *at = static_cast<char *>(data), *end = at + bytes; at != end;) {
    ssize_t some = how(file, at, size_t(end - at));
    if (some <= 0 && errno != EINTR) {
      return false;
    }
    at += some > 0 ? some : 0;
  }
  return true;
}

static ssize_t sendSome(int file, void *data, size_t bytes) { return ::send(file, data, bytes, MSG_NOSIGNAL); }

static char *map(int64_t bytes, int protection) {
  void *pages = mmap(nullptr, size_t(bytes), protection, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char *>(pages);
}

Device::Device(std::string spec, const Settings &settings)
    : spec(std::move(spec)), memoryBytes(settings.memoryBytes), delay(settings.delayMicroseconds),
      failingCall(settings.failingCall), log(settings.log) {
  open().push_back(this);
  interface = {this, allocate, release, upload, download, launch, wait, lastMessage};
  memory = map(memoryBytes, PROT_NONE);
  staging = map(stagingBytes, PROT_READ | PROT_WRITE);
  int ends[2];
  if (!memory || !staging || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return;
  }
  process = fork();
  if (process == 0) {
    serve(ends[1]);
  }
  close(ends[1]);
  queue = ends[0];
}

std::vector<Device *> &Device::open() {
  static std::vector<Device *> all;
  return all;
}

Device::~Device() {
  open().erase(std::find(open().begin(), open().end(), this));
  if (process > 0) {
    send({Command::End});
    waitpid(process, nullptr, 0);
  }
  if (queue >= 0) {
    close(queue);
  }
  if (memory) {
    munmap(memory, size_t(memoryBytes));
  }
  if (staging) {
    munmap(staging, size_t(stagingBytes));
  }
  if (!log.empty()) {
    std::ofstream out(log, std::ios::app);
    out << spec << ": " << done.uploads << " uploads of " << done.uploadedBytes << " bytes, " << done.downloads
        << " downloads of " << done.downloadedBytes << " bytes, " << done.launches << " launches, " << done.waits
        << " waits, " << heldBytes() << " bytes held\n";
  }
}

int64_t Device::heldBytes() const {
  int64_t bytes = 0;
  for (const auto &[address, size] : blocks) {
    bytes += size;
  }
  return bytes;
}

// The process of the device: no allocation, no lock, since it is a fork of a program that may have threads.
void Device::serve(int queue) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  mprotect(memory, size_t(memoryBytes), PROT_READ | PROT_WRITE);
  alignas(64) static char args[1 << 16];
  int status = 0;
  for (Command command; transfer(read, queue, &command, sizeof command) && command.kind != Command::End;) {
    if (command.kind == Command::Launch && !transfer(read, queue, args, size_t(command.bytes))) {
      break;
    }
    if (delay) {
      usleep(useconds_t(delay));
    }
    if (command.kind == Command::Wait) {
      transfer(sendSome, queue, &status, sizeof status);
      status = 0;
    } else if (status) {
      continue; // left out
    } else if (command.kind == Command::Copy) {
      std::memcpy(command.to, command.from, size_t(command.bytes));
    } else {
      status = command.kind == Command::Launch ? command.body(args, 0, command.count) : int(INGOT_ERROR_DEVICE);
    }
  }
  _exit(0);
}

void Device::send(const Command &command, const void *args) {
  Command copy = command;
  transfer(sendSome, queue, &copy, sizeof copy);
  if (command.kind == Command::Launch) {
    transfer(sendSome, queue, const_cast<void *>(args), size_t(command.bytes));
  }
}

int Device::failed(const std::string &why) {
  message = why;
  return INGOT_ERROR_DEVICE;
}

bool Device::fails(bool &later) {
  bool now = ++calls == failingCall;
  later = now && calls % 2 == 0;
  return now;
}

void Device::failLater() {
  (void)failed("a command in the queue was made to fail");
  send({Command::Fail});
}

bool Device::isAllocated(const void *at, int64_t bytes) const {
  auto *begin = static_cast<char *>(const_cast<void *>(at));
  auto block = blocks.upper_bound(begin);
  return block != blocks.begin() && begin + bytes <= std::prev(block)->first + std::prev(block)->second;
}

/// Whether a word is an address of a page of the host.
bool Device::isHosts(uint64_t word) const {
  auto *at = reinterpret_cast<char *>(word); // NOLINT(performance-no-int-to-ptr): that is the question
  if (word < (1 << 16) || (at >= memory && at < memory + memoryBytes)) {
    return false;
  }
  auto page = uint64_t(sysconf(_SC_PAGESIZE));
  unsigned char resident;
  return mincore(reinterpret_cast<void *>(word / page * page), page, &resident) == 0; // NOLINT
}

void *Device::allocate(void *self, int64_t bytes, int64_t align) {
  Device &d = of(self);
  bool later;
  if (d.fails(later)) {
    d.failed("an allocation was made to fail");
    return nullptr;
  }
  char *at = d.memory;
  for (const auto &[address, size] : d.blocks) { // first fit
    if (at + bytes <= address) {
      break;
    }
    at = d.memory + (address + size - d.memory + align - 1) / align * align;
  }
  if (bytes > d.memoryBytes || at > d.memory + d.memoryBytes - bytes) {
    d.failed("no memory for " + std::to_string(bytes) + " bytes: the device has " + std::to_string(d.memoryBytes) +
             ", of which " + std::to_string(d.heldBytes()) + " are held");
    return nullptr;
  }
  d.blocks[at] = bytes;
  return at;
}

void Device::release(void *self, void *memory) { of(self).blocks.erase(static_cast<char *>(memory)); }

char *Device::stage(int64_t bytes) {
  if (bytes > stagingBytes) {
    return nullptr;
  }
  if (staged + bytes > stagingBytes) {
    int status = drain();
    pending = pending ? pending : status;
  }
  char *at = staging + staged;
  staged += bytes;
  return at;
}

/// A place in the staging area for a copy from or to `there`, in the device's memory; null after a failure.
char *Device::stageCopy(const char *what, const void *there, int64_t bytes, bool &later) {
  bool isToFail = fails(later) && !later;
  char *place = !isToFail && isAllocated(there, bytes) ? stage(bytes) : nullptr;
  if (!place) {
    (void)failed(what + std::string(isToFail                    ? " was made to fail"
                                    : isAllocated(there, bytes) ? " is larger than the staging area"
                                                                : " of memory that is not allocated"));
  }
  return place;
}

int Device::upload(void *self, void *to, const void *from, int64_t bytes) {
  Device &d = of(self);
  bool later;
  char *staged = d.stageCopy("an upload", to, bytes, later);
  if (!staged) {
    return INGOT_ERROR_DEVICE;
  }
  std::memcpy(staged, from, size_t(bytes));
  later ? d.failLater() : d.send({Command::Copy, to, staged, nullptr, bytes});
  ++d.done.uploads, d.done.uploadedBytes += bytes;
  return 0;
}

int Device::download(void *self, void *to, const void *from, int64_t bytes) {
  Device &d = of(self);
  bool later;
  char *staged = d.stageCopy("a download", from, bytes, later);
  if (!staged) {
    return INGOT_ERROR_DEVICE;
  }
  later ? d.failLater() : d.send({Command::Copy, staged, from, nullptr, bytes});
  d.downloads.push_back({to, staged, bytes});
  ++d.done.downloads, d.done.downloadedBytes += bytes;
  return 0;
}

int Device::launch(void *self, int (*body)(void *, int64_t, int64_t), const void *args, int64_t bytes, int64_t count) {
  Device &d = of(self);
  bool later;
  if (d.fails(later) && !later) {
    return d.failed("a launch was made to fail");
  }
  for (int64_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char *>(args) + at, sizeof word);
    if (d.isHosts(word)) {
      return d.failed("a launch has an address of the host as its argument " + std::to_string(at / 8));
    }
  }
  later ? d.failLater() : d.send({Command::Launch, nullptr, nullptr, body, bytes, count}, args);
  ++d.done.launches;
  return 0;
}

/// Until nothing is left in the queue; what the device says.
int Device::drain() {
  send({Command::Wait});
  int status = 0;
  if (!transfer(read, queue, &status, sizeof status)) {
    status = failed("the device's process has died");
  }
  for (const Download &download : downloads) {
    if (!status) {
      std::memcpy(download.to, download.staged, size_t(download.bytes));
    }
  }
  downloads.clear();
  staged = 0;
  return status;
}

int Device::wait(void *self) {
  Device &d = of(self);
  bool later;
  bool fails = d.fails(later);
  int status = d.drain();
  status = d.pending ? d.pending : status;
  d.pending = 0;
  ++d.done.waits;
  return fails && !status ? d.failed("a wait was made to fail") : status;
}

const char *Device::lastMessage(void *self) { return of(self).message.empty() ? nullptr : of(self).message.c_str(); }

} // namespace ingot::targets::loopback

// For tests in other languages.
extern "C" {
using ingot::targets::loopback::Device;

Device *loopbackOpen(const char *spec) { return new Device(spec, ingot::targets::loopback::settingsFromEnvironment()); }
const ingot_device *loopbackDevice(const Device *device) { return &device->device(); }
int64_t loopbackHeldBytes(const Device *device) { return device->heldBytes(); }
void loopbackClose(Device *device) { delete device; }
}
