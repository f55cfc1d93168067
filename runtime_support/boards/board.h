/* What program.c, which runs a model, needs of the machine that it runs on: bytes that come and go, memory, and perhaps
 * a count of instructions or cycles. semihosting.c has it of an emulated board; whoever has another way to a board (a
 * serial line) writes these functions for it (docs/using/boards.md). */
#ifndef INGOT_BOARD_H
#define INGOT_BOARD_H

#include <stdint.h>

/* The program, which the start of the machine calls on a stack of its own. It does not return. */
void board_main(void);

/* Reads or writes some of these bytes, one at least; returns how many, or 0 and less where there are no more. */
long board_read(void *to, long bytes);
long board_write(const void *from, long bytes);

/* Ends the program: 0, or the code of a failure (program.c). */
void board_leave(int code);

/* Gives the memory that tensors and workspace may take. */
void board_memory(char **begin, char **end);

/* Returns the lowest address that the stack may take. */
char *board_stack(void);

/* Begin to count, and return the count since then; -1: nothing counts here. */
void board_count(void);
int64_t board_counted(void);

#endif
