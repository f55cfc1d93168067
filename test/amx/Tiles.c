#include "Tiles.h"
#include <math.h>
#include <string.h>

static const char *const names[AMX_OPERATIONS] = {"ldtilecfg", "sttilecfg",  "tilerelease", "tilezero",
                                                  "tileloadd", "tilestored", "tdpbssd",     "tdpbsud",
                                                  "tdpbusd",   "tdpbuud",    "tdpbf16ps"};

const char *amxName(AmxOperation operation) { return names[operation]; }

/* Decoding. All are VEX.128.0F38.W0; the mandatory prefix is 0: none, 1: 66, 2: F3, 3: F2. */

typedef struct Row {
  uint8_t opcode, prefix, from_memory;
  AmxOperation operation;
} Row;

static const Row table[] = {
    {0x49, 0, 1, AMX_LDTILECFG},  {0x49, 1, 1, AMX_STTILECFG}, {0x49, 0, 0, AMX_TILERELEASE},
    {0x49, 3, 0, AMX_TILEZERO},   {0x4b, 3, 1, AMX_TILELOADD}, {0x4b, 1, 1, AMX_TILELOADD},
    {0x4b, 2, 1, AMX_TILESTORED}, {0x5e, 3, 0, AMX_TDPBSSD},   {0x5e, 2, 0, AMX_TDPBSUD},
    {0x5e, 1, 0, AMX_TDPBUSD},    {0x5e, 0, 0, AMX_TDPBUUD},   {0x5c, 2, 0, AMX_TDPBF16PS},
};

static int32_t wordAt(const uint8_t *code) {
  int32_t word;
  memcpy(&word, code, sizeof(word));
  return word;
}

/* Base, index and displacement behind the ModRM byte at `code`. For tiles the index is the stride, not added. Returns
 * where the instruction ends; null for a form that it must not have. */
static const uint8_t *decodeMemory(const uint8_t *code, int extendIndex, int extendBase, const uint64_t *registers,
                                   int isTile, AmxInstruction *to) {
  int mode = code[0] >> 6, rm = code[0] & 7;
  to->address = to->stride = 0;
  if (rm != 4) {
    if (isTile) {
      return 0; /* tiles have a SIB byte */
    }
    if (mode == 0 && rm == 5) { /* relative to the end of the instruction */
      to->address = (uint64_t)(uintptr_t)(code + 5) + (uint64_t)(int64_t)wordAt(code + 1);
      return code + 5;
    }
    to->address = registers[rm | extendBase << 3];
    ++code;
  } else {
    int scale = code[1] >> 6, index = (code[1] >> 3 & 7) | extendIndex << 3, base = code[1] & 7;
    if (index != 4) { /* RSP is none */
      to->stride = registers[index] << scale;
    }
    code += 2;
    if (mode == 0 && base == 5) {
      to->address = (uint64_t)(int64_t)wordAt(code);
      code += 4;
    } else {
      to->address = registers[base | extendBase << 3];
    }
    if (!isTile) {
      to->address += to->stride;
    }
  }
  if (mode == 1) {
    to->address += (uint64_t)(int64_t)(int8_t)*code;
    return code + 1;
  }
  if (mode == 2) {
    to->address += (uint64_t)(int64_t)wordAt(code);
    return code + 4;
  }
  return code;
}

int amxDecode(const uint8_t *code, const uint64_t registers[16], AmxInstruction *to) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) { /* VEX of three bytes, 0F38; W0, 128 bits */
    return 0;
  }
  int extendTile = !(code[1] >> 7), extendIndex = !(code[1] >> 6 & 1), extendBase = !(code[1] >> 5 & 1);
  int prefix = code[2] & 3, register3 = ~(code[2] >> 3) & 15, inMemory = code[4] >> 6 != 3;
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
    const Row *row = &table[i];
    if (row->opcode != code[3] || row->prefix != prefix || row->from_memory != inMemory) {
      continue;
    }
    int isProduct = row->operation >= AMX_TDPBSSD;
    to->operation = row->operation;
    to->tile = code[4] >> 3 & 7, to->left = code[4] & 7, to->right = register3;
    if (extendTile || (!isProduct && register3) || to->right >= AMX_TILES || (isProduct && extendBase)) {
      return 0;
    }
    if ((row->operation == AMX_LDTILECFG || row->operation == AMX_STTILECFG) && to->tile) {
      return 0;
    }
    if (row->operation == AMX_TILERELEASE && code[4] != 0xc0) {
      return 0;
    }
    if (row->operation == AMX_TILEZERO && to->left) {
      return 0;
    }
    int isTile = row->operation == AMX_TILELOADD || row->operation == AMX_TILESTORED;
    const uint8_t *end = inMemory ? decodeMemory(code + 4, extendIndex, extendBase, registers, isTile, to) : code + 5;
    to->length = (int)(end - code);
    return end != 0;
  }
  return 0;
}

