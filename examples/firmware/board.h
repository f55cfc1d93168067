/* What a program of the example has of its board: text on the console of whoever runs it, and the sizes that the linker
 * knows. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

void print(const char *text);
void print_number(uint32_t number);
void print_bits(uint32_t bits);

/* Their addresses are the numbers. */
extern char flash_bytes[], ram_bytes[];

/* Paints the stack below the caller, who inlines it: nothing is called before what is to be measured. */
enum { PAINT = 0x5a };
extern char bss_end[];
static inline __attribute__((always_inline)) volatile char *paint_stack(void) {
  volatile char *top;
  __asm__ volatile("mov %0, sp" : "=r"(top));
  for (volatile char *at = bss_end; at < top; ++at) {
    *at = PAINT;
  }
  return top;
}

/* Returns how many bytes below `top` have changed since they were painted. */
uint32_t painted_stack_used(const volatile char *top);

#endif
