// The loopback device: a process of its own, which works off a queue of commands. See Device.cpp.
// It needs nothing of the compiler, so that programs without one have such devices, too.
#pragma once
#include "test/targets/loopback/device/Serve.h"
#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ingot::targets::loopback {

/// What tests ask of a device. `INGOT_LOOPBACK=memory=BYTES,delay=MICROSECONDS,fail=N,arch=NAME,log=FILE` sets them
/// from outside.
struct Settings {
  int64_t memoryBytes = int64_t(4) << 30;
  int64_t delayMicroseconds = 0; ///< before each command
  std::string architecture;      ///< of those of the spec; empty: the first
  int64_t failingCall = 0;       ///< the number, from 1 on, of the call of the interface that fails; 0: none
  std::string log;               ///< a file to which the device appends what it did when it is closed
};
Settings settingsFromEnvironment();

/// The architectures of which a device is one, by its spec ("loopback@riscv64@aarch64:Conv"); none: the host's.
std::vector<std::string> architecturesOf(const std::string &spec);

class Device {
public:
  /// Models of which it is to run functions of this program have to be loaded already. Of several architectures it is
  /// the first, or the one that the settings name.
  Device(const std::string &spec, const Settings &settings);
  ~Device();
  Device(const Device &) = delete;

  /// Those that there are now, in the order in which they were opened.
  static std::vector<Device *> &open();

  const ingot_device &device() const { return interface; }
  bool isOpen() const { return process > 0; }

  /// From now on counted from 1 again; see Settings.
  void failAt(int64_t call) { failingCall = call, calls = 0; }
  /// Calls of the interface since then.
  int64_t callCount() const { return calls; }
  int64_t heldBytes() const;
  struct Counts {
    int64_t uploads = 0, uploadedBytes = 0, downloads = 0, downloadedBytes = 0, launches = 0, waits = 0;
  };
  const Counts &counts() const { return done; }

private:
  using Command = loopback_command;
  /// Kernels that are ready: addresses in the device's process.
  using Code = std::vector<uint64_t>;
  struct Download {
    void *to;
    const char *staged;
    int64_t bytes;
  };

  static Device &of(void *context) { return *static_cast<Device *>(context); }
  static void *allocate(void *self, int64_t bytes, int64_t align);
  static void release(void *self, void *memory);
  static int upload(void *self, void *to, const void *from, int64_t bytes);
  static int download(void *self, void *to, const void *from, int64_t bytes);
  static int load(void *self, const ingot_device_info *info, void **code);
  static void unload(void *self, void *code);
  static int launch(void *self, const ingot_launch *launch);
  static int wait(void *self);
  static const char *lastMessage(void *self);

  /// Whether this call of the interface is the one that fails; `later` whether only a wait shall tell.
  bool fails(bool &later);
  int failed(const std::string &why);
  void failLater();
  bool isAllocated(const void *at, int64_t bytes) const;
  bool isHosts(uint64_t word) const;
  char *stage(int64_t bytes);
  char *stageCopy(const char *what, const void *there, int64_t bytes, bool &later);
  void send(const Command &command, const void *args = nullptr);
  int drain();
  bool reserve();
  [[noreturn]] void serve(int queue) const;
  const ingot_image *imageOf(const ingot_device_info &info) const;
  int loadImage(const ingot_device_info &info, const ingot_image &image, Code &code);

  std::string spec, message, architecture;
  ingot_device interface = {};
  char *memory = nullptr, *staging = nullptr;
  int64_t memoryBytes, addresses, stagingBytes, staged = 0;
  int queue = -1, stagingFile = -1;
  pid_t process = -1;
  int64_t delay, failingCall, calls = 0;
  std::string log;
  std::map<char *, int64_t> blocks; ///< address -> bytes
  std::vector<Download> downloads;  ///< that are under way
  int pending = 0;                  ///< a failure that the next wait tells
  Counts done;
};

} // namespace ingot::targets::loopback
