/* The first word of every file that the driver and ingot-runner exchange; its last byte is the version of what follows:
 * 64-bit little-endian words, and texts and bytes with their length in front, in an order that both ends know
 * (execute.c, describe.c; compiler/driver/execution/Runner.cpp). */
#ifndef INGOT_RUNNER_PROTOCOL_H
#define INGOT_RUNNER_PROTOCOL_H

#define INGOT_RUNNER_MAGIC 0x01746f676e69LL

#endif
