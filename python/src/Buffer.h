// Has what the extension borrows from Python objects: their memory, by the buffer protocol.
#pragma once
#include "runtime_support/include/ingot.h"
#include <Python.h>
#include <utility>

namespace ingot::python {

/// A buffer that an object lends until it is dropped.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept : view(other.view), held(std::exchange(other.held, false)) {}
  ~Buffer() { drop(); }

  /// Borrows dense row-major memory; false, and no Python error, where the object has none.
  bool take(PyObject *object, int flags);
  void drop();

  /// Whether its elements are of the type, and aligned as runs need it.
  bool holds(int32_t type) const;

  const Py_buffer &get() const { return view; }
  const int64_t *dims() const { return reinterpret_cast<const int64_t *>(view.shape); }

private:
  Py_buffer view = {};
  bool held = false;
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes of buffers are read as they are");

/// Whether buffers can tell the element type; of others (bfloat16, four bits, strings) Python code makes bytes.
bool isPlain(int32_t type);

} // namespace ingot::python
