#include "compiler/lower/core/Threads.h"

using namespace mlir;

namespace ingot::lower {

Ix threadNumber(Writer &w, int32_t axis) {
  Value number = w.constant(axis, w.b.getI32Type());
  return w.ix(w.callLibrary("ingot_thread", number, w.b.getI64Type()));
}

void barrier(Writer &w) { w.callLibrary("ingot_barrier", {}, {}); }

Buffer sharedMemory(Writer &w, int64_t bytes) {
  Type i8 = w.b.getI8Type();
  return {w.callLibrary("ingot_shared", {}, MemRefType::get({bytes}, i8)), i8};
}

} // namespace ingot::lower
