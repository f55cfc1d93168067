/* Asks the system for large pages. With pages of 4 KiB a kernel that reads or writes many megabytes waits for the
 * processor to look up addresses, in a virtual machine twice for each. */
#define _DEFAULT_SOURCE
#include "ingot.h"
#ifdef __linux__
#include <sys/mman.h>
#endif

/* The same bound as NumPy's: less memory has few whole pages of 2 MiB, and caches hold most of it. */
enum { LEAST_BYTES = 4 << 20, SMALL_PAGE = 4096 };

void ingot_prefer_large_pages(void *memory, int64_t bytes) {
#ifdef MADV_HUGEPAGE
  if (memory && bytes >= LEAST_BYTES) {
    uintptr_t begin = ((uintptr_t)memory + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE,
              end = ((uintptr_t)memory + (uintptr_t)bytes) / SMALL_PAGE * SMALL_PAGE;
    /* Where it fails, pages stay small and results the same. A system of larger small pages refuses most addresses. */
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
  }
#else
  (void)memory, (void)bytes;
#endif
}
