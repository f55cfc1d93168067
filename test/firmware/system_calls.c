/* board.h for emulators of a processor alone, which answer system calls of Linux, and for engines of WebAssembly. Bytes
 * come from standard input and go to standard output. */
#include "board.h"

#if defined(__arm__)
enum { READ = 3, WRITE = 4, EXIT = 1 };
static long system_call(long number, long a, const void *b, long c) {
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = (long)b, r2 __asm__("r2") = c;
  __asm__ volatile("push {r7}\n mov r7, %3\n svc 0\n pop {r7}" : "+r"(r0) : "r"(r1), "r"(r2), "r"(number) : "memory");
  return r0;
}
__asm__(".text\n.thumb\n.thumb_func\n.global _start\n_start:\n bl board_main\n");
#elif defined(__riscv)
enum { READ = 63, WRITE = 64, EXIT = 93 };
static long system_call(long number, long a, const void *b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = (long)b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
__asm__(".text\n.global _start\n_start:\n call board_main\n");
#elif defined(__wasm__)
/* The calls of WASI, which engines offer to programs. */
enum { READ, WRITE, EXIT };
typedef struct {
  void *at;
  unsigned long bytes;
} part;
#define WASI(NAME) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#NAME)))
WASI(fd_read) int fd_read(int file, const part *parts, unsigned long count, unsigned long *done);
WASI(fd_write) int fd_write(int file, const part *parts, unsigned long count, unsigned long *done);
WASI(proc_exit) void proc_exit(int code);
static long system_call(long number, long a, const void *b, long c) {
  const part all = {(void *)b, (unsigned long)c};
  unsigned long done = 0;
  if (number == EXIT) {
    proc_exit((int)a);
  }
  int wrong = number == READ ? fd_read((int)a, &all, 1, &done) : fd_write((int)a, &all, 1, &done);
  return wrong ? -1 : (long)done;
}
__attribute__((export_name("_start"))) void start(void) { board_main(); }
#elif defined(__i386__)
enum { READ = 3, WRITE = 4, EXIT = 1 };
static long system_call(long number, long a, const void *b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}
__asm__(".text\n.global _start\n_start:\n and $-16, %esp\n call board_main\n");
#endif

long board_read(void *to, long bytes) { return system_call(READ, 0, to, bytes); }
long board_write(const void *from, long bytes) { return system_call(WRITE, 1, from, bytes); }
void board_leave(int code) { system_call(EXIT, code, 0, 0); }

static char memory[96 << 20] __attribute__((aligned(64)));
void board_memory(char **begin, char **end) { *begin = memory, *end = memory + sizeof memory; }

char *board_stack(void) { return (char *)0 + 4096; } /* the emulated system gives what the stack takes */

/* Plugins of emulators count (bench/count_instructions.c). */
void board_count(void) {}
int64_t board_counted(void) { return -1; }
