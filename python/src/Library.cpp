#include "Library.h"
#include <atomic>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <stdexcept>

namespace ingot::python {

Library::Library(const std::string &path, const std::string &name, const std::string &weightsPath) {
  try {
    open(path, name, weightsPath);
  } catch (...) {
    if (handle) {
      dlclose(handle);
    }
    throw;
  }
}

/// Opens a library. The system knows libraries by the text of their paths, and would give the old one for a file that
/// has been replaced since; so a path that it knows is written in another way, with a number in its slashes.
static void *openLibrary(const std::string &path) {
  constexpr int now = RTLD_NOW | RTLD_LOCAL;
  void *known = dlopen(path.c_str(), now | RTLD_NOLOAD);
  if (!known) {
    return dlopen(path.c_str(), now);
  }
  static std::atomic<unsigned> last = 0;
  std::string slashes;
  for (unsigned number = ++last; number; number /= 2) {
    slashes += number % 2 ? "/." : "/";
  }
  void *handle = dlopen(std::string(path).insert(path.rfind('/'), slashes).c_str(), now);
  dlclose(known);
  return handle;
}

void Library::open(const std::string &path, const std::string &name, const std::string &weightsPath) {
  handle = openLibrary(path);
  if (!handle) {
    throw std::runtime_error(path + ": cannot be loaded: " + dlerror());
  }
  auto *function = reinterpret_cast<const ingot_model *(*)()>(dlsym(handle, (name + "_model").c_str()));
  entry = function ? function() : nullptr;
  if (!entry) {
    throw std::runtime_error(path + ": has no function " + name + "_model");
  }
  if (entry->abi != INGOT_ABI) {
    throw std::runtime_error(path + ": was compiled by another version of ingot (ABI " + std::to_string(entry->abi) +
                             ", this one has " + std::to_string(INGOT_ABI) + "); compile the model again");
  }
  if (entry->device_count) {
    throw std::runtime_error(path + ": runs on a device (" + entry->devices[0].target +
                             "), which C and C++ programs open, and Python and servers do not");
  }
  if (ingot_exec exec = {}; ingot_model_level(entry, &exec) < 0) {
    throw std::runtime_error(path + ": is compiled for " + entry->target + ", of which this machine has none");
  }
  if (int status = ingot_weights_load(entry, weightsPath.c_str(), &mapped)) {
    throw std::runtime_error(weightsPath + ": " + ingot_error_kind_text(status));
  }
  forRuns = ingot_weights_for(entry, &mapped, &reader);
}

Library::~Library() {
  ingot_weights_unmap(&mapped);
  if (handle) {
    dlclose(handle);
  }
}

namespace {

/// The pools of this process by their number of threads. They live as long as it does, as models that are run while it
/// ends may need them.
struct Pools {
  std::mutex mutex;
  std::map<int, ingot_pool *> all;
};
std::atomic<Pools *> pools = nullptr;

/// Threads do not live on in a child process, so that its pools are made anew; the parent's memory is left as it is.
void forgetPools() { pools = new Pools; }

} // namespace

const ingot_exec *sharedThreads(int count) {
  static const int once = [] {
    forgetPools();
    return pthread_atfork(nullptr, nullptr, forgetPools);
  }();
  (void)once;
  if (count == 1) {
    return nullptr;
  }
  Pools &own = *pools;
  std::lock_guard lock(own.mutex);
  ingot_pool *&pool = own.all[count];
  if (!pool) {
    pool = ingot_pool_create(count);
  }
  return pool ? ingot_pool_exec(pool) : nullptr;
}

} // namespace ingot::python