/* These load and store the configuration. */

static const char *load(AmxState *state, const uint8_t *config) {
  AmxState next;
  memset(&next, 0, sizeof(next));
  next.palette = config[0], next.start_row = config[1];
  if (next.palette == 0) {
    memset(state, 0, sizeof(*state));
    return 0;
  }
  if (next.palette != 1) {
    return "#GP: there is no such palette";
  }
  for (int i = 2; i < 16; ++i) {
    if (config[i]) {
      return "#GP: a reserved byte is not 0";
    }
  }
  for (int i = 0; i < 16; ++i) {
    int bytes = config[16 + 2 * i] | config[17 + 2 * i] << 8, rows = config[48 + i];
    if (i >= AMX_TILES) {
      if (bytes || rows) {
        return "#GP: a tile that the palette does not have";
      }
      continue;
    }
    if (bytes > AMX_ROW_BYTES || rows > AMX_ROWS) {
      return "#GP: a tile is larger than the palette has them";
    }
    if (!bytes != !rows) {
      return "#GP: a tile with rows and no columns, or the reverse";
    }
    next.row_bytes[i] = (uint16_t)bytes, next.rows[i] = (uint8_t)rows;
  }
  *state = next;
  return 0;
}

static void store(const AmxState *state, uint8_t *config) {
  memset(config, 0, AMX_CONFIG_BYTES);
  config[0] = state->palette, config[1] = state->start_row;
  for (int i = 0; i < AMX_TILES; ++i) {
    config[16 + 2 * i] = (uint8_t)state->row_bytes[i], config[48 + i] = state->rows[i];
  }
}

static const char *checkTile(const AmxState *state, int tile) {
  if (!state->palette) {
    return "#UD: no tiles are configured";
  }
  return state->rows[tile] ? 0 : "#UD: this tile is not configured";
}

/* Moves. Rows that an earlier fault left behind (start_row) do not occur: memory is there, or the process ends. */

static const char *move(AmxState *state, const AmxInstruction *what) {
  const char *why = checkTile(state, what->tile);
  if (why) {
    return why;
  }
  if (state->start_row >= state->rows[what->tile]) {
    return "#GP: the first row is behind the last one";
  }
  int bytes = state->row_bytes[what->tile];
  for (int row = state->start_row; row < state->rows[what->tile]; ++row) {
    uint8_t *memory = (uint8_t *)(uintptr_t)(what->address + (uint64_t)row * what->stride);
    uint8_t *tile = state->data[what->tile][row];
    if (what->operation == AMX_TILESTORED) {
      memcpy(memory, tile, (size_t)bytes);
    } else {
      memset(tile, 0, AMX_ROW_BYTES);
      memcpy(tile, memory, (size_t)bytes);
    }
  }
  if (what->operation == AMX_TILELOADD) {
    for (int row = state->rows[what->tile]; row < AMX_ROWS; ++row) {
      memset(state->data[what->tile][row], 0, AMX_ROW_BYTES);
    }
  }
  state->start_row = 0;
  return 0;
}

/* Products. */

static int32_t lane32(const uint8_t *row, int lane) {
  int32_t value;
  memcpy(&value, row + 4 * lane, sizeof(value));
  return value;
}

static int32_t byteOf(const uint8_t *row, int at, int isSigned) { return isSigned ? (int8_t)row[at] : row[at]; }

