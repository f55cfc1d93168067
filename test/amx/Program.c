/* What a process with preloaded tiles can do (run.py): `amx-program VERB`. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long ask(void) { return syscall(SYS_arch_prctl, 0x1023, 18); }

__attribute__((target("amx-tile,amx-int8"))) static int32_t product(int rows) {
  uint8_t config[64] = {1}, a[16][64], b[16][64];
  int32_t sums[16][16];
  for (int i = 0; i < 3; ++i) {
    config[16 + 2 * i] = 64, config[48 + i] = (uint8_t)(i < 2 ? rows : 16);
  }
  memset(a, rows, sizeof(a)), memset(b, 255, sizeof(b)), memset(sums, 0, sizeof(sums));
  __builtin_ia32_tile_loadconfig(config);
  __asm__ volatile("tilezero %%tmm0\n\ttileloadd (%0,%2), %%tmm1\n\ttileloadd (%1,%2), %%tmm2\n\t"
                   "tdpbusd %%tmm2, %%tmm1, %%tmm0\n\ttilestored %%tmm0, (%3,%2)\n\ttilerelease"
                   :
                   : "r"(a), "r"(b), "r"((uint64_t)64), "r"(sums)
                   : "memory");
  return sums[rows - 1][15];
}

static void *thread(void *rows) {
  for (int i = 0; i < 1000; ++i) {
    if (product((int)(intptr_t)rows) != -64 * (int)(intptr_t)rows) {
      return "wrong";
    }
  }
  return 0;
}

int main(int count, char **arguments) {
  const char *verb = count > 1 ? arguments[1] : "";
  if (!strcmp(verb, "unasked")) {
    printf("%d\n", product(16));
  } else if (!strcmp(verb, "refused")) {
    return ask() == 0;
  } else if (!strcmp(verb, "misuse")) {
    (void)ask();
    __asm__ volatile("tilezero %tmm0");
  } else if (!strcmp(verb, "other")) {
    __asm__ volatile("ud2");
  } else {
    pthread_t threads[4];
    int wrong = ask() != 0;
    for (intptr_t i = 0; i < 4; ++i) {
      pthread_create(&threads[i], 0, thread, (void *)(i + 13));
    }
    for (int i = 0; i < 4; ++i) {
      void *result;
      pthread_join(threads[i], &result);
      wrong |= result != 0;
    }
    return wrong;
  }
  return 0;
}
