/* Element types: names and sizes. */
#include "ingot.h"

size_t ingot_type_bytes(int32_t type) {
  switch (type) {
  case INGOT_UINT8:
  case INGOT_INT8:
  case INGOT_BOOL:
    return 1;
  case INGOT_UINT16:
  case INGOT_INT16:
  case INGOT_FLOAT16:
  case INGOT_BFLOAT16:
    return 2;
  case INGOT_FLOAT32:
  case INGOT_INT32:
  case INGOT_UINT32:
    return 4;
  case INGOT_INT64:
  case INGOT_UINT64:
  case INGOT_FLOAT64:
    return 8;
  case INGOT_STRING:
    return sizeof(char *);
  default:
    return 0;
  }
}

const char *ingot_type_text(int32_t type) {
  static const char names[][9] = {"unknown", "float32", "uint8",   "int8",    "uint16",  "int16",
                                  "int32",   "int64",   "string",  "bool",    "float16", "float64",
                                  "uint32",  "uint64",  "unknown", "unknown", "bfloat16"};
  return names[type > 0 && type <= INGOT_BFLOAT16 ? type : 0];
}
