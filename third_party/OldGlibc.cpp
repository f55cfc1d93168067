// Debian compiled LLVM's archives with glibc 2.36. This file defines what they call of it that glibc 2.31 does not
// have, so that programs can be linked against the older one (OldGlibc.cmake).
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <unistd.h>

#define HERE_ALONE extern "C" __attribute__((visibility("hidden")))

HERE_ALONE uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (getentropy(&number, sizeof(number))) {
    std::abort();
  }
  return number;
}

// Says that the process has one thread, so that libstdc++ spares atomic operations. Nothing sets it here.
HERE_ALONE char __libc_single_threaded;
char __libc_single_threaded = 0;

// LLVM's own statistics ask for the size of the heap. What glibc 2.31 has (mallinfo) counts it in int.
HERE_ALONE struct mallinfo2 mallinfo2() noexcept { return {}; }
