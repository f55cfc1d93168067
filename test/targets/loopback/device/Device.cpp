// A device in a process of its own. Its memory has addresses that this process leaves alone: the host's first access
// would end the program. The other way round the device may not touch the host's: it is either a fork, which has copies
// of the host's pages, old ones, or a program for another architecture in an emulator, which has none of them; and
// every argument of a launch is looked at: none may be an address of the host. A fork has the code of this program, so
// that it runs functions of it; the emulated one gets images.
//
// Each block of the device's memory ends where a page does, and behind it there is nothing: a kernel that goes beyond
// ends the device. The queue is a socket; the host goes on while the device works (with a delay, if a test wants to see
// that). What is copied goes through a staging area that both may touch. Downloads are under way until a wait: only
// then they are copied to where they belong, so that whoever forgets to wait reads what was there before, each time.
#include "Device.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::targets::loopback {

Settings settingsFromEnvironment() {
  Settings settings;
  const char *text = getenv("INGOT_LOOPBACK");
  std::istringstream all(text ? text : "");
  for (std::string one; std::getline(all, one, ',');) {
    std::string name = one.substr(0, one.find('=')), value = one.substr(std::min(one.size(), name.size() + 1));
    if (name == "log" || name == "arch") {
      (name == "log" ? settings.log : settings.architecture) = value;
    } else {
      (name == "memory"  ? settings.memoryBytes
       : name == "delay" ? settings.delayMicroseconds
                         : settings.failingCall) = std::atoll(value.c_str());
    }
  }
  return settings;
}

std::vector<std::string> architecturesOf(const std::string &spec) {
  std::vector<std::string> all;
  std::istringstream kinds(spec.substr(0, spec.find(':')));
  for (std::string kind; std::getline(kinds, kind, '@');) {
    if (kind == "riscv64" || kind == "aarch64") {
      all.push_back(kind);
    }
  }
  return all;
}

static void send(int queue, const void *data, size_t bytes) {
  for (const char *at = static_cast<const char *>(data), *end = at + bytes; at != end;) {
    ssize_t some = ::send(queue, at, size_t(end - at), MSG_NOSIGNAL);
    if (some < 0 && errno != EINTR) {
      return; // the next wait says so
    }
    at += some > 0 ? some : 0;
  }
}

static loopback_command make(int64_t kind, uint64_t to = 0, uint64_t from = 0, int64_t bytes = 0, int64_t count = 0,
                             const ingot_kernel &kernel = {nullptr, {0, 0, 0}, 0}) {
  return {kind, to, from, bytes, count, kernel};
}

static const int64_t pageBytes = sysconf(_SC_PAGESIZE);

static int64_t roundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Pages at an address that an emulator leaves to its program: far from where systems put what has no place.
static char *mapFarAway(int64_t bytes, int protection, int flags, int file) {
  for (uint64_t at = uint64_t(1) << 44; at < uint64_t(1) << 46; at += uint64_t(1) << 33) {
    void *wanted = reinterpret_cast<void *>(at); // NOLINT(performance-no-int-to-ptr): there is nothing yet
    void *pages = mmap(wanted, size_t(bytes), protection, flags | MAP_FIXED_NOREPLACE, file, 0);
    if (pages == wanted) {
      return static_cast<char *>(pages);
    }
    if (pages != MAP_FAILED) { // a system that does not know the flag
      munmap(pages, size_t(bytes));
    }
  }
  return nullptr;
}

Device::Device(const std::string &spec, const Settings &settings)
    : spec(spec), architecture(settings.architecture), memoryBytes(settings.memoryBytes),
      addresses(roundUp(settings.memoryBytes, pageBytes) + (int64_t(1) << 30)), delay(settings.delayMicroseconds),
      failingCall(settings.failingCall), log(settings.log) {
  open().push_back(this);
  interface = {this, allocate, release, upload, download, load, unload, launch, wait, lastMessage};
  std::vector<std::string> architectures = architecturesOf(spec);
  if (std::find(architectures.begin(), architectures.end(), architecture) == architectures.end()) {
    architecture = architectures.empty() ? "" : architectures.front();
  }
  stagingBytes = int64_t(1) << 30;
  int ends[2];
  if (!reserve() || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return;
  }
  process = fork();
  if (process == 0) {
    close(ends[0]);
    serve(ends[1]);
  }
  close(ends[1]);
  queue = ends[0];
}

