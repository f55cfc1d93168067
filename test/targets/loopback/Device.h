// The loopback device: a process of its own, forked from this one, which works off a queue of commands. See Device.cpp.
// It needs nothing of the compiler, so that programs without one have such devices, too.
#pragma once
#include "runtime_support/include/ingot.h"
#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ingot::targets::loopback {

/// What tests ask of a device. `INGOT_LOOPBACK=memory=BYTES,delay=MICROSECONDS,fail=N,log=FILE` sets them from outside.
struct Settings {
  int64_t memoryBytes = int64_t(4) << 30;
  int64_t delayMicroseconds = 0; ///< before each command
  int64_t failingCall = 0;       ///< the number, from 1 on, of the call of the interface that fails; 0: none
  std::string log;               ///< a file to which the device appends what it did when it is closed
};
Settings settingsFromEnvironment();

class Device {
public:
  /// Models whose kernels it is to run have to be loaded already.
  Device(std::string spec, const Settings &settings);
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
  struct Command;
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
  static int launch(void *self, int (*body)(void *, int64_t, int64_t), const void *args, int64_t bytes, int64_t count);
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
  [[noreturn]] void serve(int queue);

  std::string spec, message;
  ingot_device interface = {};
  char *memory = nullptr, *staging = nullptr;
  int64_t memoryBytes, staged = 0;
  int queue = -1;
  pid_t process = -1;
  int64_t delay, failingCall, calls = 0;
  std::string log;
  std::map<char *, int64_t> blocks; ///< address -> bytes
  std::vector<Download> downloads;  ///< that are under way
  int pending = 0;                  ///< a failure that the next wait tells
  Counts done;
};

} // namespace ingot::targets::loopback
