/* AMX by plain loops, as the Intel SDM defines it: the state of a thread, an instruction read from its bytes, and what
 * it does. What a processor would answer with #UD or #GP is a sentence here. Knows nothing of signals (Preload.c). */
#ifndef INGOT_TEST_AMX_TILES_H
#define INGOT_TEST_AMX_TILES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AMX_TILES = 8, AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_CONFIG_BYTES = 64 };

/* A thread's tiles. All zero: none are configured. */
typedef struct AmxState {
  uint8_t palette, start_row;
  uint8_t rows[AMX_TILES];
  uint16_t row_bytes[AMX_TILES];
  uint8_t data[AMX_TILES][AMX_ROWS][AMX_ROW_BYTES];
} AmxState;

typedef enum AmxOperation {
  AMX_LDTILECFG,
  AMX_STTILECFG,
  AMX_TILERELEASE,
  AMX_TILEZERO,
  AMX_TILELOADD, /* and TILELOADDT1: the hint for caches changes nothing */
  AMX_TILESTORED,
  AMX_TDPBSSD,
  AMX_TDPBSUD,
  AMX_TDPBUSD,
  AMX_TDPBUUD,
  AMX_TDPBF16PS,
  AMX_OPERATIONS
} AmxOperation;

typedef struct AmxInstruction {
  AmxOperation operation;
  int length;            /* bytes of code */
  int tile, left, right; /* the one that is written, stored or read, and the factors */
  uint64_t address;      /* of the first row, or of the configuration */
  uint64_t stride;       /* from one row to the next */
} AmxInstruction;

/* Returns whether the bytes at `code`, at most 15, are an instruction of AMX. `registers` are the general ones in the
 * order of their encoding: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 ... R15. */
int amxDecode(const uint8_t *code, const uint64_t registers[16], AmxInstruction *to);

/* Runs an instruction. Returns null, or says why the processor would refuse it; the state is then as before. */
const char *amxExecute(AmxState *state, const AmxInstruction *what);

const char *amxName(AmxOperation operation);

#ifdef __cplusplus
}
#endif

#endif
