/* A processor without an operating system whose emulator opens files for it (semihosting, as Arm and
 * RISC-V International define it): the start, the files "request" and "reply", and a count of instructions.
 *
 * Arm's processors have a counter of 24 bits (SysTick), which counts down at the board's clock; an interrupt counts how
 * often it was through. RISC-V's have one of 64 bits (instret). An emulator whose clock goes on by a fixed time with
 * each instruction (qemu's -icount) makes instructions of them (instructions_per_tick of the board's table). */
#include "board.h"

enum { OPEN = 1, WRITE = 5, READ = 6, EXIT = 0x20, FINISHED = 0x20026 };
enum { FAULT = 104 }; /* a code for board_leave, beside those of program.c */

extern char stack_begin[], stack_top[], board_memory_begin[], board_memory_end[];

void start(void);

static long semihost(long operation, const void *argument) {
#if defined(__arm__)
  register long result __asm__("r0") = operation;
  register const void *block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(block) : "memory");
#else
  register long result __asm__("a0") = operation;
  register const void *block __asm__("a1") = argument;
  /* These three instructions together are the call, in one page and none of them a short one. */
  __asm__ volatile(
      ".balign 16\n .option push\n .option norvc\n slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop"
      : "+r"(result)
      : "r"(block)
      : "memory");
#endif
  return result;
}

/* Reads or writes a file, and returns how many bytes it has read or written. The call returns how many it has not. */
static long transfer(int operation, void *memory, long bytes) {
  static long files[2];
  int writes = operation == WRITE;
  if (!files[writes]) {
    const long how[3] = {(long)(writes ? "reply" : "request"), writes ? 5 : 1,
                         writes ? 5 : 7}; /* "wb", "rb"; the length of the name */
    files[writes] = semihost(OPEN, how);
  }
  const long what[3] = {files[writes], (long)memory, bytes};
  return bytes - semihost(operation, what);
}

long board_read(void *to, long bytes) { return transfer(READ, to, bytes); }
long board_write(const void *from, long bytes) { return transfer(WRITE, (void *)from, bytes); }

void board_leave(int code) {
  const long how[2] = {FINISHED, code};
  semihost(EXIT, how);
}

char *board_stack(void) { return stack_begin; }

void board_memory(char **begin, char **end) { *begin = board_memory_begin, *end = board_memory_end; }

#if defined(__arm__)
static volatile uint32_t *const sysTick = (volatile uint32_t *)0xe000e010; /* control, the number above 0, the count */
enum { PERIOD = 1 << 24, COUNTS_WITH_INTERRUPT = 7 };
static volatile uint32_t periods;

static void period(void) { ++periods; }

void board_count(void) {
  sysTick[1] = PERIOD - 1;
  sysTick[2] = 0; /* any number sets it to the one above */
  periods = 0;
  sysTick[0] = COUNTS_WITH_INTERRUPT;
}

int64_t board_counted(void) {
  uint32_t before, count;
  do {
    before = periods;
    count = sysTick[2];
  } while (before != periods);
  sysTick[0] = 0;
  return (int64_t)before * PERIOD + (PERIOD - 1 - count);
}

void start(void) {
  volatile uint32_t *access = (volatile uint32_t *)0xe000ed88; /* CPACR: who may use floats and vectors */
  *access |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
  board_main();
}

static void fault(void) { board_leave(FAULT); }

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, start, fault, fault, fault, fault, fault, fault, 0, 0, 0, 0, 0, 0, 0, period};
#else
static uint64_t first;

/* Returns instret; where an address has 32 bits, both halves until the upper one stays. */
static uint64_t instructions(void) {
  unsigned long low, high = 0, again = 0;
#if __riscv_xlen == 32
  do {
    __asm__ volatile(".option push\n .option arch, +zicsr\n csrr %0, minstreth\n csrr %1, minstret\n csrr %2, "
                     "minstreth\n .option pop"
                     : "=&r"(high), "=&r"(low), "=&r"(again));
  } while (high != again);
#else
  (void)again;
  __asm__ volatile(".option push\n .option arch, +zicsr\n csrr %0, minstret\n .option pop" : "=r"(low));
#endif
  return (uint64_t)high << 16 << 16 | low;
}

void board_count(void) { first = instructions(); }
int64_t board_counted(void) { return (int64_t)(instructions() - first); }

void fault(void) { board_leave(FAULT); }

/* mstatus: floats (FS) and vectors (VS) may be used. */
__asm__(".section .vectors, \"ax\"\n.global start\nstart:\n .option push\n .option arch, +zicsr\n"
        " la sp, stack_top\n la t0, trap\n csrw mtvec, t0\n li t0, 0x6600\n csrs mstatus, t0\n .option pop\n call "
        "board_main\n"
        ".balign 4\ntrap: la sp, stack_top\n call fault\n");
#endif
