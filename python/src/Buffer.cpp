#include "Buffer.h"
#include <cstring>

namespace ingot::python {

/// The letters by which struct, and so the buffer protocol, calls an element type; which of them is of how many bytes
/// depends on the system, and is compared apart.
static const char *lettersOf(int32_t type) {
  switch (type) {
  case INGOT_FLOAT16:
  case INGOT_FLOAT32:
  case INGOT_FLOAT64:
    return "efd";
  case INGOT_BOOL:
    return "?";
  case INGOT_INT8:
  case INGOT_INT16:
  case INGOT_INT32:
  case INGOT_INT64:
    return "bhilqn";
  case INGOT_UINT8:
  case INGOT_UINT16:
  case INGOT_UINT32:
  case INGOT_UINT64:
    return "BHILQN";
  default:
    return "";
  }
}

bool isPlain(int32_t type) { return *lettersOf(type) != 0; }

bool Buffer::take(PyObject *object, int flags) {
  drop();
  held = PyObject_GetBuffer(object, &view, flags) == 0;
  if (!held) {
    PyErr_Clear();
  }
  return held;
}

void Buffer::drop() {
  if (held) {
    PyBuffer_Release(&view);
    held = false;
  }
}

bool Buffer::holds(int32_t type) const {
  const char *format = view.format ? view.format : "B";
  format += *format == '@' || *format == '=' || *format == '<';
  size_t bytes = ingot_type_bytes(type);
  return *format && !format[1] && std::strchr(lettersOf(type), *format) && size_t(view.itemsize) == bytes &&
         reinterpret_cast<uintptr_t>(view.buf) % bytes == 0;
}

} // namespace ingot::python
