// Serves runs that ask for memory (ingot_exec.allocate): from a heap that keeps it from run to run, with guards behind
// it, and counted, so that a run that keeps or overruns it is noticed.
#pragma once
#include "runtime_support/include/ingot.h"
#include <map>

namespace ingot::driver {

class HostMemory {
public:
  HostMemory() = default;
  HostMemory(const HostMemory &) = delete;
  ~HostMemory();

  /// Lets runs on `exec` have memory from here.
  void serve(ingot_exec &exec);
  void release(void *memory);
  int64_t count() const { return int64_t(blocks.size()); } ///< how many blocks are held now
  /// Whether something was written behind a block that is held, or was when it was released.
  bool isOverrun() const;

private:
  static void *allocate(void *self, int64_t bytes, int64_t align, int32_t output);
  static void release(void *self, void *memory);
  ingot_heap heap = {};
  std::map<void *, int64_t> blocks; ///< the bytes of each block by its address
  bool overrun = false;
};

} // namespace ingot::driver