static void addBytes(AmxState *state, const AmxInstruction *what) {
  int leftSigned = what->operation == AMX_TDPBSSD || what->operation == AMX_TDPBSUD;
  int rightSigned = what->operation == AMX_TDPBSSD || what->operation == AMX_TDPBUSD;
  for (int m = 0; m < state->rows[what->tile]; ++m) {
    uint8_t *to = state->data[what->tile][m];
    const uint8_t *left = state->data[what->left][m];
    for (int n = 0; n < state->row_bytes[what->tile] / 4; ++n) {
      uint32_t sum = (uint32_t)lane32(to, n);
      for (int k = 0; k < state->row_bytes[what->left] / 4; ++k) {
        const uint8_t *right = state->data[what->right][k];
        for (int i = 0; i < 4; ++i) {
          sum += (uint32_t)(byteOf(left, 4 * k + i, leftSigned) * byteOf(right, 4 * n + i, rightSigned));
        }
      }
      memcpy(to + 4 * n, &sum, sizeof(sum));
    }
    memset(to + state->row_bytes[what->tile], 0, (size_t)(AMX_ROW_BYTES - state->row_bytes[what->tile]));
  }
}

/* Denormal numbers are zeros, before and behind every operation. */
static float flushed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

static float halfOf(const uint8_t *row, int at) {
  uint32_t bits = (uint32_t)(row[2 * at] | row[2 * at + 1] << 8) << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return flushed(value);
}

/* Sums of even and of odd places apart, by fused multiplications; then both together, then the tile. */
static void addBf16(AmxState *state, const AmxInstruction *what) {
  for (int m = 0; m < state->rows[what->tile]; ++m) {
    uint8_t *to = state->data[what->tile][m];
    const uint8_t *left = state->data[what->left][m];
    for (int n = 0; n < state->row_bytes[what->tile] / 4; ++n) {
      float even = 0, odd = 0, before;
      for (int k = 0; k < state->row_bytes[what->left] / 4; ++k) {
        const uint8_t *right = state->data[what->right][k];
        even = flushed(fmaf(halfOf(left, 2 * k), halfOf(right, 2 * n), even));
        odd = flushed(fmaf(halfOf(left, 2 * k + 1), halfOf(right, 2 * n + 1), odd));
      }
      memcpy(&before, to + 4 * n, sizeof(before));
      float sum = flushed(flushed(before) + flushed(even + odd));
      memcpy(to + 4 * n, &sum, sizeof(sum));
    }
    memset(to + state->row_bytes[what->tile], 0, (size_t)(AMX_ROW_BYTES - state->row_bytes[what->tile]));
  }
}

static const char *multiply(AmxState *state, const AmxInstruction *what) {
  const int tiles[3] = {what->tile, what->left, what->right};
  for (int i = 0; i < 3; ++i) {
    const char *why = checkTile(state, tiles[i]);
    if (why) {
      return why;
    }
    if (state->row_bytes[tiles[i]] % 4) {
      return "#UD: a row of a factor is no multiple of 4 bytes";
    }
  }
  if (what->tile == what->left || what->tile == what->right || what->left == what->right) {
    return "#UD: two of the three tiles are the same";
  }
  if (state->rows[what->tile] != state->rows[what->left] ||
      state->row_bytes[what->tile] != state->row_bytes[what->right] ||
      state->row_bytes[what->left] / 4 != state->rows[what->right]) {
    return "#UD: the sizes of the three tiles do not fit";
  }
  if (what->operation == AMX_TDPBF16PS) {
    addBf16(state, what);
  } else {
    addBytes(state, what);
  }
  for (int row = state->rows[what->tile]; row < AMX_ROWS; ++row) {
    memset(state->data[what->tile][row], 0, AMX_ROW_BYTES);
  }
  state->start_row = 0;
  return 0;
}

const char *amxExecute(AmxState *state, const AmxInstruction *what) {
  switch (what->operation) {
  case AMX_LDTILECFG:
    return load(state, (const uint8_t *)(uintptr_t)what->address);
  case AMX_STTILECFG:
    store(state, (uint8_t *)(uintptr_t)what->address);
    return 0;
  case AMX_TILERELEASE:
    memset(state, 0, sizeof(*state));
    return 0;
  case AMX_TILEZERO: {
    const char *why = checkTile(state, what->tile);
    if (!why) {
      memset(state->data[what->tile], 0, sizeof(state->data[what->tile]));
      state->start_row = 0;
    }
    return why;
  }
  case AMX_TILELOADD:
  case AMX_TILESTORED:
    return move(state, what);
  default:
    return multiply(state, what);
  }
}
