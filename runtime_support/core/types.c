/* Has the names and sizes of element types. */
#include "ingot.h"

size_t ingot_type_bytes(int32_t type) {
  switch (type) {
  case INGOT_UINT8:
  case INGOT_INT8:
  case INGOT_BOOL:
  case INGOT_FLOAT8E4M3FN:
  case INGOT_FLOAT8E4M3FNUZ:
  case INGOT_FLOAT8E5M2:
  case INGOT_FLOAT8E5M2FNUZ:
  case INGOT_FLOAT8E8M0:
  case INGOT_UINT4:
  case INGOT_INT4:
  case INGOT_FLOAT4E2M1:
  case INGOT_UINT2:
  case INGOT_INT2:
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
    return sizeof(ingot_string);
  default:
    return 0;
  }
}

int64_t ingot_type_pack(int32_t type) {
  switch (type) {
  case INGOT_UINT4:
  case INGOT_INT4:
  case INGOT_FLOAT4E2M1:
    return 2;
  case INGOT_UINT2:
  case INGOT_INT2:
    return 4;
  default:
    return 1;
  }
}

const char *ingot_type_text(int32_t type) {
  static const char names[][15] = {
      "unknown", "float32", "uint8",      "int8",         "uint16",         "int16",      "int32",
      "int64",   "string",  "bool",       "float16",      "float64",        "uint32",     "uint64",
      "unknown", "unknown", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",   "int4",    "float4e2m1", "float8e8m0",   "uint2",          "int2"};
  return names[type > 0 && type <= INGOT_INT2 ? type : 0];
}
