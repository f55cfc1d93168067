/* Startup for a Cortex-M4: the table of vectors, RAM as C expects it, the floating-point unit; and a console by
 * semihosting, which an emulator or a debugger serves. There is no C library. */
#include "board.h"

extern char data_begin[], data_end[], data_source[], bss_begin[], stack_top[];
int main(void);
void reset(void);

enum { WRITE0 = 0x04, EXIT = 0x18, APPLICATION_EXIT = 0x20026, RUN_TIME_ERROR = 0x20023 };

static void semihost(uint32_t operation, uintptr_t argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register uintptr_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void fault(void) {
  print("fault\n");
  for (;;) {
    semihost(EXIT, RUN_TIME_ERROR);
  }
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)stack_top, reset, fault, fault, fault, fault, fault};

void reset(void) {
  volatile uint32_t *access = (volatile uint32_t *)0xe000ed88; /* CPACR: who may use the floating-point unit */
  *access |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
  for (char *at = data_begin, *from = data_source; at < data_end; ++at, ++from) {
    *(volatile char *)at = *from;
  }
  for (char *at = bss_begin; at < bss_end; ++at) {
    *(volatile char *)at = 0;
  }
  int status = main();
  for (;;) {
    semihost(EXIT, status ? RUN_TIME_ERROR : APPLICATION_EXIT);
  }
}

void print(const char *text) { semihost(WRITE0, (uintptr_t)text); }

void print_number(uint32_t number) {
  char text[11], *at = text + sizeof(text) - 1;
  *at = 0;
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  print(at);
}

void print_bits(uint32_t bits) {
  char text[9];
  for (int i = 0; i < 8; ++i) {
    text[i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
  }
  text[8] = 0;
  print(text);
}

uint32_t painted_stack_used(const volatile char *top) {
  const volatile char *at = bss_end;
  while (at < top && *at == PAINT) {
    ++at;
  }
  return (uint32_t)(top - at);
}
