#include "compiler/lower/core/CopyElements.h"

using namespace mlir;

namespace ingot::lower {

void copyElements(Writer &w, Buffer from, Ix at, Buffer to, Ix toAt, Ix count) {
  w.lanes(count,
          [&](Ix i, int64_t lanes, Value mask) { w.store(w.load(from, at + i, lanes, mask), to, toAt + i, mask); });
}

void fillZeros(Writer &w, Buffer to, Ix at, Ix count) {
  w.lanes(count, [&](Ix i, int64_t lanes, Value mask) {
    w.store(w.constant(0, w.vectorOf(to.element, lanes)), to, at + i, mask);
  });
}

} // namespace ingot::lower
