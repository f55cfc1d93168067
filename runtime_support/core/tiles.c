/* Asks for matrix registers (AMX). They are 8 KiB more of what an operating system saves for a thread, and Linux
 * gives them to a process that asks. Only a permission is kept, in one word like the level, so a process that was
 * refused may ask again. */
#include "ingot.h"
#include "word.h"

static int machineTiles; /* 1: permitted */

#if defined(__x86_64__) && defined(__linux__)
/* Calls arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). A system that knows nothing of it, and one on a
 * processor without tiles, returns an error. */
static int ask(void) {
  long result = 158;
  __asm__ volatile("syscall" : "+a"(result) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
  return result == 0;
}
#else
static int ask(void) { return 0; }
#endif

int ingot_run_tiles(void) {
  if (!ingot_word(&machineTiles)) {
    if (!ask()) {
      return INGOT_ERROR_TILES;
    }
    ingot_set_word(&machineTiles, 1);
  }
  return 0;
}