/// Reserves addresses for the device's memory and for the staging area.
bool Device::reserve() {
  stagingFile = memfd_create("staging", 0);
  if (stagingFile < 0 || ftruncate(stagingFile, stagingBytes) != 0) {
    return false;
  }
  memory = mapFarAway(addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  staging = mapFarAway(stagingBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, stagingFile);
  return memory && staging;
}

std::vector<Device *> &Device::open() {
  static std::vector<Device *> all;
  return all;
}

Device::~Device() {
  open().erase(std::find(open().begin(), open().end(), this));
  if (process > 0) {
    send(make(LOOPBACK_END));
    waitpid(process, nullptr, 0);
  }
  if (queue >= 0) {
    close(queue);
  }
  if (memory) {
    munmap(memory, size_t(addresses));
  }
  if (staging) {
    munmap(staging, size_t(stagingBytes));
  }
  if (stagingFile >= 0) {
    close(stagingFile);
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

/// The device's process: a loop in this program's fork, or the worker in an emulator. No allocation until then, and no
/// lock: the program may have had threads.
void Device::serve(int queue) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (architecture.empty()) {
    auto open = [](void *at, int64_t bytes) {
      return mprotect(at, size_t(bytes), PROT_READ | PROT_WRITE) == 0 ? 0 : int(INGOT_ERROR_DEVICE);
    };
    auto close = [](void *at, int64_t bytes) { (void)mprotect(at, size_t(bytes), PROT_NONE); };
    auto load = [](const loopback_command *) { return int(INGOT_ERROR_DEVICE); };
    auto blocks = [](const loopback_command *, const void *) { return int(INGOT_ERROR_DEVICE); };
    const loopback_process process = {queue, delay, open, close, load, blocks};
    loopback_serve(&process);
    _exit(0);
  }
  char emulator[64], root[64], worker[512], words[5][32];
  (void)snprintf(emulator, sizeof emulator, "qemu-%s", architecture.c_str());
  (void)snprintf(root, sizeof root, "/usr/%s-linux-gnu", architecture.c_str());
  (void)snprintf(worker, sizeof worker, "%s/loopback-%s", INGOT_LOOPBACK_WORKERS, architecture.c_str());
  const int64_t numbers[] = {queue, stagingFile, reinterpret_cast<intptr_t>(staging), stagingBytes, delay};
  for (int i = 0; i < 5; ++i) {
    (void)snprintf(words[i], sizeof words[i], "%lld", static_cast<long long>(numbers[i]));
  }
  execlp(emulator, emulator, "-L", root, worker, words[0], words[1], words[2], words[3], words[4], nullptr);
  _exit(127);
}

void Device::send(const Command &command, const void *args) {
  loopback::send(queue, &command, sizeof command);
  if (command.kind == LOOPBACK_LAUNCH) {
    loopback::send(queue, args, size_t(command.bytes));
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

static uint64_t addressOf(const void *at) { return reinterpret_cast<uintptr_t>(at); }

void Device::failLater() {
  (void)failed("a command in the queue was made to fail");
  send(make(LOOPBACK_FAIL));
}

bool Device::isAllocated(const void *at, int64_t bytes) const {
  auto *begin = static_cast<char *>(const_cast<void *>(at));
  auto block = blocks.upper_bound(begin);
  return block != blocks.begin() && begin + bytes <= std::prev(block)->first + std::prev(block)->second;
}

/// Whether a word is an address of a page of the host.
bool Device::isHosts(uint64_t word) const {
  auto *at = reinterpret_cast<char *>(word); // NOLINT(performance-no-int-to-ptr): that is the question
  if (word < (1 << 16) || (at >= memory && at < memory + addresses)) {
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
  int64_t room = roundUp(bytes, align);
  char *pages = d.memory + pageBytes;
  for (const auto &[address, size] : d.blocks) { // first fit, with a page of nobody's between
    if (pages + roundUp(room, pageBytes) + pageBytes <= address) {
      break;
    }
    pages = d.memory + roundUp(address + size - d.memory, pageBytes) + pageBytes;
  }
  if (d.heldBytes() + bytes > d.memoryBytes || pages + roundUp(room, pageBytes) > d.memory + d.addresses) {
    d.failed("no memory for " + std::to_string(bytes) + " bytes: the device has " + std::to_string(d.memoryBytes) +
             ", of which " + std::to_string(d.heldBytes()) + " are held");
    return nullptr;
  }
  char *at = pages + roundUp(room, pageBytes) - room;
  d.blocks[at] = bytes;
  d.send(make(LOOPBACK_OPEN, addressOf(pages), 0, roundUp(room, pageBytes)));
  return at;
}

void Device::release(void *self, void *memory) {
  Device &d = of(self);
  auto block = d.blocks.find(static_cast<char *>(memory));
  char *pages = d.memory + (block->first - d.memory) / pageBytes * pageBytes;
  d.send(make(LOOPBACK_CLOSE, addressOf(pages), 0, roundUp(block->first + block->second - pages, pageBytes)));
  d.blocks.erase(block);
}

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
  later ? d.failLater() : d.send(make(LOOPBACK_COPY, addressOf(to), addressOf(staged), bytes));
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
  later ? d.failLater() : d.send(make(LOOPBACK_COPY, addressOf(staged), addressOf(from), bytes));
  d.downloads.push_back({to, staged, bytes});
  ++d.done.downloads, d.done.downloadedBytes += bytes;
  return 0;
}

/// Returns the image for this device: functions of this program for a fork of it, else the architecture's.
const ingot_image *Device::imageOf(const ingot_device_info &info) const {
  for (int32_t i = 0; i < info.image_count; ++i) {
    const ingot_image &image = info.images[i];
    if (architecture.empty() ? image.bodies != nullptr : image.bytes && image.target == architecture) {
      return &image;
    }
  }
  return nullptr;
}

/// The addresses that the kernels of an image get in the emulator.
int Device::loadImage(const ingot_device_info &info, const ingot_image &image, Code &code) {
  int64_t tableBytes = int64_t(info.kernel_count) * LOOPBACK_NAME_BYTES;
  char *table = stage(tableBytes), *bytes = table ? stage(image.size) : nullptr;
  if (!bytes) {
    return failed("an image is larger than the staging area");
  }
  std::memset(table, 0, size_t(tableBytes));
  for (int32_t i = 0; i < info.kernel_count; ++i) {
    std::strncpy(table + i * LOOPBACK_NAME_BYTES, info.kernels[i].name, LOOPBACK_NAME_BYTES - 1);
  }
  std::memcpy(bytes, image.bytes, size_t(image.size));
  send(make(LOOPBACK_LOAD, addressOf(table), addressOf(bytes), image.size, info.kernel_count));
  if (drain() != 0) {
    return failed("the image for " + architecture + " cannot be loaded");
  }
  for (int32_t i = 0; i < info.kernel_count; ++i) {
    uint64_t address;
    std::memcpy(&address, table + i * LOOPBACK_NAME_BYTES, sizeof address);
    code.push_back(address);
  }
  return 0;
}

int Device::load(void *self, const ingot_device_info *info, void **code) {
  Device &d = of(self);
  bool later;
  const ingot_image *image = d.imageOf(*info);
  if (d.fails(later)) {
    return d.failed("loading the kernels was made to fail");
  }
  if (!image) {
    return d.failed("the model has no code for " +
                    (d.architecture.empty() ? "a fork of this program" : d.architecture));
  }
  auto kernels = std::make_unique<Code>();
  for (int32_t i = 0; image->bodies && i < info->kernel_count; ++i) {
    kernels->push_back(reinterpret_cast<uintptr_t>(image->bodies[i]));
  }
  int status = image->bodies ? 0 : d.loadImage(*info, *image, *kernels);
  *code = status ? nullptr : kernels.release();
  return status;
}

void Device::unload(void *, void *code) { delete static_cast<Code *>(code); }

int Device::launch(void *self, const ingot_launch *launch) {
  Device &d = of(self);
  bool later;
  if (d.fails(later) && !later) {
    return d.failed("a launch was made to fail");
  }
  for (int64_t at = 0; at + 8 <= launch->bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char *>(launch->args) + at, sizeof word);
    if (d.isHosts(word)) {
      return d.failed("a launch has an address of the host as its argument " + std::to_string(at / 8));
    }
  }
  uint64_t kernel = (*static_cast<Code *>(launch->code))[size_t(launch->number)];
  later ? d.failLater()
        : d.send(make(LOOPBACK_LAUNCH, kernel, 0, launch->bytes, launch->blocks[0], *launch->kernel), launch->args);
  ++d.done.launches;
  return 0;
}

/// Until nothing is left in the queue; what the device says.
int Device::drain() {
  send(make(LOOPBACK_WAIT));
  int status = 0;
  if (!loopback_read(queue, &status, sizeof status)) {
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

// Tests in other languages call these.
extern "C" {
using ingot::targets::loopback::Device;

Device *loopbackOpen(const char *spec) { return new Device(spec, ingot::targets::loopback::settingsFromEnvironment()); }
const ingot_device *loopbackDevice(const Device *device) { return &device->device(); }
int64_t loopbackHeldBytes(const Device *device) { return device->heldBytes(); }
void loopbackClose(Device *device) { delete device; }
}
