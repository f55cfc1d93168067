/* A machine with AMX for a program that this one runs: LD_PRELOAD=libamx.so PROGRAM...
 *
 * A processor without AMX ends such an instruction with SIGILL; the handler here does what it says, on tiles that each
 * thread has, and goes on behind it. As on Linux a process has to ask for tiles first (arch_prctl,
 * ARCH_REQ_XCOMP_PERM): a filter turns that system call into SIGSYS, and its handler answers. Misuse ends the process
 * by SIGILL with a sentence on stderr.
 *
 * A processor with AMX configures tiles by itself, since that needs no permission, and ends with SIGILL what uses their
 * contents. Then the handler finds the configuration in what the system has saved of the thread; that the same one was
 * loaded once more it does not see.
 *
 * INGOT_AMX=refuse   the system gives no permission
 * INGOT_AMX_COUNT=F  at its end a process with tiles appends to F how often it executed which instruction
 *
 * The program's own handlers for the two signals are not installed, and its threads do not block them. */
#include "Tiles.h"
#include <cpuid.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

static int permitted, refuses;
static long counts[AMX_OPERATIONS];
static __thread AmxState tiles __attribute__((tls_model("initial-exec")));

static int (*realSigaction(void))(int, const struct sigaction *, struct sigaction *) {
  static int (*real)(int, const struct sigaction *, struct sigaction *);
  if (!real) {
    *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
  }
  return real;
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
  if (number != SIGILL && number != SIGSYS) {
    return realSigaction()(number, wanted, before);
  }
  if (before) {
    memset(before, 0, sizeof(*before));
  }
  return 0;
}

/* A thread that blocks the signals would end with the first one. */
int pthread_sigmask(int how, const sigset_t *wanted, sigset_t *before) {
  static int (*real)(int, const sigset_t *, sigset_t *);
  if (!real) {
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_sigmask");
  }
  sigset_t left;
  if (wanted && how != SIG_UNBLOCK) {
    left = *wanted;
    sigdelset(&left, SIGILL);
    sigdelset(&left, SIGSYS);
    wanted = &left;
  }
  return real(how, wanted, before);
}

/* The instruction is executed once more, and then nobody handles the signal. */
static void giveUp(const char *instruction, const char *why) {
  static const char before[] = "amx: ", between[] = ": ", behind[] = "\n";
  if (why) {
    const char *parts[] = {before, instruction, between, why, behind};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
      (void)!write(STDERR_FILENO, parts[i], strlen(parts[i]));
    }
  }
  struct sigaction none;
  memset(&none, 0, sizeof(none));
  none.sa_handler = SIG_DFL;
  realSigaction()(SIGILL, &none, NULL);
}

/* The configuration that the processor itself has, where it has AMX: null where it has none. */
static const uint8_t *loadedConfig(const ucontext_t *context, uint8_t none[AMX_CONFIG_BYTES]) {
  enum { XTILECFG = 17, leaf = 0xd, softwareBytes = 464, header = 512, magic = 0x46505853 };
  const uint8_t *saved = (const uint8_t *)context->uc_mcontext.fpregs;
  unsigned bytes = 0, at = 0, ignored;
  uint32_t first;
  uint64_t features, present;
  if (!saved || !__get_cpuid_count(leaf, XTILECFG, &bytes, &at, &ignored, &ignored) || bytes != AMX_CONFIG_BYTES) {
    return NULL;
  }
  memcpy(&first, saved + softwareBytes, sizeof(first));
  memcpy(&features, saved + softwareBytes + 8, sizeof(features));
  if (first != magic || !(features >> XTILECFG & 1)) {
    return NULL;
  }
  memcpy(&present, saved + header, sizeof(present));
  memset(none, 0, AMX_CONFIG_BYTES);
  return present >> XTILECFG & 1 ? saved + at : none;
}

static void takeConfig(const ucontext_t *context) {
  uint8_t none[AMX_CONFIG_BYTES], own[AMX_CONFIG_BYTES];
  const uint8_t *loaded = loadedConfig(context, none);
  AmxInstruction what = {.operation = AMX_STTILECFG, .address = (uintptr_t)own};
  amxExecute(&tiles, &what);
  if (loaded && memcmp(own, loaded, AMX_CONFIG_BYTES)) {
    what.operation = loaded[0] ? AMX_LDTILECFG : AMX_TILERELEASE, what.address = (uintptr_t)loaded;
    amxExecute(&tiles, &what);
  }
}

static void onIllegal(int number, siginfo_t *info, void *pointer) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  (void)number, (void)info;
  greg_t *all = ((ucontext_t *)pointer)->uc_mcontext.gregs;
  uint64_t registers[16];
  for (int i = 0; i < 16; ++i) {
    registers[i] = (uint64_t)all[order[i]];
  }
  AmxInstruction what;
  if (!amxDecode((const uint8_t *)all[REG_RIP], registers, &what)) {
    giveUp("", NULL);
    return;
  }
  takeConfig(pointer);
  const char *why =
      __atomic_load_n(&permitted, __ATOMIC_RELAXED) ? amxExecute(&tiles, &what) : "the process has not asked for tiles";
  if (why) {
    giveUp(amxName(what.operation), why);
    return;
  }
  __atomic_add_fetch(&counts[what.operation], 1, __ATOMIC_RELAXED);
  all[REG_RIP] += what.length;
}

static void onSystemCall(int number, siginfo_t *info, void *pointer) {
  (void)number, (void)info;
  greg_t *all = ((ucontext_t *)pointer)->uc_mcontext.gregs;
  int isTiles = all[REG_RSI] == XFEATURE_XTILEDATA;
  all[REG_RAX] = refuses || !isTiles ? -EOPNOTSUPP : 0;
  if (!refuses && isTiles) {
    __atomic_store_n(&permitted, 1, __ATOMIC_RELAXED);
  }
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.sa_sigaction = handler;
  wanted.sa_flags = SA_SIGINFO;
  realSigaction()(number, &wanted, NULL);
}

static int filterRequests(void) {
  struct sock_filter rows[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_REQ_XCOMP_PERM, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof(rows) / sizeof(rows[0]), rows};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void begin(void) {
  const char *said = getenv("INGOT_AMX");
  refuses = said && !strcmp(said, "refuse");
  handle(SIGILL, onIllegal);
  handle(SIGSYS, onSystemCall);
  if (filterRequests()) {
    fputs("amx: this system does not let a process filter its system calls\n", stderr);
    _exit(77);
  }
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("INGOT_AMX_COUNT");
  FILE *file = path && permitted ? fopen(path, "a") : NULL;
  if (!file) {
    return;
  }
  for (int i = 0; i < AMX_OPERATIONS; ++i) {
    if (counts[i]) {
      fprintf(file, "%s %ld\n", amxName((AmxOperation)i), counts[i]);
    }
  }
  fclose(file);
}
